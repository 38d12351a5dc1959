#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sockperf asked as bare.c is: prints one figure.
#
#   sockperf.sh latency SIZE MS CORE CORE
#
# Its throughput is what its client has sent, however little of it came: so there is only `latency` here, and all else
# is refused with status 3.
set -euo pipefail
[ $# = 5 ] || { echo 'usage: sockperf.sh latency SIZE MS CORE CORE' >&2; exit 2; }
workload=$1 size=$2 seconds=$((($3 + 999) / 1000)) first=$4 second=$5
[ "$workload" = latency ] || exit 3
port=$((20000 + RANDOM % 10000))
taskset -c "$second" timeout $((seconds + 30)) sockperf server -i 127.0.0.1 -p "$port" >/dev/null 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true' EXIT
for _ in $(seq 200); do
  grep -q "$(printf ':%04X ' "$port")" /proc/net/udp && break
  sleep 0.01
done
# a buffer of its own size for each sample needs a larger `-m`; the round trip, not its half, in µs
taskset -c "$first" timeout $((seconds + 30)) \
  sockperf ping-pong -i 127.0.0.1 -p "$port" -m "$size" -t "$seconds" --full-rtt 2>/dev/null |
  awk '/percentile 50.000/ { print $NF * 1000; found = 1 } END { exit !found }'
