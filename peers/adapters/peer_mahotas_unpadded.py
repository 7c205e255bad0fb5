"""requires: mahotas==1.4.19 numpy==2.4.6"""
import mahotas
from common import claims, peer


def answer(q):
    return q.curve(lambda inside: mahotas.euler(inside, 8))


peer.serve(answer, name="mahotas-unpadded", version=mahotas.__version__, licence="MIT", source="Coelho 2013",
           method="euler of the set at each level, as its documentation calls it",
           answers=claims("ecc", {"construction": "T"}, dims=[2], max_levels=4096))
