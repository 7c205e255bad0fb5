"""
Gaussian skies against theory
=============================

Maps of the cosmic microwave background are tested for Gaussianity by the Euler characteristic of {f ≥ u}. For a
Gaussian field Adler's formula gives its expectation: area · λ · u · exp(−u²/2) / (2π)^(3/2), where λ is the variance
of a derivative. The patches here are periodic, and so is the count. A field with a small quadratic part departs from
the formula by far more than its error.
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

SIDE, PATCHES = 256, 40
k = 2 * np.pi * np.hypot(np.fft.fftfreq(SIDE)[:, None], np.fft.rfftfreq(SIDE))
power = (1 + 0.6 * np.cos(k * 40)) * np.exp(-((k / 0.25) ** 2)) / (k + 0.02) ** 2  # with acoustic peaks
power[0, 0] = 0
rng = np.random.default_rng(1)
patches = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((PATCHES, SIDE, SIDE))) * np.sqrt(power))
twice = np.where((np.arange(SIDE // 2 + 1) % (SIDE // 2)) == 0, 1, 2)  # half of the frequencies represent all
patches /= np.sqrt((power * twice).sum() / SIDE**2)
moment = (power * twice * k**2).sum() / (power * twice).sum() / 2

u = np.linspace(-4, 4, 161)
expected = SIDE**2 * moment * u * np.exp(-(u**2) / 2) / (2 * np.pi) ** 1.5
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].imshow(patches[0], cmap="RdYlBu_r")
axes[0].axis("off")
for name, fields in {"Gaussian": patches, "with 0.1 (f² − 1)": patches + 0.1 * (patches**2 - 1)}.items():
    chi = np.empty((PATCHES, len(u)), np.int64)
    eccbench.curve(fields, batch_axis=0, superlevel=True, periodic=True, at=u, out=chi)
    mean, error = chi.mean(0), chi.std(0, ddof=1) / np.sqrt(PATCHES)
    away = np.abs(mean - expected).max() / expected.max()
    print(f"{name}: at most {100 * away:.1f} % of the highest value from the formula")
    axes[1].fill_between(u, mean - 2 * error, mean + 2 * error, alpha=0.5, label=f"{name}, ± 2 errors")
axes[1].plot(u, expected, "k--", label="Adler's formula")
axes[1].set(xlabel="u, standard deviations", ylabel="χ of {f ≥ u}", title=f"means of {PATCHES} patches")
axes[1].legend()
plt.show()
