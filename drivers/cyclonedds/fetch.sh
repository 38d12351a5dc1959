#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds Cyclone DDS for those who have none, and installs it where the driver finds it.
#
#   drivers/cyclonedds/fetch.sh [PREFIX]        PREFIX: .sdk/cyclonedds-<version> at the repository root
#
# Needs cargo, cmake, a C and a C++ compiler and make (or ninja). Safe to run again: it returns at once when PREFIX
# holds what this script would build, and starts afresh after an interrupted or different build.
#   JOBS=n     how many compilations at once (default: the processors of this host)
#   VERBOSE=1  show the build instead of writing it to a log
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)

package=cyclors         # the registry package that carries the sources, in its folder `cyclonedds`
package_version=0.4.0   # as in sdk/Cargo.lock
version=11.0.1          # of Cyclone DDS inside it
prefix=${1:-$root/.sdk/cyclonedds-$version}

# Release, because a Debug build is several times slower. No SSL, security or shared-memory plug-ins: the driver does
# not use them, and each would pull in whatever this host happens to have.
options="-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_IDLC=ON -DBUILD_DDSPERF=ON
 -DENABLE_ICEORYX=OFF -DENABLE_ICEORYX2=OFF -DENABLE_SSL=OFF -DENABLE_SECURITY=OFF
 -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOCS=OFF -DCMAKE_INSTALL_LIBDIR=lib"
wanted=$(printf 'Cyclone DDS %s from %s %s' "$version" "$package" "$package_version"
         printf ' %s' $options)

say() { printf 'cyclonedds: %s\n' "$*" >&2; }
fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
stamp=$prefix/ddsmark-sdk.stamp
is_done() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; }

if is_done; then
  say "$version is in $prefix"
  exit 0
fi

command -v cargo >/dev/null 2>&1 || fail 'cannot get the sources of Cyclone DDS: `cargo` is not in PATH' \
  'install a Rust toolchain, or use a Cyclone DDS of your own: cmake -DCMAKE_PREFIX_PATH=...'
for tool in cmake:cmake cc:gcc c++:g++; do
  command -v "${tool%%:*}" >/dev/null 2>&1 || fail "cannot build Cyclone DDS: \`${tool%%:*}\` is not in PATH" \
    "apt-get install -y ${tool##*:}"
done
if command -v make >/dev/null 2>&1; then generator='Unix Makefiles'
elif command -v ninja >/dev/null 2>&1; then generator=Ninja
else fail 'cannot build Cyclone DDS: neither `make` nor `ninja` is in PATH' 'apt-get install -y make'
fi

# Only a folder that this script made, or an empty one, is ever removed.
if [ -d "$prefix" ] && [ -n "$(ls -A "$prefix")" ] && [ ! -f "$stamp" ] && [ ! -f "$prefix/ddsmark-sdk.building" ]; then
  fail "cannot install Cyclone DDS in $prefix: it holds something that this script did not put there" \
    'give another folder as the first argument, or empty that one'
fi

# Two of these at the same time would build over each other; the second waits and then finds the work done.
build_root=$root/.sdk/build
mkdir -p "$build_root"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$build_root/cyclonedds.lock"
  flock -n 9 || { say 'another build is running; waiting for it'; flock 9; }
  if is_done; then
    say "$version is in $prefix"
    exit 0
  fi
fi

say "getting the sources: $package $package_version"
host=$(cargo -vV | sed -n 's/^host: //p')
cargo fetch --locked --quiet --target "$host" --manifest-path "$here/sdk/Cargo.toml" ||
  fail "cannot get $package $package_version: \`cargo fetch\` failed, see above" \
    'check the network and the registry settings of cargo, then run this again'
manifest=$(cargo metadata --locked --offline --format-version 1 --filter-platform "$host" \
             --manifest-path "$here/sdk/Cargo.toml" |
           tr ',' '\n' | sed -n "s|.*\"manifest_path\":\"\\([^\"]*/$package-$package_version/Cargo.toml\\)\".*|\\1|p" |
           head -n 1)
[ -n "$manifest" ] || fail "cannot find the folder of $package $package_version: \`cargo metadata\` does not name it" \
  "run \`cargo metadata --manifest-path $here/sdk/Cargo.toml\` and look for $package"
source=${manifest%/Cargo.toml}/cyclonedds
[ -f "$source/CMakeLists.txt" ] ||
  fail "$package $package_version does not carry Cyclone DDS: $source/CMakeLists.txt is missing" \
  'remove that folder, so that cargo unpacks it again, then run this again'

work=$build_root/cyclonedds-$version
log=$build_root/cyclonedds-$version.log
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
rm -rf "$work" "$prefix"
mkdir -p "$work" "$prefix"
: >"$prefix/ddsmark-sdk.building"
: >"$log"

step() { # a name for people, then the command
  name=$1
  shift
  say "$name"
  if [ "${VERBOSE:-0}" = 1 ]; then
    "$@" >&2 || fail "$name failed, see above" 'the first line with "error" tells the cause'
  else
    "$@" >>"$log" 2>&1 || {
      tail -n 25 "$log" >&2
      fail "$name failed; the last lines are above" "the whole log is $log"
    }
  fi
}

# shellcheck disable=SC2086  # $options is a list
step "configuring Cyclone DDS $version" \
  cmake -S "$source" -B "$work" -G "$generator" $options "-DCMAKE_INSTALL_PREFIX=$prefix"
step "building Cyclone DDS $version ($jobs at a time)" cmake --build "$work" --parallel "$jobs"
step "installing in $prefix" cmake --install "$work"

cp "$source/LICENSE" "$source/NOTICE.md" "$prefix/"
rm -rf "$work" "$log"
# Last of all: what is not stamped is not there.
printf '%s\n' "$wanted" >"$stamp.new"
mv "$stamp.new" "$stamp"
rm -f "$prefix/ddsmark-sdk.building"
say "$version is in $prefix"
