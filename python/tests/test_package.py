# SPDX-License-Identifier: Apache-2.0
"""The package without pandas: what is loaded and shown, and what fails with which words."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import signal
import subprocess
import sys
import threading
import unittest
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import ddsmark
from ddsmark import _frames, _program
from support import CORPUS, ROOT, Scene

PAGE = '<html><body class="a">\'1\' & 2</body></html>'


def page_of(shown: str) -> str:
    """Returns the page in an iframe."""
    (source,) = re.findall('srcdoc="([^"]*)"', shown)
    return html.unescape(source)


class Load(Scene):
    def test_a_result_has_the_document_of_the_command(self) -> None:
        result = ddsmark.load(CORPUS / "complete")
        printed = subprocess.run(
            ["ddsmark", "report", "--json", str(CORPUS / "complete")], capture_output=True, check=True
        ).stdout
        self.assertEqual(result.document, json.loads(printed))
        self.assertIn("characterize, complete, cells: 2, runs: 6, in ", repr(result))

    def test_an_interrupted_result_has_its_finished_runs(self) -> None:
        result = ddsmark.load(CORPUS / "interrupted")
        self.assertEqual(len(_frames.runs(result.document)), 2)
        self.assertIn("characterize, interrupted, cells: 2, runs: 2, in ", repr(result))

    def test_a_damaged_result_is_assembled_from_its_runs(self) -> None:
        whole = json.loads((CORPUS / "complete").read_text(encoding="utf-8"))
        header = {name: whole[name] for name in ("schema_version", "tool", "hosts", "experiment", "drivers", "warnings")}
        runs = [run for cell in whole["cells"] for run in cell["runs"]]
        Path("result/runs").mkdir(parents=True)
        Path("result/result.json").write_text('{"schema_version": 3, "tool": ', encoding="utf-8")
        Path("result/experiment.json").write_text(json.dumps(header), encoding="utf-8")
        for run in runs[:3]:
            record = json.dumps({"schema_version": 3, **run})
            Path(f"result/runs/{run['number']:04}.json").write_text(record, encoding="utf-8")
        result = ddsmark.load("result")
        self.assertEqual(len(_frames.runs(result.document)), 3)
        self.assertTrue(any("damaged" in warning["text"] for warning in result.document["warnings"]))

    def test_what_cannot_be_read_is_an_error_with_the_words_of_the_command(self) -> None:
        Path("empty").mkdir()
        Path("older.json").write_text('{"schema_version": 1}', encoding="utf-8")
        whole = (CORPUS / "complete").read_text(encoding="utf-8")
        Path("half.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
        for path, message, hint in [
            (Path("empty"), "holds no result", "name the directory"),
            (Path("missing"), "cannot read `missing`", "name the directory"),
            (CORPUS / "newer", "has schema version 4294967296", "with a newer version"),
            (Path("older.json"), "has schema version 1", "with the version of ddsmark that wrote it"),
            (Path("half.json"), "is damaged", "restore the file"),
            (CORPUS / "nested", "is not the result of an experiment", "`result.json`"),
        ]:
            with self.subTest(path=path), self.assertRaises(ddsmark.DdsmarkError) as caught:
                ddsmark.load(path)
            self.assertIn(message, caught.exception.message)
            self.assertIn(hint, str(caught.exception.hint))
            self.assertIn("\nhint: ", str(caught.exception))
            self.assertFalse(caught.exception.message.startswith("error:"))

    def test_a_path_that_looks_like_a_flag_is_a_path(self) -> None:
        with self.assertRaises(ddsmark.DdsmarkError) as caught:
            ddsmark.load("--help")
        self.assertIn("cannot read `--help`", caught.exception.message)

    def test_without_pandas_a_frame_is_an_error_with_a_hint(self) -> None:
        result = ddsmark.load(CORPUS / "complete")
        before = sys.modules.get("pandas")
        sys.modules["pandas"] = None  # type: ignore[assignment]
        self.addCleanup(lambda: sys.modules.pop("pandas") if before is None else sys.modules.update(pandas=before))
        for name in ["runs", "cells", "verdicts", "metrics"]:
            with self.subTest(name=name), self.assertRaises(ddsmark.DdsmarkError) as caught:
                getattr(result, name)
            self.assertIn(f"`{name}` is a data frame of pandas", caught.exception.message)
            self.assertIn("pip install pandas", str(caught.exception.hint))

    def test_without_the_program_nothing_is_read(self) -> None:
        self.set_variable("PATH", str(self.directory))
        with self.assertRaises(ddsmark.DdsmarkError) as caught:
            ddsmark.load(CORPUS / "complete")
        self.assertIn("neither installed with this package nor in PATH", caught.exception.message)
        self.assertIn("install the wheel", str(caught.exception.hint))


class Shown(Scene):
    def test_the_saved_report_is_shown_in_a_frame_without_access_to_the_notebook(self) -> None:
        Path("result").mkdir()
        Path("result/result.json").write_bytes((CORPUS / "complete").read_bytes())
        Path("result/report.html").write_text(PAGE, encoding="utf-8")
        shown = ddsmark.load("result")._repr_html_()
        self.assertEqual(page_of(shown), PAGE)
        self.assertIn('sandbox="allow-scripts"', shown)
        # the page cannot end its attribute
        self.assertEqual(shown.count("<"), 2)

    def test_without_a_saved_report_the_command_makes_one(self) -> None:
        Path("page.html").write_text(PAGE, encoding="utf-8")
        self.program(f"""
            case "$*" in
            *--html*) cat page.html ;;
            *--json*) cat '{CORPUS}/complete' ;;
            esac""")
        self.assertEqual(page_of(ddsmark.load("result")._repr_html_()), PAGE)

    def test_the_text_of_a_result_has_no_colours(self) -> None:
        self.set_variable("CLICOLOR_FORCE", "1")
        self.set_variable("FORCE_COLOR", "1")
        text = ddsmark.load(CORPUS / "complete")._text()
        self.assertTrue(text.startswith("ddsmark "), text)
        self.assertNotIn("\x1b", text)

    def test_without_charts_the_first_screen_is_shown(self) -> None:
        self.program(f"""
            case "$*" in
            *--html*) echo "error: unexpected argument '--html' found" >&2; exit 2 ;;
            *--json*) cat '{CORPUS}/complete' ;;
            *) echo 'RTT <b>' ;;
            esac""")
        self.assertEqual(ddsmark.load("result")._repr_html_(), "<pre>RTT &lt;b&gt;\n</pre>")


class Run(Scene):
    def test_lines_are_streamed_and_the_result_is_loaded(self) -> None:
        self.program(f"""
            [ "$1" = report ] && exec cat '{CORPUS}/complete'
            printf '%s\\n' "$*" >arguments
            for last in "$@"; do :; done
            mkdir -p "$last"
            echo 'first' >&2; echo 'on stdout'; echo 'second' >&2""")
        lines: list[str] = []
        result = ddsmark.run(["latency", "--driver", "udp"], progress=lines.append)
        self.assertEqual(lines, ["first", "second"])
        said = Path("arguments").read_text(encoding="utf-8")
        self.assertRegex(said, r"^latency --driver udp --out results/latency-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\n$")
        self.assertEqual(str(result.path), said.split()[-1])

    def test_progress_is_no_error_of_a_notebook(self) -> None:
        self.program(f"""
            [ "$1" = report ] && exec cat '{CORPUS}/complete'
            echo 'a line' >&2""")
        for modules, expected in [({}, ("", "a line\n")), ({"ipykernel": sys}, ("a line\n", ""))]:
            with mock.patch.dict(sys.modules, modules):
                with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
                    ddsmark.run(["latency", "--out", "."])
            self.assertEqual((out.getvalue(), err.getvalue()), expected)

    def test_the_directory_of_the_arguments_is_used(self) -> None:
        self.program(f"""
            [ "$1" = report ] && exec cat '{CORPUS}/complete'
            printf '%s\\n' "$*" >arguments""")
        for words, directory in [
            (["latency", "--out", "."], "."),
            (["latency", "-o", "."], "."),
            (["latency", "--out=bin"], "bin"),
            (["run", "--resume", "bin"], "bin"),
        ]:
            with self.subTest(words=words):
                result = ddsmark.run(words, progress=str)
                self.assertEqual(Path("arguments").read_text(encoding="utf-8").split(), words)
                self.assertEqual(result.path, Path(directory))

    def test_arguments_in_one_text_are_an_error_with_the_list(self) -> None:
        with self.assertRaises(TypeError) as caught:
            ddsmark.run("latency --driver udp")
        self.assertIn("['latency', '--driver', 'udp']", str(caught.exception))

    def test_an_error_has_the_words_of_the_command(self) -> None:
        self.program("""
            echo 'warning: the host is busy' >&2
            echo 'error: driver `x` not found' >&2; echo '  | a detail' >&2
            echo 'hint: available: udp, tcp' >&2; exit 2""")
        with self.assertRaises(ddsmark.DdsmarkError) as caught:
            ddsmark.run(["latency", "--out", "here"], progress=str)
        error = caught.exception
        self.assertEqual((error.message, error.hint), ("driver `x` not found\n  | a detail", "available: udp, tcp"))
        self.assertEqual((error.status, error.directory), (2, Path("here")))

    def test_failed_runs_without_an_error_show_the_last_lines(self) -> None:
        self.program("for line in $(seq 50); do echo \"line $line\" >&2; done; exit 3")
        with self.assertRaises(ddsmark.DdsmarkError) as caught:
            ddsmark.run(["latency", "--out", "here"], progress=str)
        message = caught.exception.message
        self.assertIn("`ddsmark latency --out here` has ended with status 3", message)
        self.assertTrue("line 50" in message and "line 31" in message and "line 30" not in message, message)
        self.assertIn('`ddsmark.load("here")`', str(caught.exception.hint))

    def test_a_command_that_saves_nothing_is_an_error(self) -> None:
        self.program("exit 0")
        with self.assertRaises(ddsmark.DdsmarkError) as caught:
            ddsmark.run(["drivers", "list"], progress=str)
        self.assertIn("has saved no result", caught.exception.message)

    def test_an_interrupt_stops_the_command_and_waits_for_it(self) -> None:
        # A shell that starts the tests in the background ignores the signal for them.
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, handler)
        self.program("""
            trap 'echo saved >saved; exit 130' INT
            echo measuring >&2
            while :; do sleep 0.02; done""")

        def interrupt(_: str) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        limit = threading.Timer(120, os._exit, [1])
        limit.start()
        self.addCleanup(limit.cancel)
        with self.assertRaises(KeyboardInterrupt):
            ddsmark.run(["latency"], progress=interrupt)
        self.assertTrue(Path("saved").is_file())

    def test_a_measurement_of_the_command_is_loaded(self) -> None:
        lines: list[str] = []
        words = ["latency", "--driver", "udp", "--size", "64", "--runs", "2", "--duration", "30ms", "--warm-up", "10ms"]
        result = ddsmark.run(words, progress=lines.append)
        self.assertEqual([row["state"] for row in _frames.runs(result.document)], ["valid", "valid"])
        self.assertTrue(any("the result is in" in line for line in lines), lines)
        self.assertTrue(result.path.joinpath("result.json").is_file())


class Package(unittest.TestCase):
    def test_the_program_of_the_installation_is_found_first(self) -> None:
        import sysconfig

        paths = sysconfig.get_paths()
        program = Path(paths["scripts"], "ddsmark")
        beside = _program._beside(Path(paths["purelib"]).resolve())
        self.assertEqual(beside, program if program.exists() else None)
        self.assertIsNone(_program._beside(Path(_program.__file__).resolve().parent.parent))

    def test_the_source_is_that_of_python_3_9(self) -> None:
        for path in sorted((ROOT / "python" / "ddsmark").glob("*.py")):
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))

    def test_the_page_has_the_cells_of_the_notebook(self) -> None:
        folder = ROOT / "docs" / "how-to"
        notebook = json.loads((folder / "notebook.ipynb").read_text(encoding="utf-8"))
        code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        page = (folder / "notebook.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^```python\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE), code)
        for cell in notebook["cells"]:
            self.assertFalse(cell.get("outputs"), "the notebook is kept without outputs")


if __name__ == "__main__":
    unittest.main()
