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


def bca(values):
    found = stats.bootstrap((values,), np.mean, n_resamples=400_000, batch=20_000, confidence_level=0.95,
                            method="BCa", rng=random)
    low, high = found.confidence_interval
    return {"values": values.tolist(), "low": low, "high": high}


def benjamini_hochberg(n):
    p = np.round(random.uniform(size=n) ** 3, 6)
    return {"p": p.tolist(), "adjusted": stats.false_discovery_control(p).tolist()}


def quantile_ranks(n, q):
    # half of 5 % in each tail, which these n allow: ranks count from 1
    below = stats.binom(n, q)
    low = int(below.ppf(0.025))
    if below.cdf(low - 1) > 0.025:
        low -= 1
    while below.cdf(low) <= 0.025:
        low += 1
    high = low
    while below.sf(high - 1) > 0.025:
        high += 1
    return {"n": n, "q": q, "low": low, "high": high, "level": below.cdf(high - 1) - below.cdf(low - 1)}


def noncentral_t(t, freedom, shift):
    return {"t": t, "freedom": freedom, "shift": shift, "above": stats.nct.sf(t, freedom, shift)}


def components(lengths):
    runs = [np.round(random.normal(random.normal(10, 2), 1, n), 6) for n in lengths]
    n, k = sum(lengths), len(lengths)
    within = sum(((run - run.mean()) ** 2).sum() for run in runs) / (n - k)
    # SciPy's F is the ratio of the mean squares
    mean_square_between = stats.f_oneway(*runs).statistic * within
    typical = (n - sum(m * m for m in lengths) / n) / (k - 1)
    return {"lengths": lengths, "values": np.concatenate(runs).tolist(), "within": within,
            "between": max(0.0, (mean_square_between - within) / typical)}


write("signed_rank", [signed_rank(n, shift) for n in (1, 2, 5, 6, 7, 8, 12, 20, 35, 50) for shift in (0.0, 0.5)])
write("bca", [bca(np.round(random.normal(size=12), 6)), bca(np.round(random.exponential(size=12), 6)),
              bca(np.round(random.lognormal(size=25), 6))])
write("benjamini_hochberg", [benjamini_hochberg(n) for n in (1, 2, 5, 40)])
write("quantile_ranks", [quantile_ranks(n, q) for n, q in
                         ((6, 0.5), (100, 0.5), (1000, 0.9), (368, 0.99), (5000, 0.99), (20_000, 0.999),
                          (1_000_000, 0.9999))])
write("noncentral_t", [noncentral_t(t, f, d) for t in (2.0, 3.5) for f in (1, 2, 5, 11, 50) for d in (0.0, 1.0, 3.0, 6.0)])
write("components", [components([5] * 6), components([3, 8, 5, 12]), components([2] * 20)])
