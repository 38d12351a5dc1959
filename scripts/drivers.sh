#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds drivers of the tree with their middleware into target/drivers/. If a driver has a fetch.sh, it first fetches the
# middleware into .sdk/; driver.sh builds the driver. The name of a library contains the version of its middleware. For the
# default version, the name without a version is a link to it.
#
#   scripts/drivers.sh [--tests] [DRIVER[@VERSION]]...     without names: all of drivers/, with the default versions
#
# With --tests, also the tests and bare loops of drivers in C and C++; those in Rust build theirs when they run.
. "$(dirname -- "$0")/common.sh"

tests=()
if [ "${1:-}" = --tests ]; then tests=(--tests) && shift; fi
# Folders without a build file contain code that drivers share.
[ $# -gt 0 ] || set -- $(ls drivers/*/Cargo.toml drivers/*/CMakeLists.txt | cut -d/ -f2)

# In a directory of their own, because cargo locks the one that it builds in: the programs can be built at the same time.
rust=()
for wanted in "$@"; do [ ! -f "drivers/$wanted/Cargo.toml" ] || rust+=("$wanted"); done
if [ ${#rust[@]} -gt 0 ]; then
  say "drivers in Rust: ${rust[*]}"
  CARGO_TARGET_DIR='' scripts/driver.sh $(printf -- '--source drivers/%s ' "${rust[@]}") \
    --out "$CARGO_TARGET_DIR/drivers" --build "$CARGO_TARGET_DIR/rust-drivers" >/dev/null
fi

for wanted in "$@"; do
  driver=${wanted%%@*} version='' prefix=''
  source=drivers/$driver
  [ ! -f "$source/Cargo.toml" ] || continue
  say "driver $wanted"
  if [ -x "$source/fetch.sh" ]; then
    versions=$("$source/fetch.sh" --versions)
    if [ "$driver" != "$wanted" ]; then
      version=${wanted#*@}
      cut -f 1 <<<"$versions" | grep -qxF -- "$version" ||
        fail "version $version of $driver not found" "available: $(cut -f 1 <<<"$versions" | paste -sd ' ')"
    else
      # The first version is the default. It is not fetched if its licence must be accepted first; the driver then builds
      # without the middleware.
      IFS=$'\t' read -r version _ _ terms <<<"$versions"
      [ "$terms" != accept ] || version=''
    fi
    [ -z "$version" ] || prefix=$("$source/fetch.sh" "$version")
  fi
  library=$(scripts/driver.sh --source "$source" --out "$CARGO_TARGET_DIR/drivers" \
    --build "$CARGO_TARGET_DIR/cmake/$wanted" ${version:+--version "$version"} ${prefix:+--prefix "$prefix"} "${tests[@]}")
  if [ "$driver" = "$wanted" ] && [ -n "$version" ]; then
    ln -sfn "${library##*/}" "${library%/*}/libddsmark_$driver.so"
  fi
done
