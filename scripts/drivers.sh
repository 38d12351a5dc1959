#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds every driver of the tree, with its middleware, into target/drivers/. Each builds alone: with cargo, or with
# cmake after its fetch.sh, where it has one, has brought the middleware into .sdk/.
#
#   scripts/drivers.sh [DRIVER]...       without names: all of drivers/
. "$(dirname -- "$0")/common.sh"

out=$CARGO_TARGET_DIR/drivers
mkdir -p "$out" "$CARGO_TARGET_DIR/cmake"
[ $# -gt 0 ] || set -- $(ls drivers)

for driver in "$@"; do
  source=drivers/$driver
  library=libddsmark_$driver.so
  if [ -f "$source/Cargo.toml" ]; then
    say "driver $driver"
    cargo build --release --manifest-path "$source/Cargo.toml"
    # A new file each time: a copy over the old one would change the code of a process that runs it.
    cp "$CARGO_TARGET_DIR/release/$library" "$out/$library.new"
    cmp -s "$out/$library.new" "$out/$library" && rm "$out/$library.new" || mv "$out/$library.new" "$out/$library"
  elif [ -f "$source/CMakeLists.txt" ]; then
    say "driver $driver"
    # What comes under a licence that somebody must accept first is not fetched here; such a driver builds without.
    if [ -x "$source/fetch.sh" ] && ! grep -q DDSMARK_ACCEPT_ "$source/fetch.sh"; then "$source/fetch.sh"; fi
    prefixes=$(printf '%s;' "$root"/.sdk/"$driver"-*)
    build=$CARGO_TARGET_DIR/cmake/$driver
    log=$build.log
    # Not as a child of this make: it would print every folder that it enters.
    unset MAKEFLAGS MAKELEVEL
    cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DBUILD_BENCH=ON \
      -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$out" -DCMAKE_PREFIX_PATH="${prefixes%;}" >"$log" 2>&1 ||
      { cat "$log" >&2; fail "cannot configure driver $driver" "its middleware belongs into .sdk/$driver-VERSION"; }
    cmake --build "$build" --parallel "$(nproc)" >>"$log" 2>&1 ||
      { cat "$log" >&2; fail "cannot build driver $driver" 'the first line with "error" tells the cause'; }
  else
    fail "there is no driver \`$driver\`: neither Cargo.toml nor CMakeLists.txt in $source" "ls drivers"
  fi
done
