#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the system packages for builds; with `tools` also the tools for checks, with `bench` also the programs that
# `make bench` compares ddsmark with. Installs only what is missing.
. "$(dirname -- "$0")/common.sh"

for tool in cargo rustc; do
  command -v "$tool" >/dev/null || fail "\`$tool\` is not in PATH" 'install a Rust toolchain: https://rustup.rs'
done

missing=()
need() { # a package, then the command that shows whether it is there
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
sbin() { # whether a program of administration is there: PATH often lacks its directory
  PATH=$PATH:/usr/sbin:/sbin command -v "$1"
}
need cmake command -v cmake
need gcc command -v cc
need g++ command -v c++
need libc6-dev test -e /usr/include/stdio.h
# Middleware packages and tools are fetched from PyPI.
need python3 command -v python3
need python3-venv python3 -c 'import ensurepip, venv'
# Labs of virtual hosts.
[ "${1:-}" != tools ] || need iproute2 sbin tc
[ "${1:-}" != tools ] || need nftables sbin nft
[ "${1:-}" != tools ] || need ethtool sbin ethtool
# An sshd of the end-to-end tests, with keys of its own; the service of the package is not used.
[ "${1:-}" != tools ] || need openssh-server test -x /usr/sbin/sshd
[ "${1:-}" != tools ] || need openssh-client command -v ssh-keygen
# Slurm of the end-to-end tests, with a configuration of its own; the services of the packages are not used.
[ "${1:-}" != tools ] || need munge test -x /usr/sbin/munged
[ "${1:-}" != tools ] || need slurmctld test -x /usr/sbin/slurmctld
[ "${1:-}" != tools ] || need slurmd test -x /usr/sbin/slurmd
[ "${1:-}" != tools ] || need slurm-client command -v srun
[ "${1:-}" != bench ] || need sockperf command -v sockperf
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  install="apt-get install -y --no-install-recommends ${missing[*]}"
  if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
    say "installing system packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq </dev/null
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" $install </dev/null
  else
    fail "system packages are missing: ${missing[*]}" "run \`sudo $install\`, or install the equivalent packages of your system"
  fi
fi

[ "${1:-}" = tools ] || exit 0

for tool in rustfmt clippy; do
  cargo "${tool#rust}" --version >/dev/null 2>&1 || {
    command -v rustup >/dev/null || fail "the toolchain has no $tool" "install its component $tool"
    say "installing the toolchain's component $tool"
    rustup component add "$tool"
  }
done

# Formatter, dependency check, test runner, book builder and a DDS reader, pinned by hash in tools.txt. The stamp is written last, so an
# interrupted installation starts again.
wanted=$(sha256sum scripts/tools.txt | cut -d' ' -f1)
if [ "$(cat "$tools/stamp" 2>/dev/null || true)" != "$wanted" ]; then
  say 'installing the pinned tools of scripts/tools.txt in .sdk/tools'
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
    --require-hashes -r scripts/tools.txt
  printf '%s\n' "$wanted" >"$tools/stamp"
fi
