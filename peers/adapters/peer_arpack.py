"""requires: scipy==1.17.1 numpy==2.4.6"""
import scipy
from common import claims, laplacian, peer, put_pairs
from scipy.sparse.linalg import eigsh


def answer(q):
    k = int(q["k"])
    if k >= q.image.size:
        raise peer.Refuse(f"eigsh finds fewer pairs than nodes, not {k} of {q.image.size}")
    put_pairs(q, *eigsh(laplacian(q)[0], k, which="SM", tol=float(q["tol"])))


peer.serve(answer, name="arpack", version=scipy.__version__, licence="BSD-3-Clause",
           source="Lehoucq, Sorensen, Yang 1998",
           method="scipy.sparse.linalg.eigsh, which='SM'", answers=claims("eigenmap", {}, max_voxels=1 << 16))
