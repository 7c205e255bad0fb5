"""requires: cripser==0.0.37 numpy==2.4.6"""
from importlib.metadata import version

import cripser
import numpy as np
import tcripser
from common import BOTH, claims, peer, with_pairs


def answer(q):
    library = cripser if q["construction"] == "V" else tcripser

    def pairs(image):
        found = library.computePH(image, maxdim=image.ndim - 1)
        for dim in range(image.ndim):
            of = found[found[:, 0] == dim]
            yield dim, of[:, 1], of[:, 2]

    return with_pairs(q, pairs)


peer.serve(answer, name="cripser", version=version("cripser"), licence="MIT", source="Kaji, Sudo, Ahara 2020",
           method="computePH of ranks in float64 (cripser for V, tcripser for T); pairs counted by NumPy",
           answers=claims("ecc", *BOTH) + claims("betti", *BOTH) + claims("betti-curves", BOTH[0]))
