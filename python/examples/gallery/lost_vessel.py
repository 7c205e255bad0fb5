"""
A lost vessel
=============

Two segmentations of the same vessels. One is a pixel too thin everywhere; the other misses a short piece of a vessel.
Dice prefers the broken one. ``assess`` finds that it is broken.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from scipy import ndimage

import eccbench

VESSELS = "tubes/shape=256x192/type=uint8/n=5/rmin=4/rmax=8/bend=0.03/seed=23/truth=1"
COLOURS = ListedColormap(["white", "#9bb8d3", "#d62728", "#d62728"])  # red: they differ
truth = (np.asarray(eccbench.open(VESSELS)) == 0).astype(np.uint8)
thin = ndimage.binary_erosion(truth, border_value=1).astype(np.uint8)
broken = truth.copy()
y, x = 70, 85
broken[y - 9 : y + 9, x - 9 : x + 9] = 0

figure, panels = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
panels[0].imshow(truth, cmap=COLOURS, vmax=3)
panels[0].set_title("truth: {0} component, {1} holes".format(*eccbench.betti(truth.astype(bool))))
for panel, (name, pred) in zip(panels[1:], {"thin": thin, "broken": broken}.items()):
    result = eccbench.assess(pred, truth)
    found = result["1", 8]
    errors = found["matching_error0_max"] + found["matching_error1_max"]
    print(f"{name}: Dice {found['dice']:.3f}, errors of b0 {found['b0_error']}, of b1 {found['b1_error']}, "
          f"of matching {errors}; {result.verdict}")
    panel.imshow(truth + 2 * (pred != truth), cmap=COLOURS, vmax=3)
    panel.set_title(f"{name}: Dice {found['dice']:.2f}, unmatched features {errors}")
for panel in panels:
    panel.axis("off")
plt.show()
