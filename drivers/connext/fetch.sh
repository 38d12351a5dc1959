#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches RTI's Python packages, which carry the libraries of Connext, for those who accept RTI's licence.
#
#   drivers/connext/fetch.sh                      the default version into .sdk/connext-VERSION
#   drivers/connext/fetch.sh VERSION [PREFIX]     that one; VERSION may be the beginning of one
#   drivers/connext/fetch.sh --versions           what there is: version, package, licence, open or accept
#
# It asks no question: DDSMARK_ACCEPT_LICENCE=1, which `ddsmark drivers install connext --accept-licence` sets, says
# that you have read the licence and accept it. Who has Connext installed needs none of this: the driver finds it by
# NDDSHOME.
#
# DDSMARK_SDK is the directory instead of .sdk. The prefix is printed on standard output. Needs python3 with pip. Safe to run again.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
sdk=${DDSMARK_SDK:-$root/.sdk}
case $sdk in /*) ;; *) sdk=$PWD/$sdk ;; esac

# version, package, version of the package, licence
versions() {
  printf '%s\t%s\t%s\t%s\n' \
    6.1.2 rticonnextdds-connector 1.2.4 'RTI non-commercial licence 4040' \
    7.7.0 rti.connext 7.7.0.1 'RTI software licence, with a licence file' \
    7.3.1 rti.connext 7.3.1.2 'RTI software licence, with a licence file'
}

say() { printf 'connext: %s\n' "$*" >&2; }
fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}
known() { versions | cut -f 1 | tr '\n' ' '; }

if [ "${1:-}" = --versions ]; then
  versions | while IFS='	' read -r version package number licence; do
    printf '%s\t%s %s\t%s\taccept\n' "$version" "$package" "$number" "$licence"
  done
  exit 0
fi

wanted=${1:-$(versions | head -n 1 | cut -f 1)}
# The first that begins so, at a dot: 6.1 means 6.1.2, and not 6.10.
line=$(versions | while IFS='	' read -r version rest; do
  case $version. in "$wanted".*) printf '%s\t%s\n' "$version" "$rest" ; break ;; esac
done)
[ -n "$line" ] || fail "there is no version $wanted of Connext to fetch" "there is $(known)"
version=$(printf '%s' "$line" | cut -f 1)
package=$(printf '%s' "$line" | cut -f 2)
number=$(printf '%s' "$line" | cut -f 3)
licence=$(printf '%s' "$line" | cut -f 4)
prefix=${2:-$sdk/connext-$version}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

[ "${DDSMARK_ACCEPT_LICENCE:-}" = 1 ] ||
  fail "Connext $version is not free software: $package $number comes under the $licence, which you have not accepted" \
    'read it, and if you accept: `ddsmark drivers install connext --accept-licence`, or DDSMARK_ACCEPT_LICENCE=1'

stamp=$prefix/ddsmark-sdk.stamp
is_done() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$package $number" ]; }
finish() {
  say "$version is in $prefix"
  printf '%s\n' "$prefix"
  exit 0
}
is_done && finish

python3 -m pip --version >/dev/null 2>&1 || fail 'cannot fetch Connext: there is no python3 with pip' \
  'apt-get install -y python3-pip, or set NDDSHOME to an installation of your own'

# Only a folder that this script made, or an empty one, is ever removed.
if [ -d "$prefix" ] && [ -n "$(ls -A "$prefix")" ] && [ ! -f "$stamp" ] && [ ! -f "$prefix/ddsmark-sdk.building" ]; then
  fail "cannot install Connext in $prefix: it holds something that this script did not put there" \
    'give another folder as the second argument, or empty that one'
fi

# Two of these at the same time would write over each other; the second waits and then finds the work done.
mkdir -p "$sdk/build"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$sdk/build/connext-$version.lock"
  flock -n 9 || { say 'another one is running; waiting for it'; flock 9; }
  is_done && finish
fi

rm -rf "$prefix"
mkdir -p "$prefix"
: >"$prefix/ddsmark-sdk.building"
say "getting $package $number"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary :all: --require-hashes \
  --target "$prefix/lib/python3/site-packages" -r "$here/sdk/$version.txt" >&2 ||
  fail "cannot get $package $number: pip failed, see above" \
    "check the network and the settings of pip, then run this again; files with other hashes than those in $here/sdk are refused"

# Last of all: what is not stamped is not there.
printf '%s\n' "$package $number" >"$stamp.new"
mv "$stamp.new" "$stamp"
rm -f "$prefix/ddsmark-sdk.building"
finish
