"""
A first curve
=============

The Euler characteristic χ of a set is the number of its components minus that of its holes. The curve has χ of the
pixels at or above each grey value. There are 24 coins.
"""

import matplotlib.pyplot as plt
from skimage import data, filters

import eccbench

coins = filters.gaussian(data.coins(), 2)
curve = eccbench.curve(coins, superlevel=True)
print(curve)

# %%
# ``curve(t)`` is χ at any value. Scikit-image chooses a threshold from the histogram alone. It finds the coins, but the
# background at the top is as bright as the darkest of them; :doc:`plateau` mends this.
threshold = filters.threshold_li(coins)
print(f"χ at {threshold:.3f}: {curve(threshold)}, {curve.verdict}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(coins, cmap="gray")
left.contour(coins >= threshold, [0.5], colors="C1", linewidths=1)
left.set_title(f"the set at {threshold:.2f}")
left.axis("off")
curve.plot(right, color="C0")
right.axvline(threshold, color="C1")
right.set_title("its curve, from bright to dark")
plt.show()
