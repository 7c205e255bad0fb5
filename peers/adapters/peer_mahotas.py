"""requires: mahotas==1.4.19 numpy==2.4.6"""
import mahotas
import numpy as np
from common import BOTH, claims, peer


def answer(q):
    if q["workload"] == "euler":
        return [mahotas.euler(np.pad(q.inside(), 1), 8)]
    return q.curve(lambda inside: mahotas.euler(np.pad(inside, 1), 8))


peer.serve(answer, name="mahotas", version=mahotas.__version__, licence="MIT", source="Coelho 2013",
           method="euler of the padded set at each level",
           answers=claims("ecc", BOTH[0], dims=[2], max_levels=4096) + claims("euler", BOTH[0], dims=[2]))
