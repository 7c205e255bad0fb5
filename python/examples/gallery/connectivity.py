"""
Two connectivities, two answers
===============================

Pixels that share only a corner touch in the T-construction (8-connected, in 3D 26-connected) and do not in the
V-construction (4-connected, 6-connected). Libraries differ in their default, so the same mask has two counts; and it
can decide which of two predictions is better.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage import measure

import eccbench

drawn = {"truth": "#..# #..# #..# #..#", "A": "#..# ##.# #.## #..#", "B": "#..# #..# .#.# .#.#"}
masks = {name: np.array([[c == "#" for c in row] for row in rows.split()]) for name, rows in drawn.items()}
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for panel, (name, mask) in zip(panels, masks.items()):
    t, v = (eccbench.betti(mask, construction=c).b0 for c in "TV")
    panel.imshow(mask, cmap="Blues", vmax=1.4)
    panel.set_title(f"{name}: components {t} in T, {v} in V")
    panel.set(xticks=np.arange(0.5, 3), yticks=np.arange(0.5, 3), xticklabels=[], yticklabels=[])
    panel.grid(color="0.7")
plt.show()

# %%
# A is wrong in connectivity 8 and right in 4; B is the other way round:
for name in "AB":
    result = eccbench.assess(masks[name].astype(np.uint8), masks["truth"].astype(np.uint8))
    print(name, {c: result["1", c]["b0_error"] for c in result.connectivities}, result.verdict)

# %%
# The defaults of two libraries that are often used together:
print("scikit-image label:", measure.label(masks["A"]).max(), "component (8-connected)")
print("SciPy label:", ndimage.label(masks["A"])[1], "components (4-connected)")
