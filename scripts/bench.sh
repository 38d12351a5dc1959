#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The measurements of ddsmark itself. Each is printed whether or not it holds; the status tells whether all do.
. "$(dirname -- "$0")/common.sh"

status=0
claim() {
  say "$@"
  "$@" || status=1
}

say 'what ddsmark costs a sample'
cargo bench --package agent
claim cargo bench --package stats
claim cargo bench --package simulate

cc -O2 drivers/udp/bench/bare.c -o "$CARGO_TARGET_DIR/bare"
claim cargo xtask transparency --driver udp --floor "$CARGO_TARGET_DIR/bare" --floor drivers/udp/bench/sockperf.sh
cc -O2 drivers/tcp/bench/bare.c -o "$CARGO_TARGET_DIR/bare-tcp"
claim cargo xtask transparency --driver tcp --floor "$CARGO_TARGET_DIR/bare-tcp"
export DDSPERF
DDSPERF=$(drivers/cyclonedds/fetch.sh)/bin/ddsperf
claim cargo xtask transparency --driver cyclonedds \
  --floor "$CARGO_TARGET_DIR/cmake/cyclonedds/bare" --floor drivers/cyclonedds/bench/ddsperf.sh
for transport in udp4 shm; do
  claim cargo xtask transparency --driver fastdds --transport "$transport" --floor "$CARGO_TARGET_DIR/cmake/fastdds/bare"
done

claim cargo xtask slowdown --driver cyclonedds

claim make --no-print-directory kills

exit "$status"
