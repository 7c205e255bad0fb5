"""
Textures in one call
====================

Curves of a whole batch are one call, with one row of features for each image. Patches of three textures are told
apart by their shape alone: each patch is reduced to its ranks first, so brightness and contrast are gone.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata
from skimage import data

import eccbench

textures = {name: getattr(data, name)() for name in ("brick", "grass", "gravel")}
at = np.linspace(0, 1, 65)
figure, axes = plt.subplots(1, 4, figsize=(12, 3), layout="constrained", width_ratios=(1, 1, 1, 2.2))
for k, (name, photo) in enumerate(textures.items()):
    patches = photo.reshape(8, 64, 8, 64).swapaxes(1, 2).reshape(64, 64, 64)
    ranks = np.stack([rankdata(patch).reshape(64, 64) / 64**2 for patch in patches]).astype(np.float32)
    chi = np.empty((64, len(at)), np.int64)
    curves = eccbench.curve(ranks, batch_axis=0, at=at, out=chi)
    assert all(curve.verdict == "VERIFIED" for curve in curves)
    print(f"{name}: mean χ at the median {chi[:, 32].mean():.1f} ± {chi[:, 32].std():.1f}")
    axes[k].imshow(photo[:192, :192], cmap="gray")
    axes[k].set_title(name, color=f"C{k}")
    axes[k].axis("off")
    axes[3].plot(at, chi.T, f"C{k}", lw=0.4, alpha=0.4)
    axes[3].plot(at, chi.mean(0), f"C{k}", lw=2)
axes[3].set(xlabel="share of pixels in the set", ylabel="χ", title="64 patches of each, and their means")
plt.show()
