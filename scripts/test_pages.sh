#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Opens the pages of small results in headless Chromium, light and dark, wide and narrow: the console stays empty, all drawings are
# there, the script has added its buttons, and no printed page is empty. Screenshots stay in target/pages. With `--install` it installs
# Chromium if it is missing, measures results with all types of charts, an index of them, and a history of four nights, and checks
# these pages at 360 and 1600 px: with axe-core that readers with a disability can use them, that nothing is wider than the page, that no
# text in a chart is cut, outside or on another, that dots and bars are where the result says, and that a printed page has no heading alone
# and no command in part. A page of 500 runs has less than
# 2 MB and opens within a second, and one of 10,000 cells opens.
. "$(dirname -- "$0")/common.sh"

say 'pages: reports in a browser'
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ] && [ "${1:-}" = --install ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium </dev/null >/dev/null || true
  browser=$(command -v chromium || true)
fi
[ -n "$browser" ] || fail 'Chromium is not installed' 'run `sudo apt-get install chromium`'

ddsmark=$CARGO_TARGET_DIR/debug/ddsmark pages=$CARGO_TARGET_DIR/pages
rm -rf "$pages"
mkdir -p "$pages"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
export DDSMARK_DRIVER_PATH=$CARGO_TARGET_DIR/drivers
names=()
measure() { # NAME ARGUMENTS: a small result with its page
  local name=$1
  shift
  names+=("$name")
  "$ddsmark" "$@" --runs 3 --warm-up 20ms --duration 100ms --quiet --out "$pages/$name" >"$pages/$name.txt"
}
of_pages() { # COMMAND ARGUMENTS of pages.py
  python3 "$root/scripts/pages.py" "$@"
}
measure sizes characterize --driver udp,sim --baseline udp --size 64,1024 --no-reference
measure loads load --driver udp --size 64 --rate 500,2000
if [ "${1:-}" = --install ]; then
  measure mix run mix --driver tcp --no-reference
  measure system run sierra-nevada --driver cyclonedds --no-reference
  measure stalls load --driver sim --size 64 --rate 2000 --set 'options.sim.stall="40ms,15ms"' --no-reference
  # Served are 10,000 samples/s.
  measure overload load --driver sim --size 64 --rate 2000,20000 --qos best_effort --option sim.service=100us \
    --option sim.full=drop --option sim.queue=100 --no-reference
  slowdown=(throughput --driver sim --size 64 --option sim.service=20us --set 'options.sim.warmup="slowdown:4,70ms"' --no-reference)
  measure slowdown "${slowdown[@]}"
  # A busy host may hide that the rate varies.
  for _ in 1 2 3 4 5 6; do
    if ! grep -q rate-over-time "$pages/slowdown/report.html"; then
      unset 'names[-1]'
      rm -r "$pages/slowdown"
      measure slowdown "${slowdown[@]}"
    fi
  done
  measure endpoints characterize --driver sim --size 64 --topology 1-1,1-2,1-3 --no-reference
  measure ring latency --driver sim --size 64 --topology ring-2,ring-3,ring-4 --no-reference
  measure discovery discovery --driver cyclonedds --participants 2,3,4 --no-reference
  measure search search --driver sim --size 64 --option sim.service=100us --set search.width=20% --no-reference
  measure many latency --driver sim,udp --size 16,64 --receive waitset,polling --send-buffer 65536,131072,262144,524288 --no-reference
  [ "$(id -u)" != 0 ] || measure hosts characterize --driver udp --size 64 --topology 1-7 --host lab:8,rate=100mbit --no-reference
  "$ddsmark" report "${names[@]/#/$pages/}" --html "$pages/report.html" >"$pages/index.txt"
  "$ddsmark" report "$pages/endpoints" --overlay seed-002 --html --png "$pages/endpoints/png" >>"$pages/index.txt"
  of_pages nights "$pages/sizes/result.json" "$pages/night"
  "$ddsmark" report "$pages/night" --html "$pages/night/report.html" >>"$pages/index.txt"
  mkdir "$pages/large" "$pages/cells"
  of_pages many_runs "$pages/many/result.json" "$pages/large/result.json"
  of_pages many_cells "$pages/many/result.json" "$pages/cells/result.json"
  "$ddsmark" report "$pages/large/result.json" --html >>"$pages/index.txt"
  "$ddsmark" report "$pages/cells/result.json" --html >>"$pages/index.txt"
  names+=(night large cells .)
fi

browse() { # ARGUMENTS: what the browser prints, at most 60 s
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" "$@"
}
for name in "${names[@]}"; do
  url=file://$pages/$name/report.html
  console=$(browse --enable-logging=stderr --v=0 --dump-dom "$url" 2>&1 >"$pages/$name/opened.dom" | grep CONSOLE || true)
  [ -z "$console" ] || fail "the console of $name is not empty: $console" "open $pages/$name/report.html"
  of_pages counts "$pages/$name"
  of_pages narrow "$pages/$name/report.html" "$pages/narrow.html" 360
  for look in 'light 1200,2400' 'narrow 500,4000' 'dark 1200,2400 --blink-settings=preferredColorScheme=0'; do
    read -r as size flag <<<"$look"
    [ "$as" = narrow ] && page=file://$pages/narrow.html || page=$url
    browse --window-size="$size" ${flag:+"$flag"} --screenshot="$pages/$name/$as.png" "$page" 2>/dev/null
    [ -s "$pages/$name/$as.png" ] || fail "no screenshot of $name ($as)" 'try the browser by hand'
  done
  browse --no-pdf-header-footer --print-to-pdf="$pages/$name/print.pdf" "$url" 2>/dev/null
  of_pages printed "$pages/$name/print.pdf"
done
# A page links to the index that it was opened from, and to no other place that a query names.
url=file://$pages/${names[0]}/report.html
for query in '' '?index=./../index.html' '?index=javascript:alert(1)' '?index=//host/'; do
  links=$(browse --dump-dom "$url$query" 2>/dev/null | grep -c 'class="back"><a href="./../index.html"' || true)
  [ "$links" = "$([ "$query" = '?index=./../index.html' ] && echo 1 || echo 0)" ] ||
    fail "${names[0]}/report.html$query has $links links to an index" 'see script.js'
done
printf 'screenshots are in %s\n' "$pages"
[ "${1:-}" = --install ] || exit 0
for id in verdicts runs percentiles latency-over-size throughput-over-size published-throughput time cpu load delivered rate-over-time \
  time-under-load flows process-cpu process-memory sample-time-over-readers readers rtt-over-nodes hops matched-over-participants \
  trials-ndr all-latencies history-1; do
  grep -q "<figure id=\"$id\"" "$pages"/*/report.html || fail "no page has the chart $id" 'the results above lack what it shows'
done
[ "$(id -u)" != 0 ] || grep -q 'h8' "$pages/hosts/report.html" || fail 'the page of eight hosts lacks one' "open $pages/hosts/report.html"
grep -q 'cell-9999' "$pages/cells/opened.dom" || fail 'the page of 10,000 cells lacks the last one' "open $pages/cells/report.html"

# A page of 500 runs is laid out within a second, or, on a busy host, in eight times the time of a small page that is opened in turn with it.
size=$(stat -c %s "$pages/large/report.html")
[ "$size" -lt 2000000 ] || fail "the page of 500 runs has $size bytes" 'see the limits in crates/html-report/src/figures/limits.rs'
opened() { # NAME: the time in ms
  of_pages timed "$pages/$1/report.html" "$pages/timed.html"
  browse --dump-dom "file://$pages/timed.html" 2>/dev/null | sed -nE 's/.*<title>opened:([0-9]+);<.*/\1/p'
}
small_ms='' large_ms=''
for _ in 1 2 3 4 5; do
  small_ms+=$(opened sizes)$'\n' large_ms+=$(opened large)$'\n'
done
read -r small_ms large_ms <<<"$(sort -n <<<"$small_ms" | sed -n '/./{p;q}') $(sort -n <<<"$large_ms" | sed -n '/./{p;q}')"
limit_ms=$((8 * ${small_ms:-0} > 1000 ? 8 * ${small_ms:-0} : 1000))
[ "${large_ms:-$limit_ms}" -lt "$limit_ms" ] ||
  fail "the page of 500 runs opens in ${large_ms:-an unknown time} ms, a small one in ${small_ms:-an unknown time} ms" 'open large/report.html with the profiler of a browser'
printf 'the page of 500 runs has %s bytes and opens in %s ms, a small one in %s ms\n' "$size" "$large_ms" "$small_ms"

# axe-core comes in a wheel, and is used here only.
axe=$root/.sdk/axe/axe_playwright_python/axe.min.js
if [ ! -e "$axe" ]; then
  printf 'axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8\n' >"$pages/axe.txt"
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes --upgrade \
    --root-user-action=ignore --target "$root/.sdk/axe" -r "$pages/axe.txt"
fi
violations() { # PAGE RESULT WIDTH FLAG [PLANT]: prints what pages.js found, after the word `violated:`
  of_pages checked "$1" "$axe" "$pages/axe.html" "$3" "$2" "${5:-}"
  browse --window-size="$(($3 < 500 ? 500 : $3)),2400" --virtual-time-budget=30000 ${4:+"$4"} --dump-dom "file://$pages/axe.html" 2>/dev/null |
    sed -nE 's/.*<title>(violated:[^<]*;)<.*/\1/p'
}
planted() { # DEFECT FOUND ARGUMENTS: the checks find what was planted
  local found
  found=$(violations "${@:3}")
  [ "$found" = "violated:$2;" ] || fail "the checks did not find a planted $1: ${found:-no answer}" 'see scripts/pages.js'
}
sizes=$pages/sizes/result.json
sed 's/<html lang="[a-z]*"/<html/' "$pages/sizes/report.html" >"$pages/planted.html"
planted 'violation of axe-core' html-has-lang "$pages/planted.html" "$sizes" 1200 ''
sed 's|</main>|<p style="width:2000px">wide</p></main>|' "$pages/sizes/report.html" >"$pages/planted.html"
planted 'wide element' wider-than-the-page-P "$pages/planted.html" "$sizes" 360 ''
sed 's/:is(#rows,#histories):not(:has(details\[open\])){display:none}//;s/pre{white-space:pre-wrap;[^}]*}//' "$pages/sizes/report.html" >"$pages/planted.html"
planted 'heading without content and a command that is cut in print' 'only-a-heading-in-print-rows command-is-cut-in-print' \
  "$pages/planted.html" "$sizes" 360 ''
planted 'run with another value' 'height-of-dots-runs height-of-dots-runs-of-throughput' "$pages/sizes/report.html" "$sizes" 1200 '' dots
planted 'process with another value' 'length-of-bars-process-cpu length-of-bars-process-memory' "$pages/system/report.html" \
  "$pages/system/result.json" 1200 '' bars
for name in "${names[@]}"; do
  for look in 1600 360 '1600 --blink-settings=preferredColorScheme=0' '360 --blink-settings=preferredColorScheme=0'; do
    read -r width flag <<<"$look"
    found=$(violations "$pages/$name/report.html" "$pages/$name/result.json" "$width" "$flag")
    [ "$found" = 'violated:;' ] || fail "$name/report.html ($look): ${found:-no answer of axe-core}" 'https://dequeuniversity.com/rules/axe explains the rules; the others are in scripts/pages.js'
  done
done
printf 'nothing is wrong on %s pages, wide and narrow, light and dark\n' "${#names[@]}"
