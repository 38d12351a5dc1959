# SPDX-License-Identifier: Apache-2.0
"""A saved result."""

from __future__ import annotations

import html
import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Union

from . import _frames
from ._error import DdsmarkError
from ._program import answer

if TYPE_CHECKING:
    import pandas

# The report that a measurement writes in the directory of its result.
REPORT = "report.html"


def load(path: Union[str, os.PathLike[str]]) -> Result:
    """Loads a result from its directory, or from its `result.json`. One that was interrupted has the finished runs.

    Raises `DdsmarkError` if there is no result, if a file is damaged, or if another version of ddsmark is needed to read it.
    """
    return Result(Path(path))


class Result:
    """A result of ddsmark. Jupyter shows it with the charts of its report.

    A column of a frame has the name of the field in the JSON of the result, with its unit: `latency.rtt.p50_ns` is in ns,
    `throughput.goodput_mbps` in Mbit/s. Each run is one independent observation; use those with the state `valid`.
    """

    path: Path
    """Directory of the result, or its `result.json`."""
    document: Dict[str, Any]
    """The whole result, as `ddsmark report DIR --json` prints it; `schemas/result.schema.json` describes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document = json.loads(self._report("--json"))

    def _report(self, *options: str) -> str:
        return answer(["report", *options, "--", str(self.path)])

    @cached_property
    def runs(self) -> pandas.DataFrame:
        """A row for each run, with the factors of its cell and its values; runs that failed have no values.

        Values of single endpoints, flows and processes are in `metrics`. `twin` is the second run of a cell in a block, which
        shows the noise: leave it out of a summary.
        """
        return _frames.frame("runs", _frames.runs(self.document), _frames.RUN)

    @cached_property
    def cells(self) -> pandas.DataFrame:
        """A row for each cell, with its factors and its values over the valid runs: quantiles and rates are medians over runs."""
        return _frames.frame("cells", _frames.cells(self.document), _frames.CELL)

    @cached_property
    def verdicts(self) -> pandas.DataFrame:
        """A row for each comparison of a cell with its baseline, and of each baseline with itself (`noise_floor`).

        Without a row if the experiment has no baseline. Changes are in percent, medians in the `unit` of the row.
        """
        return _frames.frame("verdicts", _frames.verdicts(self.document), _frames.VERDICT)

    @cached_property
    def metrics(self) -> pandas.DataFrame:
        """A row for each run and metric, also of single endpoints, flows and processes: the rows of `ddsmark report DIR --csv`."""
        rows = [json.loads(line) for line in self._report("--jsonl").splitlines()]
        return _frames.frame("metrics", rows, [*_frames.RUN, "metric", "unit", "value"])

    def __repr__(self) -> str:
        cells = self.document["cells"]
        name, state = self.document["experiment"]["name"], self.document["state"]
        counts = f"cells: {len(cells)}, runs: {sum(len(cell['runs']) for cell in cells)}"
        return f"<Result of {name}, {state}, {counts}, in {self.path}>"

    def _repr_html_(self) -> str:
        """Returns the report for a notebook: as a page of its own, without access to the notebook."""
        try:
            page = self._page()
        except (DdsmarkError, OSError):
            return f"<pre>{html.escape(self._text())}</pre>"
        title = html.escape(f"Report of {self.document['experiment']['name']}")
        return (
            f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{html.escape(page)}" '
            'style="width: 100%; height: 80vh; border: 0"></iframe>'
        )

    def _page(self) -> str:
        """Returns the report as a page: the one that was saved with the result, otherwise a new one."""
        saved = self.path / REPORT
        if saved.is_file():
            return saved.read_text(encoding="utf-8")
        return self._report("--html=-")

    def _text(self) -> str:
        """Returns the first screen of the report."""
        try:
            return self._report()
        except DdsmarkError as error:
            return f"{self!r}\n{error}"
