"""A threshold that is learned.

Which threshold separates pores and grains in a CT? Here the grains of some planes are known. The
threshold, and the steepness of the sigmoids, are learned from the Euler characteristic of their
pores. Then the threshold is applied to other planes.

    python threshold.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch

from eccbench.torch import SoftECC, ecc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

SIDE, PLANES, STEPS = 96, 8, 100
rng = np.random.default_rng(5)


def planes(count):
    """Return grains, and their image by an uncalibrated scanner."""
    y, x = np.ogrid[:SIDE, :SIDE]
    solid = np.zeros((count, SIDE, SIDE), bool)
    for plane in solid:
        for cy, cx, radius in zip(rng.uniform(0, SIDE, 90), rng.uniform(0, SIDE, 90), rng.uniform(3, 7, 90)):
            plane |= (y - cy) ** 2 + (x - cx) ** 2 < radius**2
    ct = np.where(solid, 0.8, 0.1)
    for axis in (1, 2):
        ct = (np.roll(ct, 1, axis) + 2 * ct + np.roll(ct, -1, axis)) / 4
    return torch.from_numpy(solid), torch.from_numpy((ct + rng.normal(0, 0.06, ct.shape)).astype(np.float32))


def off(solid, ct, threshold):
    """Return the mean error of χ of the pores over the planes."""
    return (ecc(ct, [threshold], dims=2) - ecc(solid, [0.0], dims=2)).abs().double().mean().item()


solid, ct = planes(PLANES)
pores = ecc(solid, [0.0], dims=2).float()  # χ of the pores
layer = SoftECC([0.7], lam=60.0, dims=2, learn=["thresholds", "lam"])
step = torch.optim.Adam(layer.parameters(), lr=0.01)
way = []
for _ in range(STEPS):
    way.append(layer.thresholds.item())
    loss = (layer(ct) - pores).square().mean()
    step.zero_grad()
    loss.backward()
    step.step()
learned = layer.thresholds.item()
unseen = planes(PLANES)
before, after = off(*unseen, way[0]), off(*unseen, learned)
print(f"threshold {way[0]:.2f} → {learned:.3f}, λ 60 → {layer.lam.item():.0f}; χ of the pores of unseen planes is off by {before:.1f} → {after:.1f}")
assert after < before / 3

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
grey = np.linspace(0.05, 0.9, 200)
left.plot(grey, [off(*unseen, float(t)) for t in grey])
left.axvline(way[0], color="0.7", label="at first")
left.axvline(learned, color="C1", label="learned")
left.set(xlabel="threshold", ylabel="χ of the pores off by", title="planes that were not seen")
left.set_yscale("symlog", linthresh=1)
left.legend()
right.plot(way)
right.set(xlabel="step", ylabel="threshold", title="gradient descent")
figure.savefig(folder / "threshold.png", dpi=100)
