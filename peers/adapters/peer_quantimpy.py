"""requires: quantimpy==0.2.6 numpy==1.26.4"""
from importlib.metadata import version
from math import pi

import numpy as np
from common import claims, peer
from quantimpy import minkowski


def answer(q):
    unit = pi if q.image.ndim == 2 else 4 * pi / 3
    return q.curve(lambda inside: np.round(minkowski.functionals(np.pad(inside, 1))[-1] * unit, 9))


peer.serve(answer, name="quantimpy", version=version("quantimpy"), licence="BSD-3-Clause",
           source="Boelens, Tchelepi 2021",
           method="the last of minkowski.functionals of the padded set at each level, rounded to 9 digits",
           answers=claims("ecc", {"construction": "V"}, max_levels=4096))
