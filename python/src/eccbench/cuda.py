"""Exact Euler characteristic curves, Betti numbers and gradient vector flow of arrays in the memory of NVIDIA devices.

`eccbench.cuda.curve`, `betti`, `betti_curves` and `gvf` accept tensors of PyTorch and arrays of CuPy.
They enqueue their work on the library's current stream without waiting. The result is an array of
the same library on the same device. It is unverified, unless `verify=True`, which waits. The
functions of `eccbench` accept such an array, too: they copy it to the host and verify the result.

    import torch, eccbench.cuda
    chi = eccbench.cuda.curve(volume)                       # uint8: χ at 0, 1, ... 255
    chi = eccbench.cuda.curve(volume.float(), at=range(9))  # float32: at these values
    assert (chi.cpu().numpy() == eccbench.curve(volume.float(), at=range(9)).chi).all()
    b0, b1, b2 = eccbench.cuda.betti(mask).cpu()            # bool: of the True voxels
"""

from __future__ import annotations

import itertools
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arguments import Boundary, reject_hidden

__all__ = ["betti", "betti_curves", "curve", "gvf", "is_device_array"]

_IN_PLACE = ("uint8", "int16", "uint16", "float32")
_WIDENED = {"int8": "int16", "float16": "float32", "bfloat16": "float32"}  # exactly
_ALIGN = 16  # bytes: of the fastest kernels
_MOST_PLANS = 128
_MOST_LOOKED = 1024  # limit of the cached layouts and arrays of values
MOST_WORDS = 1 << 25  # of a mask for `matched`: rows of 64 voxels (impls/assess/matching)


class _Torch:
    """The functions of PyTorch that this module calls."""

    def __init__(self, torch: Any):
        self.torch = torch
        self.names = {getattr(torch, name): name for name in (*_IN_PLACE, *_WIDENED, "bool") if hasattr(torch, name)}
        # As in Inductor's programs: without an object for each stream.
        self.handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self.captures = getattr(torch._C, "_cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing)

    def on_device(self, x: Any) -> bool:
        return x.is_cuda  # type: ignore[no-any-return]

    def place(self, x: Any) -> int:
        """Return the number of the device."""
        return x.get_device()  # type: ignore[no-any-return]

    def layout(self, x: Any) -> Any:
        """Return all properties of an array's memory layout except its address."""
        return x.dtype, x.shape, x.stride(), x.get_device(), x.is_neg()

    def is_negated(self, x: Any) -> bool:
        """Report whether the values are the negative of those in memory, as of x.conj().imag."""
        return x.is_neg()  # type: ignore[no-any-return]

    def dtype(self, x: Any) -> str:
        return self.names.get(x.dtype, str(x.dtype).replace("torch.", ""))

    def strides(self, x: Any) -> Sequence[int]:
        return x.stride()  # type: ignore[no-any-return]

    def address(self, x: Any) -> int:
        return x.data_ptr()  # type: ignore[no-any-return]

    def detached(self, x: Any) -> Any:
        return x.detach()

    def astype(self, x: Any, name: str) -> Any:
        return x.to(getattr(self.torch, name))

    def as_bytes(self, x: Any) -> Any:
        return x.view(self.torch.uint8)

    def packed(self, x: Any) -> Any:
        return x.resolve_neg().contiguous()

    def permuted(self, x: Any, axes: Sequence[int]) -> Any:
        return x.permute(*axes)

    def device(self, x: Any) -> Any:
        """Return the device as an argument of `empty`. A given tensor halves the time."""
        x.data_ptr()  # fails for a fake tensor, whose layout must not be cached
        return self.torch.empty(0, dtype=self.torch.int64, device=x.device)

    def empty(self, shape: tuple[int, ...], device: Any, dtype: str = "int64") -> Any:
        return device.new_empty(shape) if dtype == "int64" else device.new_empty(shape,
            dtype=getattr(self.torch, dtype))

    def copied(self, x: Any) -> Any:
        return x.detach().clone()

    def finite(self, x: Any) -> bool:
        return bool(self.torch.isfinite(x).all())

    def brought(self, numbers: NDArray[np.int64], device: Any) -> Any:
        return self.torch.as_tensor(numbers, device=device.device)

    def taken(self, x: Any, rows: Any, out: Any, axis: int) -> Any:
        return self.torch.index_select(x, axis, rows, **({} if out is None else {"out": out}))

    def stream(self, device: int) -> int:
        if self.handle is not None:
            return self.handle(device)  # type: ignore[no-any-return]
        return self.torch.cuda.current_stream(device).cuda_stream  # type: ignore[no-any-return]

    def capturing(self, device: int) -> bool:
        return bool(self.captures())

    def synchronize(self, device: int) -> None:
        self.torch.cuda.synchronize(device)

    def to_host(self, x: Any) -> NDArray[Any]:
        x = x.detach()
        if x.dtype == self.torch.bfloat16:  # NumPy has no bfloat16
            x = x.to(self.torch.float32)
        return x.cpu().resolve_neg().numpy()  # type: ignore[no-any-return]


class _CuPy:
    """The functions of CuPy that this module calls."""

    def __init__(self, cupy: Any):
        self.cupy = cupy

    def on_device(self, x: Any) -> bool:
        return True

    def place(self, x: Any) -> int:
        return x.device.id  # type: ignore[no-any-return]

    def layout(self, x: Any) -> Any:
        return x.dtype, x.shape, x.strides, x.device.id

    def is_negated(self, x: Any) -> bool:
        return False

    def dtype(self, x: Any) -> str:
        return x.dtype.name  # type: ignore[no-any-return]

    def strides(self, x: Any) -> Sequence[int]:
        return [s // x.itemsize if s % x.itemsize == 0 else -1 for s in x.strides]

    def address(self, x: Any) -> int:
        return x.data.ptr  # type: ignore[no-any-return]

    def detached(self, x: Any) -> Any:
        return x

    def astype(self, x: Any, name: str) -> Any:
        return x.astype(name)

    def as_bytes(self, x: Any) -> Any:
        return x.view(np.uint8)

    def packed(self, x: Any) -> Any:
        return self.cupy.ascontiguousarray(x)

    def permuted(self, x: Any, axes: Sequence[int]) -> Any:
        return x.transpose(axes)

    def device(self, x: Any) -> Any:
        return x.device

    def empty(self, shape: tuple[int, ...], device: Any, dtype: str = "int64") -> Any:
        if self.cupy.cuda.runtime.getDevice() == device.id:
            return self.cupy.empty(shape, dtype)
        with device:
            return self.cupy.empty(shape, dtype)

    def copied(self, x: Any) -> Any:
        with x.device:
            return x.copy()

    def finite(self, x: Any) -> bool:
        with x.device:
            return bool(self.cupy.isfinite(x).all())

    def brought(self, numbers: NDArray[np.int64], device: Any) -> Any:
        with device:
            return self.cupy.asarray(numbers)

    def taken(self, x: Any, rows: Any, out: Any, axis: int) -> Any:
        with x.device:
            return self.cupy.take(x, rows, axis=axis, out=out)

    def stream(self, device: int) -> int:
        return self.cupy.cuda.get_current_stream(device).ptr  # type: ignore[no-any-return]

    def capturing(self, device: int) -> bool:
        return bool(self.cupy.cuda.get_current_stream(device).is_capturing())

    def synchronize(self, device: int) -> None:
        self.cupy.cuda.Device(device).synchronize()

    def to_host(self, x: Any) -> NDArray[Any]:
        return self.cupy.asnumpy(x)  # type: ignore[no-any-return]


_LIBRARIES = {"torch": ("Tensor", _Torch), "cupy": ("ndarray", _CuPy)}
_adapters: dict[str, Any] = {}
_kinds: dict[type, Any] = {}  # the libraries of known types of arrays


def _library_of(x: Any) -> Any:
    """Return the library of an array, None if it is not on a device."""
    of = _kinds.get(type(x))
    if of is None:
        for name, (kind, adapter) in _LIBRARIES.items():
            module = sys.modules.get(name)
            if module is not None and isinstance(x, getattr(module, kind, ())):
                if name not in _adapters:
                    _adapters[name] = adapter(module)
                of = _kinds[type(x)] = _adapters[name]
                break
        else:
            return None
    return of if of.on_device(x) else None


def is_device_array(x: Any) -> bool:
    """Report whether an object is a tensor of PyTorch or an array of CuPy on an NVIDIA device."""
    return _library_of(x) is not None


def to_host(x: Any) -> NDArray[Any]:
    """Copy an array on a device to the host, after the work on its current stream."""
    copy: NDArray[Any] = _library_of(x).to_host(x)
    return copy


@dataclass(frozen=True)
class _Rows:
    """The requested values in the form of the library, and the row of each."""

    at: tuple[float, ...] | None  # ascending; None for all values of the type
    order: NDArray[np.int64] | None  # None for the rows as they are


def _rows(at: ArrayLike | None, dtype: str) -> _Rows:
    if at is None:
        if dtype == "float32":
            raise ValueError("at is missing: an array of floats on a device has too many values for a row "
                "each; give the values, such as at=numpy.linspace(0, 1, 256)")
        return _Rows(None, None)
    values = _numbers(at)
    if values.ndim > 1 or values.size == 0 or values.dtype.kind not in "biuf":
        raise ValueError(f"at of shape {values.shape} and type {values.dtype}: want one number or one axis of numbers")
    values = _limits(values.ravel(), dtype, False)
    if np.isneginf(values).any() or (dtype != "float32" and (values < np.iinfo(dtype).min).any()):
        raise ValueError(f"at: one of the values is below all of {dtype}, where χ is 0; leave it out")
    ascending, order = np.unique(values, return_inverse=True)
    in_order = len(ascending) == len(values) and bool((np.diff(values) > 0).all())
    return _Rows(tuple(ascending.tolist()), None if in_order else order.astype(np.int64))


def _numbers(at: ArrayLike) -> NDArray[Any]:
    reject_hidden("at", at)
    return np.asarray(at)


def _limits(values: NDArray[Any], dtype: str, superlevel: bool) -> NDArray[np.float64]:
    """Return for each value the greatest value of the type that is at or below it, or for superlevel sets
    the greatest one below it. If there is none: −∞, or the least integer of the type minus one."""
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("at: one of the values is NaN or infinite")
    if dtype == "float32":
        most = float(np.finfo(np.float32).max)
        near = np.clip(values, -most, most).astype(np.float32)
        beyond = near.astype(np.float64) >= values if superlevel else near.astype(np.float64) > values
        with np.errstate(over="ignore"):
            near = np.where(beyond, np.nextafter(near, np.float32(-np.inf)), near)
        limits: NDArray[np.float64] = near.astype(np.float64) + 0.0  # without −0
    else:
        bounds = np.iinfo(dtype)
        limits = np.clip(np.ceil(values) - 1 if superlevel else np.floor(values), bounds.min - 1, bounds.max)
    return limits


class _Plan:
    """A plan for images of one layout. After `close` it enqueues nothing."""

    def __init__(self, of: Any, device: int, plan: _library.Plan, order: Any):
        self.of, self.device, self.plan = of, device, plan
        self.order = order  # the row of each value, None for the same order
        self.rows: int = plan.rows if order is None else len(order)
        self.lock = threading.Lock()
        self.open = True
        self.captured = False
        self.used = 0

    def call(self, capturing: bool, add: Callable[..., None], *arguments: Any) -> bool:
        """Enqueue answers by a method of the plan. Return False if the plan is closed."""
        with self.lock:
            if not self.open:
                return False
            if capturing and not self.captured:
                self.captured = True
                _known.captured.append(self)
            add(*arguments)
        return True

    def close(self) -> None:
        """Close the plan after all of its enqueued work. A plan of a captured graph stays open."""
        with self.lock:
            if not self.captured:
                self.open = False
                self.of.synchronize(self.device)
                self.plan.close()


class _Layout:
    """The properties of arrays that follow from their layout, without the address. Only some
    questions permit a permutation of an image's axes."""

    def __init__(self, of: Any, x: Any, dims: int | None, turned: bool):
        dtype = of.dtype(x)
        self.bytes = dtype == "bool"
        self.wider = _WIDENED.get(dtype)
        self.type: str = "uint8" if self.bytes else self.wider or dtype
        if self.type not in _IN_PLACE:
            raise TypeError(f"an array of {dtype} on a device: want bool, uint8, int8, int16, uint16, float16, "
                f"bfloat16 or float32; convert it, or have eccbench.curve or eccbench.gvf take a copy on the host")
        shape = tuple(x.shape)
        dims = len(shape) if dims is None else dims
        if dims not in (1, 2, 3) or len(shape) < dims:
            raise ValueError(f"an image of {dims} axes in an array of shape {shape}: want 1 to 3; dims says "
                f"how many of the last are those of an image")
        self.batch, whole = shape[: len(shape) - dims], shape[len(shape) - dims :]
        if 0 in whole:
            raise ValueError(f"an image of shape {whole} has no voxels")
        self.images, voxels = 1, 1
        for n in self.batch:
            self.images *= n
        for n in whole:
            voxels *= n
        order = None
        if not of.is_negated(x):
            order = _order(shape, of.strides(x), len(self.batch) if turned else len(shape))
        self.packed = order is not None
        self.shape = order if order and turned else whole
        self.apart = voxels * {"uint8": 1, "float32": 4}.get(self.type, 2) if self.images > 1 else 0  # bytes
        self.number, self.device = of.place(x), of.device(x)
        self.plans: dict[Any, _Plan] = {}  # some may be closed

    def brought(self, of: Any, x: Any) -> Any:
        """Return the array in the layout of the kernels."""
        if self.bytes or self.wider or not self.packed:
            x = of.detached(x)
            if self.bytes:
                x = of.as_bytes(x)
            elif self.wider:
                x = of.astype(x, self.wider)
            # A packed array keeps the order of its axes when it is converted.
            x = x if self.packed else of.packed(x)
        return x


class _Known:
    """The caches of a process for layouts, plans and values."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # of the plans
        self.plans: dict[Any, _Plan] = {}
        self.captured: list[_Plan] = []  # used by captured graphs
        self.layouts: dict[Any, _Layout] = {}
        self.values: dict[int, tuple[Any, Any]] = {}  # by id: the values, and their key
        self.calls = itertools.count(1)


_known = _Known()


def _remembered(known: dict[Any, Any], key: Any, value: Any) -> Any:
    if len(known) >= _MOST_LOOKED:
        known.clear()
    known[key] = value
    return value


def _called(at: ArrayLike | None) -> Any:
    """Return the key of values in the key of a plan. Known values need only a comparison of their
    bytes, and none if they are immutable."""
    if at is None or type(at) is range:
        return at
    seen, key = _known.values.get(id(at), (None, None))
    if seen is at and (
            type(at) is tuple
            or (at.dtype.str, at.shape, at.tobytes()) == key):  # type: ignore[union-attr,unused-ignore]
        return key
    values = _numbers(at)
    key = values.dtype.str, values.shape, values.tobytes()
    if type(at) is np.ndarray or isinstance(at, tuple) and type(at) is tuple and all(
            type(v) in (bool, int, float) or isinstance(v, np.generic) for v in at):
        _remembered(_known.values, id(at), (at, key))  # keeps them alive, so that their id stays unique
    return key


def _alignment(address: int, stride: int) -> int:
    """Return the alignment of images with a given distance in bytes, at most that of the fastest
    kernels. An empty array may be at 0, a multiple of every number."""
    low = address | stride
    return min(_ALIGN, low & -low) if low else _ALIGN


def _planned(of: Any, how: _Layout, key: Any, ask: Callable[[], tuple[dict[str, Any], Any]], capturing: bool) -> _Plan:
    """Return an open plan for a request, with the order of its rows. Make it if there is none."""
    whole = (of, how.number, how.shape, how.type, *key)
    with _known.lock:
        plan = _known.plans.get(whole)
        if plan is not None:
            return plan
        if capturing:
            raise RuntimeError("a graph is being captured, and kernels cannot be loaded meanwhile: call once "
                "before with an array of the same shape and type, and the same arguments")
        request, order = ask()
        request = {"device": how.number, "shape": how.shape, "type": how.type, **request}
        plan = _Plan(of, how.number, _library.Plan(request), None if order is None else of.brought(order, how.device))
        if len(_known.plans) >= _MOST_PLANS:
            oldest = min(_known.plans, key=lambda k: _known.plans[k].used)
            _known.plans.pop(oldest).close()
        _known.plans[whole] = plan
        return plan


def curve(
    image: Any,
    *,
    at: ArrayLike | None = None,
    on_levels: bool = False,
    dims: int | None = None,
    out: Any = None,
    verify: bool = False,
) -> Any:
    """Exact Euler characteristic curve of an array on a device, as an array on the device.

    The curve is that of `eccbench.curve` for sublevel sets in the T-construction. All work is
    enqueued on the current stream of the array's library without waiting, so that a CUDA graph can
    capture it. The curve is therefore unverified, unless `verify` is True. `eccbench.curve` of the
    same array counts and verifies a copy on the host.

    Parameters
    ----------
    image : torch.Tensor or cupy.ndarray on a device
        Arrays of bool, uint8, int16, uint16 or float32 are read in place if they fill their memory,
        in any order of their axes. Others are copied by their library: arrays with gaps, int8 as
        int16, and float16 and bfloat16 as float32. The array is not modified. It must be finite,
        which is not checked: a curve of an array with NaN has no meaning.
    at : array_like, optional
        The values at which χ is computed, on the host. By default all values of an integer type,
        such as 0 to 255. A float image requires them.
    on_levels : bool
        Every value of the image is one of `at`, which are evenly spaced, at most 7,900. This halves
        the time for float32 images. It is not checked: otherwise the device may fail. With
        `verify` it has no effect.
    dims : {1, 2, 3}, optional
        The number of axes of an image, which are the last ones. The axes before them count images.
        By default the array is one image.
    out : array of int64 on the device, optional
        The destination of χ: packed, of the shape of the result.
    verify : bool
        Wait for the curve, check that all values are finite, and compare the curve with the
        fingerprint of its image. The fingerprint is computed on the device, by kernels that share
        no code with the counting ones. A wrong curve passes with a probability of at most 2⁻³¹.

    Returns
    -------
    chi : torch.Tensor or cupy.ndarray of int64
        Of shape (..., n), on the device of the image. By default n is the number of values of the
        type, the least first: for int16, index 0 is −32768.

    Raises
    ------
    TypeError
        If the array is on no device, or of an unsupported type.
    ValueError
        If its shape or an argument is invalid, or a value is NaN or infinite and `verify` is True.
    RuntimeError
        If the device cannot be used, or a curve fails its verification. During the capture of a
        graph: if no array of this layout was counted before, or `verify` is True.

    Notes
    -----
    The first call for a shape, a type and values loads a kernel and waits for it. Memory is from the
    library's own allocator: for each image, 8 bytes per value and 64 bytes of working memory. A batch
    is one launch. Arrays whose address and rows are multiples of 16 bytes are the fastest.
    """
    # This module would be much of the host's time per call, so that the results for a layout and
    # for values are cached.
    of, how = _looked(image, dims, True)
    x = how.brought(of, image)
    address = of.address(x)
    if verify:
        _check_verifiable(of, how, x)
        if address % _ALIGN:  # the alignment of the fingerprint kernels
            x = of.copied(x)
            address = of.address(x)
    align = _alignment(address, how.apart)
    key = _called(at), align, bool(on_levels) and not verify

    def ask() -> tuple[dict[str, Any], Any]:
        rows = _rows(at, how.type)
        return {"at": rows.at, "align": align, "on_levels": key[2]}, rows.order

    def answer(plan: _Plan) -> Any:
        if out is not None:
            _check(of, out, (*how.batch, plan.rows), how.number, "int64")
            if plan.order is None:
                return out
        return of.empty((*how.batch, plan.plan.rows), how.device)

    plan, chi = _added(of, how, address, key, ask, answer, verify)
    return chi if plan.order is None else of.taken(chi, plan.order, out, -1)


def betti(
    image: Any,
    at: ArrayLike | None = None,
    *,
    superlevel: bool = False,
    dims: int | None = None,
    out: Any = None,
    verify: bool = False,
) -> Any:
    """Exact Betti numbers of the sets of an array on a device at some values, as an array on the device.

    The numbers are those of `eccbench.betti` in the T-construction. All work is enqueued on the current
    stream of the array's library without waiting, so that a CUDA graph can capture it.

    Parameters
    ----------
    image : torch.Tensor or cupy.ndarray on a device
        As for `curve`.
    at : array_like, optional
        The values of the sets, on the host: a set has the voxels at or below a value. For an image of
        bool the default is the set of the True voxels.
    superlevel : bool
        Use the sets of the voxels at or above each value.
    dims : {1, 2, 3}, optional
        As for `curve`.
    out : array of int64 on the device, optional
        The destination of the numbers: packed, of the shape of the result.
    verify : bool
        Wait for the numbers, check that all values are finite, and compare the numbers with those of
        the kernels of `betti_curves`, which share no code with the kernels of this function.

    Returns
    -------
    numbers : torch.Tensor or cupy.ndarray of int64
        Of shape (..., *shape of at, 3), on the device of the image: (b0, b1, b2) for each value.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As for `curve`.

    Notes
    -----
    A batch is one launch of each kernel, unless its working memory would exceed 256 MiB. The set of each
    value of each image needs half a byte per voxel, and at least 11 KiB in 2D and 33 KiB in 3D. For many
    values of an image, `betti_curves` is faster. The method is in doc/proofs/betti.md of the sources.
    """
    of, how = _looked(image, dims, True)
    if at is None:
        if not how.bytes:
            raise ValueError(
                "at is missing: only an image of bool has a set by default; give the values of the sets, like at=0.5")
        at, superlevel = 1, True
    shape, limits = _sets(at, how.type, superlevel)
    request = {"at": limits, "betti": {"above": superlevel}}
    key = "betti", superlevel, tuple(limits)
    return _counted(of, how, image, key, (request, None), (*shape, 3), out, verify)


def betti_curves(
    image: Any,
    *,
    at: ArrayLike | None = None,
    superlevel: bool = False,
    dims: int | None = None,
    out: Any = None,
    verify: bool = False,
) -> Any:
    """Exact Betti numbers of the sets of an array on a device at many values, as an array on the device.

    The numbers equal those of `betti`, and the conditions are the same. The changes between the sets are
    counted once, so that the number of values hardly matters.

    Parameters
    ----------
    image, superlevel, dims, out
        As for `betti`.
    at : array_like of shape (n,), optional
        The values of the sets, on the host. By default 0 to 255 for uint8; other types require them.
    verify : bool
        As for `betti`; the witness are the kernels of `betti`, which count the set of each value on its
        own.

    Returns
    -------
    numbers : torch.Tensor or cupy.ndarray of int64
        Of shape (..., n, 3), on the device of the image: (b0, b1, b2) for each value.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As for `curve`.

    Notes
    -----
    A batch is one launch of each kernel, unless its working memory of 8 to 10 bytes per voxel would
    exceed 256 MiB.
    """
    of, how = _looked(image, dims, True)
    if at is None and how.type != "uint8":
        raise ValueError(
            f"at is missing: {how.type} has too many values for a row each; give the values, such as at=range(256)")
    if at is None and not superlevel:
        every: Any = {"betti": {"every": True}}, None
        return _counted(of, how, image, ("betti_curves",), every, (256, 3), out, verify, aligned=True)
    shape, limits = _sets(range(256) if at is None else at, how.type, superlevel)
    if len(shape) > 1:
        raise ValueError(f"at of shape {shape}: want one number or one axis of numbers")
    ascending, rows = np.unique(limits, return_inverse=True)
    if superlevel:
        rows = len(ascending) - 1 - rows
    order = None if len(rows) == len(ascending) and (rows == np.arange(len(rows))).all() else rows.astype(np.int64)
    request = {"at": ascending.tolist(), "betti": {"above": superlevel, "every": True}}
    key = "betti_curves", superlevel, tuple(limits)
    return _counted(of, how, image, key, (request, order), (len(ascending), 3), out, verify)


def _sets(at: ArrayLike, dtype: str, superlevel: bool) -> tuple[tuple[int, ...], list[float]]:
    """Return the shape of the values of sets, and their limits."""
    values = _numbers(at)
    if values.size == 0 or values.dtype.kind not in "biuf":
        raise ValueError(f"at of shape {values.shape} and type {values.dtype}: want one number or more")
    limits = _limits(values.ravel(), dtype, superlevel)
    if np.isneginf(limits).any():
        raise ValueError(f"at: one of the values is at or below all of {dtype}; leave it out")
    return values.shape, limits.tolist()


def _counted(
    of: Any, how: _Layout, image: Any, key: Any, asked: tuple[dict[str, Any], Any], shape: tuple[int, ...], out: Any,
    verify: bool, aligned: bool = False,
) -> Any:
    """Return the Betti numbers of each image, of a shape, by a request and the order of its rows. Some kernels need
    aligned images."""
    x = how.brought(of, image)
    if verify:
        _check_verifiable(of, how, x)
    address = of.address(x)
    if aligned and address % _ALIGN:
        x = of.copied(x)
        address = of.address(x)

    def answer(plan: _Plan) -> Any:
        if out is not None:
            wanted = shape if plan.order is None else (plan.rows, 3)
            _check(of, out, (*how.batch, *wanted), how.number, "int64")
            if plan.order is None:
                return out
        return of.empty((*how.batch, *shape), how.device)

    plan, numbers = _added(of, how, address, key, lambda: asked, answer, verify)
    return numbers if plan.order is None else of.taken(numbers, plan.order, out, -2)


def gvf(
    image: Any,
    *,
    steps: int,
    mu: float = 0.05,
    boundary: Boundary = "replicate",
    dims: int | None = None,
    out: Any = None,
) -> Any:
    """Gradient vector flow of an array on a device after some steps, as an array on the device.

    The field equals that of `eccbench.gvf` with `steps`, bit by bit. All work is enqueued on the
    current stream of the array's library without waiting, so that a CUDA graph can capture it. The
    field is therefore unverified. To verify it, compare it with `eccbench.gvf` of the same array,
    which waits, and computes and verifies the field of a copy on the host.

    Parameters
    ----------
    image : torch.Tensor or cupy.ndarray on a device
        C-contiguous arrays of bool, uint8, int16, uint16 or float32 are read in place. Others are
        copied by their library: arrays with gaps or another order of axes, int8 as int16, and
        float16 and bfloat16 as float32. The values are scaled to 0 to 1. The array is not modified.
        It must be finite, which is not checked: a field of an array with NaN has no meaning.
    steps : int
        Explicit steps: 0 for the gradient itself.
    mu : float
        Weight of the diffusion: the larger, the smoother. The limits 0.1875 in 2D and 0.104 in 3D
        make the steps stable for every image.
    boundary : {'replicate', 'third'}
        The neighbour of a voxel at the border: the voxel itself, so that nothing flows out,
        or the one on its other side.
    dims : {1, 2, 3}, optional
        The number of axes of an image, which are the last ones. The axes before them count images.
        By default the array is one image.
    out : array of float32 on the device, optional
        The destination of the field: packed, of the shape of the result.

    Returns
    -------
    field : torch.Tensor or cupy.ndarray of float32
        Of shape (..., n, *shape of an image), on the device of the image, where n is the number of an
        image's axes. ``field[..., k, :, :]`` is the component along axis k, as in `numpy.gradient`,
        in units of the image's range per voxel. In a volume of one slice, the component along z is 0.

    Raises
    ------
    TypeError
        If the array is on no device, or of an unsupported type.
    ValueError
        If its shape or an argument is invalid.
    RuntimeError
        If the device cannot be used, or during the capture of a graph, if no array of this layout
        was answered before.

    Notes
    -----
    The first call for a shape, a type and a number of steps loads kernels and waits for them. Memory
    is from the library's own allocator: the field, and working memory of 28 bytes per voxel in 3D and
    20 in 2D. The images of a batch are processed one after the other and share the working memory.
    """
    from ._gvf import _flow  # it imports this module

    flow = _flow(steps, None, mu, boundary)
    of, how = _looked(image, dims, False)
    x = how.brought(of, image)
    n = len(how.shape)
    shape = (*how.batch, n, *how.shape)
    if out is not None:
        _check(of, out, shape, how.number, "float32")
    result = of.empty(shape, how.device, "float32") if out is None else out
    one_slice = n == 3 and how.shape[0] == 1  # the kernels compute no component along z
    field = of.empty((*how.batch, 2, *how.shape), how.device, "float32") if one_slice else result
    apart = 4 * (2 if one_slice else n)
    for voxels in how.shape:
        apart *= voxels
    align = _alignment(of.address(field), apart if how.images > 1 else 0)
    key = "gvf", flow["steps"], flow["mu"], boundary, align
    _added(of, how, of.address(x), key, lambda: ({"flow": {**flow, "align": align}}, None), lambda _: field)
    if one_slice:
        result[..., 0, :, :, :] = 0
        result[..., 1:, :, :, :] = field
    return result


def _check_verifiable(of: Any, how: _Layout, x: Any) -> None:
    if of.capturing(how.number):
        raise RuntimeError("verify: a graph is being captured, and nothing can be waited for; leave it out")
    if how.type == "float32" and how.images and not of.finite(x):
        raise ValueError("an image has a value that is NaN or infinite")


def _looked(image: Any, dims: int | None, turned: bool) -> tuple[Any, _Layout]:
    """Return the library of an array, and its layout."""
    of = _library_of(image)
    if of is None:
        raise TypeError(f"an array of {type(image).__module__}.{type(image).__name__}: want a tensor of torch "
            f"or an array of cupy on an NVIDIA device; eccbench.curve and eccbench.gvf take those on the host")
    layout = of.layout(image), dims, turned
    return of, _known.layouts.get(layout) or _remembered(_known.layouts, layout, _Layout(of, image, dims, turned))


def _added(of: Any, how: _Layout, address: int, key: Any, ask: Callable[[], tuple[dict[str, Any], Any]],
        answer: Callable[[_Plan], Any], verify: bool = False, arrays: int = 1) -> tuple[_Plan, Any]:
    """Return the plan of a request and its answer. The answer is enqueued on the current stream, or
    finished and verified. A question is about some consecutive arrays."""
    stream, capturing = of.stream(how.number), of.capturing(how.number)
    images = how.images // arrays
    plan = how.plans.get(key)
    try:
        while True:
            if plan is None or not plan.open:
                plan = _remembered(how.plans, key, _planned(of, how, key, ask, capturing))
            plan.used = next(_known.calls)
            to = answer(plan)
            if not images:
                return plan, to
            memory = of.empty((plan.plan.memory // 8 * min(images, plan.plan.most),), how.device)
            if not plan.call(capturing, plan.plan.add, images, address, of.address(to), of.address(memory), stream):
                continue
            if not verify or plan.call(False, plan.plan.verify, images, address, of.address(to), stream):
                return plan, to
    except _library.Error as e:
        raise (RuntimeError if e.kind in ("device", "internal") else ValueError)(str(e)) from None


def matched(masks: Any, construction: str, dims: int, verify: bool) -> Any:
    """Return the matched features of pairs of masks of uint8, of shape (..., 2, *image), as int64 of shape (..., 3):
    those of dimension 0, those of the highest dimension, and the voxels that only one mask has."""
    of, how = _looked(masks, dims, False)
    x = how.brought(of, masks)
    if verify:
        _check_verifiable(of, how, x)
    key, shape = ("matching", construction), (*how.batch[:-1], 3)

    def ask() -> tuple[dict[str, Any], Any]:
        return {"matching": construction}, None

    return _added(of, how, of.address(x), key, ask, lambda _: of.empty(shape, how.device), verify, arrays=2)[1]


def soft(images: Any, thresholds: int, vertices: bool, directed: bool, doubles: int) -> _Soft:
    """Return the plan of soft curves of packed float32 tensors of PyTorch, of shape (n, *image), n > 0. doubles is
    as in ondevice.Soft."""
    of, how = _looked(images, images.ndim - 1, False)
    align = _alignment(images.data_ptr(), how.apart)
    asked = {"images": len(images), "thresholds": thresholds, "vertices": vertices, "directed": directed,
        "doubles": doubles}
    return _Soft(of, how, ("soft", *asked.values(), align), {"soft": asked, "align": align})


class _Soft:
    """Soft curves of tensors of one layout on the current stream, by internal/library/ondevice."""

    def __init__(self, of: Any, how: _Layout, key: Any, request: dict[str, Any]):
        self.of, self.how, self.key, self.request = of, how, key, request
        self._look()

    def _look(self) -> None:
        capturing = self.of.capturing(self.how.number)
        try:
            self.plan = _planned(self.of, self.how, self.key, lambda: (self.request, None), capturing)
        except _library.Error as e:
            raise (RuntimeError if e.kind in ("device", "internal") else ValueError)(str(e)) from None
        self.plan.used = next(_known.calls)
        plan = self.plan.plan
        self.blocks, self.memory, self.kept = plan.rows, plan.memory, plan.kept  # equal for all plans of the layout

    def add(self, which: int, *memory: int) -> None:
        """Enqueue a pass by its number in ondevice.Plan and the addresses of ondevice.SoftCall, 0 for missing ones."""
        stream = self.of.stream(self.how.number)
        capturing = stream != 0 and self.of.capturing(self.how.number)  # the default stream is never captured
        self.plan.used = next(_known.calls)
        try:
            while not self.plan.call(capturing, self.plan.plan.soft, which, memory, stream):
                self._look()
        except _library.Error as e:
            raise (RuntimeError if e.kind in ("device", "internal") else ValueError)(str(e)) from None


def _order(shape: tuple[int, ...], strides: Sequence[int], before: int) -> tuple[int, ...] | None:
    """Return the shape of an image with its axes in memory order, which has the same curve. Return
    None for an array that is not packed in any order."""
    axes = sorted(range(before, len(shape)), key=lambda a: (-strides[a], a))
    step, order = 1, [*range(before), *axes]
    for a in reversed(order):
        if shape[a] > 1 and strides[a] != step:
            return None
        step *= shape[a]
    return tuple(shape[a] for a in axes)


def _check(of: Any, out: Any, shape: tuple[int, ...], device: int, dtype: str) -> None:
    if (_library_of(out) is not of or of.place(out) != device or of.dtype(out) != dtype or tuple(out.shape) != shape
            or _order(shape, of.strides(out), out.ndim) is None):
        raise ValueError(f"out: want a packed array of {dtype} of shape {shape}, of the image's library and "
            f"on its device")
