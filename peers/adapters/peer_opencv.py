"""requires: opencv-python-headless==4.12.0.88 numpy==2.2.6"""
import cv2
import numpy as np
from common import by_labels, labels, peer


def count(connectivity):
    return lambda s: cv2.connectedComponents(s.astype(np.uint8), connectivity=connectivity)[0] - 1


def answer(q):
    return by_labels(q, count(8), count(4))


peer.serve(answer, name="opencv", version=cv2.__version__, licence="Apache-2.0", source="opencv.org",
           method="connectedComponents of the set and of its background", answers=labels(dims=[2]))
