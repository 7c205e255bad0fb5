"""Exact Euler characteristic curves, and the gradient vector flow, of arrays on NVIDIA devices, where
they lie.

`eccbench.cuda.curve` and `eccbench.cuda.gvf` take tensors of PyTorch and arrays of CuPy, and add
their work to the stream that is current there: nothing waits, and the answer is an array of the
same library on the same device. It is unverified, unless a curve is asked for with `verify=True`,
which waits; that of the copy on the host which `eccbench.curve` and `eccbench.gvf` take of such an
array is verified.

    import torch, eccbench.cuda
    chi = eccbench.cuda.curve(volume)                       # uint8: χ at 0, 1, ... 255
    chi = eccbench.cuda.curve(volume.float(), at=range(9))  # float32: at these values
    assert (chi.cpu().numpy() == eccbench.curve(volume.float(), at=range(9)).chi).all()
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
from ._arguments import Boundary

__all__ = ["curve", "gvf", "is_device_array"]

_IN_PLACE = ("uint8", "int16", "uint16", "float32")
_WIDENED = {"int8": "int16", "float16": "float32", "bfloat16": "float32"}  # exactly
_ALIGN = 16  # bytes: of the fastest kernels
_MOST_PLANS = 128
_MOST_LOOKED = 1024  # layouts, and arrays of values, that a process remembers


class _Torch:
    """What is needed of PyTorch."""

    def __init__(self, torch: Any):
        self.torch = torch
        self.names = {getattr(torch, name): name for name in (*_IN_PLACE, *_WIDENED, "bool") if hasattr(torch, name)}
        # As Inductor's programs have it: without an object for each stream.
        self.handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def on_device(self, x: Any) -> bool:
        return x.is_cuda  # type: ignore[no-any-return]

    def place(self, x: Any) -> int:
        """The number of the device."""
        return x.get_device()  # type: ignore[no-any-return]

    def layout(self, x: Any) -> Any:
        """All that says how an array lies, but where."""
        return x.dtype, x.shape, x.stride(), x.get_device()

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
        return x.contiguous()

    def permuted(self, x: Any, axes: Sequence[int]) -> Any:
        return x.permute(*axes)

    def device(self, x: Any) -> Any:
        """The device as `empty` takes it: by a tensor that is there, in half of the time."""
        x.data_ptr()  # which fails for what only looks like a tensor, whose layout would be remembered
        return self.torch.empty(0, dtype=self.torch.int64, device=x.device)

    def empty(self, shape: tuple[int, ...], device: Any, dtype: str = "int64") -> Any:
        return device.new_empty(shape) if dtype == "int64" else device.new_empty(shape, dtype=getattr(self.torch, dtype))

    def copied(self, x: Any) -> Any:
        return x.detach().clone()

    def finite(self, x: Any) -> bool:
        return bool(self.torch.isfinite(x).all())

    def brought(self, numbers: NDArray[np.int64], device: Any) -> Any:
        return self.torch.as_tensor(numbers, device=device.device)

    def taken(self, x: Any, rows: Any, out: Any) -> Any:
        return self.torch.index_select(x, -1, rows) if out is None else self.torch.index_select(x, -1, rows, out=out)

    def stream(self, device: int) -> int:
        if self.handle is not None:
            return self.handle(device)  # type: ignore[no-any-return]
        return self.torch.cuda.current_stream(device).cuda_stream  # type: ignore[no-any-return]

    def capturing(self, device: int) -> bool:
        return bool(self.torch.cuda.is_current_stream_capturing())

    def synchronize(self, device: int) -> None:
        self.torch.cuda.synchronize(device)

    def to_host(self, x: Any) -> NDArray[Any]:
        x = x.detach()
        if x.dtype == self.torch.bfloat16:  # which NumPy has not
            x = x.to(self.torch.float32)
        return x.cpu().numpy()  # type: ignore[no-any-return]


class _CuPy:
    """What is needed of CuPy."""

    def __init__(self, cupy: Any):
        self.cupy = cupy

    def on_device(self, x: Any) -> bool:
        return True

    def place(self, x: Any) -> int:
        return x.device.id  # type: ignore[no-any-return]

    def layout(self, x: Any) -> Any:
        return x.dtype, x.shape, x.strides, x.device.id

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

    def taken(self, x: Any, rows: Any, out: Any) -> Any:
        with x.device:
            return self.cupy.take(x, rows, axis=-1, out=out)

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
_kinds: dict[type, Any] = {}  # of arrays that were seen, their libraries


def _library_of(x: Any) -> Any:
    """The library that an array is of, None for one that is not on a device."""
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
    """Whether an object is a tensor of PyTorch or an array of CuPy on an NVIDIA device."""
    return _library_of(x) is not None


def to_host(x: Any) -> NDArray[Any]:
    """A copy on the host of an array on a device, when all that the current stream has is done."""
    copy: NDArray[Any] = _library_of(x).to_host(x)
    return copy


@dataclass(frozen=True)
class _Rows:
    """The values that are asked for, as the library takes them, and which row each of them is."""

    at: tuple[float, ...] | None  # each more than the one before; None for all values of the type
    order: NDArray[np.int64] | None  # None for the rows as they are


def _rows(at: ArrayLike | None, dtype: str) -> _Rows:
    if at is None:
        if dtype == "float32":
            raise ValueError("at is missing: an array of floats on a device has too many values for a row each, and nobody looks for the least of them; "
                             "give the values, such as at=numpy.linspace(0, 1, 256)")
        return _Rows(None, None)
    values = np.asarray(at)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "biuf":
        raise ValueError(f"at of shape {values.shape} and type {values.dtype}: want one axis of numbers")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("at: one of the values is NaN or infinite")
    if dtype == "float32":
        with np.errstate(over="ignore"):
            near = values.astype(np.float32)
        near = np.where(near.astype(np.float64) > values, np.nextafter(near, np.float32(-np.inf)), near)
        if not np.isfinite(near).all():
            raise ValueError("at: one of the values is below all of float32, where χ is 0; leave it out")
        values = near.astype(np.float64) + 0.0  # and no −0
    else:
        bounds = np.iinfo(dtype)
        values = np.floor(values)
        if (values < bounds.min).any():
            raise ValueError(f"at: one of the values is below all of {dtype}, where χ is 0; leave it out")
        values = np.minimum(values, bounds.max)
    ascending, order = np.unique(values, return_inverse=True)
    in_order = len(ascending) == len(values) and bool((np.diff(values) > 0).all())
    return _Rows(tuple(ascending.tolist()), None if in_order else order.astype(np.int64))


class _Plan:
    """How images alike are answered, until it is closed: from then on it adds nothing."""

    def __init__(self, of: Any, device: int, plan: _library.Plan, order: Any):
        self.of, self.device, self.plan = of, device, plan
        self.order = order  # which row each value is, None for the rows as they are
        self.rows: int = plan.rows if order is None else len(order)
        self.lock = threading.Lock()
        self.open = True
        self.captured = False
        self.used = 0

    def call(self, capturing: bool, add: Callable[..., None], *arguments: Any) -> bool:
        """Whether it is open still, and what answers was added to a stream by a method of the plan."""
        with self.lock:
            if not self.open:
                return False
            if capturing and not self.captured:
                self.captured = True
                _known.captured.append(self)
            add(*arguments)
        return True

    def close(self) -> None:
        """Close it, when all that it has added is done. One that a graph has stays as it is."""
        with self.lock:
            if not self.captured:
                self.open = False
                self.of.synchronize(self.device)
                self.plan.close()


class _Layout:
    """What follows from how arrays lie, whatever their addresses are. Only some questions allow
    that the axes of an image are turned."""

    def __init__(self, of: Any, x: Any, dims: int | None, turned: bool):
        dtype = of.dtype(x)
        self.bytes = dtype == "bool"
        self.wider = _WIDENED.get(dtype)
        self.type: str = "uint8" if self.bytes else self.wider or dtype
        if self.type not in _IN_PLACE:
            raise TypeError(f"an array of {dtype} on a device: want bool, uint8, int8, int16, uint16, float16, bfloat16 or float32; convert it, or have eccbench.curve or eccbench.gvf take a copy on the host")
        shape = tuple(x.shape)
        dims = len(shape) if dims is None else dims
        if dims not in (1, 2, 3) or len(shape) < dims:
            raise ValueError(f"an image of {dims} axes in an array of shape {shape}: want 1 to 3; dims says how many of the last are those of an image")
        self.batch, whole = shape[: len(shape) - dims], shape[len(shape) - dims :]
        if 0 in whole:
            raise ValueError(f"an image of shape {whole} has no voxels")
        self.images, voxels = 1, 1
        for n in self.batch:
            self.images *= n
        for n in whole:
            voxels *= n
        order = _order(shape, of.strides(x), len(self.batch) if turned else len(shape))
        self.packed = order is not None
        self.shape = order if order and turned else whole
        self.apart = voxels * {"uint8": 1, "float32": 4}.get(self.type, 2) if self.images > 1 else 0  # bytes
        self.number, self.device = of.place(x), of.device(x)
        self.plans: dict[Any, _Plan] = {}  # which may be closed

    def brought(self, of: Any, x: Any) -> Any:
        """The array as the kernels take it."""
        if self.bytes or self.wider or not self.packed:
            x = of.detached(x)
            if self.bytes:
                x = of.as_bytes(x)
            elif self.wider:
                x = of.astype(x, self.wider)
            # What is packed keeps the order of its axes when it is converted.
            x = x if self.packed else of.packed(x)
        return x


class _Known:
    """What a process knows of images that it was given before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # of the plans
        self.plans: dict[Any, _Plan] = {}
        self.captured: list[_Plan] = []  # whose kernels graphs have
        self.layouts: dict[Any, _Layout] = {}
        self.values: dict[int, tuple[Any, Any]] = {}  # by what id they have: the values, and how they are called
        self.calls = itertools.count(1)


_known = _Known()


def _remembered(known: dict[Any, Any], key: Any, value: Any) -> Any:
    if len(known) >= _MOST_LOOKED:
        known.clear()
    known[key] = value
    return value


def _called(at: ArrayLike | None) -> Any:
    """What values are called in the key of a plan. Of those that were seen before only the bytes
    are looked at, if they can change at all."""
    if at is None or type(at) is range:
        return at
    seen, key = _known.values.get(id(at), (None, None))
    if seen is at and (type(at) is tuple or (at.tobytes() == key[2] and at.shape == key[1] and at.dtype.str == key[0])):  # type: ignore[union-attr,unused-ignore]
        return key
    values = np.asarray(at)
    key = values.dtype.str, values.shape, values.tobytes()
    if type(at) is np.ndarray or isinstance(at, tuple) and type(at) is tuple and all(type(v) in (bool, int, float) or isinstance(v, np.generic) for v in at):
        _remembered(_known.values, id(at), (at, key))  # which keeps them, so that nothing else gets that id
    return key


def _alignment(address: int, stride: int) -> int:
    """Bytes that the addresses of images so far apart are multiples of, up to those of the fastest
    kernels. An array of no images may be at 0, a multiple of every number."""
    low = address | stride
    return min(_ALIGN, low & -low) if low else _ALIGN


def _planned(of: Any, how: _Layout, key: Any, ask: Callable[[], tuple[dict[str, Any], Any]], capturing: bool) -> _Plan:
    """A plan that is open, made if there is none of what is asked, and in which order its rows are."""
    whole = (of, how.number, how.shape, how.type, *key)
    with _known.lock:
        plan = _known.plans.get(whole)
        if plan is not None:
            return plan
        if capturing:
            raise RuntimeError("a graph is being captured, and kernels cannot be loaded meanwhile: call once before with an array of the same shape and type, and the same arguments")
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

    The curve is that of `eccbench.curve` in the T-construction, of sublevel sets. All work is added
    to the stream that is current in the array's library, and nothing waits for it, so that a CUDA
    graph can capture it. So nothing holds it to a fingerprint: it is unverified, unless `verify` is
    True. `eccbench.curve` of the same array counts and verifies a copy on the host.

    Parameters
    ----------
    image : torch.Tensor or cupy.ndarray on a device
        Of bool, uint8, int16, uint16 or float32, which are read where they lie if they fill their
        memory, in whatever order of their axes; others are copied by their library: those with
        gaps, and int8, float16 and bfloat16, as int16 and float32. It is not written to. It must be
        finite: nobody looks, and one with NaN gives no curve that means anything.
    at : array_like, optional
        The values at which χ is taken, on the host. By default all of an integer type, such as 0 to
        255. A float image needs some.
    on_levels : bool
        Every value of the image is one of `at`, which are evenly spaced, 7,900 at most. Then
        float32 images take about half of the time. It is a promise: nobody looks, and where it is
        not kept the device may fail. With `verify` it is not made use of.
    dims : {1, 2, 3}, optional
        How many of the last axes are those of an image; the ones before count images. By default
        the array is one image.
    out : array of int64 on the device, optional
        Where χ is written: packed, of the shape of the result.
    verify : bool
        Wait for the curve, look for values that are not finite, and hold the curve to the
        fingerprint of its image on the device, by kernels that share nothing with those that
        count: a wrong one passes with a probability of 2⁻³¹ or less.

    Returns
    -------
    chi : torch.Tensor or cupy.ndarray of int64
        Of shape (..., n), on the device of the image. By default n is the number of values of the
        type, the least first: of int16 index 0 is −32768.

    Raises
    ------
    TypeError
        If the array is on no device, or of a type that is not read there.
    ValueError
        If its shape or an argument is impossible, or a value is NaN or infinite and `verify` is True.
    RuntimeError
        If the device cannot be used, a curve fails its verification, or a graph is being captured
        and no array alike was counted before, or `verify` is True.

    Notes
    -----
    The first call for images of a shape, a type and some values loads a kernel and waits for that.
    Memory is that of the library's own allocator: for each image 8 bytes for each value and 64 more, to work in.
    A batch is one launch.
    Arrays whose address is a multiple of 16 and whose rows are multiples of 16 bytes are read
    fastest.
    """
    # Much of what a call takes of the host would be this module: what follows from the layout
    # and the values is looked up.
    of, how = _looked(image, dims, True)
    x = how.brought(of, image)
    address = of.address(x)
    if verify:
        if of.capturing(how.number):
            raise RuntimeError("verify: a graph is being captured, and nothing can be waited for; leave it out")
        if how.type == "float32" and how.images and not of.finite(x):
            raise ValueError("an image has a value that is NaN or infinite")
        if address % _ALIGN:  # as the kernels of fingerprints have it
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
    return chi if plan.order is None else of.taken(chi, plan.order, out)


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

    The field is that of `eccbench.gvf` with `steps`, to the bit. All work is added to the stream
    that is current in the array's library, and nothing waits for it, so that a CUDA graph can
    capture it. So it is unverified. To verify it, compare it with `eccbench.gvf` of the same array,
    which waits, and computes and verifies the field of a copy on the host.

    Parameters
    ----------
    image : torch.Tensor or cupy.ndarray on a device
        Of bool, uint8, int16, uint16 or float32, which are read where they lie if they are
        C-contiguous; others are copied by their library: those with gaps or other orders of
        their axes, and int8, float16 and bfloat16, as int16 and float32. Its values are scaled to
        0 to 1. It is not written to. It must be finite: nobody looks, and one with NaN gives no
        field that means anything.
    steps : int
        Explicit steps: 0 for the gradient itself.
    mu : float
        Weight of the diffusion: the larger, the smoother. At most 0.1875 in 2D and 0.104 in 3D,
        with which no image grows without bound.
    boundary : {'replicate', 'third'}
        The neighbour of a voxel at the border: the voxel itself, so that nothing flows out,
        or the one on its other side.
    dims : {1, 2, 3}, optional
        How many of the last axes are those of an image; the ones before count images. By default
        the array is one image.
    out : array of float32 on the device, optional
        Where the field is written: packed, of the shape of the result.

    Returns
    -------
    field : torch.Tensor or cupy.ndarray of float32
        Of shape (..., n, *shape of an image), on the device of the image: ``field[..., k, :, :]`` is
        the component along axis k of an image, as those of `numpy.gradient` are, in units of the
        image's range to a voxel. n is the number of its axes. Of a volume of one slice the component
        along z is 0.

    Raises
    ------
    TypeError
        If the array is on no device, or of a type that is not read there.
    ValueError
        If its shape or an argument is impossible.
    RuntimeError
        If the device cannot be used, or a graph is being captured and no array alike was answered
        before.

    Notes
    -----
    The first call for images of a shape and a type and some steps loads kernels and waits for that.
    Memory is that of the library's own allocator: in 3D the field and 28 bytes a voxel to work in, in
    2D the field and 20. One after the other, images of a batch share what is worked in.
    """
    from ._gvf import _flow  # which needs this module

    flow = _flow(steps, None, mu, boundary)
    of, how = _looked(image, dims, False)
    x = how.brought(of, image)
    n = len(how.shape)
    shape = (*how.batch, n, *how.shape)
    if out is not None:
        _check(of, out, shape, how.number, "float32")
    result = of.empty(shape, how.device, "float32") if out is None else out
    one_slice = n == 3 and how.shape[0] == 1  # of which the kernels find no component along z
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


def _looked(image: Any, dims: int | None, turned: bool) -> tuple[Any, _Layout]:
    """The library of an array, and what follows from how it lies."""
    of = _library_of(image)
    if of is None:
        raise TypeError(f"an array of {type(image).__module__}.{type(image).__name__}: want a tensor of torch or an array of cupy on an NVIDIA device; eccbench.curve and eccbench.gvf take those on the host")
    layout = of.layout(image), dims, turned
    return of, _known.layouts.get(layout) or _remembered(_known.layouts, layout, _Layout(of, image, dims, turned))


def _added(of: Any, how: _Layout, address: int, key: Any, ask: Callable[[], tuple[dict[str, Any], Any]], answer: Callable[[_Plan], Any], verify: bool = False) -> tuple[_Plan, Any]:
    """The plan of what is asked, and its answer, whose making is added to the current stream; or
    which is there, and verified."""
    stream, capturing = of.stream(how.number), of.capturing(how.number)
    plan = how.plans.get(key)
    try:
        while True:
            if plan is None or not plan.open:
                plan = _remembered(how.plans, key, _planned(of, how, key, ask, capturing))
            plan.used = next(_known.calls)
            to = answer(plan)
            if not how.images:
                return plan, to
            memory = of.empty((plan.plan.memory // 8 * min(how.images, plan.plan.most),), how.device)
            if not plan.call(capturing, plan.plan.add, how.images, address, of.address(to), of.address(memory), stream):
                continue
            if not verify or plan.call(False, plan.plan.verify, how.images, address, of.address(to), stream):
                return plan, to
    except _library.Error as e:
        raise (RuntimeError if e.kind in ("device", "internal") else ValueError)(str(e)) from None


def soft(images: Any, thresholds: int, vertices: bool) -> _Soft:
    """What finds soft curves of packed tensors of PyTorch like these, float32, of shape (n, *image), n > 0."""
    of, how = _looked(images, images.ndim - 1, False)
    align = _alignment(images.data_ptr(), how.apart)
    asked = {"images": len(images), "thresholds": thresholds, "vertices": vertices}
    return _Soft(of, how, ("soft", *asked.values(), align), {"soft": asked, "align": align})


class _Soft:
    """Soft curves on the current stream of tensors alike, as internal/library/ondevice has them."""

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
        self.blocks, self.memory = self.plan.plan.rows, self.plan.plan.memory  # the same of all plans alike

    def add(self, backward: bool, *memory: int) -> None:
        """Add a pass, by the addresses and the number that ondevice.SoftCall has, 0 for what the pass has not."""
        stream, capturing = self.of.stream(self.how.number), self.of.capturing(self.how.number)
        self.plan.used = next(_known.calls)
        try:
            while not self.plan.call(capturing, self.plan.plan.soft, backward, memory, stream):
                self._look()
        except _library.Error as e:
            raise (RuntimeError if e.kind in ("device", "internal") else ValueError)(str(e)) from None


def _order(shape: tuple[int, ...], strides: Sequence[int], before: int) -> tuple[int, ...] | None:
    """The shape of an image with its axes in the order in which they lie, which changes no curve;
    None for an array that is not packed in any."""
    axes = sorted(range(before, len(shape)), key=lambda a: (-strides[a], a))
    step, order = 1, [*range(before), *axes]
    for a in reversed(order):
        if shape[a] > 1 and strides[a] != step:
            return None
        step *= shape[a]
    return tuple(shape[a] for a in axes)


def _check(of: Any, out: Any, shape: tuple[int, ...], device: int, dtype: str) -> None:
    if _library_of(out) is not of or of.place(out) != device or of.dtype(out) != dtype or tuple(out.shape) != shape or _order(tuple(out.shape), of.strides(out), out.ndim) is None:
        raise ValueError(f"out: want a packed array of {dtype} of shape {shape}, of the image's library and on its device")
