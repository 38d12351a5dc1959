# SPDX-License-Identifier: Apache-2.0
"""Files for test_pages.sh: results with many runs or cells, copies of pages with checks, and what a browser made of a page."""

import copy
import json
import re
import statistics
import sys
import zlib
from pathlib import Path

# Runs, and cells, of the large results.
RUNS, CELLS = 500, 10_000


def load(path):
    return json.loads(Path(path).read_text())


def fail(text, hint):
    sys.exit(f"error: {text}\nhint: {hint}")


def many_runs(source, target):
    """Writes a result with the runs of another one, so often that there are 500."""
    document = load(source)
    cells = document["cells"]
    each, number = -(-RUNS // len(cells)), 0
    for cell in cells:
        first = cell["runs"]
        cell["runs"] = [copy.deepcopy(first[index % len(first)]) for index in range(each)]
        for index, run in enumerate(cell["runs"]):
            number += 1
            run["number"], run["block"] = number, index + 1
    Path(target).write_text(json.dumps(document))


def many_cells(source, target):
    """Writes a result with the first cell of another one and its first run, of 10,000 sizes."""
    document = load(source)
    first = document["cells"][0]
    planned = next(cell for cell in document["experiment"]["cells"] if cell["id"] == first["id"])
    document["cells"], document["experiment"]["cells"] = [], []
    for index in range(CELLS):
        cell, plan, run = copy.copy(first), copy.copy(planned), copy.copy(first["runs"][0])
        cell["id"] = plan["id"] = run["cell"] = f"cell-{index}"
        cell["factors"] = plan["factors"] = {**first["factors"], "size_bytes": 64 + 8 * index}
        run["number"], run["block"], cell["runs"] = index + 1, 1, [run]
        document["cells"].append(cell)
        document["experiment"]["cells"].append(plan)
    document["experiment"]["design"]["baseline"] = []
    Path(target).write_text(json.dumps(document))


def nights(source, target):
    """Writes a result again, as if it was measured on each of four days."""
    for day in range(4):
        document = load(source)
        for times in [document["hosts"][0]["properties"], *(run for cell in document["cells"] for run in cell["runs"])]:
            times["started_unix_ns"] += day * 86_400_000_000_000
        directory = Path(target, str(day + 1))
        directory.mkdir(parents=True)
        (directory / "result.json").write_text(json.dumps(document))


def counts(directory):
    """Compares the page that the browser has opened with the file."""
    source, opened = (Path(directory, name).read_text() for name in ("report.html", "opened.dom"))
    figures = source.count("<figure ")
    found = {
        "two drawings for each chart": (len(re.findall(r'<svg class="chart (?:wd|nw)', opened)), 2 * figures),
        "a button for each chart": (opened.count('class="copy"'), figures),
    }
    for what, (number, wanted) in found.items():
        if number != wanted:
            fail(f"{directory}: {what}: {number} instead of {wanted}", "compare report.html with opened.dom beside it")
    print(f"{directory}: {figures} charts")


def printed(path):
    """Finds a printed page without text."""
    data = Path(path).read_bytes()
    objects = dict(re.findall(rb"(\d+) 0 obj(.*?)endobj", data, re.S))
    pages = [of for of in objects.values() if re.search(rb"/Type\s*/Page\b", of)]
    if not pages:
        fail(f"{path} has no page", "print the page by hand")
    for number, page in enumerate(pages, 1):
        stream = objects[re.search(rb"/Contents (\d+) 0 R", page).group(1)].split(b"stream", 1)[1].strip(b"\r\n")
        if not re.search(rb"\bT[jJ]\b", zlib.decompressobj().decompress(stream)):
            fail(f"page {number} of {path} is empty", "see the rules for print in style.css")


def expected(path):
    """Returns the values of a result that charts show: of each run by its number, and of each process by its name."""
    dots, processes = {"runs": {}, "runs-of-throughput": {}, "runs-under-load": {}}, {}
    for cell in load(path)["cells"] if Path(path).is_file() else []:
        for run in (run for run in cell["runs"] if run["state"] == "valid"):
            measured, latency = run["measured"] or {}, run["latency"]
            p50 = {kind: latency[kind]["p50_ns"] for kind in ("rtt", "response") if kind in latency}
            values = {"runs": p50.get("rtt"), "runs-under-load": p50.get("response")}
            if measured.get("workload") == "throughput":
                values["runs-of-throughput"] = measured["throughput"]["goodput_mbps"]
            for chart, value in values.items():
                if value:
                    dots[chart][run["number"]] = [cell["id"], value]
            for process in run["processes"]:
                usage, name = process["usage"], process.get("name") or "+".join(process["endpoints"])
                used = (usage["user_ns"] + usage["system_ns"]) / max(usage["elapsed_ns"], 1)
                processes.setdefault(name, []).append((used, usage["peak_memory_bytes"]))
    median = {name: [statistics.median(of) for of in zip(*values)] for name, values in processes.items()}
    bars = {chart: {name: of[index] for name, of in median.items()} for index, chart in enumerate(("process-cpu", "process-memory"))}
    return {"dots": dots, "bars": bars}


def open_policy(page):
    """Returns a page that may execute other scripts: only copies may."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)


def as_wide(page, width):
    """Returns a page of this width: a window is not narrower than 500 px, but its content can be."""
    return page.replace("</head>", f"<style>html{{width:{width}px}}</style></head>")


def narrow(page, target, width):
    Path(target).write_text(as_wide(open_policy(Path(page).read_text()), width))


def checked(page, axe, target, width, result, plant=""):
    """Writes a copy of a page with its checks. `plant` names values of the result of which one is changed, which the checks then find."""
    text, axe = Path(page).read_text(), Path(axe).read_text()
    values = expected(result)
    for chart in values.get(plant, {}).values():
        # The first run of each cell, because a chart does not show all of them; and the first process.
        first = {value[0] if plant == "dots" else "": name for name, value in reversed(chart.items())}
        for name in first.values():
            chart[name] = 1.3 * chart[name] if plant == "bars" else [chart[name][0], 1.3 * chart[name][1]]
    checks = Path(__file__).with_suffix(".js").read_text()
    values = json.dumps(values).replace("<", "\\u003c")
    script = f"<script>{axe}</script><script>const WIDTH = {width}, EXPECTED = {values};\n{checks}</script>"
    Path(target).write_text(as_wide(open_policy(text), width).replace("</body>", script + "</body>"))


def timed(page, target):
    """Writes a copy of a page whose title says how long it took to open."""
    show = 'document.body.offsetHeight; document.title = "opened:" + Math.round(performance.now()) + ";"'
    text = open_policy(Path(page).read_text())
    Path(target).write_text(text.replace("</body>", f"<script>{show}</script></body>"))


if __name__ == "__main__":
    commands = (many_runs, many_cells, nights, counts, printed, narrow, checked, timed)
    {command.__name__: command for command in commands}[sys.argv[1]](*sys.argv[2:])
