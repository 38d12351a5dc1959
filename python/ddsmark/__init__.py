# SPDX-License-Identifier: Apache-2.0
"""Results of ddsmark as data frames, with the charts of the report in Jupyter.

The package reads results with the program `ddsmark`, which measures. `load` reads one; `run` calls the program, and reads the
result that it has saved. pandas is needed for data frames only.
"""

from ._error import DdsmarkError
from ._measure import run
from ._result import Result, load

__all__ = ["DdsmarkError", "Result", "load", "run"]
