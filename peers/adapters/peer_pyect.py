"""requires: pyect==1.0.1 numpy==2.4.6"""
from importlib.metadata import version

import numpy as np
from common import claims, peer
from pyect import Image_ECF_2D, Image_ECF_3D


def answer(q):
    raise NotImplementedError


peer.serve(answer, name="pyect", version=version("pyect"), method="", answers=claims("ecc", {"construction": "V"}, dtypes=["uint8"]))
