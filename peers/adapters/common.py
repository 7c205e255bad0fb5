"""What the adapters share: where peer.py is, and what libraries do not have."""
import os
import sys
from itertools import product

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import peer

BOTH = [{"construction": "T"}, {"construction": "V"}]


def claims(workload, *kinds, **limits):
    """Claims about a workload, one of each kind."""
    return [{"workload": workload, **kind, **limits} for kind in kinds]


def labels(**limits):
    """Claims to the workloads that by_labels answers."""
    return claims("betti", BOTH[0], **limits) + claims("components", BOTH[0], **limits)


def characteristic(inside):
    """χ of a set of voxels, its closed cubes counted by NumPy."""
    inside = np.pad(inside, 1)
    chi = 0
    for cell in product((0, 1), repeat=inside.ndim):  # 0: between two voxels of the axis, 1: within one
        there = inside
        for axis, within in enumerate(cell):
            if not within:
                low, high = [slice(None)] * inside.ndim, [slice(None)] * inside.ndim
                low[axis], high[axis] = slice(None, -1), slice(1, None)
                there = there[tuple(low)] | there[tuple(high)]
        chi += (-1) ** sum(cell) * int(np.count_nonzero(there))
    return chi


def by_labels(q, full, faces):
    """Betti numbers of closed voxels, or their components alone, by two functions that count components: of
    voxels that touch, and of those that share a face, as the voxels of the background do."""
    inside = q.inside()
    b0 = full(inside)
    if q["workload"] == "components":
        return [b0]
    around = faces(~np.pad(inside, 1)) - 1
    if inside.ndim == 2:
        return [b0, around, 0]
    return [b0, b0 + around - characteristic(inside), around]


def from_pairs(q, pairs):
    """Changes by level of the Betti numbers, of persistence pairs (dimension, birth, death) of ranks."""
    out = np.zeros((len(q.levels), 3), np.int64)
    for dim, births, deaths in pairs:
        np.add.at(out[:, dim], births.astype(int), 1)
        deaths = deaths[deaths < len(q.levels)]
        np.add.at(out[:, dim], deaths.astype(int), -1)
    return out


def with_pairs(q, pairs_of):
    """Answers curves, Betti curves or Betti numbers by a function from an image of float64 to pairs."""
    if q["workload"] == "betti":
        alive = np.zeros(3, np.int64)
        for dim, births, deaths in pairs_of(np.where(q.inside(), 0.0, 1.0)):
            alive[dim] += np.count_nonzero((births <= 0) & (deaths > 0))
        return alive
    changes = from_pairs(q, pairs_of(q.ranks().astype(np.float64)))
    return changes @ [1, -1, 1] if q["workload"] == "ecc" else changes


def laplacian(q):
    """The Laplacian of a question of workload eigenmap as a sparse matrix, W, and D."""
    from scipy import sparse

    f = np.asarray(q.image, np.float64)
    span = f.max() - f.min()
    f = (f - f.min()) / (span or 1)
    nodes = np.arange(f.size).reshape(f.shape)
    square = 3 if q["corners"] == "true" else int(q["radius"]) ** 2
    reach = 1 if q["corners"] == "true" else int(q["radius"])
    rows, columns, weights = [], [], []
    for step in product(range(-reach, reach + 1), repeat=f.ndim):
        if not 0 < sum(s * s for s in step) <= square:
            continue
        here = tuple(slice(max(0, -s), min(n, n - s)) for s, n in zip(step, f.shape))
        there = tuple(slice(max(0, s), min(n, n + s)) for s, n in zip(step, f.shape))
        rows.append(nodes[here].ravel())
        columns.append(nodes[there].ravel())
        weights.append((np.exp(-((f[here] - f[there]) / float(q["sigma"])) ** 2) + float(q["floor"])).ravel())
    w = sparse.csr_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), (f.size, f.size))
    d = np.asarray(w.sum(axis=1)).ravel()
    if q["plain"] == "true":
        return sparse.diags(d) - w, w, d
    root = sparse.diags(1 / np.sqrt(d))
    return sparse.identity(f.size) - root @ w @ root, w, d


def put_pairs(q, values, vectors):
    """Writes eigenpairs in ascending order; vectors are the columns of a matrix."""
    order = np.argsort(values)
    q.put(np.asarray(values)[order])
    q.put(vectors[:, order].T.reshape(q.answers["answer.vectors"].shape), "answer.vectors")
