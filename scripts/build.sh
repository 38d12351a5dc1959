#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds programs and, at the same time, drivers. The output of the latter is in target/drivers.log.
#
#   scripts/build.sh [ARGUMENT OF drivers.sh]... -- [ARGUMENT OF cargo build]...
. "$(dirname -- "$0")/common.sh"

of_drivers=() log=$CARGO_TARGET_DIR/drivers.log
while [ "${1:---}" != -- ]; do of_drivers+=("$1") && shift; done
shift
mkdir -p "$CARGO_TARGET_DIR"
set -m # a process group, which at_exit ends
# Drivers are built as they are shipped.
env -u RUSTC_WORKSPACE_WRAPPER scripts/drivers.sh "${of_drivers[@]}" </dev/null >"$log" 2>&1 &
drivers=$!
set +m
at_exit() { [ -z "$drivers" ] || kill -- "-$drivers" 2>/dev/null || true; }
trap at_exit EXIT
trap 'exit 130' INT TERM

cargo build "$@"
printf 'waiting for the drivers; their output is in %s\n' "$log"
wait "$drivers" || {
  drivers=''
  cat "$log" >&2
  fail 'a driver was not built' 'see its output above'
}
drivers=''
