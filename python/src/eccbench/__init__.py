"""Exact, verified Euler characteristic curves of images.

>>> import numpy as np, eccbench
>>> image = np.random.default_rng(1).integers(0, 256, (64, 64, 64), np.uint8)
>>> curve = eccbench.curve(image)
>>> curve(0), curve(255), curve.verdict
(1027, 1, 'VERIFIED')
"""

from importlib.metadata import version as _version

from ._curve import Curve, Image, curve, open

__all__ = ["Curve", "Image", "curve", "open"]
__version__ = _version("eccbench")
