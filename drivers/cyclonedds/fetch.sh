#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Brings Cyclone DDS for those who have none, and installs it where the driver finds it.
#
#   drivers/cyclonedds/fetch.sh                      the default version, into .sdk/cyclonedds-VERSION at the root
#   drivers/cyclonedds/fetch.sh VERSION [PREFIX]     that one, or the highest that begins so: 0.10 means 0.10.2
#   drivers/cyclonedds/fetch.sh --versions           a line each, the default first: version, origin, licence, and
#                                                    whether the licence must be accepted first; starts nothing
#
# Prints the prefix on standard output, and what it does on standard error. Safe to run again: it returns at once when
# the prefix holds what this script would put there, and starts afresh after an interrupted or different build. Needs no
# root; for what is built cargo, cmake, a C and a C++ compiler and make (or ninja), for Debian packages apt-get and dpkg.
#   DDSMARK_SDK=DIR  that directory instead of .sdk
#   JOBS=n     how many compilations at once (default: the processors of this host)
#   VERBOSE=1  show the build instead of writing it to a log
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
sdk=${DDSMARK_SDK:-$root/.sdk}
case $sdk in /*) ;; *) sdk=$PWD/$sdk ;; esac

say() { printf 'cyclonedds: %s\n' "$*" >&2; }
fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# -- versions ----------------------------------------------------------------------------------------------------------

cargo_version=0.4.0     # of the package `cyclors`, as in sdk/Cargo.lock; it carries the sources in its folder `cyclonedds`
debian_version=0.10.2-2 # of the packages of Debian 12

versions() {
  printf '%s\t%s\tEPL-2.0 OR BSD-3-Clause\topen\n' \
    11.0.1 "sources in cargo package cyclors $cargo_version" \
    0.10.2 "Debian packages cyclonedds-dev and others $debian_version"
}

case ${1:-} in
--versions)
  versions
  exit 0
  ;;
'') version=$(versions | sed -n 1p | cut -f 1) ;;
*)
  version=$(versions | cut -f 1 | awk -v wanted="$1" '$0 == wanted || index($0, wanted ".") == 1' | sort -V | tail -n 1)
  [ -n "$version" ] || fail "there is no Cyclone DDS $1 here" \
    "versions are $(versions | cut -f 1 | paste -sd ' ' -); with one of your own: \`ddsmark drivers install cyclonedds --prefix DIR\`"
  ;;
esac
prefix=${2:-$sdk/cyclonedds-$version}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

# Release, because a Debug build is several times slower. No SSL, security or shared-memory plug-ins: the driver does
# not use them, and each would pull in whatever this host happens to have.
options="-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_IDLC=ON -DBUILD_DDSPERF=ON
 -DENABLE_ICEORYX=OFF -DENABLE_ICEORYX2=OFF -DENABLE_SSL=OFF -DENABLE_SECURITY=OFF -DENABLE_TCP=ON
 -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOCS=OFF -DCMAKE_INSTALL_LIBDIR=lib"

# What a prefix must say of itself, so that nothing needs to be done.
case $version in
11.*) wanted=$(printf 'Cyclone DDS %s from cyclors %s' "$version" "$cargo_version"; printf ' %s' $options) ;;
*) wanted="Cyclone DDS $version from Debian packages $debian_version, layout 2" ;;
esac
stamp=$prefix/ddsmark-sdk.stamp
is_done() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; }

finish() {
  say "$version is in $prefix"
  printf '%s\n' "$prefix"
  exit 0
}

# -- from the sources in a cargo package -------------------------------------------------------------------------------

check_tools_to_build() {
  command -v cargo >/dev/null 2>&1 || fail 'cannot get the sources of Cyclone DDS: `cargo` is not in PATH' \
    'install a Rust toolchain, or use a Cyclone DDS of your own: `ddsmark drivers install cyclonedds --prefix DIR`'
  for tool in cmake:cmake cc:gcc c++:g++; do
    command -v "${tool%%:*}" >/dev/null 2>&1 || fail "cannot build Cyclone DDS: \`${tool%%:*}\` is not in PATH" \
      "apt-get install -y ${tool##*:}"
  done
  if command -v make >/dev/null 2>&1; then generator='Unix Makefiles'
  elif command -v ninja >/dev/null 2>&1; then generator=Ninja
  else fail 'cannot build Cyclone DDS: neither `make` nor `ninja` is in PATH' 'apt-get install -y make'
  fi
}

install_from_cargo() {
  say "getting the sources: cyclors $cargo_version"
  host=$(cargo -vV | sed -n 's/^host: //p')
  cargo fetch --locked --quiet --target "$host" --manifest-path "$here/sdk/Cargo.toml" >&2 ||
    fail "cannot get cyclors $cargo_version: \`cargo fetch\` failed, see above" \
      'check the network and the registry settings of cargo, then run this again'
  manifest=$(cargo metadata --locked --offline --format-version 1 --filter-platform "$host" \
               --manifest-path "$here/sdk/Cargo.toml" |
             tr ',' '\n' | sed -n "s|.*\"manifest_path\":\"\\([^\"]*/cyclors-$cargo_version/Cargo.toml\\)\".*|\\1|p" |
             head -n 1)
  [ -n "$manifest" ] || fail "cannot find the folder of cyclors $cargo_version: \`cargo metadata\` does not name it" \
    "run \`cargo metadata --manifest-path $here/sdk/Cargo.toml\` and look for cyclors"
  source=${manifest%/Cargo.toml}/cyclonedds
  [ -f "$source/CMakeLists.txt" ] ||
    fail "cyclors $cargo_version does not carry Cyclone DDS: $source/CMakeLists.txt is missing" \
    'remove that folder, so that cargo unpacks it again, then run this again'
  # shellcheck disable=SC2086  # $options is a list
  step "configuring Cyclone DDS $version" \
    cmake -S "$source" -B "$work" -G "$generator" $options "-DCMAKE_INSTALL_PREFIX=$prefix"
  step "building Cyclone DDS $version ($jobs at a time)" cmake --build "$work" --parallel "$jobs"
  step "installing in $prefix" cmake --install "$work"
  cp "$source/LICENSE" "$source/NOTICE.md" "$prefix/"
}

# -- from Debian packages, without installing them ---------------------------------------------------------------------

check_tools_to_unpack() {
  for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null 2>&1 || fail "cannot get Cyclone DDS $version: \`$tool\` is not in PATH" \
      "it comes as packages of Debian 12; there is also $(versions | sed -n 1p | cut -f 1)"
  done
}

install_from_debian() {
  iceoryx=2.0.3+dfsg-1 # Debian's library is linked against it
  packages="cyclonedds-dev=$debian_version cyclonedds-tools=$debian_version libddsc0debian=$debian_version
    libcycloneddsidl0=$debian_version libiceoryx-binding-c2=$iceoryx libiceoryx-posh2=$iceoryx
    libiceoryx-hoofs2=$iceoryx libiceoryx-platform2=$iceoryx"
  cd "$work"
  say "getting the packages: cyclonedds-dev $debian_version and what it needs"
  # shellcheck disable=SC2086  # $packages is a list
  if ! apt-get download $packages >>"$log" 2>&1; then
    # Without lists, or with old ones: lists in this directory, which needs no root.
    mkdir -p apt/lists/partial apt/cache/archives/partial
    apt="apt-get -o Dir::State::lists=$work/apt/lists -o Dir::Cache=$work/apt/cache -o APT::Sandbox::User="
    step 'getting lists of packages' $apt update
    # shellcheck disable=SC2086
    $apt download $packages >>"$log" 2>&1 || {
      tail -n 25 "$log" >&2
      fail "this system's package archives do not have Cyclone DDS $debian_version; the last lines are above" \
        "it is in Debian 12; there is also $(versions | sed -n 1p | cut -f 1)"
    }
  fi
  for package in ./*.deb; do
    step "unpacking ${package#./}" dpkg -x "$package" unpacked
  done
  # From /usr to the prefix, where CMake looks.
  for folder in bin include lib share; do
    mv "unpacked/usr/$folder" "$prefix/$folder"
  done
  for folder in "$prefix"/include/*-linux-gnu*; do # as the compiler would look there in /usr
    cp -r "$folder/." "$prefix/include/"
    rm -r "$folder"
  done
  # Debian's library looks for those that it needs in ../lib/TRIPLET, and lies in lib/TRIPLET itself.
  ln -s . "$prefix/lib/lib"
  library=$(echo "$prefix"/lib/*/libddsc.so)
  # Programs: what a library needs in its turn is not looked for there.
  for program in idlc ddsperf; do
    mv "$prefix/bin/$program" "$prefix/bin/$program.bin"
    cat >"$prefix/bin/$program" <<WRAPPER
#!/bin/sh
LD_LIBRARY_PATH='${library%/*}'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec '$prefix/bin/$program.bin' "\$@"
WRAPPER
    chmod +x "$prefix/bin/$program"
  done
  missing=$(LD_LIBRARY_PATH=${library%/*} ldd "$library" | sed -n 's/^\s*\(\S*\) => not found.*/\1/p' | paste -sd ' ' -)
  [ -z "$missing" ] || fail "Debian's Cyclone DDS $version needs libraries that this host has not: $missing" \
    'apt-get install -y libssl3 libacl1'
  cd "$root"
}

# -- either ------------------------------------------------------------------------------------------------------------

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

! is_done || finish
case $version in
11.*) check_tools_to_build ;;
*) check_tools_to_unpack ;;
esac

# Only a folder that this script made, or an empty one, is ever removed.
if [ -d "$prefix" ] && [ -n "$(ls -A "$prefix")" ] && [ ! -f "$stamp" ] && [ ! -f "$prefix/ddsmark-sdk.building" ]; then
  fail "cannot install Cyclone DDS in $prefix: it holds something that this script did not put there" \
    'give another folder as the second argument, or empty that one'
fi

# Two of these at the same time would build over each other; the second waits and then finds the work done.
build_root=$sdk/build
mkdir -p "$build_root"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$build_root/cyclonedds.lock"
  flock -n 9 || { say 'another build is running; waiting for it'; flock 9; }
  ! is_done || finish
fi

work=$build_root/cyclonedds-$version
log=$build_root/cyclonedds-$version.log
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
rm -rf "$work" "$prefix"
mkdir -p "$work" "$prefix"
: >"$prefix/ddsmark-sdk.building"
: >"$log"

case $version in
11.*) install_from_cargo ;;
*) install_from_debian ;;
esac

rm -rf "$work" "$log"
# Last of all: what is not stamped is not there.
printf '%s\n' "$wanted" >"$stamp.new"
mv "$stamp.new" "$stamp"
rm -f "$prefix/ddsmark-sdk.building"
finish
