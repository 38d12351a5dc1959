#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ddsperf, the tool of Cyclone DDS itself, asked as bare.c is: prints one figure.
#
#   DDSPERF=PATH [RECEIVE=waitset|listener] ddsperf.sh latency|batched[/READERS] SIZE MS CORE CORE
#
# Its topic has a key, pings keep the last sample only, and what it publishes is always batched: so there is no
# `throughput`, which is not batched, and that is refused with status 3. The times that it prints are half round trips:
# with one ping in flight it counts 12,500 of them a second and calls their mean 40 µs. With several readers the figure is
# the median of theirs; the next ping leaves when all have answered the last one.
set -euo pipefail
workload=${1%/*} readers=1 size=$2 seconds=$((($3 + 999) / 1000)) first=$4 second=$5
[ "$workload" = "$1" ] || readers=${1#*/}
: "${DDSPERF:=ddsperf}" "${RECEIVE:=waitset}"
. "$(dirname -- "$0")/loopback.sh" ''

# a line for each whole second, of which the last one counts: the first may lack, or be of starting and warming up
run() { taskset -c "$1" timeout $((seconds + 30)) "$DDSPERF" -i 79 -k all -D $((seconds + 2)).2 "${@:2}"; }
figures() { # the last one of each reader
  awk -v workload="$workload" '
    function number(name, i) { for (i = 1; i < NF; i++) if ($i == name) return $(i + 1); return "" }
    workload == "latency" && / 50% / { us = number("50%"); sub(/us$/, "", us); figure[$3] = 2 * us * 1000 }
    workload == "batched" && / rate / { thousands = number("rate"); figure[""] = thousands * 1000 }
    END { for (reader in figure) print figure[reader] }' "$@"
}
output=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -r "$output"' EXIT
case $workload in
latency)
  for _ in $(seq "$readers"); do run "$second" pong "$RECEIVE" >/dev/null 2>&1 & done
  run "$first" ping size "$size" "$RECEIVE" >"$output/1" 2>/dev/null
  ;;
batched)
  run "$first" pub size "$size" >/dev/null 2>&1 &
  for reader in $(seq 2 "$readers"); do run "$second" sub "$RECEIVE" >"$output/$reader" 2>/dev/null & done
  run "$second" sub "$RECEIVE" >"$output/1" 2>/dev/null
  # those that end a little later have their last line already
  ;;
*) exit 3 ;;
esac
for file in "$output"/*; do figures "$file"; done | sort -n | awk -v readers="$readers" '
  { value[NR] = $1 }
  END { if (NR != readers) exit 1; middle = int((NR + 1) / 2); print (value[middle] + value[NR + 1 - middle]) / 2 }'
