"""Arguments: their types, and images and masks in all common forms."""

from __future__ import annotations

import operator
import os
import warnings
from typing import TYPE_CHECKING, Any, Iterator, Literal, Sequence

import numpy as np

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray

Construction = Literal["T", "V"]
Nan = Literal["refuse", "mask"]
Boundary = Literal["replicate", "third"]
Graph = Literal["grid", "patch"]
Laplacian = Literal["normalized", "plain"]

_ADVICE = "an array, a path (str or PathLike), an image of eccbench.open or of nibabel"


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} {value!r}: want True or False")
    return bool(value)


def choice(name: str, value: Any, *choices: str) -> str:
    want = " or ".join(map(repr, choices))
    if not isinstance(value, str):
        raise TypeError(f"{name} {value!r}: want {want}")
    if value not in choices:
        raise ValueError(f"{name} {value!r}: want {want}")
    return value


def number(name: str, value: Any) -> float:
    reject_hidden(name, value)
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value) != 0:
        raise TypeError(f"{name} {value!r}: want a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} {value!r}: want a number") from None


def _index(value: Any) -> int:
    """Return a whole number. True and False are none."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    return operator.index(value)


def whole(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    reject_hidden(name, value)
    try:
        n = _index(value)
    except TypeError:
        raise TypeError(f"{name} {value!r}: want a whole number") from None
    if not least <= n <= most:
        raise ValueError(f"{name} {n}: want {f'at least {least}' if n < least else f'{least} to {most}'}")
    return n


def cores(name: str, value: Any) -> int:
    """Return a number of cores, up to the limit of the library."""
    return whole(name, value, most=4096)


def axis(name: str, value: Any, axes: int) -> int:
    """The number of an axis, from 0 on."""
    reject_hidden(name, value)
    try:
        n = _index(value)
    except TypeError:
        raise TypeError(f"{name} {value!r}: want the number of one axis") from None
    if not -axes <= n < axes:
        raise ValueError(f"{name} {n}: want an axis of an array that has {axes}")
    return n % axes


def rings(periodic: Any, axes: int) -> tuple[int, ...]:
    """The numbers of the periodic axes of an image, ascending."""
    reject_hidden("periodic", periodic)
    if isinstance(periodic, (bool, np.bool_)):
        return tuple(range(axes)) if periodic else ()
    try:
        if isinstance(periodic, (str, bytes)):
            raise TypeError
        given = [_index(a) for a in periodic]
    except TypeError:
        raise TypeError(f"periodic {periodic!r}: want True, or the numbers of axes, such as (0, 2)") from None
    if not all(-axes <= a < axes for a in given):
        raise ValueError(f"periodic {tuple(given)}: want axes of an image that has {axes}")
    rings = sorted({a % axes for a in given})
    if len(rings) < len(given):
        raise ValueError(f"periodic {tuple(given)}: an axis is given twice")
    return tuple(rings)


def is_path(image: Any) -> bool:
    return isinstance(image, (str, os.PathLike))


def _is_dask(image: Any) -> bool:
    return type(image).__module__.partition(".")[0] == "dask"


def in_memory(image: Any) -> Any:
    """Return one array in memory, with its mask, for arrays on a device (PyTorch, CuPy), of Dask, and sequences of
    masked arrays. Return other arguments unchanged."""
    if type(image) is np.ndarray:
        return image
    if isinstance(image, (list, tuple)):
        if image and _is_dask(image[0]):
            image = [in_memory(one) for one in image]
        return np.ma.stack([in_memory(one) for one in image]) if any(True for _ in _masked_in(image)) else image
    if _is_dask(image):
        return image.compute()
    from . import cuda

    return np.asarray(cuda.to_host(image)) if cuda.is_device_array(image) else image


def _masked_in(value: Any) -> Iterator[Any]:
    """Yield the masked arrays of an argument: itself, or those in a sequence, at any depth."""
    if isinstance(value, np.ma.MaskedArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, (list, tuple, np.ma.MaskedArray)):
                yield from _masked_in(one)


def reject_hidden(name: str, value: Any) -> None:
    """Raise an error if numbers of an argument without a mask are masked."""
    if any(map(np.ma.is_masked, _masked_in(value))):
        raise ValueError(f"{name}: the array is masked; fill its masked values or leave them out")


def exact(name: str, value: Any) -> NDArray[Any]:
    """Return an argument as an array. Raise an error for integers that NumPy rounds, or that have more than 64 bits."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        for one in array.flat:
            if isinstance(one, int) and not -(2**63) <= one < 2**64:
                raise ValueError(f"{name}: {one} is no integer of 64 bits; want -2**63 to 2**64 - 1, or a float")
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8  # as NumPy makes of lists with large integers
    if wide and isinstance(value, Sequence) and (np.abs(array) >= 2**53).any():
        given = np.asarray(value, object)
        given.flat[:] = [v.item() if isinstance(v, np.ndarray) else v for v in given.flat]  # arrays without axes
        if all(isinstance(v, (int, np.integer)) and 0 <= v < 2**64 for v in given.flat):
            return given.astype(np.uint64)  # NumPy converts lists with one value from 2**63 on to float64
        for v, held in zip(given.flat, array.ravel().tolist()):
            if isinstance(v, (int, np.integer)) and held != int(v):
                raise ValueError(f"{name}: {v} is not exact in float64, and the values have no common integer type; "
                    "give them in separate calls, or an array of float64")
    return array


def array_of(name: str, image: Any) -> NDArray[Any]:
    """Return an argument as an array with its axes in the order (z, y, x)."""
    image = in_memory(image)
    if type(image) is np.ndarray:
        return image
    if hasattr(image, "dataobj") and hasattr(image, "affine"):  # an image of nibabel has the axes (x, y, z)
        array: NDArray[Any] = np.asanyarray(image.dataobj).T
        while array.ndim > 3 and array.shape[0] == 1:
            array = array[0]
        return array
    if not isinstance(image, np.ndarray) and hasattr(image, "__dlpack__"):
        try:
            device = image.__dlpack_device__()[0]
        except AttributeError:
            raise TypeError(f"{name} of {type(image).__name__}: it has no values yet; under jax.jit call eccbench "
                "through jax.pure_callback") from None
        if device != 1:  # kDLCPU
            raise TypeError(f"an array on a device (DLPack type {int(device)}): copy it to the CPU")
        if hasattr(image, "resolve_neg"):  # a tensor, whose sign may not be in its memory, as in x.conj().imag
            image = image.resolve_neg()
        try:
            return np.from_dlpack(image)
        except (BufferError, RuntimeError) as e:
            raise TypeError(f"an array of {getattr(image, 'dtype', None)} that is not shared: {e}; "
                "convert it to float32 or an integer type of 8 to 64 bits") from None
    if isinstance(image, (bytes, bytearray)):
        raise TypeError(f"{name} of {type(image).__name__}: want {_ADVICE}; os.fsdecode makes a path of one of bytes")
    array = exact(name, image)  # all values of a masked array
    if array.dtype.kind == "O" and array.ndim == 0:
        hint = "; SimpleITK.GetArrayViewFromImage makes an array" if hasattr(image, "GetPixelIDTypeAsString") else ""
        raise TypeError(f"{name} of {type(image).__name__}: want {_ADVICE}{hint}")
    return array


def like(image: Any, array: NDArray[Any]) -> Any:
    """Return an array in the library of an image (PyTorch, CuPy or JAX), and on its device."""
    import sys

    name = type(image).__module__.partition(".")[0]
    if name == "torch":
        return sys.modules["torch"].from_dlpack(np.array(array)).to(image.device)  # PyTorch has no read-only arrays
    if name == "cupy":
        with image.device:
            return sys.modules["cupy"].asarray(array)
    if name in ("jax", "jaxlib"):
        return sys.modules["jax"].device_put(np.asarray(array), image.sharding)
    return array


def check_places(names: str, image: Any, other: Any) -> None:
    """Raise an error if two images of nibabel or in files place their voxels differently."""
    if other is None:
        return
    one, two = (_affine(i) for i in (image, other))
    if one is None or two is None or one.shape != two.shape:  # other shapes are rejected elsewhere
        return
    spacing = float(np.sqrt((one[:3, :-1] ** 2).sum(axis=0)).min())
    if not np.allclose(one, two, rtol=0, atol=1e-3 * spacing):
        raise ValueError(f"{names} have different affines: resample one of them, or give arrays")


def _affine(image: Any) -> NDArray[Any] | None:
    """Return the affine of an image of nibabel or in a file; None if its header has none. That of nibabel is then
    made up. That of a 2D image has no third column, which is made up, too."""
    from . import _curve

    image = _curve.open(image) if is_path(image) else image
    affine: Any = getattr(image, "affine", None)
    header: Any = getattr(image, "header", None)
    made_up = hasattr(header, "get_sform") and header.get_sform(coded=True)[1] == header.get_qform(coded=True)[1] == 0
    if affine is None or made_up:
        return None
    return np.delete(affine, 2, axis=1) if len(getattr(image, "shape", ())) == 2 else np.asarray(affine)


def warn_of_colour(shape: Sequence[int]) -> None:
    """Warn if a 3D image has the shape of a 2D colour image."""
    if len(shape) == 3 and shape[2] in (3, 4) and min(shape[:2]) >= 16:
        warnings.warn(
            f"an image of shape {tuple(shape)} is taken for a volume of {shape[0]} slices, not for one of {shape[2]} colours; "
            "of colours take a channel, such as image[..., 0], or grey values", stacklevel=_outside())


def warn_of_order(mask: Any, shape: Sequence[int]) -> None:
    """Warn if a mask has the axes (x, y, z) and fits an image of (z, y, x) only because all axes are equal."""
    reversed_order = isinstance(mask, np.ndarray) and mask.flags.f_contiguous and not mask.flags.c_contiguous
    if reversed_order and mask.ndim == 3 and tuple(shape) == tuple(shape)[::-1]:
        warnings.warn(
            "mask is an array in Fortran order, as those of nibabel are, whose axes are (x, y, z); the axes of the image are (z, y, x): "
            "give the image of nibabel itself or the path as mask, mask.T, or a mask in C order", stacklevel=_outside())


def _outside() -> int:
    """Return the number of frames from the one that warns up to the caller of the package."""
    import sys

    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("eccbench"):
        level, frame = level + 1, frame.f_back
    return level


def mask_of(mask: Any, *shapes: tuple[int, ...]) -> NDArray[Any]:
    """Return a mask as an array of bool or numbers, of one of the given shapes."""
    from . import _curve

    if is_path(mask):
        mask = _curve.open(mask)
    if isinstance(mask, _curve.Image):
        array = np.asarray(mask)
    else:
        mask = in_memory(mask)
        array = array_of("mask", mask.filled(0) if isinstance(mask, np.ma.MaskedArray) else mask)
    if array.ndim == 0:
        raise TypeError(f"mask {mask!r}: want an array of the shape of the image, a path, or an image of "
            f"eccbench.open or of nibabel")
    if array.dtype.kind not in "buif":
        raise TypeError(f"mask of {array.dtype}: want bool or numbers")
    if array.shape not in shapes:
        raise ValueError(f"mask of shape {array.shape}, and the image is {shapes[0]}: want one shape; axes "
            f"are (z, y, x), those of nibabel's arrays are (x, y, z)")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"mask: {int(np.isnan(array).sum())} of its values are NaN, which is neither in "
            f"nor out; replace them by 0 or 1")
    return array
