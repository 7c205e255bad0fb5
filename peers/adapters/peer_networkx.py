"""requires: networkx==3.6.1 numpy==2.4.6"""
from itertools import product

import networkx
import numpy as np
from common import by_labels, labels, peer


def count(full):
    def components(inside):
        graph, there = networkx.Graph(), set(map(tuple, np.argwhere(inside)))
        graph.add_nodes_from(there)
        for step in product((-1, 0, 1), repeat=inside.ndim):
            if any(step) and (full or sum(map(abs, step)) == 1):
                moved = ((v, tuple(a + b for a, b in zip(v, step))) for v in there)
                graph.add_edges_from(edge for edge in moved if edge[1] in there)
        return networkx.number_connected_components(graph)

    return components


def answer(q):
    return by_labels(q, count(True), count(False))


peer.serve(answer, name="networkx", version=networkx.__version__, licence="BSD-3-Clause", source="networkx.org",
           method="number_connected_components of graphs of voxels; χ by NumPy", answers=labels(max_voxels=100000))
