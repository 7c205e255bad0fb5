"""
A snake that reaches into a concavity
=====================================

A closed curve is drawn by a field and held together by its own stiffness (Xu and Prince 1998). The gradient of an
image pulls only near its edges, and at the mouth of the room from both sides at once. Its flow at rest leads in.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import map_coordinates

import eccbench

SIDE, POINTS = 96, 400
y, x = np.mgrid[:SIDE, :SIDE]
room = (abs(y - 48) < 30) & (abs(x - 48) < 30) & ~((abs(x - 48) < 9) & (y < 62))  # open at the top
edges = np.hypot(*np.gradient(room.astype(float)))


def snake(pull):
    """A circle that follows a field of directions; its elastic forces are implicit."""
    angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    points = 48 + 45 * np.stack([np.sin(angle), np.cos(angle)])
    wave = 4 * np.sin(np.pi * np.arange(POINTS) / POINTS) ** 2
    for _ in range(2000):
        points = points + 0.5 * np.stack([map_coordinates(part, points, order=1, mode="nearest") for part in pull])
        points = np.fft.ifft(np.fft.fft(points) / (1 + 0.25 * (wave + wave**2))).real
        ring = np.c_[points, points[:, :1]]  # set anew at equal distances
        way = np.r_[0, np.cumsum(np.hypot(*np.diff(ring)))]
        points = np.stack([np.interp(np.linspace(0, way[-1], POINTS, endpoint=False), way, part) for part in ring])
    return points


fields = {"the gradient": eccbench.gvf(edges, steps=0), "its flow at rest": eccbench.gvf(edges, tol=1e-5, mu=0.2)}
figure, panels = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for panel, (name, field) in zip(panels, fields.items()):
    print(f"{name}: {field.verdict} by {field.witness}")
    pull = np.asarray(field / np.maximum(np.hypot(*field), 1e-9))
    points = snake(pull)
    panel.imshow(room, cmap="gray_r", vmax=3)
    panel.quiver(x[::4, ::4], y[::4, ::4], *pull[::-1, ::4, ::4], angles="xy", color="0.6", scale=40, width=0.002)
    panel.plot(*np.c_[points, points[:, :1]][::-1], "C1", lw=2)
    panel.set_title(f"a snake in {name}")
    panel.axis("off")
plt.show()
