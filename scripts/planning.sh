#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Times the planning of large experiments, without measuring: `--dry-run` with at most 200 MiB of data. Exits with status 1 if a
# plan needs more. The times are printed, and are not judged.
. "$(dirname -- "$0")/common.sh"

plans=$(mktemp -d)
trap 'rm -rf "$plans"' EXIT
printf 'question = "?"\nworkload = ["latency", "throughput"]\n[factors]\ndriver = "udp"\nsize = [%s]\n' \
  "$(seq -s, 64 563)" >"$plans/1000-cells.toml"
{
  printf 'question = "?"\nworkload = "paced"\n[factors]\ndriver = "sim"\n'
  for flow in $(seq 1000); do printf '[[flows]]\nname = "f%s"\nsize = 64\nrate = 100\nqos = { history = "keep_last", history_depth = %s }\n' "$flow" "$((flow % 100 + 1))"; done
} >"$plans/1000-flows.toml"
{
  printf 'question = "?"\nworkload = "paced"\n[factors]\ndriver = "udp"\nrate = "max"\ntopics = 100\nsize = [%s]\n' \
    "$(seq -s, 64 73)"
} >"$plans/1000-topics.toml"

# The limit is of ddsmark, not of the agents that it asks.
printf '#!/bin/sh\nulimit -S -d unlimited\nexec "%s" "$@"\n' "$(dirname "$(command -v ddsmark)")/ddsmark-agent" >"$plans/agent"
chmod +x "$plans/agent"
export DDSMARK_AGENT=$plans/agent

failed=0
for plan in 1000-cells 1000-flows 1000-topics; do
  began=${EPOCHREALTIME/./}
  (ulimit -S -d 204800 && ddsmark run "$plans/$plan.toml" --dry-run) >"$plans/$plan.txt" 2>&1 || {
    failed=1
    tail -3 "$plans/$plan.txt"
  }
  printf '%-12s %6d ms\n' "$plan" "$(((${EPOCHREALTIME/./} - began) / 1000))"
done
exit "$failed"
