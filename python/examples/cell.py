"""A cell that no threshold finds, by the second eigenvector of a graph.

The light falls from one side: within the cell and beside it values change more than between the
two, but slowly. Between neighbours they jump at the cell's rim alone, and that is what a graph of
voxels knows: its lowest eigenvector that is not constant hardly changes along strong links, and
jumps at weak ones (Shi and Malik 2000).

    python cell.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

y, x = np.mgrid[:96, :160] - np.array([48, 76]).reshape(2, 1, 1)
truth = np.hypot(y, x) < 26 + 7 * np.cos(5 * np.arctan2(y, x))
rng = np.random.default_rng(1)
image = x / 160 + 0.3 * truth + 0.03 * rng.normal(size=truth.shape)


def dice(mask):
    return 2 * (mask & truth).sum() / (mask.sum() + truth.sum())


found = eccbench.eigenmap(image, 2, sigma=0.08, radius=3)
print(f"values {found.eigenvalues_}, residuals {found.residuals_.max():.1e}, {found.verdict_} by {found.witness_}")
cut = found.labels_ == 1
best = max((image > t for t in np.linspace(image.min(), image.max(), 500)), key=dice)  # which has to know the truth

figure, panels = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
panels[0, 0].imshow(image, cmap="gray")
panels[0, 0].set_title("a cell, lit from the right")
second = found.embedding_[..., 1]
panels[0, 1].imshow(second, cmap="coolwarm", vmin=-abs(second).max(), vmax=abs(second).max())
panels[0, 1].set_title("the second vector")
for panel, name, mask in [(panels[1, 0], "the second vector above 0", cut), (panels[1, 1], "the best threshold there is", best)]:
    print(f"{name}: Dice {dice(mask):.3f}")
    panel.imshow(mask, cmap="gray_r")
    panel.set_title(f"{name}: Dice {dice(mask):.2f}")
for panel in panels.flat:
    panel.axis("off")
figure.savefig(folder / "cell.png", dpi=100)
