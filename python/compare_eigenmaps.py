"""Eigenmaps of eccbench and other Python libraries, as a table.

    python compare_eigenmaps.py [--write] [SIZE...]

Each installed library finds the four lowest pairs of the graph of voxels of the same image of tubes,
to a residual of 1e-6, from the array to the vectors: the matrix, its preconditioner and the solver.
The pairs are checked with the matrix in float64, and the second value is compared with that of
eccbench, which is verified. Times are processor times of one thread, the least of three. --write
updates the table in doc/proofs/eigenmap.md. SIZE is 512x512, 64x64x64 or 96x96x96; the default is all.
"""

import os

for threads in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{threads}_NUM_THREADS"] = "1"

import importlib
import importlib.metadata
import sys
import time

import numpy as np

import eccbench
from compare import load, processor, rounded, spelled, written

SIZES = ("512x512", "64x64x64", "96x96x96")
PAIRS, TOL, SIGMA, FLOOR = 4, 1e-6, 0.1, 0.001
CALLS = 3


def weights(image):
    """Return the weights of neighbours that share a face, as a sparse matrix."""
    sparse = importlib.import_module("scipy.sparse")
    values = image.astype(float)
    f = (values - values.min()) / (values.max() - values.min())
    number = np.arange(f.size).reshape(f.shape)
    ends, list_ = [], []
    for axis in range(f.ndim):
        before, after = (np.arange(f.shape[axis] - 1) + k for k in (0, 1))
        ends.append(np.stack([number.take(before, axis).ravel(), number.take(after, axis).ravel()]))
        list_.append((np.exp(-((f.take(before, axis) - f.take(after, axis)) ** 2) / SIGMA**2) + FLOOR).ravel())
    (i, j), w = np.concatenate(ends, 1), np.concatenate(list_)
    half = sparse.csr_matrix((w, (i, j)), (f.size, f.size))
    return half + half.T


def laplacian(image):
    """Return the normalised Laplacian, and the square roots of degrees, which are in its kernel."""
    sparse = importlib.import_module("scipy.sparse")
    w = weights(image)
    root = np.sqrt(np.asarray(w.sum(1)).ravel())
    over = sparse.diags(1 / root)
    return (sparse.identity(len(root)) - over @ w @ over).tocsr(), root


def lobpcg(image):
    linalg, pyamg = importlib.import_module("scipy.sparse.linalg"), importlib.import_module("pyamg")
    matrix, root = laplacian(image)
    first = np.random.default_rng(1).normal(size=(len(root), PAIRS))
    first[:, 0] = root
    cycle = pyamg.smoothed_aggregation_solver(matrix, B=root[:, None]).aspreconditioner()
    return linalg.lobpcg(matrix, first, M=cycle, largest=False, tol=TOL, maxiter=200)


def embedding(image):
    # It assumes a known kernel, divides vectors by the roots of degrees, and returns no values.
    manifold = importlib.import_module("sklearn.manifold")
    w = weights(image)
    found = manifold.spectral_embedding(w, n_components=PAIRS, eigen_solver="amg", random_state=1, drop_first=False)
    vectors = found * np.sqrt(np.asarray(w.sum(1)))
    vectors /= np.linalg.norm(vectors, axis=0)
    matrix, _ = laplacian(image)
    return np.sum(vectors * (matrix @ vectors), axis=0), vectors


def ours(verify):
    def pairs(image):
        found = eccbench.eigenmap(image, PAIRS, tol=TOL, sigma=SIGMA, floor=FLOOR, verify=verify, n_jobs=1)
        return found.eigenvalues_, found.eigenvectors_.reshape(PAIRS, -1).T
    return pairs


# Distribution, method, function of an image.
PEERS = [
    ("eccbench", "`multigrid`, and the proof that no pair is missing", ours(True)),
    ("eccbench", "`multigrid`, `verify=False`", ours(False)),
    ("pyamg", "smoothed aggregation, and SciPy's LOBPCG to 1e-6", lobpcg),
    ("scikit-learn", "`spectral_embedding`, amg, its own tolerance", embedding),
]


def timed(call):
    """Return the result of a call, and the least processor time of several."""
    times = []
    for _ in range(CALLS):
        start = time.process_time()
        answer = call()
        times.append(time.process_time() - start)
    return answer, min(times)


def rows(sizes):
    for size in sizes:
        image = np.asarray(eccbench.open(f"tubes/shape={size}/type=uint8/levels=256/seed=1"))
        matrix, _ = laplacian(image)
        one = right = None
        for library, does, pairs in PEERS:
            try:
                version = importlib.metadata.version(library)
                (values, vectors), took = timed(lambda: pairs(image))
            except ImportError:
                print(f"{library} is not installed", file=sys.stderr)
                continue
            order = np.argsort(values)
            values, vectors = np.asarray(values)[order], vectors[:, order]
            residual = np.linalg.norm(matrix @ vectors - values * vectors, axis=0).max()
            if right is None:
                right = values[1]
            elif one is None:
                one = took
            ratio = rounded(took / one) if one else "—"
            yield f"| {size} | {library} {version} | {does} | {residual:.1e} | {values[1]:.6g} | {values[1] / right - 1:+.1e} | {spelled(took)} | {ratio} |"


def main():
    sizes = [a for a in sys.argv[1:] if a != "--write"] or SIZES
    before, body, after = load(), list(rows(sizes)), load()
    written("../doc/proofs/eigenmap.md", "compare_eigenmaps.py", [
        f"Processor time of one thread on {processor()}, the least of {CALLS} calls, from an array of tubes to",
        f"the vectors, k = {PAIRS}, σ = {SIGMA}, w0 = {FLOOR}; a load of {before:.1f} before and {after:.1f} after, its own",
        "1 included.",
        "",
        "| image | library | method | largest residual | second value | off by | time | × eccbench, `verify=False` |",
        "|---|---|---|---|---|---|---|---|",
        *body,
    ])


if __name__ == "__main__":
    main()
