"""Gradient vector flow of arrays and of files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library
from ._arguments import Boundary, check_places, choice, flag, in_memory, is_path, like, mask_of, number, warn_of_order
from ._curve import Image, _along, _job, _one, _Request, _threads, _translated, open
from ._result import Array, Verdict

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray


def gvf(
    image: Any,
    *,
    steps: int | None = None,
    tol: float | None = None,
    mu: float = 0.05,
    boundary: Boundary = "replicate",
    mask: Any = None,
    batch_axis: int | None = None,
    verify: bool = True,
    threads: int | None = None,
) -> Array:
    """Gradient vector flow: the gradient of an image, diffused where it is weak.

    Parameters
    ----------
    image : array_like, str or path-like
        An image of 1 to 3 axes, or an argument of `open`. Its values are scaled to 0 to 1. It is
        not modified.
    steps : int, optional
        The number of explicit steps: 0 for the gradient itself. It is usually the scale of the
        field. Either `steps` or `tol` is required.
    tol : float, optional
        Compute the field at rest, to a residual of its equations: at most `tol` times their right
        side in each component, such as 1e-4.
    mu : float
        Weight of the diffusion: the larger, the smoother. Steps are stable for every image up to
        0.1875 in 2D and 0.104 in 3D.
    boundary : {'replicate', 'third'}
        The neighbour of a voxel at the border: the voxel itself, so that nothing flows out,
        or the one on its other side.
    mask : array_like, str, path-like or image, optional
        Labels of the shape of the image, in any form of a mask of `curve`. Nothing flows between
        voxels with different labels, and the field is 0 where they are 0 or False. It requires
        `steps`. For a batch, it has the shape of one image, or of the batch.
    batch_axis : int, optional
        The axis that counts images. By default the array is one image.
    verify : bool
        Compare the field with the plain loop, bit by bit, which takes longer than the field. At
        rest, check its residual in float64.
    threads : int, optional
        Cores to use. By default all that the process may use.

    Returns
    -------
    field : ndarray of float32
        Of the shape of the image after an axis of components, such as (3, z, y, x), and for a batch
        after an axis that counts images. ``field[k]`` is the component along axis k, as in
        `numpy.gradient`, in units of the image's range per voxel. It has attributes ``verdict``,
        ``witness`` and ``implementation``. For a tensor of PyTorch or an array of CuPy or JAX it is
        of the same library, on the same device, without these attributes.

    Raises
    ------
    TypeError
        If the array is of a type without an order, or not on the CPU.
    ValueError
        If a value is NaN or infinite, the image is empty or has more than 3 axes, the steps are
        unstable, float32 cannot represent the field to `tol`, or an argument is invalid.
    OSError
        If a file cannot be read.
    RuntimeError
        If the field fails its verification.

    Notes
    -----
    The field minimises ``sum(mu * |grad V|**2 + |V0|**2 * |V - V0|**2)`` over fields V, where
    V0 is the gradient of the image [1]_. The exact arithmetic is in doc/proofs/gvf.md of the sources.
    After an interrupt, the computation runs to its end in the background.

    References
    ----------
    .. [1] C. Xu, J. L. Prince, "Snakes, shapes, and gradient vector flow", IEEE Transactions on Image
       Processing 7 (1998).

    Examples
    --------
    >>> import numpy as np, eccbench
    >>> edge = np.array([[0, 0, 0, 1, 1, 1]] * 3, np.float32)
    >>> eccbench.gvf(edge, steps=0)[1, 0]
    array([0. , 0. , 0.5, 0.5, 0. , 0. ], dtype=float32)
    >>> eccbench.gvf(edge, tol=1e-5)[1, 0].round(3)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    request, given = _requested(steps, tol, mu, boundary, verify, threads), image
    if is_path(image):
        image = open(image)
    check_places("image and mask", image, mask)
    if batch_axis is not None:
        options = {"steps": steps, "tol": tol, "mu": mu, "boundary": boundary, "verify": verify, "threads": threads}
        fields: Array = like(given, _batch(image, mask, batch_axis, options))
        return fields
    try:
        if isinstance(image, Image):
            warn_of_order(mask, image.shape)
            labels = _labels(mask, image.shape)
            return _field({**request, **image._request, "levels": 0}, None, labels, image.shape)
        image = in_memory(image)
        if np.ma.getmask(image) is not np.ma.nomask and np.ma.getmaskarray(image).any():
            if mask is not None:
                raise ValueError("mask: the array is masked by itself; fill it, such as by image.filled(value)")
            mask, image = ~np.ma.getmaskarray(image), image.filled(0)
        voxels = _one(image)
        shape = voxels.shape
        if not isinstance(image, np.ndarray):
            warn_of_order(mask, shape)
        request = {**request, "type": voxels.dtype.name, "images": 1, "shape": shape}
        field: Array = like(given, _field(request, voxels, _labels(mask, shape), shape))
        return field
    except _library.Error as e:
        raise _translated(e) from None


def _batch(image: Any, mask: Any, batch_axis: int, options: dict[str, Any]) -> Array:
    """Return the fields of the images along an axis."""
    images = _along(image, batch_axis)
    masks: Any = itertools.repeat(mask)
    if mask is not None:
        within = mask_of(mask, images.shape[1:], np.moveaxis(images, 0, batch_axis).shape)
        masks = np.moveaxis(within, batch_axis, 0) if within.ndim == images.ndim else itertools.repeat(within)
    fields = [gvf(one, mask=m, **options) for one, m in zip(images, masks)]
    if not fields:
        return Array.of(np.empty((0, images.ndim - 1, *images.shape[1:]), np.float32), Verdict())
    return Array.of(np.stack(fields), Verdict.of(fields))


def _flow(steps: int | None, tol: float | None, mu: float, boundary: str) -> dict[str, Any]:
    """Check the parameters of a flow, and return their part of a request."""
    if (steps is None) == (tol is None):
        raise ValueError("want one of steps, the field after so many, and tol, the field at rest")
    choice("boundary", boundary, "replicate", "third")
    if tol is not None and not 0 < number("tol", tol) < 1:
        raise ValueError(f"tol {tol!r}: want more than 0 and less than 1, such as 1e-4")
    if not 0 < number("mu", mu) < float("inf"):
        raise ValueError(f"mu {mu!r}: want a number above 0, such as 0.05")
    if steps is not None and (number("steps", steps) != steps // 1 or not 0 <= steps < 2**31):
        raise ValueError(f"steps {steps!r}: want a whole number from 0 to 2147483647")
    return {"steps": int(steps or 0), "tol": float(tol or 0), "mu": float(mu), "boundary": boundary}


def _requested(steps: int | None, tol: float | None, mu: float, boundary: str, verify: bool,
        threads: int | None) -> _Request:
    return {
        "flow": _flow(steps, tol, mu, boundary),
        "construction": "T",
        "threads": _threads(threads),
        "verify": flag("verify", verify),
    }


def _labels(mask: Any, shape: tuple[int, ...]) -> NDArray[np.float32] | None:
    """Return labels as float32 that differ where the mask's labels do."""
    if mask is None:
        return None
    given = mask_of(mask, shape)
    labels = given.astype(np.float32)
    # NumPy compares large integers as float64.
    wide = given.dtype.kind in "iu" and max(-int(given.min()), int(given.max())) > 2**53
    if wide or not np.array_equal(labels, given):  # too large or too fine for float32
        _, ranks = np.unique(given, return_inverse=True)
        labels = np.where(given == 0, 0, 1 + ranks.reshape(shape)).astype(np.float32)
    return np.ascontiguousarray(labels)


def _field(
    request: _Request, voxels: NDArray[Any] | None, labels: NDArray[np.float32] | None, shape: tuple[int, ...]
) -> Array:
    with _job(request, voxels, labels) as job:
        answer: dict[str, Any] = job.answers[0]
        size = int(np.prod(shape))
        field = np.empty((answer["rows"] // size, *shape), np.float32)
        numbers = np.empty(0, np.int64)
        job.rows(0, field.ctypes.data, field.nbytes, numbers.ctypes.data)
        # The library has x, y and z, and for an image of one axis a y component of 0.
        return Array.of(np.ascontiguousarray(field[: len(shape)][::-1]), Verdict.of_answer(answer))
