#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: scripts/fuzz.sh [SECONDS] [TARGET]...
#
# Runs the fuzz targets in fuzz/src/targets, the parsers of untrusted input, at the same time for SECONDS, by default 20. Starts
# from the corpus of the tree, and keeps inputs that reach new code in the target directory. Needs a nightly toolchain, for
# the coverage that guides libFuzzer. Without one, the targets only run over the corpus, as in `make test`.
. "$(dirname -- "$0")/common.sh"

seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "\`$seconds\` is not a number of seconds" 'scripts/fuzz.sh [SECONDS] [TARGET]...'
targets=("${@:2}")
if [ ${#targets[@]} = 0 ]; then
  for target in fuzz/corpus/*; do targets+=("${target##*/}"); done
fi
for target in "${targets[@]}"; do
  [ -d "fuzz/corpus/$target" ] || fail "fuzz target \`$target\` not found" 'list fuzz/corpus'
done

# A separate directory: only the fuzz targets are built with these flags.
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
build=(build --profile fuzz --locked --package fuzz --bin fuzz --target "$host")
if nightly=1 && cargo +nightly --version >/dev/null 2>&1; then
  say "fuzz: building with $(rustc +nightly --version)"
  # The passes that libFuzzer needs. With --target they do not apply to build scripts.
  RUSTFLAGS='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
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
  local program=$CARGO_TARGET_DIR/$host/fuzz/fuzz
  mkdir -p "$inputs" "$found"
  if [ -n "$nightly" ]; then
    what=(-timeout=10 -rss_limit_mb=1024 -print_final_stats=1 "-artifact_prefix=$found/"
      "-max_total_time=$seconds" -max_len=65536 "$inputs" "fuzz/corpus/$target")
  else
    what=("$target" "fuzz/corpus/$target"/* $(find "$inputs" -type f))
  fi
  # a request for gigabytes fails, and the target aborts
  ulimit -v 2097152
  FUZZ_TARGET=$target exec "$program" "${what[@]}" >"$CARGO_TARGET_DIR/$target.log" 2>&1
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
    printf 'hint: reproduce it with `cargo run --package fuzz -- %s %s`; see its output in %s\n' "$target" "$input" "$log" >&2
  fi
  unset "running[$target]"
done
exit "$failed"
