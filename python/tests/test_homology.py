"""Homology of complexes in memory and in files."""

from types import SimpleNamespace

import numpy as np
import pytest

import eccbench

# The projective plane with six vertices, and a torus with seven.
PLANE = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 1, 5], [1, 2, 4], [2, 3, 5], [1, 3, 4], [2, 4, 5], [1, 3, 5]])
TORUS = np.array([[i, (i + 1) % 7, (i + 3) % 7] for i in range(7)] + [[i, (i + 2) % 7, (i + 3) % 7] for i in range(7)])


def groups(found):
    assert found.verdict == "VERIFIED" and found.witness == "elimination of the boundary matrices"
    return found.betti, found.torsion


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.uint8])
def test_arrays(dtype):
    assert groups(eccbench.homology(PLANE.astype(dtype))) == ((1, 1, 1), ((), (), ()))
    assert groups(eccbench.homology(PLANE.astype(dtype), field="Z")) == ((1, 0, 0), ((), (2,), ()))
    assert groups(eccbench.homology(PLANE.astype(dtype), field="Q")) == groups(eccbench.homology(PLANE, field=3)) == ((1, 0, 0), ((), (), ()))
    assert tuple(eccbench.homology(TORUS.astype(dtype))) == (1, 2, 1)


def test_forms():
    """Lists of tuples, of arrays, gaps in the numbers, meshes, and a file are one complex."""
    mixed = [tuple(t) for t in TORUS.tolist()] + [(7,), (0, 8)]
    assert eccbench.homology(mixed).betti == (2, 2, 1)
    assert eccbench.homology([TORUS, np.array([[7]]), np.array([[0, 8]])]).betti == (2, 2, 1)
    assert eccbench.homology(TORUS * 10**9).betti == (1, 2, 1)
    assert eccbench.homology(TORUS[:, ::-1].T.copy().T).betti == (1, 2, 1)
    assert eccbench.homology(np.empty((0, 3), int)).betti == () and eccbench.homology([]).betti == ()
    points = np.random.default_rng(1).random((9, 3))
    cells = [SimpleNamespace(type="triangle", data=TORUS), SimpleNamespace(type="vertex", data=np.array([[7]]))]
    assert eccbench.homology(SimpleNamespace(cells=cells, points=points)).betti == (2, 2, 1)
    assert eccbench.homology(SimpleNamespace(faces=TORUS, vertices=points)).betti == (1, 2, 1)
    tree = SimpleNamespace(get_simplices=lambda: ((s, 0.0) for s in mixed))
    assert eccbench.homology(tree).betti == (2, 2, 1)


def test_large_numbers():
    """Numbers of vertices that float64 does not hold are exact."""
    edges = np.array([[0, 1], [1, 2], [3, 4]])
    for dtype in (np.int64, np.uint64):
        assert eccbench.homology((edges + 2**60).astype(dtype)).betti == (2, 0)


def test_files_and_names(tmp_path):
    lines = ["OFF", "7 14 0", *["0 0 0"] * 7, *(f"3 {a} {b} {c}" for a, b, c in TORUS)]
    (tmp_path / "torus.off").write_text("\n".join(lines))
    assert groups(eccbench.homology(tmp_path / "torus.off")) == groups(eccbench.homology(TORUS))
    assert groups(eccbench.homology("lens/p=5/q=2", field="Z")) == ((1, 0, 0, 1), ((), (5,), (), ()))
    assert eccbench.homology("rp2/over=Z").coefficients == "Z" and eccbench.homology("rp2").coefficients == "2"
    with pytest.raises(FileNotFoundError):
        eccbench.homology(tmp_path / "nowhere.off")


def test_tetrahedra():
    """Coordinates give the same groups by another method: cubes, each cut in six, with a cavity and a drill."""
    corners = np.array([[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]])
    solid = np.ones((5, 5, 5), bool)
    solid[2, 2, 1] = solid[:, 3, 3] = False
    cubes = np.argwhere(solid)
    offsets = np.array([[c & 1, c >> 1 & 1, c >> 2] for c in range(8)])
    tets = np.array([((cube + offsets[c]) @ [1, 6, 36]) for cube in cubes for c in corners])
    points = np.array([[x, y, z] for z in range(6) for y in range(6) for x in range(6)], float)
    used = np.unique(tets)
    number = np.zeros(216, int)
    number[used] = np.arange(len(used))
    found = eccbench.homology(number[tets], points=points[used])
    assert found.betti == eccbench.homology(number[tets]).betti == (1, 1, 1, 0) and found.implementation == "duality"
    assert found == eccbench.homology(number[tets]) and eccbench.homology(number[tets], points=points[used], field="Z").betti == (1, 1, 1, 0)


def test_shown():
    found = eccbench.homology(PLANE, field="Z", verify=False)
    assert repr(found) == "<Homology over Z: (1, 0 + Z/2, 0), UNVERIFIED>" and "<td>(2,)</td>" in found._repr_html_()
    b0, b1, b2 = found
    assert (b0, b1, b2) == (1, 0, 0) and len(found) == 3


@pytest.mark.parametrize("ask, error, text", [
    (lambda: eccbench.homology(3), TypeError, "simplices of int"),
    (lambda: eccbench.homology([1, 2]), TypeError, "simplex 1: want a tuple"),
    (lambda: eccbench.homology(TORUS.astype(float)), TypeError, "want the numbers of vertices"),
    (lambda: eccbench.homology(TORUS - 1), ValueError, "vertex -1"),
    (lambda: eccbench.homology(np.array([[1, 2**63]], np.uint64)), ValueError, "vertex 9223372036854775808"),
    (lambda: eccbench.homology([(0, 1, 2**63 + 1)]), ValueError, "vertex 9223372036854775809: want numbers below"),
    (lambda: eccbench.homology([(0, 1, 2**64)]), ValueError, "simplices: 18446744073709551616 is no integer of 64 bits"),
    (lambda: eccbench.homology([(0, 0, 1)]), ValueError, "has vertex 0 twice"),
    (lambda: eccbench.homology(TORUS, field=4), ValueError, "want a prime"),
    (lambda: eccbench.homology(TORUS, field="R"), TypeError, "field 'R'"),
    (lambda: eccbench.homology(TORUS, points=np.zeros((5, 3))), ValueError, "points of 5 vertices"),
    (lambda: eccbench.homology(TORUS, points=np.zeros((7, 4))), ValueError, "want \\(vertices, 3\\)"),
    (lambda: eccbench.homology("rp2", points=[[0, 0, 0]]), ValueError, "points: a file"),
    (lambda: eccbench.homology(TORUS[0]), ValueError, "want \\(n, d \\+ 1\\)"),
    (lambda: eccbench.homology(TORUS, threads=0), ValueError, "threads 0"),
    (lambda: eccbench.homology(SimpleNamespace(cells=[SimpleNamespace(type="quad", data=TORUS)], points=None)), ValueError, "cells of quad"),
])
def test_refused(ask, error, text):
    with pytest.raises(error, match=text) as e:
        ask()
    assert "\n" not in str(e.value)


def test_libraries():
    """Meshes of meshio and trimesh are accepted."""
    meshio = pytest.importorskip("meshio")
    assert eccbench.homology(meshio.Mesh(np.zeros((7, 3)), [("triangle", TORUS)])).betti == (1, 2, 1)
    trimesh = pytest.importorskip("trimesh")
    assert eccbench.homology(trimesh.creation.torus(2, 1)).betti == (1, 2, 1)
