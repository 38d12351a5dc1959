# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it: strict mode, the root of the tree, where things are built.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# One target directory for all cargo workspaces of the tree, so that shared dependencies are compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
tools=$root/.sdk/tools

say() { printf '\n== %s\n' "$*"; }

fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}
