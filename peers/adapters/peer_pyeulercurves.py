"""requires: pyEulerCurves==0.5.post0"""
from importlib.metadata import version

import numpy as np
from common import claims, peer
from pyEulerCurves.ecc_cubical import compute_cubical_contributions


def answer(q):
    ranks, changes = q.ranks().astype(np.float64), np.zeros(len(q.levels), np.int64)
    sides = list(ranks.shape[::-1])
    for at, change in compute_cubical_contributions(ranks.reshape(-1, 1), sides, workers=q.threads):
        changes[int(at[0])] += change
    return changes


peer.serve(answer, name="pyeulercurves", version=version("pyEulerCurves"), licence="MIT",
           source="Dłotko, Gurnari 2023",
           method="compute_cubical_contributions of ranks in float64, a pool of processes a call",
           answers=claims("ecc", {"construction": "T"}, max_voxels=1 << 18))
