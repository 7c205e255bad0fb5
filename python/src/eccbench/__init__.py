"""Exact, verified Euler characteristic curves, Betti numbers, persistence pairs, gradient vector flow and
eigenmaps of images.

Homology of meshes and comparisons of segmentations are here, too; `eccbench.sklearn`, `eccbench.metrics`,
`eccbench.torch`, `eccbench.dask`, `eccbench.xarray` and `eccbench.cuda` have them for other libraries.

>>> import numpy as np, eccbench
>>> image = np.random.default_rng(1).integers(0, 256, (64, 64, 64), np.uint8)
>>> curve = eccbench.curve(image)
>>> curve(0), curve(255), curve.verdict
(1027, 1, 'VERIFIED')
>>> eccbench.betti(image, at=0)
Betti(b0=1027, b1=0, b2=0)
"""

from ._assess import Assessment, assess
from ._betti import Betti, BettiCurves, betti, betti_curves
from ._curve import Curve, Image, curve, open
from ._eigenmap import Eigenmap, eigenmap
from ._gvf import gvf
from ._homology import Homology, homology
from ._pairs import Pairs, pairs

__all__ = [
    "Assessment", "Betti", "BettiCurves", "Curve", "Eigenmap", "Homology", "Image", "Pairs",
    "assess", "betti", "betti_curves", "curve", "eigenmap", "gvf", "homology", "open", "pairs",
]
__version__: str


def __getattr__(name: str) -> str:
    if name == "__version__":  # importlib.metadata takes longer to import than all else here
        from importlib.metadata import version

        return version("eccbench")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
