"""
Porosity and connectivity of a rock
===================================

A synthetic CT of overlapping grains, blurred and with noise. Where neither the porosity nor χ of the pores depends
much on the threshold, the segmentation can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

import eccbench

SIDE, GRAINS, THRESHOLD = 80, 150, 1250
rng = np.random.default_rng(3)
z, y, x = np.ogrid[:SIDE, :SIDE, :SIDE]
solid = np.zeros((SIDE,) * 3, bool)
for c, radius in zip(rng.uniform(0, SIDE, (GRAINS, 3)), rng.uniform(6, 11, GRAINS)):
    solid |= (z - c[0]) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2 < radius**2
ct = ndimage.gaussian_filter(np.where(solid, 2000.0, 500.0), 0.8)
ct = (ct + rng.normal(0, 60, ct.shape)).astype(np.int16)

pores = eccbench.curve(ct)  # dark voxels
thresholds = np.arange(300, 2200, 10)
porosity = np.searchsorted(np.sort(ct, axis=None), thresholds, "right") / ct.size
print(pores)
print(f"at {THRESHOLD}: porosity {(ct <= THRESHOLD).mean():.3f}, of the grains {1 - solid.mean():.3f}")
print(f"{eccbench.betti(ct, at=THRESHOLD)}: one large pore space with many loops")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(ct[SIDE // 2], cmap="gray")
left.set_title("a slice of the CT")
left.axis("off")
right.plot(thresholds, porosity, "C0")
right.set(xlabel="threshold", title="porosity and connectivity")
right.set_ylabel("porosity", color="C0")
right.axvline(THRESHOLD, color="0.7")
chi = right.twinx()
chi.plot(thresholds, pores(thresholds) / ct.size * 1e3, "C1")
chi.set_yscale("symlog", linthresh=0.1)
chi.set_ylabel("χ of the pores, per 1000 voxels", color="C1")
plt.show()
