# SPDX-License-Identifier: Apache-2.0
"""The data frames, with pandas: their values are those that the command prints."""

from __future__ import annotations

import json
import math
import subprocess
import unittest
from typing import Any, Dict, List, Tuple

import ddsmark
import pandas
from support import CORPUS, ROOT

RESULT = ROOT / "python" / "tests" / "data" / "latency"
UNITS = {
    "ns": "_ns",
    "ns/sample": "_ns_per_sample",
    "samples/s": "_sps",
    "Mbit/s": "_mbps",
    "%": "_pct",
    "bytes": "_bytes",
    "ppm": "_ppm",
}


def printed(path: str) -> List[Dict[str, Any]]:
    """Returns the records that the command prints of a result."""
    text = subprocess.run(["ddsmark", "report", "--jsonl", path], capture_output=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def whole(record: Dict[str, Any]) -> bool:
    """Returns whether a metric is of the whole run, and not in a list."""
    parts = [record[name] for name in ("process", "endpoint", "flow", "writer", "reader")]
    in_list = any(part.isdigit() for part in record["metric"].split("."))
    return record["state"] != "published" and parts == [None] * 5 and not in_list


class Frames(unittest.TestCase):
    def results(self) -> List[Tuple[str, ddsmark.Result]]:
        paths = [RESULT, CORPUS / "complete", CORPUS / "interrupted", CORPUS / "no-runs", CORPUS / "no-cells"]
        return [(str(path), ddsmark.load(path)) for path in paths]

    def test_runs_have_the_values_that_the_command_prints(self) -> None:
        compared = 0
        for path, result in self.results():
            runs = result.runs.set_index("run")
            for record in filter(whole, printed(path)):
                value = runs.loc[record["run"], record["metric"]]
                self.assertEqual(value, record["value"], (path, record["run"], record["metric"]))
                self.assertEqual(runs.loc[record["run"], "cell"], record["cell"])
                compared += 1
        self.assertGreater(compared, 1000)

    def test_units_are_in_the_names(self) -> None:
        for path, result in self.results():
            for record in filter(whole, printed(path)):
                parts = record["metric"].split(".")
                if record["unit"]:
                    self.assertTrue(any(part.endswith(UNITS[record["unit"]]) for part in parts), record["metric"])
        self.assertIn("size_bytes", ddsmark.load(RESULT).runs)

    def test_metrics_are_the_rows_that_the_command_prints(self) -> None:
        for path, result in self.results():
            records = printed(path)
            self.assertEqual(len(result.metrics), len(records), path)
            self.assertEqual(list(result.metrics["metric"]), [record["metric"] for record in records])
            self.assertEqual(list(result.metrics["value"]), [record["value"] for record in records])

    def test_cells_have_the_medians_of_the_result(self) -> None:
        result = ddsmark.load(RESULT)
        cells = result.cells.set_index("cell")
        for cell in result.document["cells"]:
            self.assertEqual(cells.loc[cell["id"], "latency.rtt.p50_ns"], cell["latency"]["rtt"]["p50_ns"])
            self.assertEqual(cells.loc[cell["id"], "runs"], len(cell["runs"]))
            self.assertEqual(cells.loc[cell["id"], "driver"], cell["factors"]["driver"])
        # the medians of ddsmark are those of pandas
        runs = result.runs[(result.runs.state == "valid") & ~result.runs.twin]
        medians = runs.groupby("cell")["latency.rtt.p50_ns"].median()
        pandas.testing.assert_series_equal(medians, cells["latency.rtt.p50_ns"].sort_index())

    def test_verdicts_are_those_of_the_result(self) -> None:
        result = ddsmark.load(RESULT)
        verdicts = result.verdicts
        self.assertEqual(list(verdicts["text"]), [verdict["text"] for verdict in result.document["verdicts"]])
        self.assertEqual(set(verdicts["kind"]), {"comparison", "noise_floor"})
        compared = verdicts[(verdicts["kind"] == "comparison") & (verdicts["metric"] == "rtt_p50")].iloc[0]
        answer = next(
            verdict["answer"]
            for verdict in result.document["verdicts"]
            if (verdict["kind"], verdict["metric"]) == ("comparison", "rtt_p50")
        )
        self.assertEqual(compared["answer.change_pct"], answer["change_pct"])
        self.assertEqual(compared["answer.simultaneous_pct.0"], answer["simultaneous_pct"][0])
        self.assertEqual(compared["unit"], "ns")

    def test_values_that_were_not_measured_are_missing_numbers(self) -> None:
        column = ddsmark.load(RESULT).runs["latency.rtt.p99_9999_ns"]
        self.assertEqual(column.dtype, "float64")
        self.assertTrue(column.map(math.isnan).all())

    def test_without_rows_the_first_columns_are_there(self) -> None:
        result = ddsmark.load(CORPUS / "no-cells")
        for frame, column in [(result.runs, "state"), (result.cells, "cell"), (result.verdicts, "answer.change_pct")]:
            self.assertEqual(len(frame), 0)
            self.assertIn(column, frame)


if __name__ == "__main__":
    unittest.main()
