"""requires: scikit-image==0.26.0 numpy==2.4.6"""
import skimage
from common import BOTH, by_labels, claims, labels, peer
from skimage.measure import euler_number, label


def answer(q):
    if q["workload"] == "euler":
        return [euler_number(q.inside(), q.image.ndim)]
    if q["workload"] != "ecc":
        return by_labels(q, lambda s: label(s, connectivity=s.ndim).max(), lambda s: label(s, connectivity=1).max())
    connectivity = 1 if q["construction"] == "V" else q.image.ndim
    return q.curve(lambda inside: euler_number(inside, connectivity))


peer.serve(answer, name="scikit-image", version=skimage.__version__, licence="BSD-3-Clause", source="scikit-image.org",
           method="euler_number of the set at each level that has voxels; Betti numbers by label, χ by NumPy",
           answers=claims("ecc", *BOTH) + claims("euler", BOTH[0]) + labels())
