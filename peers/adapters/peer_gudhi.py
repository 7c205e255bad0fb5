"""requires: gudhi==3.13.0 numpy==2.4.6"""
import gudhi
import numpy as np
from common import BOTH, claims, peer, with_pairs


def answer(q):
    cells = "vertices" if q["construction"] == "V" else "top_dimensional_cells"

    def pairs(image):
        complex = gudhi.CubicalComplex(**{cells: image})
        complex.compute_persistence()
        for dim in range(image.ndim):
            intervals = complex.persistence_intervals_in_dimension(dim)
            if len(intervals):
                yield dim, intervals[:, 0], intervals[:, 1]

    return with_pairs(q, pairs)


peer.serve(answer, name="gudhi", version=gudhi.__version__, licence="MIT, with GPL parts", source="gudhi.inria.fr",
           method="CubicalComplex of ranks in float64; pairs counted by NumPy",
           answers=claims("ecc", *BOTH) + claims("betti", *BOTH) + claims("betti-curves", BOTH[0]))
