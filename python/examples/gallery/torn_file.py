"""
A torn file is no image
=======================

A copy that was interrupted is shorter than its header states. A reader that fills the rest with zeros returns an array
of the right shape, and a curve that looks like one. ``eccbench`` rejects the file, and names what is missing.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eccbench

volume = np.asarray(eccbench.open("grf/shape=64x64x64/type=uint8/smooth=2/seed=3"))
with tempfile.TemporaryDirectory() as folder:
    whole, torn = Path(folder, "whole.npy"), Path(folder, "torn.npy")
    np.save(whole, volume)
    torn.write_bytes(whole.read_bytes()[:180_000])
    try:
        eccbench.curve(torn)
    except ValueError as error:
        print(f"ValueError: {error}".replace(folder, "…"))
    curve = eccbench.curve(whole)
    filled = np.zeros_like(volume)
    read = np.fromfile(torn, np.uint8)[-(180_000 - 128) :]  # as a careless reader does
    filled.flat[: len(read)] = read

levels = np.arange(1, 256)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1, 1.4))
left.imshow(filled[:, 32], cmap="gray")
left.set_title("the torn file, filled with zeros")
left.axis("off")
right.plot(levels, curve(levels), label="the file")
right.plot(levels, eccbench.curve(filled)(levels), "--", label="torn and filled: plausible, and wrong")
right.set(xlabel="level", ylabel="χ")
right.legend()
plt.show()
