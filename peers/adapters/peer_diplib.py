"""requires: diplib==3.6.1 numpy==2.4.6"""
import diplib
import numpy as np
from common import by_labels, labels, peer


def count(full):
    return lambda s: int(np.asarray(diplib.Label(diplib.Image(s, tensor_axis=None), s.ndim if full else 1)).max())


def answer(q):
    return by_labels(q, count(True), count(False))


peer.serve(answer, name="diplib", version=diplib.__version__, licence="Apache-2.0", source="diplib.org",
           method="Label of the set and of its background; χ by NumPy", answers=labels())
