# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it: strict mode, the root of the tree, where things are built.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# One target directory for all cargo workspaces of the tree, so that shared dependencies are compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
tools=$root/.sdk/tools

stages=''
say() { # begins a stage; when the script ends, it prints how long each stage took
  end_stage
  stage=$* stage_began=$SECONDS
  printf '\n== %s\n' "$stage"
}
end_stage() {
  [ -z "${stage:-}" ] || stages+=$(printf '%5d s  %s' $((SECONDS - stage_began)) "$stage")$'\n'
  stage=''
}
print_stages() { # at the end of a script
  end_stage
  printf '\n== durations of %s\n%s' "$(basename "$0")" "$stages"
}

fail() { # what failed and why, then what to do about it
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}
