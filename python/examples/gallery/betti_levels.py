"""
Components, tunnels and cavities, level by level
================================================

χ adds up three numbers. ``betti_curves`` has each of them at every level of a volume: first drops, then a net
of tunnels, then cavities that close.
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

image = eccbench.open("grf/shape=64x64x64/type=uint8/smooth=2/seed=2")
curves = eccbench.betti_curves(image)
print(curves)

# %%
# χ = b0 − b1 + b2 holds at every level; the curve is counted by another method.
levels = np.arange(256)
b0, b1, b2 = curves(levels).T
assert (b0 - b1 + b2 == eccbench.curve(image)(levels)).all()

voxels = np.asarray(image)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained", width_ratios=(1, 1, 1, 2.2))
for axis, level in zip(axes, (70, 110, 170)):
    axis.imshow(voxels[32] <= level, cmap="Blues", vmax=1.4)
    axis.set_title(f"{level}: {tuple(curves(level))}")
    axis.axis("off")
for name, numbers in {"components": b0, "tunnels": b1, "cavities": b2}.items():
    axes[3].plot(levels, numbers, label=name)
axes[3].set_xlabel("level")
axes[3].legend()
plt.show()
