#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds drivers of the tree with their middleware into target/drivers/, each with driver.sh, after its fetch.sh, where it
# has one, has brought the middleware into .sdk/. A library is named after the version of what was fetched for it; of the
# default version, the name without a version is a link to it.
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
    else
      # The first is the default. What comes under a licence that somebody must accept first is not fetched unasked; such
      # a driver builds without.
      IFS=$'\t' read -r version _ _ terms <<<"$versions"
      [ "$terms" != accept ] || version=''
    fi
    [ -z "$version" ] || prefix=$("$source/fetch.sh" "$version")
  fi
  library=$(scripts/driver.sh --source "$source" --out "$CARGO_TARGET_DIR/drivers" \
    --build "$CARGO_TARGET_DIR/cmake/$wanted" ${version:+--version "$version"} ${prefix:+--prefix "$prefix"} --tests)
  if [ "$driver" = "$wanted" ] && [ -n "$version" ]; then
    ln -sfn "${library##*/}" "${library%/*}/libddsmark_$driver.so"
  fi
done
