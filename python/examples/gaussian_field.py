"""Gaussian random fields against their expected Euler characteristic.

The expected Euler characteristic of the excursion set {f ≥ u} of a smooth stationary Gaussian
field on a box is a sum over the box's intrinsic volumes (Adler and Taylor, Random Fields and
Geometry, 2007, section 12.4). Here it is the mean of some fields, with two standard errors.

    python gaussian_field.py [FOLDER FOR THE PICTURE]
"""

import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import eccbench

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

SIDE, FIELDS, SMOOTH = 80, 12, 4.0  # voxels, how many, the deviation of the smoothing kernel
PERIOD = 128  # of which a box is cut, so that its borders are not joined


def fields(seed):
    """White noise smoothed by a Gaussian, of mean 0 and variance 1, in float32."""
    frequency = 2 * np.pi * np.fft.fftfreq(PERIOD)
    last = 2 * np.pi * np.fft.rfftfreq(PERIOD)
    square = frequency[:, None, None] ** 2 + frequency[:, None] ** 2 + last**2
    kernel = np.exp(-square * SMOOTH**2 / 2)
    rng = np.random.default_rng(seed)
    out = np.empty((FIELDS, SIDE, SIDE, SIDE), np.float32)
    for one in out:
        smooth = np.fft.irfftn(np.fft.rfftn(rng.standard_normal((PERIOD,) * 3)) * kernel)
        # The variance that the kernel leaves: the mean of its square over all frequencies.
        power = np.fft.irfftn(kernel**2)[0, 0, 0]
        one[...] = smooth[:SIDE, :SIDE, :SIDE] / math.sqrt(power)
    return out


def expected(u):
    """Of {f ≥ u} on a cube, whose second spectral moment is 1 / (2 SMOOTH²)."""
    side, moment = SIDE - 1, 1 / (2 * SMOOTH**2)  # from the first voxel's middle to the last's
    volumes = 1, 3 * side, 3 * side**2, side**3
    bell = np.exp(-(u**2) / 2)
    densities = (
        np.array([math.erfc(v / math.sqrt(2)) / 2 for v in u]),
        moment**0.5 / (2 * np.pi) * bell,
        moment / (2 * np.pi) ** 1.5 * u * bell,
        moment**1.5 / (2 * np.pi) ** 2 * (u**2 - 1) * bell,
    )
    return sum(v * d for v, d in zip(volumes, densities))


u = np.linspace(-4, 4, 161)
chi = np.empty((FIELDS, len(u)), np.int64)
eccbench.curve(fields(seed=1), batch_axis=0, superlevel=True, construction="V", at=u, out=chi)
mean, error = chi.mean(0), chi.std(0, ddof=1) / math.sqrt(FIELDS)
away = np.abs(mean - expected(u)).max() / np.abs(expected(u)).max()
print(f"{FIELDS} fields of {SIDE}³: the mean is at most {100 * away:.1f} % of the highest value from the expectation")
assert away < 0.1

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.fill_between(u, mean - 2 * error, mean + 2 * error, alpha=0.4, label=f"mean of {FIELDS} fields, ± 2 standard errors")
axes.plot(u, expected(u), "k--", label="expectation")
axes.set(xlabel="u", ylabel="χ of {f ≥ u}", title=f"Gaussian random fields of {SIDE}³ voxels")
axes.legend()
figure.savefig(folder / "gaussian_field.png", dpi=100)
