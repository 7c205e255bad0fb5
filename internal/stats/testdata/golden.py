"""Writes signedrank.json: p-values of SciPy's signed-rank test with the exact
distribution over all sign flips, zeros ranked by Pratt, and order-statistic
ranks from SciPy's binomial distribution.

    python3 golden.py > signedrank.json
"""
import json, platform
import numpy as np, scipy
from scipy.stats import binom, wilcoxon, PermutationMethod

rng = np.random.default_rng(20)
samples = {
    "one": [0.5], "one down": [-0.5], "zeros": [0.0, 0.0, 0.0],
    "two": [0.1, -0.2], "four up": [0.4, 0.1, 0.2, 0.3], "five up": [0.4, 0.1, 0.2, 0.3, 0.7],
    "ties": [1, 1, -1, 2, 2, -2, 3], "all tied": [1, 1, 1, 1, -1, -1, 1, 1],
    "ties and zeros": [0, 0, 1, -1, 2, 2, -3, 4, 0, 4, -4], "zeros and ups": [0, 0, 0, 1, 2, 3],
    "halves": [0.5, -0.5, 1.5, 1.5, 2.5, -2.5, 0],
}
for n in (6, 7, 10, 12, 16):
    samples[f"normal {n}"] = list(np.round(rng.normal(0.3, 1, n), 6))
    samples[f"rounded {n}"] = list(np.round(rng.normal(0.5, 2, n)))
tests = []
for name, d in samples.items():
    d = [float(v) for v in d]
    # More resamples than there are sign flips: SciPy then enumerates them all.
    # Without a nonzero difference there is no test, and the answer is 1.
    method = "exact" if len(d) == 1 else PermutationMethod(n_resamples=2 ** (len(d) + 1))
    p = 1.0 if not any(d) else float(wilcoxon(d, zero_method="pratt", alternative="greater", method=method).pvalue)
    tests.append({"name": name, "d": d, "greater": p})
ranks = []
for n in (2, 5, 6, 7, 10, 11, 15, 33, 100, 200):
    for confidence in (0.9, 0.95, 0.99):
        lo = max([0] + [l for l in range(1, (n - 1) // 2 + 1) if n - 1 - l > l and 1 - 2 * binom.cdf(l, n, 0.5) >= confidence])
        ranks.append({"n": n, "confidence": confidence, "lo": int(lo), "reached": float(1 - 2 * binom.cdf(lo, n, 0.5))})
print(json.dumps({"by": f"SciPy {scipy.__version__}, Python {platform.python_version()}: scipy.stats.wilcoxon(d, zero_method='pratt', alternative='greater', method=PermutationMethod(2**(n+1))); scipy.stats.binom.cdf", "tests": tests, "ranks": ranks}, indent=1))
