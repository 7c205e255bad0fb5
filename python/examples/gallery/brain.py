"""
A head, at all grey values
==========================

An MRI of 181×217×181 voxels of 1 mm. Sets grow from dark voxels (air, bone, fluid) or from bright ones (fat, white
matter). Where χ is far below 0 a set is full of tunnels, such as those between the folds of the brain.

The scan is ``ch2`` of Debian's package mricron-data. Without it a generated phantom takes its place.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eccbench

scan = Path("/usr/share/mricron/templates/ch2.nii.gz")
image = eccbench.open(scan if scan.exists() else "phantom/shape=160x160x120/type=uint8/smooth=4/seed=7")
dark, bright = image.curve(), image.curve(superlevel=True)
print(image, dark, bright, sep="\n")
if scan.exists():  # as other libraries count it
    assert dark([0, 40, 100]).tolist() == [40, -541, -615]

voxels = np.asarray(image)
grey = np.linspace(float(voxels.min()), float(voxels.max()), 256)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(voxels[len(voxels) // 2], cmap="gray", origin="lower")
left.set_title("an axial slice")
left.axis("off")
right.plot(grey, dark(grey), drawstyle="steps-post", label="voxels ≤ t")
right.plot(grey, bright(grey), drawstyle="steps-pre", label="voxels ≥ t")
right.set_yscale("symlog", linthresh=100)
right.set(xlabel="grey value t", ylabel="χ", title="Euler characteristic curves")
right.legend()
plt.show()
