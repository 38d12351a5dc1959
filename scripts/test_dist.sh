#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries what `make dist` has packed, each package with the commands of docs/how-to/install.md, in a root file system that
# contains the C and C++ libraries and a few programs of this host: no network, no compiler, no source tree. Then it builds
# drivers from the installed sources, which are read-only there. Namespaces hold all processes and mounts, so that none is left.
. "$(dirname -- "$0")/common.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tarball=$(ls "$CARGO_TARGET_DIR"/dist/*.tar.gz) || fail "no package in $CARGO_TARGET_DIR/dist" 'make dist'

# With root's rights in namespaces of its own, also for users without them.
isolated=(unshare --user --map-root-user --mount --net --pid --fork --kill-child)
if ! why=$("${isolated[@]}" true 2>&1); then
  printf 'not tried: the packages in %s/dist, because this user may not create namespaces: %s\n' "$CARGO_TARGET_DIR" "$why"
  exit 0
fi

bare() { # DIR PROGRAM...: makes a root file system with the libraries that the packages need, and these programs with theirs
  local root=$1 name file
  shift
  mkdir -p "$root"/{bin,dev,proc,tmp,root,usr}
  for name in ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1 \
    libstdc++.so.6 libz.so.1; do
    file=$(ldconfig -p | sed -n "s|^\s*$name (.*=> ||p" | head -n 1)
    [ -z "$file" ] || cp --parents -L "$file" "$root"
  done
  for name in "$@"; do
    file=$(command -v "$name") || fail "\`$name\` is not in PATH" 'install it: the packages are tried with it'
    cp -L "$file" "$root/bin/$name"
    ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while IFS= read -r file; do cp --parents -L "$file" "$root"; done || true # static
  done
}

inside() { # DIR COMMANDS: runs the commands in that root file system
  "${isolated[@]}" bash -c '
    set -e
    ip link set lo up
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    cd "$1" && exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      "$(command -v chroot)" "$1" /bin/sh -ec "cd /root; $2"
  ' bash "$1" "$2" >"$work/output" 2>&1 || {
    cat "$work/output" >&2
    fail "failed in a bare root file system: $2" 'see its output above'
  }
}

expect() { # WORDS: what the last commands have printed
  grep -qF -- "$1" "$work/output" || { cat "$work/output" >&2; fail "not printed: $1" 'see the output above'; }
}

drivers_of() { # of the command $1: the bundled middleware is measured, and the sources of other drivers are found
  printf '%s latency -d cyclonedds,fastdds -s 64 --quick --out dds; %s drivers versions' "$1" "$1"
}
python_into() { # DIR: Python with venv, and the libraries of its modules
  local python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') file
  local library=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))') folders
  folders=("$library")
  [ ! -d /usr/share/python-wheels ] || folders+=(/usr/share/python-wheels) # pip, in Debian
  tar -C / -cf - --exclude=__pycache__ --exclude="${library#/}/test" --exclude="${library#/}/site-packages" \
    "${python#/}" "${folders[@]#/}" | tar -C "$1" -xf -
  find "$python" "$library/lib-dynload" -type f -exec ldd {} + 2>/dev/null | grep -o '=> /[^ ]*' | cut -c 4- | sort -u |
    while IFS= read -r file; do cp --parents -L "$file" "$1"; done
  ln -s "$python" "$1/bin/python3"
}

# docs/how-to/install.md promises this C library to users, and the name of the wheel says which it needs.
oldest=2.34
wheel=$(ls "$CARGO_TARGET_DIR"/dist/*.whl) || fail "no wheel in $CARGO_TARGET_DIR/dist" 'make dist'
libc=$(sed -E 's/.*manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/' <<<"$wheel")
[ "$(printf '%s\n' "$oldest" "$libc" | sort -V | tail -n 1)" = "$oldest" ] ||
  fail "the wheel needs glibc $libc instead of $oldest" \
    'find the symbols with `readelf --dyn-syms`; if all programs need them, build on a system with an older C library'

say 'tarball: the first measurement'
root_of_tarball=$work/tarball
bare "$root_of_tarball" sh bash dirname sed cut tar gzip
cp "$tarball" "$root_of_tarball/root"
inside "$root_of_tarball" 'tar xf ddsmark-*.tar.gz && ddsmark-*/bin/ddsmark latency -d udp -s 64 --quick'
expect 'RTT'
inside "$root_of_tarball" "$(drivers_of 'ddsmark-*/bin/ddsmark')"
expect 'fastdds@'

say 'wheel: the first measurement'
root_of_wheel=$work/wheel
bare "$root_of_wheel" sh bash dirname sed cut
python_into "$root_of_wheel"
cp "$CARGO_TARGET_DIR"/dist/*.whl "$root_of_wheel/root"
inside "$root_of_wheel" 'python3 -m venv env && env/bin/pip install ddsmark-*.whl && env/bin/ddsmark latency -d udp -s 64 --quick'
expect 'RTT'
inside "$root_of_wheel" "$(drivers_of env/bin/ddsmark)"
expect 'fastdds@'
# Without an `env/bin` in PATH, and without pandas.
cat >"$root_of_wheel/root/notebook.py" <<'PYTHON'
import ddsmark

result = ddsmark.run(["latency", "--driver", "udp", "--size", "64", "--quick"])
assert result.document["state"] == "complete", result
assert "<iframe" in result._repr_html_() or "<pre>" in result._repr_html_()
try:
    result.runs
except ddsmark.DdsmarkError as error:
    print(error)
print(repr(result))
PYTHON
inside "$root_of_wheel" 'env/bin/python notebook.py'
expect 'pip install pandas'
expect '<Result of latency, complete, cells: 1, runs: '
inside "$root_of_wheel" 'env/bin/pip uninstall --yes ddsmark'
left=$(find "$root_of_wheel/root/env" -path '*ddsmark*' -not -type d | head)
[ -z "$left" ] || fail "pip uninstall left: $left" 'the wheel contains what it does not list'

if command -v dpkg-deb >/dev/null; then
  say 'deb: the first measurement'
  root_of_deb=$work/deb
  bare "$root_of_deb" sh bash dirname sed cut tar gzip dpkg dpkg-deb dpkg-split dpkg-query diff rm ldconfig start-stop-daemon
  mkdir -p "$root_of_deb"/var/lib/dpkg/{info,updates,triggers}
  # The packages that it depends on, as this host has them.
  for package in libc6 libgcc-s1 libstdc++6 zlib1g; do dpkg-query --status "$package" | grep -v '^Conffiles:\|^ /'; echo; done \
    >"$root_of_deb/var/lib/dpkg/status"
  cp "$CARGO_TARGET_DIR"/dist/*.deb "$root_of_deb/root"
  inside "$root_of_deb" 'dpkg -i ddsmark_*.deb; ddsmark latency -d udp -s 64 --quick'
  expect 'RTT'
  inside "$root_of_deb" "$(drivers_of ddsmark)"
  expect 'fastdds@'
  inside "$root_of_deb" 'dpkg -r ddsmark'
  left=$(find "$root_of_deb" -path '*/usr/*ddsmark*' | head)
  [ -z "$left" ] || fail "dpkg -r left: $left" 'the package contains what it does not list'
else
  printf 'not tried: the Debian package, because this system has no dpkg-deb\n'
fi

say 'drivers from the installed sources, for a user who cannot write to them'
mkdir "$work/opt" "$work/home"
tar -xf "$tarball" -C "$work/opt" --strip-components 1
"${isolated[@]}" bash -ec '
  mount --bind "$1" "$1"
  mount -o remount,bind,ro "$1"
  cd "$2"
  # The packages and the middleware that the build of this tree has fetched.
  export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} CARGO_NET_OFFLINE=true
  export DDSMARK_SDK=$3 HOME=$2
  unset XDG_DATA_HOME DDSMARK_DRIVER_PATH DDSMARK_DRIVER_SOURCES CARGO_TARGET_DIR
  for driver in udp cyclonedds; do "$1/bin/ddsmark" drivers install "$driver"; done
  "$1/bin/ddsmark" drivers check cyclonedds --case describe
' bash "$work/opt" "$work/home" "$root/.sdk" >"$work/output" 2>&1 || {
  cat "$work/output" >&2
  fail 'a driver of the installed sources was not installed' 'see the output above'
}
for library in udp cyclonedds@11; do
  ls "$work"/home/.local/share/ddsmark/drivers/libddsmark_$library*.so >/dev/null
done
printf '\n== the packages work: %s\n' "$(cd "$CARGO_TARGET_DIR/dist" && ls | paste -sd ' ')"
