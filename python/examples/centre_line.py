"""The centre lines of vessels.

Within a vessel the flow of the image leads to its middle from all sides, however bright it is
(Bauer and Bischof 2008): where directions run together the divergence of their field is least.

    python centre_line.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

VESSELS = "tubes/shape=256x192/type=uint8/n=5/rmin=3/rmax=7/bend=0.03/blur=2/noise=0.01/shade=0.6/contrast=0.5/seed=3"
image = np.asarray(eccbench.open(VESSELS)).astype(np.float32)
inside = np.asarray(eccbench.open(VESSELS + "/truth=1")) == 0

field = eccbench.gvf(image, tol=1e-4, mu=0.02)
direction = field / np.maximum(np.hypot(*field), 1e-9)
divergence = sum(np.gradient(direction[axis], axis=axis) for axis in (0, 1))
for axis in (0, 1):  # over three voxels
    divergence = (np.roll(divergence, 1, axis) + 2 * divergence + np.roll(divergence, -1, axis)) / 4
middle = divergence < -0.4

depth, layer = np.zeros(inside.shape), inside.copy()  # voxels to the wall
while layer.any():
    depth += layer
    layer = layer & np.roll(layer, 1, 0) & np.roll(layer, -1, 0) & np.roll(layer, 1, 1) & np.roll(layer, -1, 1)
found = middle & inside
print(f"{found.sum()} voxels of centre lines, {100 * (middle & ~inside).sum() / middle.sum():.1f} % of what is found is outside of vessels")
print(f"they are {depth[found].mean():.1f} voxels from the wall, the vessels' own {depth[inside].mean():.1f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.3), layout="constrained")
left.imshow(image, cmap="gray")
left.set_title("vessels, with less light to the right")
shown = np.repeat(image[..., None] / image.max(), 3, 2)
shown[middle] = (1, 0.5, 0.1)
right.imshow(shown)
right.set_title("where directions of the flow run together")
for panel in (left, right):
    panel.axis("off")
figure.savefig(folder / "centre_line.png", dpi=100)
