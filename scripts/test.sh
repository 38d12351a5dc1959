#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests: of the workspace (with those that run real processes on real middleware, and the fuzz targets over their
# corpus), and of each driver; and `make lint`. With the argument `all` also tests that take long. All stages are executed,
# and the list of their durations marks those that failed.
. "$(dirname -- "$0")/common.sh"
checks='' checks_log=$CARGO_TARGET_DIR/checks.log
beside=() logs=()
at_exit() {
  for group in $checks "${beside[@]}"; do kill -- "-$group" 2>/dev/null || true; done
  print_stages
}
trap at_exit EXIT
trap 'exit 130' INT TERM

# Programs and tests in one build, so that nothing is compiled twice; the end-to-end tests run the programs.
say 'build: the workspace with its tests, and the drivers with theirs'
checked scripts/build.sh --tests -- "${workspace[@]}" "${all_targets[@]}"
# With these, nextest does not call cargo, which would wait for the checks below.
cargo metadata --all-features --locked --format-version 1 >"$CARGO_TARGET_DIR/packages.json"
checked "$tools/bin/cargo-nextest" nextest list "${workspace[@]}" --list-type binaries-only --message-format json \
  >"$CARGO_TARGET_DIR/tests.json"

rust_drivers=("${workspace[@]}" --manifest-path drivers/Cargo.toml)

# Checks that measure nothing. Tests wait most of the time, and these checks use only the time that is left.
idle_checks() {
  attempt 'lint' scripts/idle.sh scripts/lint.sh
  attempt 'cargo test: examples in the documentation' checked scripts/idle.sh cargo test "${workspace[@]}" --doc --quiet
  attempt 'build: the tests of drivers in Rust' checked scripts/idle.sh cargo test "${rust_drivers[@]}" --no-run --quiet
  print_stages
  all_passed
}
set -m # a process group, which at_exit ends
(idle_checks) </dev/null >"$checks_log" 2>&1 &
checks=$!
set +m

# `all` also runs tests that take long, and end-to-end tests then measure three blocks where one is enough.
export NEXTEST_PROFILE=default
if [ "${1:-}" = all ]; then export DDSMARK_TEST_ALL=1 NEXTEST_PROFILE=all; fi

nextest() { # a command of nextest, and its arguments
  "$tools/bin/cargo-nextest" nextest "$@" --cargo-metadata "$CARGO_TARGET_DIR/packages.json" \
    --binaries-metadata "$CARGO_TARGET_DIR/tests.json"
}

# Tests that failed are executed again when nothing else is, unless there are more of them than disturbed neighbours explain.
report=$CARGO_TARGET_DIR/nextest/$NEXTEST_PROFILE/junit.xml most_alone=6
failed_tests() { # prints the id of the program and the name of each test that failed
  [ ! -e "$report" ] || tr '\n' ' ' <"$report" | sed 's/</\n</g' | awk '
    $1 == "<testcase" { match($0, / classname="[^"]*"/); program = substr($0, RSTART + 12, RLENGTH - 13)
      match($0, / name="[^"]*"/); test = substr($0, RSTART + 7, RLENGTH - 8) }
    $1 == "<failure" || $1 == "<error" { print program, test }' | sort -u
}
filter_of() { # lines of failed_tests; prints a filter of nextest
  sed -E 's/^([^ ]+) (.*)$/(binary_id(=\1) \& test(=\2))/' <<<"$1" | paste -sd '|'
}

# Tests that need root fail without it; so they are left out, and named. The list of stages shows it, too.
without=()
if [ "$(id -u)" != 0 ]; then
  needs_root=$(needs_root)
  without=(-E "not ($needs_root)")
  say 'NOT EXECUTED: these tests need root: `sudo make test`'
  nextest list -E "$needs_root" --message-format oneline
fi

# The tests wait for most of their time, so many run at once, and one that measures may fail because of its neighbours.
say 'cargo nextest: the workspace'
rm -f "$report"
nextest run "${without[@]}" && tests_passed=1 || tests_passed=''

attempt 'python: the package of the wheel' scripts/test_python.sh

say 'lint, examples in the documentation: the rest, and the output'
wait "$checks" || stage_failed
checks=''
cat "$checks_log"

if [ -z "$tests_passed" ]; then
  failed=$(failed_tests)
  printf '\nfailed beside other tests:\n%s\n' "${failed:-unknown, see above}"
  if [ -n "$failed" ] && [ "$(wc -l <<<"$failed")" -le "$most_alone" ]; then
    attempt 'cargo nextest: the tests that failed, alone' nextest run --test-threads 1 -E "$(filter_of "$failed")"
    printf 'A test that passes only alone has a defect: correct it.\n'
  else
    say 'cargo nextest: too many failures for a second execution'
    stage_failed
  fi
fi

# The stages that follow mostly wait, so several functions with stages run at the same time.
start_beside() { # a function with stages that may fail
  local log=$CARGO_TARGET_DIR/$1.log
  rm -f "$log.stages"
  set -m # a process group, which at_exit ends
  (
    stages='' failures=0
    "$1"
    end_stage
    printf '%s' "$stages" >"$log.stages"
    exit $((failures > 0))
  ) </dev/null >"$log" 2>&1 &
  set +m
  beside+=("$!")
  logs+=("$log")
}
end_beside() { # waits for these functions, and prints their output
  local number status
  for number in "${!beside[@]}"; do
    status=0
    wait "${beside[number]}" || status=$?
    cat "${logs[number]}"
    stages+=$(cat "${logs[number]}.stages")$'\n'
    [ "$status" = 0 ] || failures=$((failures + 1))
  done
  beside=()
}
pages() {
  if command -v chromium >/dev/null; then
    attempt 'pages in a browser' scripts/test_pages.sh
  else
    say 'NOT EXECUTED: pages in a browser: `sudo apt-get install chromium`'
  fi
}
drivers_in_rust() {
  attempt 'cargo test: drivers in Rust' checked cargo test "${rust_drivers[@]}" --no-fail-fast
}
drivers_in_c() {
  for tests in "$CARGO_TARGET_DIR"/cmake/*/CTestTestfile.cmake; do
    build=${tests%/*}
    attempt "ctest: drivers/$(basename "$build")" \
      ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel 2
  done
}
end_stage
start_beside pages
start_beside drivers_in_rust
start_beside drivers_in_c
end_beside

if [ "${1:-}" != all ]; then
  all_passed
  exit 0
fi

# An older version beside the default one, on Debian 12, whose packages it uses.
old=cyclonedds@0.10.2
two_versions() {
  scripts/drivers.sh "$old"
  "$CARGO_TARGET_DIR/debug/ddsmark" drivers check "$old"
  local both
  both=$(mktemp -d)
  "$CARGO_TARGET_DIR/debug/ddsmark" characterize --quick --size 64 --workload latency --out "$both/result" \
    --driver "cyclonedds,$old,cyclonedds+$old,$old+cyclonedds"
  rm -r "$both"
}
if (. /etc/os-release && [ "${ID:-}${VERSION_ID:-}" = debian12 ]); then
  attempt "two versions: cyclonedds and $old" two_versions
else
  say "not tried: $old comes as packages of Debian 12, and this is another system"
fi

planted_defect() {
  local planted status
  planted=$(FUZZ_PLANTED_DEFECT=1 scripts/fuzz.sh 20 header 2>&1) && status=0 || status=$?
  if [ "$status" = 0 ] || ! grep -q '^error: fuzz target `header` failed on the input /' <<<"$planted"; then
    printf '%s\n' "$planted" >&2
    fail 'the planted defect was not found' 'see what scripts/fuzz.sh says above'
  fi
}
attempt 'fuzz: a planted defect is found' planted_defect
attempt 'fuzz: 20 s a target' scripts/fuzz.sh 20
all_passed
