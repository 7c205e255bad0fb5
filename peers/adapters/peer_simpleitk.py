"""requires: SimpleITK==2.5.3 numpy==2.4.6"""
import numpy as np
import SimpleITK
from common import by_labels, labels, peer


def count(full):
    def components(inside):
        labels = SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(inside.astype(np.uint8)), full)
        return int(SimpleITK.GetArrayViewFromImage(labels).max())

    return components


def answer(q):
    return by_labels(q, count(True), count(False))


peer.serve(answer, name="simpleitk", version=SimpleITK.Version.VersionString(), licence="Apache-2.0",
           source="simpleitk.org",
           method="ConnectedComponent of the set and of its background; χ by NumPy", answers=labels())
