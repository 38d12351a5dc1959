# SPDX-License-Identifier: Apache-2.0
"""The program `ddsmark`: where it is, and what it answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Dict, Optional, Sequence

from ._error import DdsmarkError

NAME = "ddsmark"
# Time limit for reports, which compute and do not measure.
ANSWER_SECONDS = 600.0
# Variables that force colours, which Jupyter sets.
COLOURS = ("CLICOLOR_FORCE", "FORCE_COLOR")


def find() -> str:
    """Returns the path of the program: the one that was installed with this package, otherwise the first in PATH."""
    beside = _beside(Path(__file__).resolve().parent.parent)
    path = shutil.which(NAME) if beside is None else str(beside)
    if path is None:
        raise DdsmarkError(
            f"the program `{NAME}` is neither installed with this package nor in PATH",
            f"install the wheel of {NAME}, which contains it, or add its directory to PATH",
        )
    return path


def _beside(packages: Path) -> Optional[Path]:
    """Returns the program of the installation whose packages are in this directory; `None` if there is none."""
    for scheme in sysconfig.get_scheme_names():
        paths = sysconfig.get_paths(scheme)
        if packages in (Path(paths["purelib"]).resolve(), Path(paths["platlib"]).resolve()):
            program = Path(paths["scripts"], NAME)
            if os.access(program, os.X_OK):
                return program
    return None


def environment() -> Dict[str, str]:
    """Returns the environment for the program: that of this process, without colours."""
    kept = {name: value for name, value in os.environ.items() if name not in COLOURS}
    return {**kept, "NO_COLOR": "1"}


def answer(arguments: Sequence[str]) -> str:
    """Returns what the program prints. Raises `DdsmarkError` with its words if it fails."""
    command = [find(), *arguments]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(),
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DdsmarkError(f"`{shown(command)}` has not ended within {ANSWER_SECONDS:.0f} s") from error
    except OSError as error:
        raise DdsmarkError(f"cannot start `{command[0]}`: {error.strerror}") from error
    if ended.returncode != 0:
        lines = ended.stderr.decode("utf-8", "replace").splitlines()
        raise failure(command, ended.returncode, lines)
    return ended.stdout.decode("utf-8", "replace")


def failure(
    command: Sequence[str], status: int, lines: Sequence[str], directory: Optional[Path] = None
) -> DdsmarkError:
    """Returns the error of a program that has ended with this status, from its last lines on stderr."""
    starts = [index for index, line in enumerate(lines) if line.startswith("error: ")]
    if not starts:
        said = "".join(f"\n  | {line}" for line in lines)
        hint = None if directory is None else f'`ddsmark.load("{directory}")` reads the finished runs'
        return DdsmarkError(
            f"`{shown(command)}` has ended with status {status}{said}", hint, status=status, directory=directory
        )
    said = "\n".join(lines[starts[-1] :])
    message, _, hint = said[len("error: ") :].partition("\nhint: ")
    return DdsmarkError(message, hint or None, status=status, directory=directory)


def shown(command: Sequence[str]) -> str:
    """Formats a command for a message."""
    return " ".join([NAME, *command[1:]])
