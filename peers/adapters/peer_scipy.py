"""requires: scipy==1.17.1 numpy==2.4.6"""
import numpy as np
import scipy
from common import BOTH, by_labels, claims, labels, peer
from scipy import ndimage
from itertools import product


def answer(q):
    if q["workload"] != "ecc":
        full = np.ones((3,) * q.image.ndim)
        return by_labels(q, lambda s: ndimage.label(s, full)[1], lambda s: ndimage.label(s)[1])
    ranks, n = q.ranks().astype(np.int32), len(q.levels)
    vertices = q["construction"] == "V"
    if not vertices:
        ranks = np.pad(ranks, 1, constant_values=n)
    extreme = ndimage.maximum_filter if vertices else ndimage.minimum_filter
    changes = np.zeros(n + 1, np.int64)
    for cell in product((0, 1), repeat=ranks.ndim):  # 1: the cell reaches across two voxels of the axis
        values = extreme(ranks, size=[1 + r for r in cell])
        values = values[tuple(slice(r, None) if r else (slice(None) if vertices else slice(1, -1)) for r in cell)]
        odd = sum(cell) if vertices else ranks.ndim - sum(cell)
        changes += (-1) ** odd * np.bincount(values.ravel(), minlength=n + 1)
    return changes[:n]


peer.serve(answer, name="scipy", version=scipy.__version__, licence="BSD-3-Clause", source="scipy.org",
           method="cells by ndimage's minimum and maximum filters; Betti numbers by ndimage.label, χ by NumPy",
           answers=claims("ecc", *BOTH) + labels())
