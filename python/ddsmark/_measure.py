# SPDX-License-Identifier: Apache-2.0
"""Calls of the program that measure."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Callable, Deque, Optional, Sequence

from ._error import DdsmarkError
from ._program import environment, failure, find, shown
from ._result import Result, load

# Number of lines that an error shows if the program has named none.
LAST_LINES = 20
# Time limit for the program to save what it has and to end its agents, after a request to stop.
STOP_SECONDS = 60.0


def print_progress(line: str) -> None:
    """Prints a line of progress on stderr, or in a notebook on stdout: it shows stderr in red, as errors."""
    print(line, file=sys.stdout if "ipykernel" in sys.modules else sys.stderr, flush=True)


def run(arguments: Sequence[str], *, progress: Callable[[str], object] = print_progress) -> Result:
    """Measures with the program: `run(["latency", "--driver", "udp"])`. Returns the result.

    `arguments` are those of a command that saves a result, such as `characterize`, `latency`, `throughput` or `run`. Without
    `--out`, the result is saved in `results/NAME-TIME`. `progress` gets each line that the program prints on stderr, by
    default to print it there, or in a notebook on stdout.

    Raises `DdsmarkError` if the exit status is not 0, also if only some of the runs failed: its `directory` has the others. An
    interrupt, such as that of a notebook, stops the program, which saves the finished runs.
    """
    if isinstance(arguments, str):
        raise TypeError(f"arguments is a list of words, such as {arguments.split()}, and not one text")
    words = list(arguments)
    directory = _directory(words)
    if directory is None:
        directory = Path("results", f"{_name(words)}-{time.strftime('%Y-%m-%dT%H-%M-%SZ', time.gmtime())}")
        words += ["--out", str(directory)]
    command = [find(), *words]
    last: Deque[str] = deque(maxlen=LAST_LINES)
    try:
        # Its own session: an interrupt of the terminal or the notebook reaches it once, from here.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise DdsmarkError(f"cannot start `{command[0]}`: {error.strerror}") from error
    with process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                last.append(line.rstrip("\n"))
                progress(last[-1])
            status = process.wait()
        except BaseException:
            _stop(process)
            raise
    if status != 0:
        raise failure(command, status, list(last), directory)
    if not directory.is_dir():
        raise DdsmarkError(
            f"`{shown(command)}` has saved no result in `{directory}`",
            "call a command that measures, such as `latency`, without `--dry-run`",
        )
    return load(directory)


def _stop(process: subprocess.Popen[str]) -> None:
    """Requests the end, as Ctrl-C does, and waits for it."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _directory(words: Sequence[str]) -> Optional[Path]:
    """Returns the directory that the arguments name, for a new result or for one to resume."""
    for index, word in enumerate(words):
        for option in ("--out", "--resume"):
            if word.startswith(f"{option}="):
                return Path(word[len(option) + 1 :])
        if word in ("--out", "--resume", "-o") and index + 1 < len(words):
            return Path(words[index + 1])
    return None


def _name(words: Sequence[str]) -> str:
    """Returns the first part of the name of a directory: of an experiment that of its file, otherwise that of the command."""
    if len(words) > 1 and words[0] == "run" and not words[1].startswith("-"):
        return Path(words[1]).stem
    return words[0] if words else "ddsmark"
