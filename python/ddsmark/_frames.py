# SPDX-License-Identifier: Apache-2.0
"""Rows of data frames from the JSON of a result. Nothing is computed: each value is one of the JSON, in a column that has the
name of its path there, such as `latency.rtt.p50_ns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from ._error import DdsmarkError

if TYPE_CHECKING:
    import pandas

Row = Dict[str, Any]

# First columns of each frame. They are there without a row, too.
RUN = ["experiment", "cell", "run", "block", "twin", "state"]
CELL = ["experiment", "cell", "runs", "valid_runs"]
VERDICT = [
    "kind",
    "metric",
    "flow",
    "unit",
    "baseline.cell",
    "treatment.cell",
    "baseline.median",
    "treatment.median",
    "answer.conclusion.word",
    "answer.change_pct",
    "answer.low_pct",
    "answer.high_pct",
    "answer.p_adjusted",
    "withheld",
    "text",
]
# Fields of a cell that are no values of it: texts of the middleware's settings.
SETTINGS = ("effective_qos", "settings")


def runs(document: Mapping[str, Any]) -> List[Row]:
    """Returns a row for each run, with the factors of its cell. A link has the values of the run. Values in `measured` have the
    names of their paths in it, as in CSV."""
    rows = []
    for cell in document["cells"]:
        for run in cell["runs"]:
            named = {"run" if name == "number" else name: value for name, value in run.items() if name != "measured"}
            named.update(run.get("measured") or {})
            rows.append({"experiment": document["experiment"]["name"], **_flat(cell["factors"]), **_flat(named)})
    return rows


def cells(document: Mapping[str, Any]) -> List[Row]:
    """Returns a row for each cell: its factors, and its values over its runs."""
    rows = []
    for cell in document["cells"]:
        values = {name: value for name, value in cell.items() if name not in ("id", "factors", "runs", *SETTINGS)}
        states = [run["state"] for run in cell["runs"]]
        rows.append(
            {
                "experiment": document["experiment"]["name"],
                "cell": cell["id"],
                "runs": len(states),
                "valid_runs": states.count("valid"),
                **_flat(cell["factors"]),
                **_flat(values),
            }
        )
    return rows


def verdicts(document: Mapping[str, Any]) -> List[Row]:
    """Returns a row for each verdict."""
    return [_flat(verdict) for verdict in document["verdicts"]]


def _flat(fields: Mapping[str, Any]) -> Row:
    """Returns the texts and numbers below these fields, by their paths. Lists of objects are left out, and a field that is null
    instead of an object or a text, which `frame` adds if it is a first column."""
    return {path: value for name, field in fields.items() if field is not None for path, value in _leaves(name, field)}


def _leaves(path: str, value: Any) -> Iterator[Tuple[str, Any]]:
    if isinstance(value, dict):
        for name, field in value.items():
            yield from _leaves(f"{path}.{name}", field)
    elif isinstance(value, list):
        if not any(isinstance(entry, (dict, list)) for entry in value):
            for index, entry in enumerate(value):
                yield f"{path}.{index}", entry
    else:
        yield path, value


def frame(what: str, rows: Sequence[Row], first: Sequence[str]) -> pandas.DataFrame:
    """Returns a data frame with these rows, and these columns first. A column without any value is one of numbers."""
    try:
        import pandas
    except ImportError as error:
        raise DdsmarkError(
            f"`{what}` is a data frame of pandas, which cannot be imported: {error}",
            "install it, for example with `pip install pandas`; `document` needs no pandas",
        ) from error
    columns = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    data = pandas.DataFrame(rows, columns=columns)
    empty = [name for name in columns if data[name].isna().all()]
    return data.astype({name: "float64" for name in empty})
