#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/fuzz.sh [SECONDS] [TARGET]...
#        scripts/fuzz.sh replay
#
# `replay` runs the targets over the corpus of the tree, as `make test` does, and then shows that a planted defect fails.
#
# Runs the fuzz targets in fuzz/targets, the parsers of untrusted input, at the same time for SECONDS, by default 20. Starts
# from the corpus of the tree, and keeps inputs that reach new code in the target directory. Needs a nightly toolchain, for
# the coverage that guides libFuzzer. Without one, the targets only run over the corpus.
. "$(dirname -- "$0")/common.sh"

if [ "${1:-}" = replay ]; then
  # Exactly as scripts/test.sh builds it.
  cargo build --quiet --locked --workspace --all-features --bins --tests
  replay() { # the inputs of one target, one by one
    (ulimit -v 2097152 && exec timeout 300 "$CARGO_TARGET_DIR/debug/$1" -timeout=10 "fuzz/corpus/$1"/*) \
      >"$CARGO_TARGET_DIR/replay-$1.log" 2>&1
  }
  ! FUZZ_PLANTED_DEFECT=1 replay header && grep -q 'panicked at.*targets/header.rs' "$CARGO_TARGET_DIR/replay-header.log" ||
    fail 'the planted defect was not found' "see $CARGO_TARGET_DIR/replay-header.log"
  for target in fuzz/targets/*.rs; do
    target=$(basename "$target" .rs)
    replay "$target" || fail "fuzz target \`$target\` failed on an input of its corpus" \
      "$CARGO_TARGET_DIR/replay-$target.log names the input"
    printf '%s: %s inputs\n' "$target" "$(grep -c '^Executed ' "$CARGO_TARGET_DIR/replay-$target.log")"
  done
  exit 0
fi

seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "\`$seconds\` is not a number of seconds" 'scripts/fuzz.sh [SECONDS] [TARGET]...'
targets=("${@:2}")
if [ ${#targets[@]} = 0 ]; then
  for target in fuzz/targets/*.rs; do targets+=("$(basename "$target" .rs)"); done
fi
for target in "${targets[@]}"; do
  [ -f "fuzz/targets/$target.rs" ] || fail "fuzz target \`$target\` not found" 'list fuzz/targets'
done

# A separate directory: only the fuzz targets are built with these flags.
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
build=(build --profile fuzz --locked --package fuzz --target "$host")
for target in "${targets[@]}"; do build+=(--bin "$target"); done
if nightly=1 && cargo +nightly --version >/dev/null 2>&1; then
  say "fuzz: building with $(rustc +nightly --version)"
  # The passes that libFuzzer needs. With --target they do not apply to build scripts.
  RUSTFLAGS='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares' cargo +nightly "${build[@]}"
else
  nightly=
  say 'fuzz: no nightly toolchain: the targets only run over the corpus, without new inputs'
  printf 'hint: rustup toolchain install nightly --profile minimal\n'
  cargo "${build[@]}"
fi

run() { # one target, with its output in a log
  local target=$1 inputs=$CARGO_TARGET_DIR/inputs/$1 found=$CARGO_TARGET_DIR/found/$1 what=()
  mkdir -p "$inputs" "$found"
  if [ -n "$nightly" ]; then
    what=("-max_total_time=$seconds" -max_len=65536 "$inputs" "fuzz/corpus/$target")
  else
    # single inputs: without coverage, libFuzzer does not read a directory
    what=("fuzz/corpus/$target"/* $(find "$inputs" -type f))
  fi
  # a request for gigabytes fails, and the target aborts
  ulimit -v 2097152
  exec "$CARGO_TARGET_DIR/$host/fuzz/$target" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    "-artifact_prefix=$found/" "${what[@]}" >"$CARGO_TARGET_DIR/$target.log" 2>&1
}

say "fuzz: ${targets[*]}, each for $seconds s"
declare -A running
trap '[ ${#running[@]} = 0 ] || kill "${running[@]}" 2>/dev/null || true' EXIT
for target in "${targets[@]}"; do
  run "$target" &
  running[$target]=$!
done
failed=0
for target in "${targets[@]}"; do
  log=$CARGO_TARGET_DIR/$target.log
  if wait "${running[$target]}"; then
    printf '%s: %s inputs tried, nothing found\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | grep . || grep -c '^Executed ' "$log")"
  else
    failed=1
    input=$(sed -n 's/.*Test unit written to //p; s/^Running: //p' "$log" | tail -1)
    printf 'error: fuzz target `%s` failed on the input %s\n' "$target" "${input:-(none written)}" >&2
    grep -m1 -A1 'panicked at\|^==[0-9]*== *ERROR\|memory allocation of' "$log" | sed 's/^/  /' >&2 || tail -3 "$log" >&2
    printf 'hint: reproduce it with `%s %s`; see its output in %s\n' \
      "$CARGO_TARGET_DIR/$host/fuzz/$target" "$input" "$log" >&2
  fi
  unset "running[$target]"
done
exit "$failed"
