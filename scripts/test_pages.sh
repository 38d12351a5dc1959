#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Opens the pages of small results in headless Chromium, light, dark and narrow: the console stays empty, all drawings are there, and
# the script has added its buttons. Screenshots stay in target/pages. With `--install` it installs Chromium if it is missing, and checks
# with axe-core that readers with a disability can use the pages.
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
[ "${1:-}" = --install ] || exit 0

# axe-core comes in a wheel, and is used here only.
axe=$root/.sdk/axe/axe_playwright_python/axe.min.js
if [ ! -e "$axe" ]; then
  printf 'axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8\n' >"$pages/axe.txt"
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes --upgrade \
    --root-user-action=ignore --target "$root/.sdk/axe" -r "$pages/axe.txt"
fi
violations() { # PAGE [FLAG]: prints the rules that the page violates, after the word `violated:`
  python3 - "$1" "$axe" "$pages/axe.html" <<'PYTHON'
import re, sys

page, axe = (open(path).read() for path in sys.argv[1:3])
# Only this copy may execute another script.
page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
show = 'axe.run().then(r => { document.title = "violated:" + r.violations.map(v => v.id).join(" ") + ";" })'
open(sys.argv[3], "w").write(page.replace("</body>", f"<script>{axe}</script><script>{show}</script></body>"))
PYTHON
  browse --virtual-time-budget=30000 ${2:+"$2"} --dump-dom "file://$pages/axe.html" 2>/dev/null | sed -nE 's/.*<title>(violated:[^<]*;)<.*/\1/p'
}
sed 's/<html lang="[a-z]*"/<html/' "$pages/sizes/report.html" >"$pages/planted.html"
[ "$(violations "$pages/planted.html")" = 'violated:html-has-lang;' ] || fail 'axe-core did not find a planted violation' 'see planted.html'
for name in sizes loads; do
  for flag in '' --blink-settings=preferredColorScheme=0; do
    found=$(violations "$pages/$name/report.html" "$flag")
    [ "$found" = 'violated:;' ] || fail "$name/report.html ${flag:-light}: ${found:-no answer of axe-core}" 'https://dequeuniversity.com/rules/axe explains the rules'
  done
done
printf 'axe-core finds no violation\n'
