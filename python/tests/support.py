# SPDX-License-Identifier: Apache-2.0
"""What the tests share: saved results, and programs in place of ddsmark."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Small results that another test keeps readable: whole, interrupted and damaged ones.
CORPUS = ROOT / "fuzz" / "corpus" / "result"


class Scene(unittest.TestCase):
    """A test with a directory of its own, which is the current one."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        self.directory = Path(scratch.name)

    def set_variable(self, name: str, value: str) -> None:
        before = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name) if before is None else os.environ.update({name: before}))

    def program(self, script: str) -> None:
        """Puts a shell script first in PATH, with the name of ddsmark."""
        path = self.directory / "bin" / "ddsmark"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        self.set_variable("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
