"""Persistence pairs of arrays and of files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Sequence, Union, overload

import numpy as np

from ._arguments import Construction, Nan, choice, number, whole
from ._betti import _asked, _given, _translating
from ._curve import _conventions, _level_type
from ._result import Result, Verdict, as_html

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Result):
    """The persistence pairs of an image: the classes of homology of its growing sets.

    Attributes
    ----------
    dims : ndarray of shape (n,), int64
        The dimension of each class: 0 for a component, 1 for a tunnel (in 2D a hole), 2 for a cavity. Rows are in
        the order of dimension and birth, and of equal births in that of their voxels.
    births : ndarray of shape (n,)
        The value at which a class begins, in the type of the image.
    deaths : ndarray of shape (n,)
        The value at which it ends: inf if it never does, for superlevel sets -inf. Their type is that of an image of
        floats, otherwise float64, which rounds integers beyond 2**53: their values are those of `death_voxels`.
    birth_voxels, death_voxels : ndarray of shape (n, axes), int64
        The indices of the voxels that begin and end a class, in the order of the axes of the image:
        ``image[tuple(pairs.birth_voxels.T)]`` equals `births`. Those of a class that never ends are -1.
    verdict : {'VERIFIED', 'UNVERIFIED'}
        Whether an independent witness confirmed the pairs. Contradicted pairs are an error.
    witness : str
        The witness; '' for none.
    implementation : str
        The implementation that computed the pairs.
    construction : {'T', 'V'}
    superlevel : bool
    shape : tuple of int
        The shape of the image.
    missing : str
        The missing chunks of a Zarr array, which are read as its fill value: '1 of 8 chunks
        missing: fill value 0'; '' for none.

    Notes
    -----
    `to_pandas` has a row for each pair, with the columns of the command: ``dim``, ``birth``, ``death``, ``birth_x``, …
    `save` and `load` write and read the pairs, and `plot` draws them.
    """

    dims: NDArray[np.int64]
    births: NDArray[Any]
    deaths: NDArray[Any]
    birth_voxels: NDArray[np.int64]
    death_voxels: NDArray[np.int64]
    verdict: str
    witness: str
    implementation: str
    construction: str
    superlevel: bool
    shape: tuple[int, ...]
    missing: str = ""

    def __len__(self) -> int:
        return len(self.dims)

    @property
    def convention(self) -> str:
        """The construction and the filtration, such as 'T, sublevel'."""
        return f"{self.construction}, {'superlevel' if self.superlevel else 'sublevel'}"

    def diagram(self, dim: int) -> NDArray[np.float64]:
        """Persistence diagram of a dimension, as GUDHI, ripser and persim use it.

        Parameters
        ----------
        dim : int
            The dimension of the classes, from 0 to 2.

        Returns
        -------
        diagram : ndarray of shape (m, 2), float64
            Birth and death of each class.

        Raises
        ------
        ValueError
            If there is no such dimension.
        """
        rows = self.dims == whole("dim", dim, 0, 2)
        return np.stack([self.births[rows].astype(np.float64), self.deaths[rows].astype(np.float64)], axis=-1)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the persistence diagram with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure, whose title is the convention and the verdict.
        **style
            Arguments of ``ax.scatter``.

        Returns
        -------
        ax : matplotlib.axes.Axes
            Classes that never end are triangles at the height of the last birth or death.
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
            ax.set_title(f"{self.convention}: {self.verdict}")
        births, deaths = self.births.astype(np.float64), self.deaths.astype(np.float64)
        ends = np.concatenate([births, deaths[np.isfinite(deaths)]])
        lo, hi = (ends.min(), ends.max()) if len(ends) else (0.0, 1.0)
        ax.plot([lo, hi], [lo, hi], color="0.7", linewidth=1)
        for dim, colour in enumerate(("C0", "C1", "C2")):
            for never, marker in ((False, "o"), (True, "v" if self.superlevel else "^")):
                rows = (self.dims == dim) & (np.isinf(deaths) == never)
                if rows.any():
                    height = (lo if self.superlevel else hi) if never else deaths[rows]
                    look = {"s": 9, "color": colour, "marker": marker, "label": f"H{dim}{', never ends' * never}", **style}
                    ax.scatter(births[rows], np.broadcast_to(height, rows.sum()), **look)
        ax.set(xlabel="birth", ylabel="death")
        if len(self):
            ax.legend()
        return ax

    def _complete(self) -> bool:
        n, axes = len(self), len(self.shape)
        return (self.births.shape == self.deaths.shape == (n,)
            and self.birth_voxels.shape == self.death_voxels.shape == (n, axes))

    def _table(self) -> Dict[str, Any]:
        columns = {"dim": self.dims, "birth": self.births, "death": self.deaths}
        for end, voxels in (("birth", self.birth_voxels), ("death", self.death_voxels)):
            columns.update({f"{end}_{axis}": column for axis, column in zip("xyz", voxels.T[::-1])})
        return columns

    def _about(self) -> Dict[str, str]:
        return {**super()._about(), "convention": self.convention, "coefficients": "GF(2)"}

    def _drawn(self) -> str:
        dims = range(len(self.shape)) if len(self.shape) > 1 else range(1)
        never = np.isinf(self.deaths.astype(np.float64))
        return as_html({"dim": dims, "pairs": [int((self.dims == d).sum()) for d in dims],
            "never end": [int((never & (self.dims == d)).sum()) for d in dims]})

    def __repr__(self) -> str:
        by = f"{self.verdict} by {self.witness.split(' (')[0]}" if self.witness else self.verdict
        return (f"<Pairs of {'×'.join(map(str, self.shape))}, {self.convention}: {len(self)} pair{'s' * (len(self) != 1)}, "
            f"{by}>")


@overload
def pairs(image: Any, *, batch_axis: None = None, dims: Sequence[int] | None = ..., min_persistence: float = ...,
          construction: Construction = ..., superlevel: bool = ..., mask: Any = ..., nan: Nan = ..., verify: bool = ...,
          threads: int | None = ...) -> Pairs: ...
@overload
def pairs(image: Any, *, batch_axis: int, dims: Sequence[int] | None = ..., min_persistence: float = ...,
          construction: Construction = ..., superlevel: bool = ..., mask: Any = ..., nan: Nan = ..., verify: bool = ...,
          threads: int | None = ...) -> list[Pairs]: ...
def pairs(
    image: Any,
    *,
    dims: Sequence[int] | None = None,
    min_persistence: float = 0,
    construction: Construction = "T",
    superlevel: bool = False,
    mask: Any = None,
    nan: Nan = "refuse",
    batch_axis: int | None = None,
    verify: bool = True,
    threads: int | None = None,
) -> Union[Pairs, list[Pairs]]:
    """Exact persistence pairs of an image, with the voxels that begin and end each class.

    As a threshold rises, voxels join the set of those at or below it. A voxel begins a component, a tunnel or a
    cavity, or ends one: it joins a component to an older one, or fills a tunnel or a cavity.

    Parameters
    ----------
    image : array_like, str or path-like
        As for `curve`. It is not modified. The whole image is in memory, and is copied unless it is in C order.
    dims : sequence of int, optional
        Only pairs of these dimensions: 0, 1, 2. By default all. This does not save time.
    min_persistence : float
        Only pairs whose birth and death are at least this far apart, and those without a death.
    construction, superlevel, mask, nan, batch_axis
        As for `curve`: voxels outside of a mask, and NaN voxels, are in no set.
    verify : bool
        Check the pairs by a certificate, which proves each of them.
    threads : int, optional
        Cores to use. By default all that the process may use.

    Returns
    -------
    pairs : Pairs, or list of Pairs
        A list for a batch.

    Raises
    ------
    TypeError, ValueError, OSError, RuntimeError
        As from `betti`; also ValueError for an image whose pairs take more memory than is free.

    Notes
    -----
    Coefficients are of the field of two elements, GF(2). In 3D, GUDHI's default field of 11 elements may have other
    pairs; ``homology_coeff_field=2`` has the same ones. Voxels enter one at a time, in the order of their values, and
    equal ones in the C order of the array. The order of equal voxels decides which of them a pair has, but not the
    values of pairs. Pairs of equal values are left out. After an interrupt, the computation may run to its end in
    the background. The proof is in doc/proofs/pairs.md of the sources [1]_.

    References
    ----------
    .. [1] H. Edelsbrunner, D. Letscher, A. Zomorodian, "Topological persistence and simplification", Discrete &
       Computational Geometry 28 (2002).

    Examples
    --------
    >>> import numpy as np, eccbench
    >>> ring = np.array([[0, 0, 0], [0, 9, 0], [0, 1, 0]], np.uint8)
    >>> pairs = eccbench.pairs(ring)
    >>> pairs.dims, pairs.births, pairs.deaths
    (array([0, 1]), array([0, 1], dtype=uint8), array([inf,  9.]))
    >>> pairs.birth_voxels[1], pairs.death_voxels[1]
    (array([2, 1]), array([1, 1]))
    >>> pairs.diagram(1), pairs.verdict
    (array([[1., 9.]]), 'VERIFIED')
    """
    if dims is not None:
        dims = [whole("dims", d, 0, 2) for d in np.atleast_1d(np.asarray(dims)).tolist()]
        if not dims:
            raise ValueError("dims is empty: want dimensions from 0 to 2")
    least = number("min_persistence", min_persistence)
    if not 0 <= least < math.inf:
        raise ValueError(f"min_persistence {least}: want a finite number of 0 or more")
    request = {**_conventions(construction, superlevel, verify, threads), "pairs": {"dims": dims, "persistence": least},
        "nan": choice("nan", nan, "refuse", "mask")}
    with _translating(nan):
        images, dtype, shape = _asked(_given(image, mask, nan, batch_axis), request, ())
    found = [_found(*rows, dtype, shape, construction, bool(superlevel)) for rows in images]
    return found if batch_axis is not None else found[0]


def _found(values: NDArray[Any], numbers: NDArray[np.int64], answer: Dict[str, Any], dtype: np.dtype[Any],
           shape: tuple[int, ...], construction: str, superlevel: bool) -> Pairs:
    """Return the pairs of an answer. Its voxels are indices in C order."""
    level = _level_type(dtype)
    dims, birth, death = np.ascontiguousarray(numbers.T)
    deaths = values[:, 1].astype(level if level.kind == "f" else np.float64)
    deaths[death < 0] = -np.inf if superlevel else np.inf
    births_at, deaths_at = (np.stack(np.unravel_index(np.maximum(v, 0), shape), axis=-1) for v in (birth, death))
    deaths_at[death < 0] = -1
    return Pairs(dims, values[:, 0].astype(level), deaths, births_at, deaths_at, *Verdict.of_answer(answer),
        construction, superlevel, shape, answer.get("missing", ""))
