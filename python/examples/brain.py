"""The Euler characteristic curves of a brain.

An MRI of one head, of 181×217×181 voxels of 1 mm. Its sets grow by dark voxels, which are air, skull
and fluid first, or by bright ones, which are fat and white matter first. Where χ is far below 0 a set
is full of tunnels, such as between the folds.

    python brain.py [FOLDER FOR THE PICTURE [SCAN]]

Without a scan it is ch2.nii.gz of Debian's package mricron-data.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
head = "/usr/share/mricron/templates/ch2.nii.gz"
scan = Path(sys.argv[2] if len(sys.argv) > 2 else head)
if len(sys.argv) < 3 and not scan.exists():
    print(f"SKIPPED: there is no {scan}: install mricron-data, or name a scan of yours")
    sys.exit()

image = eccbench.open(scan)
dark, bright = image.curve(), image.curve(superlevel=True)
print(image, dark, bright, sep="\n")
if scan == Path(head):  # as other libraries count it
    assert dark([0, 40, 100]).tolist() == [40, -541, -615]

voxels = np.asarray(image)
grey = np.linspace(float(voxels.min()), float(voxels.max()), 256)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(voxels[len(voxels) // 2], cmap="gray", origin="lower")
left.set_title("an axial plane")
left.axis("off")
right.plot(grey, dark(grey), drawstyle="steps-post", label="voxels ≤ t")
right.plot(grey, bright(grey), drawstyle="steps-pre", label="voxels ≥ t")
right.set_yscale("symlog", linthresh=100)
right.set(xlabel="grey value t", ylabel="χ", title="the Euler characteristic curves of the head")
right.legend()
figure.savefig(folder / "brain.png", dpi=100)
