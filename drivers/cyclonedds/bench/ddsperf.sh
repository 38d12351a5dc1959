#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ddsperf, the tool of Cyclone DDS itself, asked as bare.c is: prints one figure.
#
#   DDSPERF=PATH ddsperf.sh latency|batched SIZE MS CORE CORE
#
# Its topic has a key, pings keep the last sample only, and what it publishes is always batched: so there is no
# `throughput`, which is not batched, and that is refused with status 3. The times that it prints are half round trips:
# with one ping in flight it counts 12,500 of them a second and calls their mean 40 µs.
set -euo pipefail
workload=$1 size=$2 seconds=$((($3 + 999) / 1000)) first=$4 second=$5
: "${DDSPERF:=ddsperf}"
. "$(dirname -- "$0")/loopback.sh" ''

# a line for each whole second, of which the last one counts: the first may lack, or be of starting and warming up
run() { taskset -c "$1" timeout $((seconds + 30)) "$DDSPERF" -i 79 -k all -D $((seconds + 2)).2 "${@:2}"; }
case $workload in
latency) far='pong waitset' near="ping size $size waitset" at=$first from=$second ;;
batched) far="pub size $size" near='sub waitset' at=$second from=$first ;;
*) exit 3 ;;
esac
run "$from" $far >/dev/null 2>&1 &
trap 'kill $! 2>/dev/null || true' EXIT
run "$at" $near 2>/dev/null | awk -v workload="$workload" '
  function number(name, i) { for (i = 1; i < NF; i++) if ($i == name) return $(i + 1); return "" }
  workload == "latency" && / 50% / { us = number("50%"); sub(/us$/, "", us); figure = 2 * us * 1000 }
  workload == "batched" && / rate / { thousands = number("rate"); figure = thousands * 1000 }
  END { if (figure == "") exit 1; print figure }'
