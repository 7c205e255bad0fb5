"""Euler characteristic curves by software that shares nothing with eccbench.

oracle.py gudhi CONSTRUCTION AXES FILE.npy...
                                      by persistent homology of the cubical complex, T or V,
                                      periodic along AXES: "-" for none, or letters: xz
oracle.py skimage FILE.npy CONSTRUCTION SETS LEVEL...
                                      by scikit-image's Euler number of each thresholding:
                                      T or V, sublevel or superlevel

Prints one JSON value: for gudhi a list of curves, each a list of [value, chi]
for every value of the volume, or null where this GUDHI has no such construction; for
skimage a list of chi.
"""
import json
import sys

import numpy as np


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


def main():
    tool, files = sys.argv[1], sys.argv[2:]
    if tool == "gudhi":
        import gudhi

        # Before 3.8 voxels were top cells alone.
        old = tuple(map(int, gudhi.__version__.split(".")[:2])) < (3, 8)
        if files[0] == "V" and old:
            print(json.dumps(None))
        else:
            print(json.dumps([gudhi_curve(np.load(f), *files[:2]) for f in files[2:]]))
    elif tool == "skimage":
        from skimage.measure import euler_number

        volume, (construction, sets) = np.load(files[0]), files[1:3]
        # Voxels that are vertices are connected along axes, top cells at corners too.
        connectivity = 1 if construction == "V" else volume.ndim
        within = np.greater_equal if sets == "superlevel" else np.less_equal
        print(json.dumps([int(euler_number(within(volume, float(t)), connectivity=connectivity)) for t in files[3:]]))
    else:
        sys.exit(f"unknown tool {tool}")


main()
