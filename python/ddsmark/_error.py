# SPDX-License-Identifier: Apache-2.0
"""The error of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Optional


class DdsmarkError(Exception):
    """What failed, in the words of the program, and the next step."""

    message: str
    """What failed, and the cause."""
    hint: Optional[str]
    """Next step."""
    status: Optional[int]
    """Exit status of the program; `ddsmark --help` lists them. `None` if it was not the program that failed."""
    directory: Optional[Path]
    """Directory of a measurement that failed. `load` reads the runs that were finished before, if there are any."""

    def __init__(
        self,
        message: str,
        hint: Optional[str] = None,
        *,
        status: Optional[int] = None,
        directory: Optional[Path] = None,
    ) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint
        self.status = status
        self.directory = directory
