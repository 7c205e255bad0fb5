"""requires: scikit-learn==1.7.2 pyamg==5.3.0 scipy==1.17.1 numpy==2.4.6"""
import numpy as np
import sklearn
from common import claims, laplacian, peer, put_pairs
from sklearn.manifold import spectral_embedding


def answer(q):
    if q["plain"] == "true":
        raise peer.Refuse("spectral_embedding is of I - D^-1/2 W D^-1/2 here")
    matrix, w, d = laplacian(q)
    found = spectral_embedding(w, n_components=int(q["k"]), eigen_solver="amg", eigen_tol=float(q["tol"]),
                               drop_first=False, random_state=0)
    vectors = found * np.sqrt(d)[:, None]
    vectors /= np.linalg.norm(vectors, axis=0)
    put_pairs(q, np.einsum("ik,ik->k", vectors, matrix @ vectors), vectors)


peer.serve(answer, name="scikit-learn", version=sklearn.__version__, licence="BSD-3-Clause", source="scikit-learn.org",
           method="spectral_embedding, eigen_solver='amg'; values as Rayleigh quotients",
           answers=claims("eigenmap", {}, max_voxels=1 << 18))
