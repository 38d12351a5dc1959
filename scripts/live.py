#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows what `--live` costs: calls with it, without it, and without it again (A/A), in random order in each round.

    scripts/live.py [ROUNDS]

Prints the rows of docs/explain/data/transparency-live.csv: the median without `--live`, and the ratios to it of the calls with
`--live` and of the second calls without, with their 95 % intervals by signed ranks. The programs and drivers are those of the
target directory.
"""

import fcntl
import json
import math
import os
import pty
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CALL = "characterize --driver cyclonedds --size 64 --batch-bytes 0 --runs 3 --warm-up 50ms --duration 200ms --no-reference --no-html"


def measured(folder, is_live):
    """Returns the values of one call, whose stderr is a terminal of 120 by 40 characters."""
    command = [str(TARGET / "debug/ddsmark"), *CALL.split(), "--out", folder, *(["--live"] if is_live else [])]
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "DDSMARK_DRIVER_PATH": str(TARGET / "drivers")}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": terminal}
    with subprocess.Popen(command, env=environment, **streams) as process:
        os.close(terminal)
        drawn = b""
        while True:
            try:
                part = os.read(screen, 65536)
            except OSError:  # the end, on Linux
                break
            drawn += part
    os.close(screen)
    if process.returncode != 0 or (b"medians of the valid runs so far" in drawn) != is_live:
        sys.exit(f"error: {' '.join(command)}\n{drawn.decode(errors='replace')}\nhint: call it by hand")
    values = {}
    for cell in json.loads(Path(folder, "result.json").read_text())["cells"]:
        driver = cell["factors"]["driver"]
        if cell["factors"]["workload"] == "latency":
            values[driver, "RTT p50"] = cell["latency"]["rtt"]["p50_ns"]
            values[driver, "RTT p99"] = cell["latency"]["rtt"]["p99_ns"]
        else:
            values[driver, "rate"] = cell["throughput"]["delivered_sps"]
    return values


def interval(ratios):
    """Returns the median of the Walsh averages of the logarithms, and their ends that signed ranks exclude at 5 %."""
    logs, n = [math.log(ratio) for ratio in ratios], len(ratios)
    averages = sorted((logs[i] + logs[j]) / 2 for i in range(n) for j in range(i, n))
    counts = [1] + [0] * (n * (n + 1) // 2)  # subsets of the ranks by their sum
    for rank in range(1, n + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    below, first = 0, 0
    while (below + counts[first]) / 2**n <= 0.025:
        below, first = below + counts[first], first + 1
    if first == 0:
        sys.exit("error: too few rounds for an interval of 95 %\nhint: scripts/live.py 6")
    return [math.exp(value) for value in (statistics.median(averages), averages[first - 1], averages[-first])]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    random.seed(36)
    all_rounds = []
    with tempfile.TemporaryDirectory() as work:
        for number in range(rounds):
            kinds = ["live", "without", "again"]
            random.shuffle(kinds)
            all_rounds.append({kind: measured(f"{work}/{number}-{kind}", kind == "live") for kind in kinds})
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    print("driver,metric,rounds,median without,with `--live`,with `--live` low,with `--live` high,again without,again without low,again without high")
    for driver, metric in all_rounds[0]["without"]:
        def of(kind):
            return [values[kind][driver, metric] for values in all_rounds]

        median = statistics.median(of("without"))
        shown = f'"{round(median, -3):,.0f}/s"' if metric == "rate" else f"{median / 1000:.1f} µs"
        ratios = [interval([a / b for a, b in zip(of(kind), of("without"))]) for kind in ("live", "again")]
        print(",".join([driver, metric, str(rounds), shown, *(f"{value:.3f}" for ratio in ratios for value in ratio)]))


if __name__ == "__main__":
    main()
