"""The curve of a volume in a file.

A segmented body of eleven labels stands for a scan: it is written to a file, as a scanner's
export would be, with noise, and its curves are taken from there: of the dark voxels, and of
the bright ones.

    python phantom.py [FOLDER FOR THE PICTURE]
"""

import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

labels = np.asarray(eccbench.open("phantom/shape=96x112x80/type=uint8/smooth=4/seed=7"))
noise = np.random.default_rng(1).normal(0, 3, labels.shape)
volume = np.clip(20 * labels + noise, 0, 255).astype(np.uint8)

with tempfile.TemporaryDirectory() as scratch:
    scan = Path(scratch, "scan.npy")
    np.save(scan, volume)
    image = eccbench.open(scan)
    dark, bright = image.curve(), image.curve(superlevel=True)
    print(image.shape, image.dtype, dark, bright, sep="\n")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.imshow(volume[len(volume) // 2], cmap="gray")
left.set_title("a plane of the phantom")
left.axis("off")
grey = np.arange(256)
right.plot(grey, dark(grey), drawstyle="steps-post", label="voxels ≤ t")
right.plot(grey, bright(grey), drawstyle="steps-pre", label="voxels ≥ t")
right.set_yscale("symlog", linthresh=10)
right.set(xlabel="grey value t", ylabel="χ", title="its Euler characteristic curves")
right.legend()
figure.savefig(folder / "phantom.png", dpi=100)
