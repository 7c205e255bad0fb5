"""The definition, cell by cell, for small images."""

import itertools

import numpy as np


def chi(inside, construction, periodic=()):
    """Return the Euler characteristic of a set of voxels."""
    total, axes = 0, inside.ndim
    if periodic:
        # A ring of n voxels along an axis is a row of n + 1, whose ends are the same voxel:
        # χ of the row without χ of the slice that was counted twice.
        axis, *others = periodic
        twice = inside.take([0], axis)
        one = twice.squeeze(axis) if axes > 1 else None
        shared = chi(one, construction, [a - (a > axis) for a in others]) if axes > 1 else int(twice[0])
        return chi(np.concatenate([inside, twice], axis), construction, others) - shared
    if construction == "T":  # a cell exists with any voxel that has it as a face
        outside = np.pad(inside, 1)
        for spans in itertools.product((0, 1), repeat=axes):  # the axes along which a cell extends
            cells = np.zeros([n + 1 for n in inside.shape], bool)
            for steps in itertools.product(*[(1,) if s else (0, 1) for s in spans]):
                cells |= outside[tuple(slice(s, s + n + 1) for s, n in zip(steps, inside.shape))]
            total += (-1) ** sum(spans) * int(cells.sum())
        return total
    for spans in itertools.product((0, 1), repeat=axes):  # with all of its vertices
        cells = np.ones([n - s for n, s in zip(inside.shape, spans)], bool)
        for steps in itertools.product(*[(0, 1) if s else (0,) for s in spans]):
            cells &= inside[tuple(slice(t, t + n) for t, n in zip(steps, cells.shape))]
        total += (-1) ** sum(spans) * int(cells.sum())
    return total


def curve(image, construction="T", superlevel=False, periodic=(), within=True):
    """Return the levels at which χ changes, in order, and χ there."""
    levels, values, last = [], [], 0
    for t in sorted(set(image[np.broadcast_to(within, image.shape)].tolist()), reverse=superlevel):
        now = chi((image >= t if superlevel else image <= t) & within, construction, periodic)
        if now != last:
            levels.append(t)
            values.append(now)
        last = now
    return levels, values
