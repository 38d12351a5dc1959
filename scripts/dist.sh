#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packs an installation of ddsmark into target/dist: ddsmark-VERSION-TARGET.tar.gz, and with dpkg-deb also
# ddsmark_VERSION_ARCH.deb. Run after `make release drivers`.
. "$(dirname -- "$0")/common.sh"

version=$(cargo pkgid --package ddsmark)
version=${version##*[#@]}
target=$(rustc -vV | sed -n 's/^host: //p')
name=ddsmark-$version-$target
dist=$CARGO_TARGET_DIR/dist
rm -rf "$dist"
mkdir -p "$dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

scripts/stage.sh "$work/$name"
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$work" -cf - "$name" | gzip -n9 >"$dist/$name.tar.gz"
printf '%s\n' "$dist/$name.tar.gz"

if ! command -v dpkg-deb >/dev/null; then
  printf 'note: no .deb was built: `dpkg-deb` is not in PATH\n' >&2
  exit 0
fi
root=$work/deb
mkdir -p "$root/DEBIAN"
mv "$work/$name" "$root/usr"
cp LICENSE "$root/usr/share/doc/ddsmark/copyright"
gzip -n9 "$root"/usr/share/man/man1/*
# The oldest C library that has every symbol that is used.
libc=$(find "$root/usr/bin" "$root/usr/lib" -type f -exec readelf --dyn-syms --wide {} + |
  grep -oE 'GLIBC_[0-9]+(\.[0-9]+)+' | sort -uV | tail -n 1)
arch=$(dpkg --print-architecture)
cat >"$root/DEBIAN/control" <<CONTROL
Package: ddsmark
Version: $version
Architecture: $arch
Maintainer: The ddsmark maintainers
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: libc6 (>= ${libc#GLIBC_}), libgcc-s1
Suggests: cmake, g++, make, python3-venv, cargo
Section: utils
Priority: optional
Description: benchmark of DDS middleware
 Measures latency, throughput and the cost of QoS of DDS middleware and of bare
 sockets on this host, with your sample sizes. Contains drivers for sockets and
 for Cyclone DDS; "ddsmark drivers install" builds the others.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
SOURCE_DATE_EPOCH=$date dpkg-deb --root-owner-group --build "$root" "$dist/ddsmark_${version}_$arch.deb" >/dev/null
printf '%s\n' "$dist/ddsmark_${version}_$arch.deb"
