"""Makes the golden files of this directory: answers of SciPy to compare with. Not needed to build or test.

Made with Python 3.11.7, NumPy 2.4.6, SciPy 1.17.1:  python make.py
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(20_261_121)


def write(name, cases):
    made_by = f"make.py, SciPy {scipy.__version__}, NumPy {np.__version__}"
    lines = ",\n    ".join(json.dumps(case) for case in cases)
    (HERE / f"{name}.json").write_text(f'{{\n  "made_by": "{made_by}",\n  "cases": [\n    {lines}\n  ]\n}}\n')


def signed_rank(n, shift):
    values = np.round(random.normal(shift, 1.0, n), 6)
    p = {a: stats.wilcoxon(values, alternative=a, method="exact").pvalue for a in ("two-sided", "greater", "less")}
    i, j = np.triu_indices(n)
    estimate = np.median((values[i] + values[j]) / 2)
    return {"values": values.tolist(), "two_sided": p["two-sided"], "greater": p["greater"], "less": p["less"],
            "estimate": estimate}


def benjamini_hochberg(n):
    p = np.round(random.uniform(size=n) ** 3, 6)
    return {"p": p.tolist(), "adjusted": stats.false_discovery_control(p).tolist()}


def noncentral_t(t, freedom, shift):
    return {"t": t, "freedom": freedom, "shift": shift, "above": stats.nct.sf(t, freedom, shift)}


write("signed_rank", [signed_rank(n, shift) for n in (1, 2, 5, 6, 7, 8, 12, 20, 35, 50) for shift in (0.0, 0.5)])
write("benjamini_hochberg", [benjamini_hochberg(n) for n in (1, 2, 5, 40)])
write("noncentral_t", [noncentral_t(t, f, d) for t in (2.0, 3.5) for f in (1, 2, 5, 11, 50) for d in (0.0, 1.0, 3.0, 6.0)])
