"""
A threshold by its plateau
==========================

Betti numbers count components and holes separately. Where the number of components does not change over a wide range of
thresholds, the segmentation does not depend on the threshold. There are 24 coins.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, filters

import eccbench

coins = filters.gaussian(data.coins(), 2)
flat = coins - filters.gaussian(coins, 40)  # the light falls from above
curves = eccbench.betti_curves(flat, superlevel=True)
t = np.linspace(flat.min(), flat.max(), 500)
b0 = curves(t)[:, 0]

# %%
# The longest run of one number, among thresholds that find more than one component:
ends = np.flatnonzero(np.diff(b0, prepend=-1, append=-1))
runs = [(hi - lo, lo, hi) for lo, hi in zip(ends, ends[1:]) if b0[lo] > 1]
_, lo, hi = max(runs)
print(f"{b0[lo]} components from {t[lo]:.3f} to {t[hi - 1]:.3f}; {curves.verdict}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(coins, cmap="gray")
left.contour(flat >= (t[lo] + t[hi - 1]) / 2, [0.5], colors="C1", linewidths=1)
left.axis("off")
right.plot(t, b0, label="components")
right.plot(t, curves(t)[:, 1], label="holes")
right.axvspan(t[lo], t[hi - 1], color="C1", alpha=0.3, label=f"plateau at {b0[lo]}")
right.set(xlabel="threshold", ylim=(0, 100))
right.legend()
plt.show()
