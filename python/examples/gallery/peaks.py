"""
Peaks that last
===============

An image of spots has thousands of local maxima, nearly all of them noise. ``pairs`` gives each component of {f ≥ u}
the value at which it begins and the value at which it merges with a higher one. Their distance, the persistence,
separates spots from noise without smoothing or a threshold. The voxel of the birth is the place of the spot.
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

rng = np.random.default_rng(4)
y, x = np.mgrid[:160, :240]
image = rng.normal(0, 0.12, y.shape)
spots = np.array([(20 + 40 * i, 20 + 40 * j) for i in range(4) for j in range(6)]) + rng.integers(-9, 10, (24, 2))
for (row, column), height in zip(spots, rng.uniform(1, 2, len(spots))):
    image += height * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 40)

pairs = eccbench.pairs(image, superlevel=True)
components = pairs.dims == 0
persistence = np.sort(pairs.births[components] - pairs.deaths[components])[::-1]  # inf for the highest peak
gap = np.argmax(persistence[1:40] - persistence[2:41]) + 2
print(pairs)
print(f"{components.sum()} peaks, {gap} of them above the widest gap of persistence")

# %%
# The widest gap leaves as many peaks as there are spots, each in its place.
kept = components & (pairs.births - pairs.deaths >= persistence[gap - 1])
places = pairs.birth_voxels[kept]
away = np.abs(spots[:, None] - places).max(axis=2).min(axis=1)
print(f"spots and peaks are at most {away.max()} pixels apart")
assert len(places) == len(spots) and away.max() <= 5

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", width_ratios=(3, 2))
axes[0].imshow(image, cmap="magma")
axes[0].plot(*places.T[::-1], "o", mfc="none", mec="w", ms=14)
axes[0].axis("off")
pairs.plot(axes[1])
axes[1].set(xlabel="birth", ylabel="death", title="components and holes of {f ≥ u}")
axes[1].legend()
plt.show()
