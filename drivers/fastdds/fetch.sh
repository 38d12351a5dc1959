#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches a built Fast DDS for those who have none, and lays it out where the driver finds it. Builds nothing.
#
#   drivers/fastdds/fetch.sh [VERSION [PREFIX]]   VERSION: the default one, or any that begins so (3.2 means 3.2.2)
#                                                 PREFIX: .sdk/fastdds-<version> at the repository root, or
#                                                 $DDSMARK_SDK/fastdds-<version>
#   drivers/fastdds/fetch.sh --versions           what there is: version, origin, licence, whether to accept it first
#
# Prints the prefix, its progress on standard error. Safe to run again: it returns at once when PREFIX holds what this
# script would put there, and starts afresh after an interrupted or different one. Needs python3 with venv, for packages
# of PyPI; apt-get and dpkg-deb, for those of Debian. Needs no root: nothing is installed.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
sdk=${DDSMARK_SDK:-$root/.sdk}
case $sdk in /*) ;; *) sdk=$PWD/$sdk ;; esac

tab=$(printf '\t')
versions="3.2.2${tab}PyPI ros-fastdds 3.2.3${tab}Apache-2.0${tab}open
2.14.5${tab}PyPI ros-fastrtps 2.14.5${tab}Apache-2.0${tab}open
2.9.1${tab}Debian 12 libfastrtps-dev 2.9.1+ds-1+deb12u2${tab}Apache-2.0${tab}open"

say() { printf 'fastdds: %s\n' "$*" >&2; }
fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

case ${1:-} in
--versions)
  printf '%s\n' "$versions"
  exit 0
  ;;
esac

# The first of those that are the one asked for, or begin so at a dot.
asked=${1:-$(printf '%s\n' "$versions" | head -n 1 | cut -f1)}
version=
for known in $(printf '%s\n' "$versions" | cut -f1); do
  case $known in "$asked" | "$asked".*) version=${version:-$known} ;; esac
done
[ -n "$version" ] || fail "there is no Fast DDS \`$asked\` to fetch" \
  "there is $(printf '%s\n' "$versions" | cut -f1 | tr '\n' ' ')- or use one of your own: \`ddsmark drivers install fastdds --prefix DIR\`"
prefix=${2:-$sdk/fastdds-$version}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

requirements=$here/sdk/$version.txt
debian='libfastrtps-dev=2.9.1+ds-1+deb12u2 libfastrtps2.9=2.9.1+ds-1+deb12u2 libfastcdr-dev=1.0.26-1 libfastcdr1=1.0.26-1
 libfoonathan-memory-dev=0.7.2-3 libfoonathan-memory0.7.2=0.7.2-3 libtinyxml2-9=9.0.0+dfsg-3.1'
if [ -f "$requirements" ]; then
  wanted="layout 2: $(cat "$requirements")"
else
  wanted="layout 3: $debian"
fi

stamp=$prefix/ddsmark-sdk.stamp
is_done() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; }
finish() {
  say "$version is in $prefix"
  printf '%s\n' "$prefix"
  exit 0
}

if is_done; then finish; fi

# Only a folder that this script made, or an empty one, is ever removed.
if [ -d "$prefix" ] && [ -n "$(ls -A "$prefix")" ] && [ ! -f "$stamp" ] && [ ! -f "$prefix/ddsmark-sdk.building" ]; then
  fail "cannot put Fast DDS into $prefix: it holds something that this script did not put there" \
    'give another folder as the second argument, or empty that one'
fi

# Two of these at the same time would work over each other; the second waits and then finds the work done.
work=$sdk/build/fastdds-$version
mkdir -p "$sdk/build"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$sdk/build/fastdds.lock"
  flock -n 9 || { say 'another one is running; waiting for it'; flock 9; }
  if is_done; then finish; fi
fi
rm -rf "$work" "$prefix"
mkdir -p "$work" "$prefix"
: >"$prefix/ddsmark-sdk.building"

# The packages are for one processor and one version of Python, of which nothing is used: they are archives.
from_pypi() {
  case $(uname -m) in
  x86_64) ;;
  *) fail "there is no package of Fast DDS $version for $(uname -m) that this script knows" \
    'use a Fast DDS of your own: `ddsmark drivers install fastdds --prefix DIR`' ;;
  esac
  python3 -c 'import ensurepip, venv' 2>/dev/null || fail 'cannot fetch Fast DDS: python3 with venv is missing' \
    'apt-get install -y python3-venv'
  say "getting $(grep -c == "$requirements") packages from PyPI"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --python-version 3.11 --implementation cp --abi cp311 --platform manylinux_2_28_x86_64 \
    -d "$work/packages" -r "$requirements" >&2 ||
    fail 'cannot get the packages from PyPI, see above' 'check the network and the settings of pip, then run this again'
  # Their `data` is the installed tree. The libraries that they carry go beside Fast DDS, where the driver looks.
  python3 - "$work/packages" "$prefix" <<'EOF'
import os, pathlib, sys, zipfile
packages, prefix = map(pathlib.Path, sys.argv[1:])
for package in sorted(packages.iterdir()):
    with zipfile.ZipFile(package) as archive:
        for entry in archive.infolist():
            parts = pathlib.PurePosixPath(entry.filename).parts
            if entry.is_dir() or ".." in parts:
                continue
            if parts[0].endswith(".data") and parts[1] == "data":
                target = prefix.joinpath(*("lib" if part == "lib64" else part for part in parts[2:]))
            elif parts[0].endswith(".libs"):
                target = prefix / "lib" / parts[-1]
            elif "licenses" in parts:
                target = prefix / "licenses" / (parts[0].split("-")[0] + "-" + parts[-1])
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
# Archives lack symbolic links: copies of a library become links to the one with the longest name again, so that the path
# of a loaded library shows its full version.
libraries = sorted((prefix / "lib").glob("lib*.so*"), key=lambda path: -len(path.name))
for index, path in enumerate(libraries):
    for longer in libraries[:index]:
        if longer.name.startswith(path.name + ".") and longer.read_bytes() == path.read_bytes():
            path.unlink()
            path.symlink_to(longer.name)
            break
EOF
}

from_debian() {
  for tool in apt-get dpkg-deb; do
    command -v $tool >/dev/null 2>&1 || fail "cannot fetch Fast DDS $version: \`$tool\` is not in PATH" \
      'this version comes from Debian 12; elsewhere use one of your own: `ddsmark drivers install fastdds --prefix DIR`'
  done
  # shellcheck disable=SC2086  # $debian is a list
  say "getting $(set -- $debian; echo $#) packages from Debian"
  mkdir -p "$work/packages"
  # shellcheck disable=SC2086
  (cd "$work/packages" && apt-get download -q $debian) >&2 ||
    fail "cannot get the packages of Fast DDS $version, see above" \
      'they are of Debian 12: `apt-get update`, or use a Fast DDS of your own: `ddsmark drivers install fastdds --prefix DIR`'
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work/tree"; done
  cp -a "$work/tree/usr/." "$prefix/"
  # Where the compiler looks by itself, for headers of this processor.
  for headers in "$prefix"/include/*-linux-gnu; do cp -a "$headers/." "$prefix/include/"; done
  # Their CMake files mean the place where packages are installed.
  find "$prefix" -name '*.cmake' -exec sed -i "s|\"/usr\"|\"$prefix\"|g; s|/usr/lib/|$prefix/lib/|g; s|/usr/include|$prefix/include|g" {} +
}

if [ -f "$requirements" ]; then from_pypi; else from_debian; fi

# Not every system looks into lib64.
find "$prefix" -name '*.cmake' -exec sed -i 's|{_IMPORT_PREFIX}/lib64/|{_IMPORT_PREFIX}/lib/|g' {} +
# Fast DDS is linked with OpenSSL already, and no header of it asks for OpenSSL's: a driver needs none to be built.
find "$prefix" -name 'fast*-config.cmake' -exec sed -i 's/find_package(OpenSSL REQUIRED)/find_package(OpenSSL QUIET)/' {} +

rm -rf "$work"
# Last of all: what is not stamped is not there.
printf '%s\n' "$wanted" >"$stamp.new"
mv "$stamp.new" "$stamp"
rm -f "$prefix/ddsmark-sdk.building"
finish
