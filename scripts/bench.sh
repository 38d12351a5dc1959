#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures ddsmark itself. Executes every measurement; the exit status is 1 if one fails.
. "$(dirname -- "$0")/common.sh"

status=0
claim() {
  say "$@"
  "$@" || status=1
}

say 'overhead per sample'
cargo bench --package agent
claim cargo bench --package stats
claim cargo bench --package simulate

PATH=$CARGO_TARGET_DIR/release:$PATH DDSMARK_DRIVER_PATH=$CARGO_TARGET_DIR/drivers claim scripts/planning.sh

cc -O2 drivers/udp/bench/bare.c -o "$CARGO_TARGET_DIR/bare"
claim cargo validation transparency --driver udp --floor "$CARGO_TARGET_DIR/bare" --floor drivers/udp/bench/sockperf.sh
cc -O2 drivers/tcp/bench/bare.c -o "$CARGO_TARGET_DIR/bare-tcp"
claim cargo validation transparency --driver tcp --floor "$CARGO_TARGET_DIR/bare-tcp"
cc -O2 drivers/shm/bench/bare.c -o "$CARGO_TARGET_DIR/bare-shm"
claim cargo validation transparency --driver shm --floor "$CARGO_TARGET_DIR/bare-shm"
export DDSPERF
DDSPERF=$(drivers/cyclonedds/fetch.sh)/bin/ddsperf
claim cargo validation transparency --driver cyclonedds \
  --floor "$CARGO_TARGET_DIR/cmake/cyclonedds/bare" --floor drivers/cyclonedds/bench/ddsperf.sh
claim cargo validation transparency --driver cyclonedds --receive listener --workload latency \
  --floor drivers/cyclonedds/bench/ddsperf.sh
claim cargo validation transparency --driver cyclonedds --perftest --workload latency --workload throughput \
  --floor "$CARGO_TARGET_DIR/cmake/cyclonedds/bare"
claim cargo validation transparency --driver cyclonedds --readers 3 --workload latency --workload batched \
  --floor drivers/cyclonedds/bench/ddsperf.sh
for transport in udp4 shm; do
  claim cargo validation transparency --driver fastdds --transport "$transport" --floor "$CARGO_TARGET_DIR/cmake/fastdds/bare"
done

claim cargo validation one-topic --driver udp
claim cargo validation one-topic --driver cyclonedds
claim cargo validation slowdown --driver cyclonedds
claim cargo validation planted-cost --driver cyclonedds

claim make --no-print-directory kills

exit "$status"
