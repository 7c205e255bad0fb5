"""Euler characteristic curves and Betti numbers by software that shares nothing with eccbench.

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

Prints one JSON value: for gudhi a list of curves, each a list of [value, chi]
for every value of the volume; for skimage a list of chi; for betti a list of
[b0, b1, b2]; null where this GUDHI has no such construction.
"""
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


def skimage_betti(within, construction):
    from skimage.measure import euler_number, label

    inside, around = (within.ndim, 1) if construction == "T" else (1, within.ndim)
    _, b0 = label(within, connectivity=inside, return_num=True)
    _, rest = label(np.pad(~within, 1, constant_values=True), connectivity=around, return_num=True)
    if within.ndim == 2:
        return [int(b0), int(rest) - 1, 0]
    b2 = rest - 1
    return [int(b0), int(b0 + b2 - euler_number(within, connectivity=inside)), int(b2)]


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
    else:
        sys.exit(f"unknown tool {tool}")


main()
