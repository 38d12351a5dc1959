#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packs an installation of ddsmark into target/dist: ddsmark-VERSION-TARGET.tar.gz, a wheel of Python, and with dpkg-deb also
# ddsmark_VERSION_ARCH.deb. `make dist` builds the programs and drivers first.
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

scripts/stage.sh "$CARGO_TARGET_DIR/lto/dist" "$work/$name"
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$work" -cf - "$name" | gzip -n9 >"$dist/$name.tar.gz"
printf '%s\n' "$dist/$name.tar.gz"

# The oldest C library that has every symbol that is used.
libc=$(find "$work/$name"/{bin,lib} -type f -exec readelf --dyn-syms --wide {} + |
  grep -oE 'GLIBC_[0-9]+(\.[0-9]+)+' | sort -uV | tail -n 1)
libc=${libc#GLIBC_}
scripts/wheel.py "$work/$name" "$version" "manylinux_${libc/./_}_${target%%-*}" "$date" "$dist"

if ! command -v dpkg-deb >/dev/null; then
  printf 'note: no .deb was built: `dpkg-deb` is not in PATH\n' >&2
  exit 0
fi
root=$work/deb
mkdir -p "$root/DEBIAN"
mv "$work/$name" "$root/usr"
cp LICENSE "$root/usr/share/doc/ddsmark/copyright"
gzip -n9 "$root"/usr/share/man/man1/*
# The packages of the libraries that are needed and not contained.
depends="libc6 (>= $libc)"
for library in $(find "$root"/usr/{bin,lib} -type f -exec readelf --dynamic --wide {} + |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
  [ -z "$(find "$root/usr/lib" -name "$library")" ] || continue
  case $library in
    ld-linux-* | libc.so.6 | libdl.so.2 | libm.so.6 | libpthread.so.0 | librt.so.1) ;;
    libgcc_s.so.1) depends+=', libgcc-s1' ;;
    libstdc++.so.6) depends+=", libstdc++6 (>= $(c++ -dumpversion))" ;;
    libz.so.1) depends+=', zlib1g' ;;
    *) fail "the package of $library is not known" 'add it to scripts/dist.sh' ;;
  esac
done
arch=$(dpkg --print-architecture)
cat >"$root/DEBIAN/control" <<CONTROL
Package: ddsmark
Version: $version
Architecture: $arch
Maintainer: The ddsmark maintainers
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: $depends
Suggests: cmake, g++, make, python3-venv, cargo
Section: utils
Priority: optional
Description: benchmark of DDS middleware
 Measures latency, throughput and the cost of QoS of DDS middleware and of bare
 sockets on this host, with your sample sizes. Contains drivers for sockets, for
 Cyclone DDS and for Fast DDS; "ddsmark drivers install" builds others.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
SOURCE_DATE_EPOCH=$date dpkg-deb --root-owner-group --build "$root" "$dist/ddsmark_${version}_$arch.deb" >/dev/null
printf '%s\n' "$dist/ddsmark_${version}_$arch.deb"
