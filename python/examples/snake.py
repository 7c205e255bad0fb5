"""A snake that reaches into a concavity.

A closed curve that is drawn by the field of an image and held together by its own stiffness
(Xu and Prince 1998). The gradient itself pulls near edges alone, and at the mouth of the room
from both sides at once; its flow at rest leads in.

    python snake.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

SIDE, POINTS, ROUNDS = 96, 400, 3000
y, x = np.mgrid[:SIDE, :SIDE]
room = (abs(y - 48) < 30) & (abs(x - 48) < 30) & ~((abs(x - 48) < 9) & (y < 62))  # open at the top
edges = np.hypot(*np.gradient(room.astype(float)))


def at(field, points):
    """The field at points between voxels, linear along each axis."""
    points = np.clip(points, 0, SIDE - 1.001)
    whole = points.astype(int)
    (v, u), (i, j) = (points - whole).T, whole.T
    return ((1 - v) * (1 - u) * field[:, i, j] + (1 - v) * u * field[:, i, j + 1] + v * (1 - u) * field[:, i + 1, j] + v * u * field[:, i + 1, j + 1]).T


def snake(field, tension=0.5, stiffness=0.5, step=0.5):
    """A circle that follows the directions of a field; elastic forces are taken implicitly."""
    pull = field / np.maximum(np.hypot(*field), 1e-9)
    angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    points = 48 + 45 * np.stack([np.sin(angle), np.cos(angle)], 1)
    wave = 4 * np.sin(np.pi * np.arange(POINTS) / POINTS) ** 2
    softened = 1 / (1 + step * (tension * wave + stiffness * wave**2))
    for _ in range(ROUNDS):
        moved = points + step * at(pull, points)
        points = np.fft.ifft(softened[:, None] * np.fft.fft(moved, axis=0), axis=0).real
        # Points are set anew at equal distances, which the pull along the curve would spoil.
        ring = np.concatenate([points, points[:1]])
        way = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(ring, axis=0).T))])
        even = np.linspace(0, way[-1], POINTS, endpoint=False)
        points = np.stack([np.interp(even, way, ring[:, k]) for k in (0, 1)], 1)
    return points


fields = {"the gradient itself": eccbench.gvf(edges, steps=0), "its flow at rest": eccbench.gvf(edges, tol=1e-5, mu=0.2)}
figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for panel, (name, field) in zip(panels, fields.items()):
    points = snake(field)
    depth = points[abs(points[:, 1] - 48) < 6, 0]
    depth = depth[depth < 75].max() if (depth < 75).any() else 0
    print(f"{name}: in the room it comes as far as row {depth:.0f}; the floor is at row 61")
    panel.imshow(room, cmap="gray_r", vmax=3)
    panel.quiver(x[::4, ::4], y[::4, ::4], *(field / np.maximum(np.hypot(*field), 1e-9))[::-1, ::4, ::4], angles="xy", color="0.6", scale=40, width=0.002)
    panel.plot(*np.concatenate([points, points[:1]]).T[::-1], "C1", lw=2)
    panel.set_title(f"a snake in {name}")
    panel.axis("off")
figure.savefig(folder / "snake.png", dpi=100)
