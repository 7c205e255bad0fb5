"""A segmentation that learns its topology.

Rings and discs were segmented badly: pierced, blurred, with noise. Gradient descent changes the
probability of each pixel until the Euler characteristic curves of all windows of the image equal
those of the true mask. It has no other information about the mask, and stays near the given
probabilities. The same loss, added to another one, trains a network on its predictions.

The score is the error of the Betti numbers: the number of extra or missing components and holes.
The curve has only their difference, b0 − b1, at each threshold and in each window.

    python segmentation.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch

import eccbench
from eccbench.torch import SoftECC

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

IMAGES, SIDE, WINDOWS, STEPS, SEEDS = 6, 48, (8, 16), 150, (1, 2, 3)


def masks(rng):
    """Return masks of four rings or discs each, of shape (IMAGES, SIDE, SIDE)."""
    y, x = np.mgrid[:SIDE, :SIDE]
    out = np.zeros((IMAGES, SIDE, SIDE), bool)
    for mask in out:
        for cy, cx in np.array([(12, 12), (12, 36), (36, 12), (36, 36)]) + rng.uniform(-2, 2, (4, 2)):
            distance, radius = np.hypot(y - cy, x - cx), rng.uniform(6, 8)
            mask |= abs(distance - radius) < 1.7 if rng.random() < 0.7 else distance < radius
    return out


def degraded(clean, rng):
    """Return pierced and blurred probabilities with noise."""
    y, x = np.mgrid[:SIDE, :SIDE]
    image = clean.astype(np.float32)
    for one, mask in zip(image, clean):
        for cy, cx in rng.choice(np.argwhere(mask), 8):
            one[np.hypot(y - cy, x - cx) < rng.uniform(1.5, 2.5)] = 0
    for axis in (1, 2):
        image = (np.roll(image, 1, axis) + 2 * image + np.roll(image, -1, axis)) / 4
    return np.clip(image + rng.normal(0, 0.12, image.shape), 0.02, 0.98).astype(np.float32)


def curves(images):
    """Return the curves of all windows of two sizes, half a window apart."""
    cut = [images.unfold(1, n, n // 2).unfold(2, n, n // 2).reshape(-1, n, n) for n in WINDOWS]
    return torch.cat([curve(windows) for windows in cut])


def errors(segmented, clean):
    """Return the mean number of extra or missing components and holes of an image."""
    count = [np.abs(np.subtract(eccbench.betti(s), eccbench.betti(c)))[:2] for s, c in zip(segmented, clean)]
    return np.mean(count, axis=0)


curve = SoftECC(torch.linspace(0.2, 0.8, 7), lam=20.0, dims=2, superlevel=True)


def restored(given, target):
    """Return probabilities near the given ones whose windows have the curves of the target."""
    logits = torch.logit(given).requires_grad_()
    step = torch.optim.Adam([logits], lr=0.1)
    for _ in range(STEPS):
        probability = torch.sigmoid(logits)
        loss = (curves(probability) - target).square().mean() + 1.0 * (probability - given).square().mean()
        step.zero_grad()
        loss.backward()
        step.step()
    return torch.sigmoid(logits).detach()


before, after = [], []
for seed in SEEDS:
    rng = np.random.default_rng(seed)
    clean = masks(rng)
    given = torch.from_numpy(degraded(clean, rng))
    target = curves(torch.from_numpy(clean).float())
    learned = restored(given, target)
    before.append(errors(given.numpy() > 0.5, clean))
    after.append(errors(learned.numpy() > 0.5, clean))
    pixels = [100 * ((p.numpy() > 0.5) != clean).mean() for p in (given, learned)]
    print(f"seed {seed}: components off by {before[-1][0]:.2f} an image before, {after[-1][0]:.2f} after; "
          f"holes by {before[-1][1]:.2f}, {after[-1][1]:.2f}; pixels wrong {pixels[0]:.1f} %, {pixels[1]:.1f} %")
    if seed == SEEDS[0]:  # the worst image
        i = max(range(IMAGES), key=lambda i: errors(given[i : i + 1].numpy() > 0.5, clean[i : i + 1]).sum())
        shown = clean[i], given[i].numpy(), learned[i].numpy()
assert np.sum(after) < np.sum(before) / 2

figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for (top, bottom), image, title in zip(axes.T, shown, ("the true mask", "given", "after gradient descent")):
    top.imshow(image, cmap="gray", vmin=0, vmax=1)
    top.set_title(title)
    found = eccbench.betti(image > 0.5)
    bottom.imshow(image > 0.5, cmap="gray")
    bottom.set_title(f"above 0.5: {found.b0} components, {found.b1} holes")
    for one in (top, bottom):
        one.axis("off")
figure.savefig(folder / "segmentation.png", dpi=100)
