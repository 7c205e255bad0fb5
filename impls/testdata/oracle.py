"""Euler characteristic curves, Betti numbers, persistence pairs, homology, vector flows and eigenvalues by software that shares nothing with eccbench.

oracle.py gudhi CONSTRUCTION AXES FILE.npy...
                                      by persistent homology of the cubical complex, T or V,
                                      periodic along AXES: "-" for none, or letters: xz
oracle.py skimage FILE.npy CONSTRUCTION SETS LEVEL...
                                      by scikit-image's Euler number of each thresholding:
                                      T or V, sublevel or superlevel
oracle.py betti TOOL CONSTRUCTION LEVEL FILE.npy...
                                      Betti numbers of each sublevel set, of superlevel sets
                                      where LEVEL begins with ">": by gudhi, the pairs of
                                      persistent homology that are alive; by skimage, labels
                                      of the set and of the rest, and the Euler number
oracle.py pairs CONSTRUCTION SETS FILE.npy...
                                      persistence pairs by GUDHI over two elements: dimension,
                                      value of birth, value of death or null

oracle.py homology FIELD FILE...
                                      Betti numbers of complexes, a simplex a line, by the
                                      simplex tree of GUDHI, over the field of FIELD elements

oracle.py gvf STEPS MU BOUNDARY FILE.npy...
                                      gradient vector flow by NumPy, in float32; boundary
                                      replicate or third
oracle.py gvf-steady MU BOUNDARY FILE.npy...
                                      its steady state by SciPy's sparse direct solver

oracle.py eigenmap K SIGMA FLOOR SQUARE PLAIN FILE.npy...
                                      lowest eigenvalues of the Laplacian of the graph of
                                      voxels, by SciPy; neighbours are those of which the
                                      square of the distance is at most SQUARE, and PLAIN is
                                      true or false
oracle.py eigenmap-patch K ALPHA BETA SIDE FILE.npy...
                                      of that of patches, by SciPy
oracle.py eigenmap-lanczos K STEPS SEED ALPHA BETA SIDE FILE.npy...
                                      what steps of Lanczos' method reach of them, by NumPy

Prints one JSON value: for gudhi a list of curves, each a list of [value, chi]
for every value of the volume; for skimage a list of chi; for betti a list of
[b0, b1, b2], for pairs a list of the pairs of each image, for homology of all Betti numbers; null where this GUDHI has no such construction; for gvf a list of
the SHA-256 of each field's float32, component by component; for gvf-steady a list
of each field's numbers; for eigenmap a list of the values of each image.
"""
import hashlib
import json
import sys

import numpy as np


def gudhi_lacks(construction):
    import gudhi

    # Before 3.8 voxels were top cells alone.
    return construction == "V" and tuple(map(int, gudhi.__version__.split(".")[:2])) < (3, 8)


def gudhi_curve(volume, construction, axes):
    import gudhi

    cells = {"top_dimensional_cells" if construction == "T" else "vertices": volume.astype(float)}
    if axes == "-":
        complex_ = gudhi.CubicalComplex(**cells)
    else:
        rings = [axis in axes for axis in "zyx"[-volume.ndim :]]
        complex_ = gudhi.PeriodicCubicalComplex(periodic_dimensions=rings, **cells)
    # Pairs of length zero change nothing.
    pairs = complex_.persistence(homology_coeff_field=2, min_persistence=0)
    curve = []
    for value in np.unique(volume):
        chi = sum(
            (-1) ** dimension
            for dimension, (birth, death) in pairs
            if birth <= value < death
        )
        curve.append([float(value), chi])
    return curve


def gudhi_betti(within, construction):
    import gudhi

    # The set is there from 0 on, the rest of the box from 1 on.
    cells = "top_dimensional_cells" if construction == "T" else "vertices"
    complex_ = gudhi.CubicalComplex(**{cells: np.where(within, 0.0, 1.0)})
    pairs = complex_.persistence(homology_coeff_field=11, min_persistence=0)
    return [sum(d == dimension and birth <= 0 < death for d, (birth, death) in pairs) for dimension in range(3)]


def gudhi_pairs(volume, construction, sets):
    import gudhi

    cells, sign = "top_dimensional_cells" if construction == "T" else "vertices", -1 if sets == "superlevel" else 1
    complex_ = gudhi.CubicalComplex(**{cells: sign * volume.astype(float)})
    pairs = complex_.persistence(homology_coeff_field=2, min_persistence=0)
    return [[d, sign * birth, None if death == np.inf else sign * death] for d, (birth, death) in pairs]


def skimage_betti(within, construction):
    from skimage.measure import euler_number, label

    inside, around = (within.ndim, 1) if construction == "T" else (1, within.ndim)
    _, b0 = label(within, connectivity=inside, return_num=True)
    _, rest = label(np.pad(~within, 1, constant_values=True), connectivity=around, return_num=True)
    if within.ndim == 2:
        return [int(b0), int(rest) - 1, 0]
    b2 = rest - 1
    return [int(b0), int(b0 + b2 - euler_number(within, connectivity=inside)), int(b2)]


def beside(values, axis, by, boundary):
    """The neighbour of each value along an axis."""
    n = values.shape[axis]
    at = np.arange(n) + by
    if boundary == "third" and n > 1:
        at = np.where(at < 0, 1, np.where(at >= n, n - 2, at))
    return np.take(values, np.clip(at, 0, n - 1), axis=axis)


def gradient(volume):
    values = volume.astype(np.float64)
    least, most = values.min(), values.max()
    f = np.zeros(values.shape, np.float32)
    if most > least:
        f = ((values - least) / (most - least)).astype(np.float32)
    # Components are x, y, z: the last axis first.
    axes = range(volume.ndim - 1, -1, -1)
    v0 = [np.float32(0.5) * (beside(f, a, 1, "replicate") - beside(f, a, -1, "replicate")) for a in axes]
    b = v0[0] * v0[0]
    for v in v0[1:]:
        b = b + v * v
    return v0, b


def flow(volume, steps, mu, boundary):
    v0, b = gradient(volume)
    mu, sides = np.float32(mu), np.float32(2 * volume.ndim)
    field = []
    for start in v0:
        v = start
        for _ in range(steps):
            pairs = [beside(v, a, -1, boundary) + beside(v, a, 1, boundary) for a in range(volume.ndim - 1, -1, -1)]
            total = pairs[0]
            for pair in pairs[1:]:
                total = total + pair
            v = v + (mu * (total - sides * v) - (v - start) * b)
        field.append(v)
    return hashlib.sha256(np.stack(field).astype("<f4").tobytes()).hexdigest()


def at_rest(volume, mu, boundary):
    from scipy.sparse import diags, eye
    from scipy.sparse.linalg import spsolve

    v0, b = gradient(volume)
    index = np.arange(volume.size).reshape(volume.shape)
    operator = diags(b.ravel().astype(np.float64)).tocsr()
    one = eye(volume.size, format="csr")
    for axis in range(volume.ndim):
        for by in (-1, 1):
            operator = operator + float(np.float32(mu)) * (one - one[beside(index, axis, by, boundary).ravel()])
    source = [b.astype(np.float64) * v for v in v0]
    return [float(x) for s in source for x in spsolve(operator.tocsc(), s.ravel())]


def of_voxels(volume, k, sigma, floor, square, plain):
    from itertools import product
    from math import isqrt

    from scipy.linalg import eigh
    from scipy.sparse.csgraph import laplacian

    values = volume.astype(np.float64)
    least, most = values.min(), values.max()
    f = (values - least) / (most - least) if most > least else np.zeros(values.shape)
    places = np.argwhere(np.ones(f.shape, bool))
    number = np.arange(f.size).reshape(f.shape)
    weights = np.zeros((f.size, f.size))
    reach = isqrt(square)
    for by in product(range(-reach, reach + 1), repeat=f.ndim):
        if not 0 < sum(b * b for b in by) <= square:
            continue
        other = places + by
        inside = np.all((other >= 0) & (other < f.shape), axis=1)
        here, there = tuple(places[inside].T), tuple(other[inside].T)
        weights[number[here], number[there]] = np.exp(-((f[here] - f[there]) ** 2) / sigma**2) + floor
    return list(eigh(laplacian(weights, normed=not plain), eigvals_only=True)[:k])


def of_patches(volume, alpha, beta, side):
    from scipy.sparse.csgraph import laplacian
    from scipy.spatial.distance import cdist

    grey = volume.astype(np.float64)
    if volume.dtype != np.uint8:
        least, most = grey.min(), grey.max()
        grey = np.rint(255 * ((grey - least) / (most - least))) if most > least else 0 * grey
    shape = tuple(n // side for n in grey.shape)
    grey = grey[tuple(slice(n * side) for n in shape)]
    split = grey.reshape([m for n in shape for m in (n, side)])
    axes = list(range(0, split.ndim, 2)) + list(range(1, split.ndim, 2))
    x = split.transpose(axes).reshape(np.prod(shape), -1)
    p = np.argwhere(np.ones(shape, bool)).astype(np.float64)
    weights = np.exp(-cdist(x, x, "sqeuclidean") / (x.shape[1] * alpha**2)) * np.exp(-cdist(p, p, "sqeuclidean") / (2 * beta**2))
    np.fill_diagonal(weights, 0)
    return laplacian(weights, normed=True)


def start(seed, n):
    """SplitMix64, from -1/2 to 1/2."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5


def lanczos(matrix, k, steps, seed):
    from scipy.linalg import eigh

    basis = np.zeros((steps, len(matrix)))
    v = start(seed, len(matrix))
    for i in range(steps):
        for _ in range(2):
            v = v - basis[:i].T @ (basis[:i] @ v)
        basis[i] = v / np.linalg.norm(v)
        v = matrix @ basis[i]
    return list(eigh(basis @ matrix @ basis.T, eigvals_only=True)[:k])


def simplex_tree(path, field):
    import gudhi

    tree = gudhi.SimplexTree()
    with open(path) as lines:
        for line in lines:
            tree.insert([int(v) for v in line.split()])
    tree.compute_persistence(homology_coeff_field=field, persistence_dim_max=True)
    numbers = tree.betti_numbers()
    return numbers + [0] * (tree.dimension() + 1 - len(numbers))


def main():
    tool, files = sys.argv[1], sys.argv[2:]
    if tool == "gudhi":
        lacks = gudhi_lacks(files[0])
        print(json.dumps(None if lacks else [gudhi_curve(np.load(f), *files[:2]) for f in files[2:]]))
    elif tool == "skimage":
        from skimage.measure import euler_number

        volume, (construction, sets) = np.load(files[0]), files[1:3]
        # Voxels that are vertices are connected along axes, top cells at corners too.
        connectivity = 1 if construction == "V" else volume.ndim
        within = np.greater_equal if sets == "superlevel" else np.less_equal
        print(json.dumps([int(euler_number(within(volume, float(t)), connectivity=connectivity)) for t in files[3:]]))
    elif tool == "betti":
        (by, construction, level), files = files[:3], files[3:]
        answer = {"gudhi": gudhi_betti, "skimage": skimage_betti}[by]
        within = np.greater_equal if level.startswith(">") else np.less_equal
        lacks = by == "gudhi" and gudhi_lacks(construction)
        print(json.dumps(None if lacks else [answer(within(np.load(f), float(level.lstrip(">"))), construction) for f in files]))
    elif tool == "pairs":
        print(json.dumps(None if gudhi_lacks(files[0]) else [gudhi_pairs(np.load(f), *files[:2]) for f in files[2:]]))
    elif tool == "homology":
        print(json.dumps([simplex_tree(path, int(files[0])) for path in files[1:]]))
    elif tool == "gvf":
        (steps, mu, boundary), files = files[:3], files[3:]
        print(json.dumps([flow(np.load(f), int(steps), float(mu), boundary) for f in files]))
    elif tool == "gvf-steady":
        (mu, boundary), files = files[:2], files[2:]
        print(json.dumps([at_rest(np.load(f), float(mu), boundary) for f in files]))
    elif tool == "eigenmap":
        (k, sigma, floor, square, plain), files = files[:5], files[5:]
        print(json.dumps([of_voxels(np.load(f), int(k), float(sigma), float(floor), int(square), plain == "true") for f in files]))
    elif tool == "eigenmap-patch":
        from scipy.linalg import eigh

        (k, alpha, beta, side), files = files[:4], files[4:]
        print(json.dumps([list(eigh(of_patches(np.load(f), float(alpha), float(beta), int(side)), eigvals_only=True)[: int(k)]) for f in files]))
    elif tool == "eigenmap-lanczos":
        (k, steps, seed, alpha, beta, side), files = files[:6], files[6:]
        print(json.dumps([lanczos(of_patches(np.load(f), float(alpha), float(beta), int(side)), int(k), int(steps), int(seed)) for f in files]))
    else:
        sys.exit(f"unknown tool {tool}")


main()
