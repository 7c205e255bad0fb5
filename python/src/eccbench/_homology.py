"""Homology of simplicial complexes and meshes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Literal, Sequence, Union

import numpy as np

from . import _library
from ._arguments import exact, flag, is_path, reject_hidden, whole
from ._curve import _job, _threads, _translated
from ._result import Result, Verdict

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray

_CELLS = {"vertex": 0, "line": 1, "triangle": 2, "tetra": 3}  # meshio's cell types and their dimensions


@dataclass(frozen=True, eq=False, repr=False)
class Homology(Result):
    """The homology groups of a simplicial complex.

    Attributes
    ----------
    betti : tuple of int
        The ranks of the groups, from dimension 0 on: components, tunnels, cavities, …
    torsion : tuple of tuple of int
        Over the integers, the orders of the cyclic parts of each group; each order divides the next.
    coefficients : str
        A prime, 'Q' or 'Z'.
    verdict : {'VERIFIED', 'UNVERIFIED'}
        Whether an independent witness confirmed the groups.
    witness : str
        The witness; for UNVERIFIED groups the reason why it does not decide, or '' for none.
    implementation : str
        The implementation that computed the groups.

    Notes
    -----
    ``b0, b1, b2 = homology`` unpacks the Betti numbers of a complex of dimension 2. `to_pandas` has a row
    for each dimension. `save` and `load` write and read the groups.
    """

    betti: tuple[int, ...]
    torsion: tuple[tuple[int, ...], ...]
    coefficients: str
    verdict: str
    witness: str
    implementation: str

    def __iter__(self) -> Iterator[int]:
        return iter(self.betti)

    def __len__(self) -> int:
        return len(self.betti)

    def _complete(self) -> bool:
        return len(self.betti) == len(self.torsion)

    def _table(self) -> dict[str, Any]:
        return {"dimension": range(len(self.betti)), "betti": self.betti, "torsion": self.torsion}

    def _about(self) -> dict[str, str]:
        return {**super()._about(), "coefficients": self.coefficients}

    def __repr__(self) -> str:
        groups = ", ".join(
            " + ".join([str(b), *(f"Z/{n}" for n in orders)]) for b, orders in zip(self.betti, self.torsion)
        )
        by = f"{self.verdict} by {self.witness}" if self.witness and self.verdict == "VERIFIED" else self.verdict
        return f"<Homology over {self.coefficients}: ({groups}), {by}>"


def homology(
    simplices: Any,
    *,
    field: Union[int, Literal["Q", "Z"], None] = None,
    points: Any = None,
    verify: bool = True,
    threads: int | None = None,
) -> Homology:
    """Betti numbers of a simplicial complex or a mesh over a field, or over the integers with torsion.

    Parameters
    ----------
    simplices : array_like, str, path-like or mesh
        The vertices of the simplices; all their faces belong to the complex, too. It is an array of
        integers of shape (n, d + 1), as from Delaunay triangulations; a list of such arrays of several
        dimensions; a list of tuples of vertices; a mesh of meshio or trimesh; a simplex tree of GUDHI;
        the path of a mesh file (OFF, PLY, OBJ, STL, VTK, msh, ele, text), also compressed; or an input string, such as
        ``'lens/p=5/q=2'``.
    field : int, 'Q' or 'Z', optional
        The coefficients: a prime, the rationals, or the integers, with torsion. By default 2.
    points : array_like of shape (vertices, 3), optional
        The coordinates of the vertices. They make tetrahedra in space faster; the groups are the same.
    verify : bool
        Compare the groups with an elimination of the boundary matrices.
    threads : int, optional
        Cores to use. By default all that the process may use.

    Returns
    -------
    groups : Homology

    Raises
    ------
    TypeError
        If the simplices are of an unsupported kind.
    ValueError
        If a vertex is negative or repeated in a simplex, a mesh has cells that are no simplices, or an
        argument is invalid.
    OSError
        If a file cannot be read.
    RuntimeError
        If the groups fail their verification.

    Notes
    -----
    Vertices are identified by their numbers: merge equal corners of a mesh that lists them separately
    for each triangle. After an interrupt, the computation runs to its end in the background. The method
    is in doc/proofs/homology.md of the sources [1]_.

    References
    ----------
    .. [1] C. J. A. Delfinado, H. Edelsbrunner, "An incremental algorithm for Betti numbers of simplicial
       complexes on the 3-sphere", Computer Aided Geometric Design 12 (1995).

    Examples
    --------
    The faces of a tetrahedron bound a cavity:

    >>> import eccbench
    >>> eccbench.homology([(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)])
    <Homology over 2: (1, 0, 1), VERIFIED by elimination of the boundary matrices>

    The projective plane has torsion, which a field of two elements takes for a tunnel and a cavity:

    >>> eccbench.homology("rp2", field="Z").torsion
    ((), (2,), ())
    >>> b0, b1, b2 = eccbench.homology("rp2", field=2)
    >>> b0, b1, b2
    (1, 1, 1)
    """
    coefficients = "" if field is None else field if field in ("Q", "Z") else str(whole("field", field, 2))
    request: dict[str, Any] = {
        "homology": {"coefficients": coefficients},
        "construction": "T",
        "threads": _threads(threads),
        "verify": flag("verify", verify),
    }
    voxels: NDArray[Any] | None = None
    where: NDArray[Any] | None = None
    if is_path(simplices):
        if points is not None:
            raise ValueError("points: a file has its own; leave them out")
        request["input"] = os.fspath(simplices)
        if not request["input"]:
            raise ValueError("an empty path: want that of a mesh, or an input string")
    else:
        by_dimension, points = _given(simplices, points)
        if points is not None:
            reject_hidden("points", points)
            where = np.ascontiguousarray(points, np.float64)
            if where.ndim != 2 or where.shape[1] not in (2, 3):
                raise ValueError(f"points of shape {where.shape}: want (vertices, 3)")
            where = np.pad(where, ((0, 0), (0, 3 - where.shape[1])))
        voxels, vertices = _numbered(by_dimension, None if where is None else len(where))
        request["homology"].update(given=[len(s) for s in by_dimension], vertices=vertices)
    try:
        with _job(request, voxels, where) as job:
            answer: dict[str, Any] = job.answers[0]
    except _library.Error as e:
        raise _translated(e) from None
    return Homology(
        tuple(answer.get("groups", ())),
        tuple(tuple(orders or ()) for orders in answer.get("torsion", ())),
        answer["coefficients"],
        *Verdict.of_answer(answer),
    )


def _given(simplices: Any, points: Any) -> tuple[list[NDArray[Any]], Any]:
    """Return simplices by dimension, and the coordinates of a mesh."""
    if hasattr(simplices, "cells") and hasattr(simplices, "points"):  # of meshio
        lists = []
        for block in simplices.cells:
            if block.type not in _CELLS:
                raise ValueError(f"cells of {block.type}: want simplices, which are {', '.join(_CELLS)}")
            lists.append(block.data)
        return _by_dimension(lists), simplices.points if points is None else points
    if hasattr(simplices, "faces") and hasattr(simplices, "vertices"):  # of trimesh
        return _by_dimension([simplices.faces]), simplices.vertices if points is None else points
    if hasattr(simplices, "get_simplices"):  # of GUDHI
        simplices = [simplex for simplex, _ in simplices.get_simplices()]
    if not isinstance(simplices, (np.ndarray, Sequence)) and not hasattr(simplices, "__array__"):
        raise TypeError(f"simplices of {type(simplices).__name__}: want an array, lists of vertices, a mesh, or a path")
    if isinstance(simplices, Sequence):
        if all(np.ndim(s) == 2 for s in simplices if isinstance(s, np.ndarray)) and any(
            isinstance(s, np.ndarray) for s in simplices
        ):
            return _by_dimension(list(simplices)), points
        by_length: dict[int, list[Any]] = {}
        for s in simplices:
            if np.ndim(s) != 1:
                raise TypeError(f"simplex {s!r}: want a tuple of vertices")
            by_length.setdefault(len(s), []).append(s)
        return _by_dimension(list(by_length.values())), points
    return _by_dimension([simplices]), points


def _by_dimension(lists: list[Any]) -> list[NDArray[Any]]:
    """Return arrays of vertices, one for each dimension."""
    reject_hidden("simplices", lists)
    arrays = [exact("simplices", a) for a in lists]
    for a in arrays:
        if a.ndim != 2 or a.shape[1] < 1:
            raise ValueError(f"simplices of shape {a.shape}: want (n, d + 1), with the vertices of each in a row")
        if a.dtype.kind not in "iu":
            raise TypeError(f"simplices of {a.dtype}: want the numbers of vertices")
        if a.dtype == np.uint64 and a.size and a.max() >= 2**63:
            raise ValueError(f"vertex {a.max()}: want numbers below 2**63")
    top = max((a.shape[1] for a in arrays if len(a)), default=0)
    return [
        np.concatenate([np.empty((0, k), np.int64),
            *(a.astype(np.int64, copy=False) for a in arrays if a.shape[1] == k)]) for k in range(1, top + 1)
    ]


def _numbered(by_dimension: Sequence[NDArray[Any]], vertices: int | None) -> tuple[NDArray[np.uint32], int]:
    """Return the vertices of all simplices in one array, and the number of vertex numbers."""
    listed = np.concatenate([np.empty(0, np.int64), *(a.ravel() for a in by_dimension)])
    if listed.size and listed.min() < 0:
        raise ValueError(f"vertex {listed.min()}: want numbers from 0 on")
    most = int(listed.max()) + 1 if listed.size else 0
    if vertices is not None and most > vertices:
        raise ValueError(f"vertex {most - 1}: there are points of {vertices} vertices")
    if vertices is None and most > listed.size:  # numbers with gaps
        names, listed = np.unique(listed, return_inverse=True)
        most = len(names)
    return np.ascontiguousarray(listed, np.uint32), most if vertices is None else vertices
