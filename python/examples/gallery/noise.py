"""
White noise has a formula
=========================

For independent pixels, each in the set with probability p, the expected χ per pixel is a polynomial: one minus
the shared edges plus the shared corners, each by the probability that it is there. The counts of one image follow it,
and show how much the convention matters: χ is 0 where 38 % of the pixels are in the set (T) or 62 % (V).
"""

import matplotlib.pyplot as plt
import numpy as np

import eccbench

image = np.random.default_rng(2).random((1000, 1000), np.float32)
p = np.linspace(0, 1, 201, dtype=np.float32)
q = 1 - p
expected = {
    "T": p - 2 * (1 - q**2) + (1 - q**4),  # a side or a corner is in the set if a pixel around it is
    "V": p - 2 * p**2 + p**4,  # an edge or a square is in the set if all its pixels are
}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for construction, theory in expected.items():
    curve = eccbench.curve(image, construction=construction, at=p)
    away = np.abs(curve.chi / image.size - theory).max()
    print(f"{construction}: at most {away:.5f} per pixel from the polynomial; {curve.verdict}")
    assert away < 0.002
    axes.plot(p, theory, "k--", lw=1)
    axes.plot(p[::5], curve.chi[::5] / image.size, ".", label=f"{construction}: counts")
axes.axhline(0, color="0.7", lw=1)
axes.set(xlabel="share of pixels in the set", ylabel="χ per pixel", title="white noise of 1000²: counts and theory")
axes.legend()
plt.show()
