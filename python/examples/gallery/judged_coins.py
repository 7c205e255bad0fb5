"""
Judge a segmentation
====================

Two segmentations of a photograph of 24 coins, judged against a careful one: a watershed from seeds in the coins and
in the background, without holes. ``assess`` counts what Dice does not show: holes in coins, and crumbs beside them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from scipy import ndimage
from skimage import data, filters, segmentation

import eccbench

coins = data.coins()
seeds = np.zeros(coins.shape, int)
seeds[coins < 30], seeds[coins > 150] = 1, 2
filled = ndimage.binary_fill_holes(segmentation.watershed(filters.sobel(coins), seeds) == 2)
truth = ndimage.binary_opening(filled, iterations=2).astype(np.uint8)
smooth = filters.gaussian(coins, 2, preserve_range=True)
predictions = {
    "one threshold": coins > filters.threshold_otsu(coins),
    "local thresholds": smooth > filters.threshold_local(smooth, 101, offset=-5),
}
print("coins in the truth:", eccbench.betti(truth.astype(bool)).b0)

# %%
# Components are connected across corners (8-connected); a matched coin meets a coin of the truth.
colours = ListedColormap(["white", "#9bb8d3", "#d62728", "#d62728"])  # red: they differ
figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for panel, (name, mask) in zip(panels, predictions.items()):
    result = eccbench.assess(mask.astype(np.uint8), truth)
    found = result["1", 8]
    print(f"{name}: Dice {found['dice']:.3f}, {found['b0_pred']} components, {found['matched0_max']} matched, "
          f"{found['b1_pred']} holes; {result.verdict}")
    panel.imshow(truth + 2 * (mask != truth), cmap=colours, vmax=3)
    unmatched = found["matching_error0_max"] + found["matching_error1_max"]
    panel.set_title(f"{name}: Dice {found['dice']:.2f}, unmatched {unmatched}")
    panel.axis("off")
plt.show()

# %%
# All numbers, in both connectivities:
eccbench.assess(predictions["local thresholds"].astype(np.uint8), truth)
