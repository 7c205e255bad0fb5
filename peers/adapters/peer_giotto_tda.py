"""requires: giotto-tda==0.6.2 numpy==1.26.4"""
from importlib.metadata import version

import numpy as np
from common import BOTH, claims, peer, with_pairs
from gtda.homology import CubicalPersistence


def answer(q):
    def pairs(image):
        never = image.max() + 1  # the death of a class that persists
        found = CubicalPersistence(
            homology_dimensions=tuple(range(image.ndim)), reduced_homology=False, infinity_values=never)
        births, deaths, dims = found.fit_transform(image[np.newaxis])[0].T
        for dim in range(image.ndim):
            of = (dims == dim) & (births < deaths)  # the other rows are padding
            yield dim, births[of], np.where(deaths[of] == never, np.inf, deaths[of])

    return with_pairs(q, pairs)


peer.serve(answer, name="giotto-tda", version=version("giotto-tda"), licence="AGPL-3.0", source="Tauzin et al. 2021",
           method="CubicalPersistence of ranks in float64; pairs counted by NumPy",
           answers=claims("ecc", BOTH[0]) + claims("betti", BOTH[0]))
