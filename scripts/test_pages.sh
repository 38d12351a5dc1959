#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Opens the pages of small results in headless Chromium, light, dark and narrow: the console stays empty, all drawings are there, and
# the script has added its buttons. Screenshots stay in target/pages. With `--install` it installs Chromium if it is missing.
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
measure() { # NAME ARGUMENTS: a small result with its page
  local name=$1
  shift
  "$CARGO_TARGET_DIR/debug/ddsmark" "$@" --driver udp --quiet --out "$pages/$name" >"$pages/$name.txt"
}
measure sizes characterize --size 64,1024 --runs 3 --warm-up 50ms --duration 100ms
measure loads load --size 64 --rate 500,2000 --runs 3 --warm-up 50ms --duration 100ms

browse() { # ARGUMENTS: what the browser prints, at most 60 s
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" "$@"
}
for name in sizes loads; do
  url=file://$pages/$name/report.html
  console=$(browse --enable-logging=stderr --v=0 --dump-dom "$url" 2>&1 >"$pages/$name.dom" | grep CONSOLE || true)
  [ -z "$console" ] || fail "the console of $name is not empty: $console" "open $pages/$name/report.html"
  python3 - "$pages/$name" <<'PYTHON'
import re, sys

source, opened = open(sys.argv[1] + "/report.html").read(), open(sys.argv[1] + ".dom").read()
figures = source.count("<figure ")
counts = {
    "two drawings for each chart": (len(re.findall(r'<svg class="chart (?:wd|nw)', opened)), 2 * figures),
    "a button for each chart": (opened.count('class="copy"'), figures),
}
for what, (found, wanted) in counts.items():
    if found != wanted or not wanted:
        sys.exit(f"error: {sys.argv[1]}: {what}: {found} instead of {wanted}\nhint: compare report.html with the .dom beside it")
print(f"{sys.argv[1]}: {figures} charts")
PYTHON
  for look in 'light 1200,2400' 'narrow 500,4000' 'dark 1200,2400 --blink-settings=preferredColorScheme=0'; do
    read -r as size flag <<<"$look"
    browse --window-size="$size" ${flag:+"$flag"} --screenshot="$pages/$name-$as.png" "$url" 2>/dev/null
    [ -s "$pages/$name-$as.png" ] || fail "no screenshot of $name ($as)" 'try the browser by hand'
  done
done
printf 'screenshots are in %s\n' "$pages"
