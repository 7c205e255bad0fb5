"""A network that segments vessels, with a loss that knows their topology.

A small U-Net learns to segment vessels that cross a noisy image. It learns once from the overlap
(cross-entropy and soft Dice), and once more with the Euler characteristic curves of the windows of
its prediction, compared with those of the truth. A curve has no location: it shows that a vessel is
broken or pierced, and the overlap shows where vessels are. For some seeds the example prints the
Dice coefficient and the errors of the Betti numbers on images outside of the training set, and the
time of an epoch.

    python vessels.py [FOLDER FOR THE PICTURE]

On a CPU it uses fewer and smaller images, and shows the method rather than the effect.
"""

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import eccbench
from eccbench.torch import SoftECC

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
cuda = torch.cuda.is_available()
device = torch.device("cuda" if cuda else "cpu")
IMAGES, SIDE, EPOCHS, SEEDS, WIDTH = (192, 128, 60, (1, 2, 3), 64) if cuda else (16, 64, 4, (1,), 8)
BATCH, WINDOW, WEIGHT = 16, 32, 0.2


def vessels(count, seed):
    """Return noisy images and their vessels, both float32 of shape (count, 1, SIDE, SIDE)."""
    rng = np.random.default_rng(seed)
    name = f"tubes/shape={SIDE}x{SIDE}/n=7/rmin=1/rmax=2.5/shade=0.5/contrast=0.5/seed="
    truth = np.stack([np.asarray(eccbench.open(f"{name}{1000 * seed + i}/truth=1")) == 0 for i in range(count)])
    image = np.stack([np.asarray(eccbench.open(f"{name}{1000 * seed + i}"), np.float32) for i in range(count)])
    image = image / image.max() + rng.normal(0, 0.22, image.shape)
    return [torch.from_numpy(a.astype(np.float32))[:, None].to(device) for a in (image, truth)]


class UNet(nn.Module):
    """Three levels, logits of the shape of the image."""

    def __init__(self, width):
        super().__init__()

        def block(a, b):
            layers = [(nn.Conv2d(n, b, 3, padding=1), nn.GroupNorm(4, b), nn.ReLU()) for n in (a, b)]
            return nn.Sequential(*layers[0], *layers[1])

        self.down = nn.ModuleList([block(1, width), block(width, 2 * width), block(2 * width, 4 * width)])
        self.up = nn.ModuleList([block(6 * width, 2 * width), block(3 * width, width)])
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        levels = []
        for k, block in enumerate(self.down):
            x = block(functional.max_pool2d(x, 2) if k else x)
            levels.append(x)
        for block, beside in zip(self.up, levels[-2::-1]):
            x = block(torch.cat([functional.interpolate(x, scale_factor=2), beside], 1))
        return self.last(x)


curve = SoftECC(torch.linspace(0.2, 0.8, 7), lam=20.0, dims=2, superlevel=True).to(device)


def curves(p):
    """Return the soft curves of each image's windows, which cover it twice in each direction."""
    windows = p.unfold(2, WINDOW, WINDOW // 2).unfold(3, WINDOW, WINDOW // 2)
    return curve(windows.reshape(len(p), -1, WINDOW, WINDOW))


def loss(logits, truth, wanted):
    """Return the loss of a batch. wanted has the curves of the truth, or is None to ignore the topology."""
    p = logits.sigmoid()
    dice = 1 - (2 * (p * truth).sum((1, 2, 3)) + 1) / ((p + truth).sum((1, 2, 3)) + 1)
    total = functional.binary_cross_entropy_with_logits(logits, truth) + dice.mean()
    if wanted is not None:
        total = total + WEIGHT * functional.smooth_l1_loss(curves(p), wanted)
    return total


def trained(images, truth, seed, topology):
    """Return a network after all epochs, and the seconds of a later epoch. The topology is added half-way,
    when there is a segmentation to improve."""
    torch.manual_seed(seed)
    net = UNet(WIDTH).to(device)
    step = torch.optim.AdamW(net.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(step, EPOCHS)
    wanted, seconds = curves(truth), []
    for epoch in range(EPOCHS):
        start = time.perf_counter()
        for of in torch.randperm(len(images), device=device).split(BATCH):
            of_batch = loss(net(images[of]), truth[of], wanted[of] if topology and epoch >= EPOCHS // 2 else None)
            step.zero_grad()
            of_batch.backward()
            step.step()
        schedule.step()
        if cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return net, sorted(seconds[EPOCHS // 2 :])[len(seconds) // 4]


@torch.no_grad()
def judged(net, images, truth):
    """Return the mean Dice coefficient, the mean errors of b0 and b1, and the masks."""
    masks = torch.cat([net(x) for x in images.split(BATCH)]) > 0
    true = truth > 0
    dice = (2 * (masks & true).sum((1, 2, 3)) / (masks.sum((1, 2, 3)) + true.sum((1, 2, 3)))).mean().item()
    errors = []
    for mask, right in zip(masks[:, 0].cpu().numpy(), true[:, 0].cpu().numpy()):
        mine, wanted = (eccbench.betti(a.astype(np.uint8), at=1, superlevel=True) for a in (mask, right))
        errors.append([abs(mine.b0 - wanted.b0), abs(mine.b1 - wanted.b1)])
    return dice, *np.mean(errors, 0), masks


images, truth = vessels(IMAGES, 1)
unseen, unseen_truth = vessels(IMAGES // 2, 2)
print(f"{IMAGES} images of {SIDE}² on {torch.cuda.get_device_name() if cuda else 'a CPU'}, {EPOCHS} epochs")
print(f"{'seed':>4} {'loss':<14} {'Dice':>7} {'b0 error':>9} {'b1 error':>9} {'s/epoch':>8}")
shown = {}
for seed in SEEDS:
    for topology in (False, True):
        net, seconds = trained(images, truth, seed, topology)
        dice, b0, b1, masks = judged(net, unseen, unseen_truth)
        name = "with curves" if topology else "overlap alone"
        shown[name] = masks[0, 0].cpu()
        print(f"{seed:>4} {name:<14} {dice:7.4f} {b0:9.3f} {b1:9.3f} {seconds:8.3f}", flush=True)

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
shown = {"image": unseen[0, 0].cpu(), "truth": unseen_truth[0, 0].cpu(), **shown}
for axis, (title, picture) in zip(axes, shown.items()):
    axis.imshow(picture, cmap="gray")
    axis.set_title(title)
    axis.axis("off")
figure.tight_layout()
figure.savefig(folder / "vessels.png", dpi=80)
