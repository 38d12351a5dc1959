#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds one driver from its sources, against one version of its middleware, and prints the path of the library on
# standard output; what else it says goes to standard error. `make drivers` and `ddsmark drivers install`, which carries
# this text, build drivers with it and with nothing else.
#
#   scripts/driver.sh --source DIR... --out DIR --build DIR [--version VERSION] [--prefix DIR] [--rpath DIR] [--tests]
#
#   --source   a folder with a Cargo.toml or a CMakeLists.txt; its name is the driver's. Again for more drivers in Rust of
#              one workspace, which cargo then builds at the same time
#   --out      where the library is put: libddsmark_NAME.so, and with a version libddsmark_NAME@VERSION.so
#   --build    where it is built; by cargo only where CARGO_TARGET_DIR is not set
#   --version  of the middleware, in full; cmake gets it as DDSMARK_VERSION
#   --prefix   where that is installed; cmake gets it as CMAKE_PREFIX_PATH
#   --rpath    where the library looks for the middleware instead, such as $ORIGIN/..; cmake gets it as DDSMARK_RPATH
#   --tests    builds the driver's tests and its bare loop, too
set -euo pipefail

fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

need() { # a program to build with, then how to get it
  command -v "${1%% *}" >/dev/null || fail "cannot build driver $name: \`$1\` is not in PATH" "$2"
}

sources=() out='' build='' version='' prefix='' rpath='' tests=OFF
while [ $# -gt 0 ]; do
  case $1 in
    --source)
      [ $# -gt 1 ] || fail "scripts/driver.sh: $1 has no value" 'the top of the script says what there is'
      sources+=("$2")
      shift 2
      ;;
    --out | --build | --version | --prefix | --rpath)
      [ $# -gt 1 ] || fail "scripts/driver.sh: $1 has no value" 'the top of the script says what there is'
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    --tests) tests=ON && shift ;;
    *) fail "scripts/driver.sh: unknown word \`$1\`" 'the top of the script says what there is' ;;
  esac
done
[ ${#sources[@]} -gt 0 ] && [ -n "$out" ] && [ -n "$build" ] ||
  fail 'scripts/driver.sh: --source, --out and --build are needed' 'the top of the script says what there is'

mkdir -p "$out" "$build"
source=$(cd -- "${sources[0]}" && pwd) out=$(cd -- "$out" && pwd) build=$(cd -- "$build" && pwd)
name=${source##*/}
library=$out/libddsmark_$name${version:+@$version}.so
log=$build.log

# Not as a child of some make: it would print every folder that it enters.
unset MAKEFLAGS MAKELEVEL

if [ -f "$source/Cargo.toml" ]; then
  [ -z "$version$prefix" ] || fail "driver $name is built by cargo, which knows no version and no prefix" 'leave them out'
  need cargo 'install a Rust toolchain: https://rustup.rs'
  need cc 'apt-get install -y gcc libc6-dev'
  export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$build}
  packages=()
  if [ ${#sources[@]} -gt 1 ]; then
    for each in "${sources[@]}"; do
      packages+=(--package "$(sed -n '/^\[package\]/,/^\[/s/^name *= *"\(.*\)"/\1/p' "$each/Cargo.toml")")
    done
  fi
  cargo build --release --manifest-path "$source/Cargo.toml" "${packages[@]}" >&2
  for each in "${sources[@]}"; do
    library=$out/libddsmark_$(basename "$each").so
    # A new file each time: a copy over the old one would change the code of a process that runs it.
    cp "$CARGO_TARGET_DIR/release/${library##*/}" "$library.new"
    if cmp -s "$library.new" "$library"; then rm "$library.new"; else mv "$library.new" "$library"; fi
    printf '%s\n' "$library"
  done
  exit 0
elif [ -f "$source/CMakeLists.txt" ]; then
  [ ${#sources[@]} = 1 ] || fail "driver $name is built by cmake, one at a time" 'name one --source'
  need cmake 'apt-get install -y cmake'
  need "${CC:-cc}" 'apt-get install -y gcc libc6-dev'
  ! grep -q '^project(.*CXX' "$source/CMakeLists.txt" || need "${CXX:-c++}" 'apt-get install -y g++'
  [ -n "${CMAKE_GENERATOR:-}" ] || need make 'apt-get install -y make'
  cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release "-DBUILD_TESTING=$tests" "-DBUILD_BENCH=$tests" \
    "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$out" "-DCMAKE_PREFIX_PATH=$prefix" "-DDDSMARK_VERSION=$version" \
    "-DDDSMARK_RPATH=$rpath" >"$log" 2>&1 ||
    { cat "$log" >&2; fail "cannot configure driver $name" 'the first line with "Error" tells the cause'; }
  cmake --build "$build" --parallel "$(nproc)" >>"$log" 2>&1 ||
    { cat "$log" >&2; fail "cannot build driver $name; the log is $log" 'the first line with "error" tells the cause'; }
else
  fail "there is no driver in $source: neither Cargo.toml nor CMakeLists.txt" 'name the folder of a driver'
fi
# One that is not to be found beside the others stays where it is built.
[ -f "$library" ] || library=$build/libddsmark_$name.so
[ -f "$library" ] || fail "driver $name was built, but there is no libddsmark_$name${version:+@$version}.so in $out" \
  'see DDSMARK_VERSION and CMAKE_LIBRARY_OUTPUT_DIRECTORY in the CMakeLists.txt of the other drivers'
printf '%s\n' "$library"
