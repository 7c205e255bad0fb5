"""
The torsion of a mesh
=====================

A grid whose sides are glued is a torus, and a Klein bottle if two of the sides are turned. Over the field of two
elements both have the same Betti numbers. Over the integers the Klein bottle has torsion: a loop that bounds nothing,
though twice the loop does.
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

N, M = 40, 20  # vertices around and across


def grid(turned):
    """The triangles of an N×M grid that closes to a ring on both axes."""
    def vertex(i, j):
        j = np.where(turned & (i == N), -j, j)
        return i % N * M + j % M

    i, j = (a.ravel() for a in np.mgrid[:N, :M])
    a, b, c, d = vertex(i, j), vertex(i + 1, j), vertex(i, j + 1), vertex(i + 1, j + 1)
    return np.concatenate([np.stack([a, b, d], 1), np.stack([a, c, d], 1)])


u, v = np.mgrid[0 : 2 * np.pi : 61j, 0 : 2 * np.pi : 31j]
r = 2 + np.cos(u / 2) * np.sin(v) - np.sin(u / 2) * np.sin(2 * v)  # a figure eight that turns over
surfaces = {
    "torus": ((2 + np.cos(v)) * np.cos(u), (2 + np.cos(v)) * np.sin(u), np.sin(v)),
    "Klein bottle": (r * np.cos(u), r * np.sin(u), np.sin(u / 2) * np.sin(v) + np.cos(u / 2) * np.sin(2 * v)),
}
figure = plt.figure(figsize=(9, 4), layout="constrained")
for k, (name, surface) in enumerate(surfaces.items()):
    axes = figure.add_subplot(1, 2, k + 1, projection="3d")
    axes.plot_surface(*surface, color=f"C{k}", alpha=0.6, edgecolor="k", linewidth=0.1)
    axes.set(aspect="equal", xticks=[], yticks=[], zticks=[])
    for field in (2, "Z"):
        groups = eccbench.homology(grid(turned=k == 1), field=field)
        print(f"{name}: {groups}")
    axes.set_title(f"{name}: {groups.betti}, torsion {groups.torsion[1] or 'none'}")
plt.show()
