"""Porosity and connectivity of a rock, by threshold.

A synthetic CT of overlapping grains, blurred and with noise. Where the porosity and the Euler
characteristic of the pores hardly depend on the threshold, the segmentation can be trusted.

    python porosity.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

SIDE, GRAINS = 96, 260
rng = np.random.default_rng(3)
z, y, x = np.ogrid[:SIDE, :SIDE, :SIDE]
solid = np.zeros((SIDE,) * 3, bool)
for c, radius in zip(rng.uniform(0, SIDE, (GRAINS, 3)), rng.uniform(6, 11, GRAINS)):
    solid |= (z - c[0]) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2 < radius**2
ct = np.where(solid, 2000.0, 500.0)
for axis in range(3):  # the scanner's blur
    ct = (np.roll(ct, 1, axis) + 2 * ct + np.roll(ct, -1, axis)) / 4
ct = (ct + rng.normal(0, 60, ct.shape)).astype(np.int16)

pores = eccbench.curve(ct)  # dark voxels, 26-connected
threshold = np.arange(300, 2200, 10)
porosity = np.searchsorted(np.sort(ct, axis=None), threshold, "right") / ct.size
best = 1250
print(f"porosity at {best}: {(ct <= best).mean():.3f}, of the grains themselves {1 - solid.mean():.3f}; χ of the pores {pores(best)}")
print(pores)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(ct[SIDE // 2], cmap="gray")
left.set_title("a plane of the CT")
left.axis("off")
right.plot(threshold, porosity, "C0")
right.set_xlabel("threshold")
right.set_ylabel("porosity", color="C0")
right.axvline(best, color="0.7")
chi = right.twinx()
chi.plot(threshold, pores(threshold) / ct.size * 1e3, "C1")
chi.set_yscale("symlog", linthresh=0.1)
chi.set_ylabel("χ of the pores, per 1000 voxels", color="C1")
right.set_title("porosity and connectivity")
figure.savefig(folder / "porosity.png", dpi=100)
