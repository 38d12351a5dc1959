#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds drivers of the tree with their middleware into target/drivers/, each with driver.sh, after its fetch.sh, where it
# has one, has brought the middleware into .sdk/.
#
#   scripts/drivers.sh [DRIVER[@VERSION]]...       without names: all of drivers/, with the default versions
. "$(dirname -- "$0")/common.sh"

# Folders without a build file are what drivers share.
[ $# -gt 0 ] || set -- $(ls drivers/*/Cargo.toml drivers/*/CMakeLists.txt | cut -d/ -f2)

for wanted in "$@"; do
  driver=${wanted%%@*} version='' prefix=''
  source=drivers/$driver
  say "driver $wanted"
  if [ -x "$source/fetch.sh" ]; then
    versions=$("$source/fetch.sh" --versions)
    if [ "$driver" != "$wanted" ]; then
      version=${wanted#*@}
      cut -f 1 <<<"$versions" | grep -qxF -- "$version" ||
        fail "$driver has no version $version" "versions are $(cut -f 1 <<<"$versions" | paste -sd ' ')"
    fi
    # What comes under a licence that somebody must accept first is not fetched unasked; such a driver builds without.
    if [ -n "$version" ] || [ "$(sed -n 1p <<<"$versions" | cut -f 4)" != accept ]; then
      prefix=$("$source/fetch.sh" ${version:+"$version"})
    fi
  fi
  scripts/driver.sh --source "$source" --out "$CARGO_TARGET_DIR/drivers" --build "$CARGO_TARGET_DIR/cmake/$wanted" \
    ${version:+--version "$version"} ${prefix:+--prefix "$prefix"} --tests >/dev/null
done
