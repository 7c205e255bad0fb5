"""requires: torch==2.11.0 numpy==2.4.6 pyect==1.0.1"""
from importlib.metadata import version

import numpy as np
import torch
from common import claims, peer
from pyect import Image_ECF_2D, Image_ECF_3D


def answer(q):
    torch.set_num_threads(q.threads)
    n = len(q.levels)
    image = torch.from_numpy((q.ranks() - 0.5) / max(1, n - 1)).to(torch.float32)
    curve = (Image_ECF_2D if image.ndim == 2 else Image_ECF_3D)(n)(image)
    return np.diff(curve.numpy().astype(np.float64), prepend=0)


peer.serve(answer, name="pyect", version=version("pyect"), licence="MIT",
           source="pypi.org/project/pyect", language="Python, PyTorch",
           method="Image_ECF of ranks less a half, which it rounds up, scaled to 0..1",
           answers=claims("ecc", {"construction": "V"}, dtypes=["uint8"], max_levels=256))
