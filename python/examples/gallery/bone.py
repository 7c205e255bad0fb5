"""
Connectivity density of bone, within a mask
===========================================

The connectivity density of trabecular bone is the number of its tunnels per volume, 1 − χ for one component without
cavities. A mask leaves out the cortex and the surroundings. Whether diagonal voxels touch (T) or not (V) changes
the number most where struts are thin: report the convention with it.
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

MILLIMETRES = 0.082  # of a voxel's side
noise = np.asarray(eccbench.open("grf/shape=96x96x96/type=float32/levels=4096/smooth=3/seed=5"))
struts = np.abs(noise - np.median(noise)) / noise.std()
density = 900 * np.exp(-((struts / 0.5) ** 2)) + np.random.default_rng(1).normal(0, 30, noise.shape)  # mg/cm³
y, x = np.ogrid[:96, :96]
mask = np.broadcast_to(np.hypot(y - 48, x - 48) < 44, density.shape)  # a cylinder

thresholds = np.arange(100, 900, 10)
volume = mask.sum() * MILLIMETRES**3
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for construction in "TV":
    curve = eccbench.curve(density, mask=mask, superlevel=True, construction=construction)
    right.plot(thresholds, (1 - curve(thresholds)) / volume, label=f"{construction}: {curve.verdict}")
    numbers = eccbench.betti(density, at=450, mask=mask, superlevel=True, construction=construction)
    print(f"{construction} at 450 mg/cm³: {numbers}, connectivity density {(1 - curve(450)) / volume:.1f} per mm³")
shown = left.imshow(np.where(mask, density, np.nan)[48], cmap="bone", extent=(0, 96 * MILLIMETRES) * 2)
left.set(xlabel="mm", title="a slice within the mask")
figure.colorbar(shown, ax=left, label="mg/cm³")
right.set(xlabel="threshold, mg/cm³", ylabel="(1 − χ) per mm³", title="connectivity density")
right.legend()
plt.show()
