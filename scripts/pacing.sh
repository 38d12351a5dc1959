#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures how well ddsmark, iperf3 and ddsperf keep a rate on this host, from the kernel's timestamps of their datagrams on
# the loopback interface. Needs root, tcpdump and iperf3, and `make release drivers`.
#
#   scripts/pacing.sh [RATE]...          without rates: 1000 10000
#
# ddsperf fills packets with samples, so its packets are limited to a single sample. Like ddsmark it sends best effort:
# heartbeats would make packets longer. A packet then leaves with the next write at the latest, or when ddsperf sleeps.
#
# The lateness of a packet sent at s_i, with period p, is d_i - min(d), where d_i = s_i - i p. It is small for a schedule that
# was kept, whatever its start; a slightly wrong rate makes it large.
. "$(dirname -- "$0")/common.sh"

seconds=2 size=1024 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- 1000 10000
ddsperf=${DDSPERF:-$(printf '%s\n' .sdk/cyclonedds-*/bin/ddsperf | sort -V | tail -n 1)}
[ -x "$ddsperf" ] || fail 'ddsperf not found' 'run `make drivers`, or set DDSPERF to its path'

# capture NAME RATE BYTES COMMAND...: the datagrams of at least so many payload bytes, of the pair of ports with the most of one length
capture() {
  local name=$1 rate=$2 bytes=$3
  shift 3
  tcpdump -Z root -i lo -n -s 96 -B 65536 --time-stamp-precision=nano -w "$work/packets" \
    "udp and udp[4:2] >= $((bytes + 8))" 2>"$work/tcpdump" &
  local capturing=$!
  sleep 1
  "$@" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; fail "$name failed" 'the lines above'; }
  sleep 1
  kill -INT "$capturing" && wait "$capturing" || true
  local missed
  missed=$(awk '/dropped by kernel/ { print $1 }' "$work/tcpdump")
  tcpdump -r "$work/packets" -n -tt --time-stamp-precision=nano 2>/dev/null |
    awk '{ port = $3 " " $5 " " $NF; count[port]++; line[port, count[port]] = $1 }
      END { for (port in count) if (count[port] > most) { most = count[port]; its = port }
        for (i = 1; i <= most; i++) print line[its, i] }' |
    awk -v period=$((1000000000 / rate)) '{ split($1, at, ".")
        if (NR == 1) base = at[1]
        d = (at[1] - base) * 1e9 + at[2] - (NR - 1) * period; print d
        last = (at[1] - base) * 1e9 + at[2]; if (NR == 1) first = last }
      END { if (NR > 1) print "span", NR, (NR - 1) * 1e9 / (last - first) }' |
    sort -g >"$work/delays"
  awk -v name="$name" -v rate="$rate" -v missed="$missed" '
    $1 == "span" { n = $2; sps = $3; next }
    { d[++k] = $1 }
    END { printf "%-28s %8d %8d %12.2f %10.1f %10.1f %10.1f %6d\n", name, rate, n, sps, (d[int(k * 0.5) + 1] - d[1]) / 1e3,
      (d[int(k * 0.99) + 1] - d[1]) / 1e3, (d[k] - d[1]) / 1e3, missed }' "$work/delays"
}

ours() {
  printf 'question = "pacing"\nworkload = "paced"\n[factors]\ndriver = "%s"\nsize = %d\nrate = %d\n[qos]\nreliability = "best_effort"\n[design]\nblocks = 3\nwarm_up = "0s"\nmeasure = "%ds"\n' \
    "$1" $size "$2" $seconds >"$work/pacing.toml"
  rm -rf "$work/result"
  "${DDSMARK:-$CARGO_TARGET_DIR/release/ddsmark}" run "$work/pacing.toml" --out "$work/result"
}

iperf() {
  taskset -c 0 iperf3 -s -1 -p 5999 >/dev/null &
  sleep 0.3
  taskset -c 1 iperf3 -c 127.0.0.1 -p 5999 -u -l $size -b $(($1 * size * 8)) -t $seconds "${@:2}"
  wait $!
}

peers() {
  . drivers/cyclonedds/bench/loopback.sh '<MaxMessageSize>1500 B</MaxMessageSize>'
  taskset -c 0 "$ddsperf" -i 79 -u -k all -D $((seconds + 2)) sub waitset >/dev/null &
  sleep 1
  taskset -c 1 "$ddsperf" -i 79 -u -k all -D $seconds pub "$1Hz" size $size
  wait $! || true # it says that its peer has gone, by its status
}

printf '%-28s %8s %8s %12s %10s %10s %10s %6s\n' tool rate/s packets achieved/s 'p50 us' 'p99 us' 'max us' missed
for rate; do
  capture 'ddsmark udp' "$rate" $size ours udp "$rate"
  capture 'ddsmark cyclonedds' "$rate" $size ours cyclonedds "$rate"
  capture 'ddsperf -u' "$rate" $size peers "$rate"
  capture 'iperf3 -u' "$rate" $size iperf "$rate"
  capture 'iperf3 -u --pacing-timer 10' "$rate" $size iperf "$rate" --pacing-timer 10
done
