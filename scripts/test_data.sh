#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Follows docs/how-to/analyse-elsewhere.md: measures, and reads the result with the page's programs in pandas, R and DuckDB.
# Each must print the medians of the result's JSON. Then tests the data frames of the Python package and its types, and executes
# the notebook of docs/how-to/notebook.md, and compares imports of bags with independent readers.
. "$(dirname -- "$0")/common.sh"

say 'data: a result in pandas, R and DuckDB'
command -v Rscript >/dev/null || {
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends r-base-core </dev/null >/dev/null ||
    fail 'R is not installed' 'run `sudo apt-get install r-base-core`'
}
data=$root/.sdk/data
wanted=$(sha256sum scripts/data-tools.txt | cut -d' ' -f1)
if [ "$(cat "$data/stamp" 2>/dev/null || true)" != "$wanted" ]; then
  rm -rf "$data"
  python3 -m venv "$data"
  "$data/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes -r scripts/data-tools.txt
  printf '%s\n' "$wanted" >"$data/stamp"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$CARGO_TARGET_DIR/debug:$PATH DDSMARK_DRIVER_PATH=$CARGO_TARGET_DIR/drivers
blocks() { # LANGUAGE: the page's blocks in this language
  awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next } /^```/ { inside = 0 } inside' docs/how-to/analyse-elsewhere.md
}
blocks console | sed -n 's/^\$ //p' >"$work/measure.sh"
blocks python >"$work/read.py"
blocks r >"$work/read.R"
blocks sql >"$work/read.sql"
cd "$work"
sh -e measure.sh >measured.txt
"$data/bin/python" read.py >pandas.txt
Rscript read.R >r.txt
"$data/bin/python" -c 'import duckdb; [duckdb.sql(query).show() for query in open("read.sql").read().split(";") if query.strip()]' >duckdb.txt
"$data/bin/python" - <<'PYTHON'
import json, statistics, sys

document = json.load(open("result/result.json"))
cells = [cell for cell in document["cells"] if cell["factors"]["workload"] == "latency"]
assert len(cells) == 4, len(cells)
for cell in cells:
    runs = [run for run in cell["runs"] if run["state"] == "valid" and not run["twin"]]
    median = round(statistics.median(run["latency"]["rtt"]["p50_ns"] for run in runs) / 1000, 1)
    for program in ["pandas", "r", "duckdb"]:
        printed = open(program + ".txt").read().split()
        if median not in [float(text) for text in printed if text.replace(".", "", 1).isdigit()]:
            sys.exit(f"error: {program} does not print {median}, the median of {cell['id']}")
print(f"pandas, R and DuckDB print the medians of {len(cells)} cells")
PYTHON

say 'bags: imports and independent readers'
"$data/bin/python" "$root/scripts/check_imports.py"

say 'python: data frames, types, the notebook'
cd "$root"
scripts/test_python.sh "$data/bin/python" test_frames
MYPYPATH=python "$data/bin/mypy" --strict --cache-dir "$work/mypy" python/ddsmark
export PYTHONPATH=$root/python
cd "$work"
# A kernel of this environment, whatever else is installed for the user.
export JUPYTER_PREFER_ENV_PATH=1 IPYTHONDIR=$work/ipython JUPYTER_RUNTIME_DIR=$work/runtime JUPYTER_CONFIG_DIR=$work/jupyter
"$data/bin/python" - "$root/docs/how-to/notebook.ipynb" <<'PYTHON'
import json, pathlib, sys

import nbclient, nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
assert "<iframe" in shown, "the report is not shown"
(path,) = pathlib.Path("results").iterdir()
document = json.loads((path / "result.json").read_text())
printed = "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs)
for cell in document["cells"]:
    median = f"{cell['latency']['rtt']['p50_ns'] / 1000:.1f}"
    assert median in printed, f"the notebook does not print {median}, the median of {cell['id']}"
print(f"the notebook shows the medians of {len(document['cells'])} cells")
PYTHON
