#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Opens the pages of small results in headless Chromium, light and dark, wide and narrow: the console stays empty, all drawings are
# there, nothing is wider than the page, the script has added its buttons, and no printed page is empty. Screenshots stay in
# target/pages. With `--install` it installs Chromium if it is missing, measures results with all types of charts and an index of them,
# and checks that a page of 500 runs opens within a second, with axe-core that readers with a disability can use the pages, and that no
# text in a chart is cut, outside or on another.
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

pages=$CARGO_TARGET_DIR/pages
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
  "$CARGO_TARGET_DIR/debug/ddsmark" "$@" --runs 3 --warm-up 20ms --duration 100ms --quiet --out "$pages/$name" >"$pages/$name.txt"
}
measure sizes characterize --driver udp,sim --baseline udp --size 64,1024 --no-reference
measure loads load --driver udp --size 64 --rate 500,2000
if [ "${1:-}" = --install ]; then
  measure mix run mix --driver tcp --no-reference
  measure system run sierra-nevada --driver cyclonedds --no-reference
  measure stalls load --driver sim --size 64 --rate 2000 --set 'options.sim.stall="40ms,15ms"' --no-reference
  measure endpoints characterize --driver sim --size 64 --topology 1-1,1-2,1-3 --no-reference
  measure ring latency --driver sim --size 64 --topology ring-2,ring-3,ring-4 --no-reference
  measure discovery discovery --driver cyclonedds --participants 2,3,4 --no-reference
  measure search search --driver sim --size 64 --option sim.service=100us --set search.width=20% --no-reference
  measure many latency --driver sim,udp --size 16,64 --receive waitset,polling --send-buffer 65536,131072,262144,524288 --no-reference
  "$CARGO_TARGET_DIR/debug/ddsmark" report "${names[@]/#/$pages/}" --html "$pages/report.html" >"$pages/index.txt"
  "$CARGO_TARGET_DIR/debug/ddsmark" report "$pages/endpoints" --overlay seed-002 --html --png "$pages/endpoints/png" >>"$pages/index.txt"
  # The runs of `many`, so often that there are 500.
  mkdir "$pages/large"
  python3 - "$pages" <<'PYTHON'
import copy, json, sys

document = json.load(open(sys.argv[1] + "/many/result.json"))
cells = document["cells"]
per_cell, number = -(-500 // len(cells)), 0
for cell in cells:
    first = cell["runs"]
    cell["runs"] = [copy.deepcopy(first[index % len(first)]) for index in range(per_cell)]
    for index, run in enumerate(cell["runs"]):
        number += 1
        run["number"], run["block"] = number, index + 1
json.dump(document, open(sys.argv[1] + "/large/result.json", "w"))
print(f"a result of {number} runs")
PYTHON
  "$CARGO_TARGET_DIR/debug/ddsmark" report "$pages/large/result.json" --html >>"$pages/index.txt"
fi

browse() { # ARGUMENTS: what the browser prints, at most 60 s
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" "$@"
}
shown=()
for name in "${names[@]}" .; do
  [ -e "$pages/$name/report.html" ] || continue
  shown+=("$name")
  url=file://$pages/$name/report.html
  console=$(browse --enable-logging=stderr --v=0 --dump-dom "$url" 2>&1 >"$pages/$name/opened.dom" | grep CONSOLE || true)
  [ -z "$console" ] || fail "the console of $name is not empty: $console" "open $pages/$name/report.html"
  python3 - "$pages/$name" <<'PYTHON'
import re, sys

source, opened = open(sys.argv[1] + "/report.html").read(), open(sys.argv[1] + "/opened.dom").read()
figures = source.count("<figure ")
counts = {
    "two drawings for each chart": (len(re.findall(r'<svg class="chart (?:wd|nw)', opened)), 2 * figures),
    "a button for each chart": (opened.count('class="copy"'), figures),
}
for what, (found, wanted) in counts.items():
    if found != wanted:
        sys.exit(f"error: {sys.argv[1]}: {what}: {found} instead of {wanted}\nhint: compare report.html with opened.dom beside it")
print(f"{sys.argv[1]}: {figures} charts")
PYTHON
  for look in 'light 1200,2400' 'narrow 500,4000' 'dark 1200,2400 --blink-settings=preferredColorScheme=0'; do
    read -r as size flag <<<"$look"
    browse --window-size="$size" ${flag:+"$flag"} --screenshot="$pages/$name/$as.png" "$url" 2>/dev/null
    [ -s "$pages/$name/$as.png" ] || fail "no screenshot of $name ($as)" 'try the browser by hand'
  done
  browse --no-pdf-header-footer --print-to-pdf="$pages/$name/print.pdf" "$url" 2>/dev/null
  python3 - "$pages/$name/print.pdf" <<'PYTHON'
import re, sys, zlib

data = open(sys.argv[1], "rb").read()
objects = dict(re.findall(rb"(\d+) 0 obj(.*?)endobj", data, re.S))
pages = [of for of in objects.values() if re.search(rb"/Type\s*/Page\b", of)]
if not pages:
    sys.exit(f"error: {sys.argv[1]} has no page\nhint: print the page by hand")
for number, page in enumerate(pages, 1):
    stream = objects[re.search(rb"/Contents (\d+) 0 R", page).group(1)].split(b"stream", 1)[1].strip(b"\r\n")
    if not re.search(rb"\bT[jJ]\b", zlib.decompressobj().decompress(stream)):
        sys.exit(f"error: page {number} of {sys.argv[1]} is empty\nhint: see the rules for print in style.css")
PYTHON
done
printf 'screenshots are in %s\n' "$pages"
[ "${1:-}" = --install ] || exit 0
for id in verdicts runs percentiles latency-over-size throughput-over-size published-throughput time cpu load time-under-load \
  flows sample-time-over-readers readers rtt-over-nodes hops matched-over-participants trials-ndr all-latencies; do
  grep -q "<figure id=\"$id\"" "$pages"/*/report.html || fail "no page has the chart $id" 'the results above lack what it shows'
done

# axe-core comes in a wheel, and is used here only.
axe=$root/.sdk/axe/axe_playwright_python/axe.min.js
if [ ! -e "$axe" ]; then
  printf 'axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8\n' >"$pages/axe.txt"
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes --upgrade \
    --root-user-action=ignore --target "$root/.sdk/axe" -r "$pages/axe.txt"
fi
violations() { # PAGE WIDTH [FLAG]: prints the rules that the page violates, after the word `violated:`
  python3 - "$1" "$axe" "$pages/axe.html" "$2" <<'PYTHON'
import re, sys

page, axe = (open(path).read() for path in sys.argv[1:3])
width = sys.argv[4]
# Only this copy may execute another script. A window is not narrower than 500 px, but its content can be.
page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
page = page.replace("</head>", f"<style>html{{width:{width}px}}</style></head>")
show = """axe.run().then(r => {
  const ids = r.violations.map(v => v.id), end = document.documentElement.getBoundingClientRect().left + WIDTH;
  const inside = e => e.closest(".scroll,svg,pre,.skip");
  const wide = [...document.body.querySelectorAll("*")].find(e => !inside(e) && e.getBoundingClientRect().right > end + 1);
  if (wide) ids.push("wider-than-the-page-" + wide.tagName);
  for (const chart of [...document.querySelectorAll("figure svg.chart")].filter(e => e.checkVisibility())) {
    const id = chart.closest("figure").id, room = chart.getBoundingClientRect();
    const boxes = [...chart.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    if (boxes.some(([text]) => text.includes("\u2026"))) ids.push("text-is-cut-" + id);
    if (boxes.some(([, b]) => b.left < room.left - 2 || b.right > room.right + 2)) ids.push("text-is-outside-" + id);
    const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
    if (boxes.some(([, a], i) => boxes.slice(i + 1).some(([, b]) => on(a, b)))) ids.push("text-on-text-" + id);
  }
  document.title = "violated:" + ids.join(" ") + ";" })""".replace("WIDTH", width)
open(sys.argv[3], "w").write(page.replace("</body>", f"<script>{axe}</script><script>{show}</script></body>"))
PYTHON
  browse --window-size="$(($2 < 500 ? 500 : $2)),2400" --virtual-time-budget=30000 ${3:+"$3"} --dump-dom "file://$pages/axe.html" 2>/dev/null |
    sed -nE 's/.*<title>(violated:[^<]*;)<.*/\1/p'
}
# A page of 500 runs is laid out within a second, in the quickest of three attempts: the host may be busy.
size=$(stat -c %s "$pages/large/report.html")
[ "$size" -lt 2000000 ] || fail "the page of 500 runs has $size bytes" 'see the limits in crates/html-report/src/figures/limits.rs'
python3 - "$pages/large/report.html" "$pages/timed.html" <<'PYTHON'
import re, sys

page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", open(sys.argv[1]).read())
show = 'document.body.offsetHeight; document.title = "opened:" + Math.round(performance.now()) + ";"'
open(sys.argv[2], "w").write(page.replace("</body>", f"<script>{show}</script></body>"))
PYTHON
opened=$(for _ in 1 2 3; do browse --dump-dom "file://$pages/timed.html" 2>/dev/null | sed -nE 's/.*<title>opened:([0-9]+);<.*/\1/p'; done | sort -n | head -n 1)
[ "${opened:-1000}" -lt 1000 ] || fail "the page of 500 runs opens in ${opened:-an unknown time} ms" 'open large/report.html with the profiler of a browser'
printf 'the page of 500 runs has %s bytes and opens in %s ms\n' "$size" "$opened"

sed 's/<html lang="[a-z]*"/<html/' "$pages/sizes/report.html" >"$pages/planted.html"
[ "$(violations "$pages/planted.html" 1200)" = 'violated:html-has-lang;' ] || fail 'axe-core did not find a planted violation' 'see planted.html'
sed 's|</main>|<p style="width:2000px">wide</p></main>|' "$pages/sizes/report.html" >"$pages/planted.html"
[ "$(violations "$pages/planted.html" 390)" = 'violated:wider-than-the-page-P;' ] || fail 'a planted wide element was not found' 'see planted.html'
for name in "${shown[@]}"; do
  for look in 1200 390 '1200 --blink-settings=preferredColorScheme=0' '390 --blink-settings=preferredColorScheme=0'; do
    read -r width flag <<<"$look"
    found=$(violations "$pages/$name/report.html" "$width" "$flag")
    [ "$found" = 'violated:;' ] || fail "$name/report.html ($look): ${found:-no answer of axe-core}" 'https://dequeuniversity.com/rules/axe explains the rules'
  done
done
printf 'axe-core finds no violation\n'
