#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts an installation of ddsmark below a directory, from the directory of its programs. `make install` and `make dist` use
# it, after scripts/build.sh.
#
#   scripts/stage.sh PROGRAMS DIR
#
#   bin/                         ddsmark and its agent
#   lib/ddsmark/drivers/         the drivers, where the command finds them
#   lib/ddsmark/NAME-VERSION/    the libraries of a bundled middleware, found relative to its driver
#   share/ddsmark/source/        what `ddsmark drivers install` builds drivers from
#   share/doc/ddsmark/           the licence, and names and licences of all that the libraries and programs contain
#   share/                       man pages and completions
. "$(dirname -- "$0")/common.sh"

# Middleware whose default version is bundled: docs/decisions/0037-bundled-middleware.md says why these.
bundled=(cyclonedds fastdds)

[ $# = 2 ] || fail 'scripts/stage.sh: name the directory of the programs, and another one' \
  'scripts/stage.sh target/release target/stage'
built=$1
for program in ddsmark ddsmark-agent; do
  [ -x "$built/$program" ] || fail "$built/$program is not built" 'make release'
done
mkdir -p "$2"
built=$(cd -- "$built" && pwd) into=$(cd -- "$2" && pwd)
drivers=$into/lib/ddsmark/drivers doc=$into/share/doc/ddsmark source=$into/share/ddsmark/source
mkdir -p "$into/bin" "$drivers" "$doc"

copy() { # FILE DIR: as a new file, because the old one may be in use
  cp "$1" "$2/.new"
  # Without symbols, if we have built it. Libraries of packages are stripped, or were changed in ways that `strip` breaks.
  [[ $1 != "$CARGO_TARGET_DIR"/* && $1 != "$built"/* ]] || strip "$2/.new"
  chmod 755 "$2/.new"
  mv "$2/.new" "$2/${1##*/}"
}

copy "$built/ddsmark" "$into/bin"
copy "$built/ddsmark-agent" "$into/bin"

# Those that are built without a middleware have no version in the name of their file.
for folder in drivers/*/; do
  library=$CARGO_TARGET_DIR/drivers/libddsmark_$(basename "$folder").so
  if [ -f "$library" ] && [ ! -L "$library" ]; then copy "$library" "$drivers"; fi
done
[ -f "$drivers/libddsmark_udp.so" ] || fail "no driver in $CARGO_TARGET_DIR/drivers" 'make drivers'

for name in "${bundled[@]}"; do
  version=$("drivers/$name/fetch.sh" --versions | sed -n 1p | cut -f 1)
  prefix=$("drivers/$name/fetch.sh" "$version")
  # Where `make drivers` builds it: it is linked again, with another run path, and compiled once.
  library=$(scripts/driver.sh --source "drivers/$name" --out "$CARGO_TARGET_DIR/stage" \
    --build "$CARGO_TARGET_DIR/cmake/$name" --version "$version" --prefix "$prefix" \
    --rpath "\$ORIGIN/../$name-$version")
  libraries=$into/lib/ddsmark/$name-$version
  mkdir -p "$libraries" "$doc/$name"
  # The linker finds its own libraries in the middleware's folder, under the names that it asks for.
  LD_LIBRARY_PATH=$prefix/lib ldd "$library" | awk -v prefix="$prefix/" 'index($3, prefix) == 1 { print $3 }' |
    while IFS= read -r file; do copy "$file" "$libraries"; done
  copy "$library" "$drivers"
  ln -sfn "${library##*/}" "$drivers/libddsmark_$name.so"
  ! ldd "$drivers/libddsmark_$name.so" | grep -e 'not found' -e "$prefix" ||
    fail "the bundled driver $name does not find its libraries beside it" 'see the lines above, and RPATH in its CMakeLists.txt'
  # Of the middleware, and of what its libraries contain beside it.
  for text in "$prefix"/{LICENSE,NOTICE.md} "$prefix"/licenses/* "drivers/$name"/licences/*; do
    [ ! -f "$text" ] || cp "$text" "$doc/$name/"
  done
  [ -n "$(ls "$doc/$name")" ] ||
    fail "$prefix has no LICENSE and no licenses/: the licence of a bundled middleware" "remove $prefix, then make drivers"
done

# The sources, in the layout of the tree; the crates are those that drivers in Rust and their tests use.
rm -rf "$source"
mkdir -p "$source"
tar -cf - --exclude=target Cargo.toml LICENSE include drivers scripts/driver.sh \
  crates/driver-abi crates/driver-kit crates/driver-host crates/driver-testing crates/sim-model | tar -xf - -C "$source" --no-same-owner

"$built/ddsmark" generate share "$into/share"
cp LICENSE "$doc/"
cargo xtask notice >"$doc/THIRD-PARTY.txt"
