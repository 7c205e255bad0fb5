"""Curves and Betti numbers of Dask arrays, which may exceed the memory of a machine.

>>> import dask.array, eccbench.dask
>>> image = dask.array.random.default_rng(1).integers(0, 256, (64, 64, 64), 'uint8', chunks=(16, 64, 64))
>>> eccbench.dask.curve(image).verdict
'VERIFIED'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import dask
import dask.array
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from . import _arguments, _betti, _curve
from ._arguments import Construction, Nan
from ._betti import Betti
from ._curve import Curve
from ._result import Array

__all__ = ["betti", "curve", "curves"]

_FAN = 16  # parts per merge
_MOST_SETS = 255  # limit of the sets of one image


class _Part(NamedTuple):
    """The changes of some slices to a curve, ascending, with their provenance."""

    levels: NDArray[Any]
    changes: NDArray[np.int64]
    verdicts: frozenset[str]
    implementations: frozenset[str]
    curves: int


def curve(
    image: Any,
    *,
    construction: Construction = "T",
    superlevel: bool = False,
    periodic: Union[bool, Sequence[int]] = (),
    mask: Any = None,
    nan: Nan = "refuse",
    verify: bool = True,
    slices: int | None = None,
    threads: int = 1,
    compute: bool = True,
) -> Any:
    """Exact Euler characteristic curve of a Dask array, by the current scheduler.

    The array is cut along its first axis into slabs that share a slice. A task counts a slab by
    `eccbench.curve` and subtracts the curve of the slice that it shares with the previous slab.
    The sum over all slabs is the curve of the whole, level by level, in whole numbers.

    Parameters
    ----------
    image : dask.array.Array
        An image of 1, 2 or 3 axes, of a type of `eccbench.curve`.
    construction, superlevel, periodic, nan, verify
        As for `eccbench.curve`. Each slab and each shared slice is verified separately.
    mask : dask.array.Array or array_like of bool, optional
        The voxels that are part of the image: True; of its shape.
    slices : int, optional
        The number of slices of a slab. By default the number that fits Dask's ``array.chunk-size``,
        in multiples of the array's own chunks if possible.
    threads : int
        The number of cores of a task.
    compute : bool
        Return the curve; if False, a `dask.delayed.Delayed` of it.

    Returns
    -------
    curve : Curve or Delayed
        Its levels and numbers equal those of `eccbench.curve` of the whole image.

    Raises
    ------
    TypeError
        If the image is no Dask array.
    ValueError
        As from `eccbench.curve`; or if the first axis is periodic and has fewer than 3 slices.
    RuntimeError
        If a slab fails its verification.

    Notes
    -----
    It works with every scheduler: threads, processes, ``dask.distributed``, and the clusters of
    ``dask-jobqueue``. A worker needs the memory of a slab for each of its threads.
    """
    _check(image, "curve")
    rings = _arguments.rings(periodic, image.ndim)
    depth = image.shape[0]
    if 0 in rings and depth < 3:
        raise ValueError(f"periodic along the first axis, which has {depth} slices: want at least 3, or take "
            f"eccbench.curve")
    if mask is not None:
        mask = dask.array.asarray(mask)
        if mask.shape != image.shape:
            raise ValueError(f"a mask of shape {mask.shape} of an image of {image.shape}: want one of its shape")
    options = {
        "construction": construction, "superlevel": _arguments.flag("superlevel", superlevel),
        "nan": nan, "verify": verify,
        "periodic": tuple(axis for axis in rings if axis > 0), "threads": _arguments.cores("threads", threads),
    }

    def of(lo: int, hi: int) -> tuple[Any, Any]:
        """Return slices of the image and of the mask, each as one array."""
        return _one(image[lo:hi]), None if mask is None else _one(mask[lo:hi])

    count, parts = delayed(_slab, pure=False), []
    for lo, hi in _cuts(image, slices):
        shared = min(lo, 1)
        parts.append(count(*of(lo - shared, hi), shared, options))
    if 0 in rings:
        first, last = of(0, 1), of(depth - 1, depth)
        parts.append(delayed(_ring, pure=False)(first[0], last[0], first[1], last[1], options))
    together = _tree(delayed(_sum, pure=True), parts)
    whole = delayed(_whole, pure=True)(together, construction, options["superlevel"], rings, image.shape)
    return whole.compute() if compute else whole


def curves(images: Any, at: Any, *, batch_axis: int = 0, threads: int = 1, **options: Any) -> Any:
    """Exact Euler characteristic curves of the images of a Dask array at some values, as an array of features.

    Parameters
    ----------
    images : dask.array.Array
        Images along one axis. A task counts the images of a chunk of that axis.
    at : array_like
        The values.
    batch_axis : int
        The axis that counts images.
    threads : int
        The number of cores of a task.
    **options
        The options of `eccbench.curve`. A mask is an array in memory, of the shape of an image.

    Returns
    -------
    chi : dask.array.Array of int64
        Of shape (images, values), not yet computed.

    Raises
    ------
    TypeError
        If the images are no Dask array.
    ValueError
        As from `eccbench.curve`, when it is computed.

    Examples
    --------
    >>> import dask.array, eccbench.dask
    >>> digits = dask.array.random.default_rng(1).integers(0, 16, (100, 8, 8), chunks=(25, 8, 8))
    >>> eccbench.dask.curves(digits, at=[4, 8]).compute().shape
    (100, 2)
    """
    if not isinstance(images, dask.array.Array):
        raise TypeError(
            f"images is a {type(images).__name__}, want a dask.array.Array; eccbench.curve is for arrays in memory")
    images = dask.array.moveaxis(images, _arguments.axis("batch_axis", batch_axis, images.ndim), 0)
    images = images.rechunk({axis: -1 for axis in range(1, images.ndim)})
    values, mask = _curve._values_of(at), options.get("mask")
    if mask is not None and np.shape(mask) != images.shape[1:]:
        raise ValueError(f"mask of shape {np.shape(mask)}: want an array of the shape of an image, {images.shape[1:]}")
    return dask.array.map_blocks(
        _features, images, values, {**options, "threads": threads}, chunks=(images.chunks[0], (len(values),)),
        drop_axis=list(range(2, images.ndim)), dtype=np.int64, meta=np.empty((0, 0), np.int64))


def _features(
    images: NDArray[Any], at: NDArray[Any], options: dict[str, Any], block_info: Any = None
) -> NDArray[np.int64]:
    images = _declared(images, tuple(hi - lo for lo, hi in block_info[0]["array-location"]))
    chi = np.empty((len(images), len(at)), np.int64)
    _curve.curve(images, at=at, batch_axis=0, out=chi, **options)
    return chi


def betti(
    image: Any,
    at: Any = None,
    *,
    construction: Construction = "T",
    superlevel: bool = False,
    mask: Any = None,
    slices: int | None = None,
    threads: int = 1,
    compute: bool = True,
) -> Any:
    """Exact Betti numbers of the sets of a Dask array at one or more values, by the current scheduler.

    The array is cut along its first axis into slabs that share a slice. A task counts the components
    of a slab that reach no shared slice, and assigns each component of a shared slice to one of the
    slab. Neighbours are merged in a tree. The Euler characteristics are added.

    Parameters
    ----------
    image : dask.array.Array
        An image of 1, 2 or 3 axes, of a type of `eccbench.betti`.
    at : array_like, optional
        The values of the sets, at most 255. For an image of bool the default is the set of the True
        voxels.
    construction, superlevel
        As for `eccbench.betti`.
    mask : dask.array.Array or array_like of bool, optional
        The voxels that are part of the image, of its shape: others are in no set.
    slices : int, optional
        The number of slices of a slab. By default the number that fits Dask's ``array.chunk-size``,
        in multiples of the array's own chunks if possible.
    threads : int
        The number of cores of a task.
    compute : bool
        Return the numbers; if False, a `dask.delayed.Delayed` of them.

    Returns
    -------
    numbers : Betti, ndarray of int64 or Delayed
        As from `eccbench.betti` of the whole image.

    Raises
    ------
    TypeError
        If the image is no Dask array.
    ValueError
        As from `eccbench.betti`; or if there are more than 255 values.
    RuntimeError
        If a slab, or a merge of several, fails its verification.

    Notes
    -----
    A flood fill verifies each slab, a fingerprint its Euler characteristic, and a traversal from
    neighbour to neighbour each merge. A task returns a few bytes for each component of its shared
    slices.

    Examples
    --------
    >>> import dask.array, eccbench.dask
    >>> solid = dask.array.ones((40, 40, 40), dtype=bool, chunks=10)
    >>> eccbench.dask.betti(solid)
    Betti(b0=1, b1=0, b2=0)
    """
    _check(image, "betti")
    if at is None:
        if image.dtype != np.bool_:
            raise ValueError("at is missing: want the values of the sets; only an image of bool is a set by itself")
        at, superlevel = 1, True
    values, exact = _betti._sets(at)
    if len(exact) > _MOST_SETS:
        raise ValueError(f"at: {len(exact)} values, want at most {_MOST_SETS} at a time")
    if not exact:
        raise ValueError("at: no values")
    if mask is not None:
        mask = dask.array.asarray(mask)
        if mask.shape != image.shape:
            raise ValueError(f"a mask of shape {mask.shape} of an image of {image.shape}: want one of its shape")
    if image.ndim == 1:
        image, mask = image[:, np.newaxis], None if mask is None else mask[:, np.newaxis]
    elif image.ndim == 3 and image.shape[0] == 1:
        image, mask = image[0], None if mask is None else mask[0]
    flat = image.ndim == 2
    request = {**_curve._conventions(construction, superlevel, True, threads), "betti": True, "at": exact}
    count, parts = delayed(_betti.slabs_of, pure=False), []
    for lo, hi in _cuts(image, slices):
        part = slice(max(0, lo - 1), hi)
        parts.append(count(_one(image[part]), image.shape, lo, hi, request, None if mask is None else _one(mask[part])))
    together = _tree(delayed(_betti.join, pure=True), parts, flat, request)
    whole = delayed(_numbers, pure=True)(together, flat, request, values.shape)
    return whole.compute() if compute else whole


def _numbers(whole: _betti.Slabs, flat: bool, request: dict[str, Any], shape: tuple[int, ...]) -> Union[Betti, Array]:
    numbers, verdict = _betti.numbers_of(whole, flat, request)
    return _betti._verified(numbers.reshape(*shape, 3), verdict)


def _check(image: Any, name: str) -> None:
    """Raise an error if an image cannot be cut into slabs."""
    if not isinstance(image, dask.array.Array):
        raise TypeError(f"image is a {type(image).__name__}, want a dask.array.Array; eccbench.{name} is "
            f"for arrays in memory")
    if not 1 <= image.ndim <= 3:
        raise ValueError(f"an image of {image.ndim} axes: want 1, 2 or 3")
    if any(np.isnan(n) for n in image.shape):
        raise ValueError(f"an image of shape {image.shape}, of which Dask does not know all; "
            f"image.compute_chunk_sizes() finds it")
    if 0 in image.shape:
        raise ValueError(f"an image of shape {image.shape} is empty")


def _cuts(image: Any, slices: int | None) -> list[tuple[int, int]]:
    """Return the first slice of each slab, and the one after its last."""
    if slices is not None:
        slices = _arguments.whole("slices", slices)
    across = {axis: -1 for axis in range(1, image.ndim)}
    ends = np.cumsum(image.rechunk({0: "auto" if slices is None else slices, **across}).chunks[0]).tolist()
    return list(zip([0, *ends], ends))


def _tree(add: Any, parts: list[Any], *options: Any) -> Any:
    """Merge all parts in a tree, some neighbours at a time."""
    while len(parts) > 1:
        parts = [add(parts[i:i + _FAN], *options) for i in range(0, len(parts), _FAN)]
    return parts[0]


def _one(array: Any) -> Delayed:
    """Return an array as one chunk, which a worker has in memory."""
    whole: Delayed = delayed(_declared, pure=True)(array.rechunk(-1).to_delayed().item(), array.shape)
    return whole


def _declared(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array. Slabs of another shape would be cut and added in the wrong places."""
    if array.shape != shape:
        raise ValueError(f"chunks of shape {array.shape}, and Dask expects {shape}: the function that makes them, such "
            f"as that of map_blocks or from_delayed, returns another shape than its chunks= or shape= declare")
    return array


def _changes(image: NDArray[Any], mask: Any, options: dict[str, Any], sign: int = 1) -> _Part:
    """Return the changes of the curve of an image in memory, or their negatives."""
    c = _curve.curve(image, mask=mask, **options)
    changes = sign * np.diff(c.chi, prepend=np.int64(0))
    if c.superlevel:
        return _Part(c.levels[::-1], changes[::-1], frozenset([c.verdict]), frozenset([c.implementation]), 1)
    return _Part(c.levels, changes, frozenset([c.verdict]), frozenset([c.implementation]), 1)


def _slab(image: NDArray[Any], mask: Any, shared: int, options: dict[str, Any]) -> _Part:
    """Return the contribution of slices to the curve, without their first ones, which are shared."""
    parts = [_changes(image, mask, options)]
    if shared:
        parts.append(_changes(image[:1], None if mask is None else mask[:1], options, -1))
    return _sum(parts)


def _ring(first: NDArray[Any], last: NDArray[Any], in_first: Any, in_last: Any, options: dict[str, Any]) -> _Part:
    """Return the contribution of the periodic connection of the last and the first slice."""
    mask = None if in_first is None else np.ma.concatenate([in_last, in_first])
    both = _changes(np.ma.concatenate([last, first]), mask, options)
    return _sum([both, _changes(last, in_last, options, -1), _changes(first, in_first, options, -1)])


def _sum(parts: Sequence[_Part]) -> _Part:
    """Return the sums of the changes of several parts, without zeros."""
    levels = np.concatenate([p.levels for p in parts])
    changes = np.concatenate([p.changes for p in parts])
    order = np.argsort(levels, kind="stable")
    levels, changes = levels[order], changes[order]
    if len(levels):
        starts = np.flatnonzero(np.r_[True, levels[1:] != levels[:-1]])
        levels, changes = levels[starts], np.add.reduceat(changes, starts)
        levels, changes = levels[changes != 0], changes[changes != 0]
    return _Part(
        levels, changes, frozenset().union(*(p.verdicts for p in parts)),
        frozenset().union(*(p.implementations for p in parts)), sum(p.curves for p in parts))


def _whole(part: _Part, construction: str, superlevel: bool, rings: tuple[int, ...], shape: tuple[int, ...]) -> Curve:
    levels, changes = part.levels, part.changes
    if superlevel:
        levels, changes = levels[::-1], changes[::-1]
    verdict = "VERIFIED" if part.verdicts == {"VERIFIED"} else "UNVERIFIED"
    witness = "a fingerprint" if part.curves == 1 else f"fingerprints of {part.curves} slabs and slices"
    return Curve(
        np.ascontiguousarray(levels), np.cumsum(changes), verdict, witness * (verdict == "VERIFIED"),
        ", ".join(sorted(part.implementations)),
        construction, superlevel, rings, shape, False)
