"""
Centre lines of vessels
=======================

Within a vessel the flow leads to the middle from all sides, however bright the vessel is (Bauer and Bischof 2008).
Where the directions of the flow run together, their divergence is least.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

import eccbench

VESSELS = "tubes/shape=256x192/type=uint8/n=5/rmin=3/rmax=7/bend=0.03/blur=2/noise=0.01/shade=0.6/contrast=0.5/seed=3"
image = np.asarray(eccbench.open(VESSELS)).astype(np.float32)
inside = np.asarray(eccbench.open(VESSELS + "/truth=1")) == 0

field = eccbench.gvf(image, tol=1e-4, mu=0.02)
direction = field / np.maximum(np.hypot(*field), 1e-9)
divergence = sum(np.gradient(direction[axis], axis=axis) for axis in (0, 1))
middle = ndimage.gaussian_filter(divergence, 0.7) < -0.4
found = middle & inside
depth = ndimage.distance_transform_edt(inside)
print(f"the field is {field.verdict}")
print(f"{100 * found.sum() / middle.sum():.1f} % of the lines are within vessels, "
      f"{depth[found].mean():.1f} voxels from the wall on average; the vessels' own voxels {depth[inside].mean():.1f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
left.imshow(image, cmap="gray")
left.set_title("vessels, with less light to the right")
shown = np.repeat(image[..., None] / image.max(), 3, 2)
shown[middle] = (1, 0.5, 0.1)
right.imshow(shown)
right.set_title("where directions of the flow run together")
for panel in (left, right):
    panel.axis("off")
plt.show()
