"""The topology of segmentations against that of their ground truths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Iterator, Sequence

import numpy as np

from . import _library
from ._arguments import array_of, check_places, flag, in_memory, is_path, number, reject_hidden
from ._curve import Image, _job, _layout, _Request, _threads, _translated, open
from ._result import Result, Verdict, as_html

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Result):
    """The differences of a segmentation from its ground truth, by label and connectivity.

    Attributes
    ----------
    labels : tuple of str
        The labels, then 'all' for the union of all labels of the images (also of those that are not compared)
        if there are several, then the groups.
    connectivities : tuple of int
        Of the foreground: 26 (construction T) and 6 (V) in 3D, 8 (T) and 4 (V) in 2D. The
        background is 6- and 26-connected, 4- and 8-connected.
    columns : tuple of str
        The names of the numbers.
    values : ndarray of shape (labels, connectivities, columns), float64
        The numbers. Ratios of empty masks are NaN or infinite; all others are whole.
    shape : tuple of int
        The shape of the images.
    verdict : {'VERIFIED', 'UNVERIFIED'}
    witness : str
        The witness that confirmed the numbers; '' for none.
    implementation : str

    Notes
    -----
    ``result["1", 26]`` is a dict of the numbers of a label. ``len``, ``in``, `keys`, `items`, `get` and ``dict``
    work as of a mapping of such dicts, and `values` is an array. `to_pandas` and `to_xarray` have all
    numbers, and `save` and `load` write and read them. A feature is matched if both masks have it in
    their union: ``matching_error0_max`` is the number of unmatched features of dimension 0. In
    dimension 1 of 3D images, the number is between ``_min`` and ``_max``.
    """

    labels: tuple[str, ...]
    connectivities: tuple[int, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    shape: tuple[int, ...]
    verdict: str
    witness: str
    implementation: str
    _keys: ClassVar[int] = 2

    def __getitem__(self, key: tuple[Any, int]) -> dict[str, float]:
        """Return the numbers of a label in a connectivity, by column."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(f"{key!r}: want a label and a connectivity, such as {next(iter(self), None)}")
        label, connectivity = key
        if str(label) not in self.labels or connectivity not in self.connectivities:
            raise KeyError(f"{key}: want one of the labels {self.labels} and of the connectivities "
                f"{self.connectivities}")
        i, k = self.labels.index(str(label)), self.connectivities.index(connectivity)
        return {c: float(v) if c in _RATIOS else int(v) for c, v in zip(self.columns, self.values[i, k])}

    def keys(self) -> list[tuple[str, int]]:
        return [(label, c) for label in self.labels for c in self.connectivities]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    __contains__, get, items = Mapping.__contains__, Mapping.get, Mapping.items

    def _complete(self) -> bool:
        return self.values.shape == (len(self.labels), len(self.connectivities), len(self.columns))

    def _table(self) -> dict[str, Any]:
        rows = [{"label": label, "connectivity": c, **self[label, c]} for label, c in self]
        return {name: [row[name] for row in rows] for name in ("label", "connectivity", *self.columns)}

    def __repr__(self) -> str:
        shape, n = "×".join(map(str, self.shape)), len(self.labels)
        return f"<Assessment of {shape}: {n} mask{'s' * (n != 1)}, {self.verdict}>"

    def _drawn(self) -> str:
        dims = range(len(self.shape))
        errors = [f"b{d}_error" for d in dims] + [f"matching_error{d}_max" for d in dims]
        names = ("label", "connectivity", "dice", "chi_error", *errors)
        return as_html({name: column for name, column in self._table().items() if name in names})


_RATIOS = ("dice", "iou", "volume_error")


def assess(
    pred: Any,
    truth: Any,
    *,
    labels: Sequence[int] | None = None,
    groups: Mapping[str, Sequence[int]] | None = None,
    connectivity: int | str = "both",
    verify: bool = True,
    threads: int | None = None,
) -> Assessment:
    """Compare the topology of a segmentation with that of its ground truth, exactly and by label.

    Parameters
    ----------
    pred, truth : array_like, str or path-like
        Label images of one shape, of 2 or 3 axes, or arguments of `open`: whole numbers, with 0 as the
        background. The affines of nibabel images are compared, too.
    labels : sequence of int, optional
        The labels to compare. By default all labels of either image.
    groups : mapping of str to sequences of int, optional
        Labels that are compared as one mask, by name.
    connectivity : {'both', 26, 6, 8, 4}
        Of the foreground: 26 or 6 in 3D, 8 or 4 in 2D.
    verify : bool
        Compare the numbers with those of a flood fill.
    threads : int, optional
        Cores to use. By default all that the process may use.

    Returns
    -------
    result : Assessment

    Raises
    ------
    ValueError
        If the shapes differ, a value is no whole number, or an argument is invalid.
    OSError
        If a file cannot be read.
    RuntimeError
        If the numbers fail their verification.

    Notes
    -----
    Volumes are counted in voxels. The matching error is the Betti-matching error of binary masks [1]_.

    References
    ----------
    .. [1] N. Stucki et al., "Topologically faithful image segmentation via induced matching of persistence
       barcodes", ICML 2023.

    Examples
    --------
    >>> import numpy as np, eccbench
    >>> truth = np.zeros((5, 5), np.uint8)
    >>> truth[1:4, 1:4] = 1
    >>> pred = truth.copy()
    >>> pred[2, 2] = 0
    >>> result = eccbench.assess(pred, truth)
    >>> result["1", 8]["b1_error"], result["1", 8]["matching_error1_max"], result.verdict
    (1, 1, 'VERIFIED')
    """
    both = [_labels_of(name, image) for name, image in (("pred", pred), ("truth", truth))]
    if both[0].shape != both[1].shape:
        raise ValueError(f"pred of shape {both[0].shape}, and truth is {both[1].shape}: want images of one shape")
    check_places("pred and truth", pred, truth)
    shape = both[0].shape
    known: tuple[int, ...] = (26, 6) if len(shape) == 3 else (8, 4)
    if connectivity != "both" and connectivity not in known:
        raise ValueError(f"connectivity {connectivity!r}: want 'both', {known[0]} or {known[1]} of an image "
            f"of {len(shape)} axes")
    request: _Request = {
        "assess": {
            "labels": None if labels is None else _chosen("labels", labels),
            "groups": [{"name": str(k), "labels": _chosen(f"groups[{k!r}]", values)}
                for k, values in (groups or {}).items()],
        },
        "construction": "T",
        "threads": _threads(threads),
        "verify": flag("verify", verify),
    }
    voxels = _stacked(both)
    try:
        with _job({**request, **_layout(voxels)}, voxels) as job:
            answer: dict[str, Any] = job.answers[0]
            rows, none = np.empty(answer["rows"]), np.empty(0, np.int64)
            job.rows(0, rows.ctypes.data, rows.nbytes, none.ctypes.data)
    except _library.Error as e:
        raise _translated(e) from None
    values = rows.reshape(len(answer["sets"]), 2, len(answer["columns"]))
    if connectivity != "both":
        values, known = values[:, [known.index(int(connectivity))]], (int(connectivity),)
    return Assessment(
        tuple(answer["sets"]), known, tuple(answer["columns"]), values, shape, *Verdict.of_answer(answer)
    )


def _chosen(name: str, labels: Any) -> list[int]:
    """Return the numbers of labels."""
    if np.ndim(labels) == 0 and not isinstance(labels, (set, frozenset)):
        raise TypeError(f"{name} {labels!r}: want a sequence of labels, such as [1]")
    chosen = [number(name, v) for v in labels]
    if any(v != v // 1 for v in chosen):
        raise ValueError(f"{name} {labels!r}: want whole numbers")
    return [int(v) for v in labels]


def _labels_of(name: str, image: Any) -> NDArray[Any]:
    """Return an image of labels as an array of 2 or 3 axes."""
    image = open(image) if is_path(image) else in_memory(image)
    reject_hidden(name, image)
    array = np.asarray(image) if isinstance(image, Image) else array_of(name, image)
    if not 2 <= array.ndim <= 3:
        raise ValueError(f"{name} of shape {array.shape}: want an image of 2 or 3 axes")
    if array.size == 0:
        raise ValueError(f"{name} of shape {array.shape} has no voxels")
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} of {array.dtype}: want labels, which are whole numbers")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.trunc(array))).all():
        raise ValueError(f"{name}: some values are not whole numbers, as labels must be; threshold the image first")
    return array


def _stacked(images: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return consecutive images of labels, in the smallest type of the library that fits."""
    if all(a.dtype in (np.bool_, np.uint8) for a in images):
        dtype: type = np.uint8
    else:
        least, greatest = min(int(a.min()) for a in images), max(int(a.max()) for a in images)
        types = (np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
        fits = [t for t in types if np.iinfo(t).min <= least and greatest <= np.iinfo(t).max]
        if not fits:
            raise ValueError(f"labels from {least} to {greatest}: want labels of one integer type; renumber them")
        dtype = fits[0]
    voxels = np.empty((2, *images[0].shape), dtype)
    for to, image in zip(voxels, images):
        to[...] = image
    return voxels
