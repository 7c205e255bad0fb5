"""Euler characteristic curves as layers of PyTorch.

>>> import torch
>>> from eccbench.torch import ECC, SoftECC
>>> ring = torch.tensor([[0.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
>>> ECC([5.0, 9.0], dims=2)(ring)
tensor([0, 1])
>>> chi = SoftECC([5.0, 8.5], lam=2.0, dims=2)(ring)
>>> chi.sum().backward()
>>> ring.grad[1, 1] < 0
tensor(True)

The hole of the ring is filled at 9. So the gradient is negative: χ grows if the middle falls.
"""

# PyTorch reads the annotations of operators as types: they are no strings here.

import contextlib
import functools
import itertools
import math
import operator
from typing import Any, Callable, Collection, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _library, cuda
from ._arguments import Construction, reject_hidden
from ._curve import NAN_ADVICE, _translated, curve

if not hasattr(torch.library, "register_autograd"):
    raise ImportError(f"eccbench.torch needs PyTorch 2.4 or later, this is {torch.__version__}")

__all__ = ["ECC", "SoftECC", "ecc", "soft_ecc"]

_LEARNABLE = ("thresholds", "lam", "direction", "alpha")
_NUMBERS = {"thresholds", "log_lam", "fixed_lam", "direction", "alpha"}  # of a `SoftECC`
_PLAIN = (Tensor, torch.nn.Parameter)
# Between the launches of a step the caches of the host lose this module, so that each look-up takes up to 1 µs.
_is_tracing, _transforms, _modes = (torch.compiler.is_dynamo_compiling, torch._C._are_functorch_transforms_active,
    torch._C._len_torch_dispatch_stack)
_tracing_state, _grad_enabled = torch._C._get_tracing_state, torch.is_grad_enabled
_empty_like, _int8 = torch.empty_like, torch.int8
_NARROW = (torch.bfloat16, torch.float16, torch.bool, torch.uint8, torch.int8, torch.int16)  # converted to float32

Images = Union[Tensor, Sequence[Tensor]]


def ecc(images: Images, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: Construction = "T",
        superlevel: bool = False, verify: bool = True) -> Tensor:
    """Exact Euler characteristic curves of images, without a gradient.

    Parameters
    ----------
    images : Tensor of shape (..., *image), or list of n such tensors
        Any number of axes before the `dims` of each image, on the CPU or a CUDA device, of any
        type that `eccbench.curve` accepts, or bfloat16. Finite. The tensors of a list may have
        images of different shapes. Those of one shape are computed together.
    thresholds : Tensor of shape (m,), or sequence of float
        The values at which χ is computed. On the CPU, unless a wait for the device is acceptable.
    dims : {1, 2, 3}
        The number of axes of an image, which are the last ones.
    construction, superlevel, verify
        As for `eccbench.curve`.

    Returns
    -------
    chi : Tensor of shape (..., m), or (n, ..., m) for a list, int64
        On the device of the images. On a CUDA device, images in construction T and of a type of
        `eccbench.cuda.curve` are counted and verified there, with ``verify=False`` without a wait.
        Others are copied to the host; with `verify` so are those on a device of a compute capability
        below 8.0, and those of thresholds that are infinite or beyond float32.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As from `eccbench.curve`.

    Examples
    --------
    >>> import torch, eccbench.torch
    >>> eccbench.torch.ecc(torch.eye(4).expand(2, 3, 4, 4), [0.0, 1.0], dims=2).shape
    torch.Size([2, 3, 2])
    """
    if not isinstance(images, Tensor):
        return _of_list(images, dims, lambda batch: ecc(batch, thresholds, dims=dims, construction=construction,
            superlevel=superlevel, verify=verify))
    batch, shape = _split(images, dims)
    if images.dtype == torch.bfloat16:
        images = images.float()
    at = _tensor("thresholds", thresholds)
    if at.dtype == torch.bfloat16:
        at = at.float()
    if at.ndim != 1:
        raise ValueError(f"thresholds of shape {tuple(at.shape)}: want one axis")
    if images.is_cuda and _direct(images):
        return _exact_on_device(images, at, construction, superlevel, verify, dims)
    chi: Tensor = _exact(images.detach().reshape(-1, *shape), at.detach(), construction, superlevel, verify)
    return chi.reshape(*batch, len(at))


def soft_ecc(
    images: Images,
    thresholds: Union[Tensor, Sequence[float]],
    lam: Union[Tensor, float],
    *,
    dims: int,
    direction: Union[Tensor, Sequence[float], None] = None,
    alpha: Union[Tensor, float] = 0.0,
    construction: Construction = "T",
    superlevel: bool = False,
) -> Tensor:
    """Differentiable Euler characteristic curves of images.

    In the exact curve a cell of the complex counts from its value on. Here it counts by a
    sigmoid (Saxena et al. [1]_, equations 4 to 10): of Y = X + α⟨u, p⟩ the curve is

        χ(τ) = Σ over cells of (−1)^dimension · σ(λ(τ − value)).

    Parameters
    ----------
    images : Tensor of shape (..., *image), or list of n such tensors
        X: any number of axes before the `dims` of each image, on the CPU or a CUDA device; finite.
        bfloat16, float16, bool and integers of up to 16 bits are converted to float32; float32 and
        float64 are kept. The tensors of a list may have images of different shapes.
    thresholds : Tensor of shape (m,), or sequence of float
        τ, in grey values and in any order.
    lam : Tensor of one number, or float
        λ > 0, the steepness, in 1/grey value.
    dims : {1, 2, 3}
        The number of axes of an image, which are the last ones.
    direction : Tensor of shape (dims,), or sequence of float, optional
        v ≠ 0, in the order of an image's axes; u = v/|v|.
    alpha : Tensor of one number, or float
        α, in grey values per voxel. p is the position of a voxel relative to the middle of the image.
    construction : {'T', 'V'}
        'T': voxels are the top cells of a complex, 'V': they are its vertices.
    superlevel : bool
        Use the sets of values of Y at or above each threshold.

    Returns
    -------
    chi : Tensor of shape (..., m), or (n, ..., m) for a list
        Of float64 for images of float64, otherwise of float32. It has gradients for the images,
        thresholds, lam, direction and alpha, but none of the second order.

    Raises
    ------
    TypeError, ValueError
        If a tensor has an unsupported type or shape; on the CPU also if a value is NaN or infinite,
        or λ is not greater than 0.
    NotImplementedError
        If the images are neither on the CPU nor on a CUDA device.

    Notes
    -----
    float32 is within 1e-5 of the definition for Y in float32, relative to the largest number of each
    result or of one cell; on a CUDA device the gradient of lam can be off by 2e-5. Errors are greater if
    terms cancel, above all in large images whose range times λ is far below 1. The cost does not
    depend on m: doc/proofs/softecc.md of the sources has the method. In float64 every sigmoid is
    evaluated to the precision of the type, which is slow and useful to check gradients. For equal
    voxels, the gradient is one of the derivatives to either side. The number of cores is
    ``torch.get_num_threads()``. A non-finite upstream gradient gives NaN.

    On a CUDA device all work is enqueued on the current stream without a wait, so that the numbers
    are not checked. Only the first call for a layout waits, and 128 layouts are kept. χ is NaN if one of
    the numbers is, if λ is not greater than 0, and if λ times the range of the thresholds is more than
    949; with 99 KiB of shared memory for a block (compute capability 8.6, 8.9, 12.0) more than 716, in
    3D more than 536. Images of up to 4096 voxels have no such limit at up to 64 thresholds, nor do larger ones
    of up to 65536 in small batches: each sigmoid is evaluated. 'V' adds a border of one voxel to this number.
    Any number of images takes at most three of our kernels forward and one backward. A list of images of up
    to float32 is one batch, too: each is copied into a frame of the largest shape, whose voxels count. Lists
    with a direction are split by the parity of their axes, those of different sizes by size if that takes
    less time or memory.

    References
    ----------
    .. [1] Saxena et al., "A PyTorch framework for scalable non-crossing Euler characteristic
       curves", 2025, arXiv 2510.20271.
    """
    if not isinstance(images, Tensor):
        frame = -math.inf if superlevel else math.inf, direction is not None
        return _of_list(images, dims, lambda batch: soft_ecc(batch, thresholds, lam, dims=dims, direction=direction,
            alpha=alpha, construction=construction, superlevel=superlevel), frame)
    axes: Tuple[int, ...] = (dims,)
    given: Any = thresholds, lam, alpha, direction
    if direction is None:
        if isinstance(alpha, Tensor) or alpha != 0:
            raise ValueError("direction is missing: alpha is the scale of one")
        given = thresholds, lam, None, None
    direct = _direct(images)
    if direct and images.is_cuda:
        images = images.contiguous()
        if type(thresholds) in _PLAIN and type(lam) in _PLAIN and type(dims) is int and type(construction) is str and (
                direction is None or type(alpha) in _PLAIN and type(direction) in _PLAIN and direction.shape == axes):
            how = _layouts.get(_key(images, dims, construction, *given))
            if how is not None:  # the layout passed the other checks below
                return _by_layout(superlevel, how, images, given)
    if direction is None:
        axes, given = (0,), (thresholds, lam, *_no_direction(images))
    batch, shape = _split(images, dims)
    if construction not in ("T", "V"):
        raise ValueError(f"construction {construction!r}: want T or V")
    x = images
    if x.dtype in _NARROW:
        x = x.float()
    elif x.dtype is not torch.float32 and x.dtype is not torch.float64:
        raise TypeError(f"images of {x.dtype}: want float32, float64, bfloat16, float16, bool or integers "
            f"of up to 16 bits")
    names = "thresholds", "lam", "alpha", "direction"
    tau, lam, alpha, v = (_beside(name, one, images) for name, one in zip(names, given))
    if tau.ndim != 1 or v.shape != axes or lam.numel() != 1 or alpha.numel() != 1:
        raise ValueError(f"thresholds of shape {tuple(tau.shape)}, lam {tuple(lam.shape)}, direction {tuple(v.shape)}, "
            f"alpha {tuple(alpha.shape)}: "
                         f"want one axis, one number, ({dims},) and one number")
    if direct and x.is_cuda and x.dtype is torch.float32 and x.numel() and tau.shape[0]:
        given = tau, lam, alpha, v
        how = _layout(x, dims, construction, *given)
        return _by_layout(superlevel, how, x, given if axes[0] else (tau, lam, None, None))
    if superlevel:
        x, tau, alpha = -x, -tau, -alpha
    if direct:
        return _Soft.apply(x, tau, lam, alpha, v, construction, dims)
    _reject_derivatives_of_func(x, tau, lam, alpha, v)
    derivatives = tau.requires_grad or lam.requires_grad
    chi: Tensor = _soft(x.reshape(-1, *shape), tau, lam, alpha, v, construction, derivatives)[0]
    return chi.reshape(*batch, len(tau))


class ECC(torch.nn.Module):
    """Exact Euler characteristic curves by `ecc`: a layer without a gradient.

    Parameters
    ----------
    thresholds, dims, construction, superlevel, verify
        As for `ecc`. The thresholds are stored in float64.
    """

    thresholds: Tensor

    def __init__(self, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: Construction = "T",
            superlevel: bool = False, verify: bool = True):
        super().__init__()
        self.register_buffer("thresholds", _tensor("thresholds", thresholds).detach().clone().double())
        self.dims, self.construction, self.superlevel, self.verify = dims, construction, superlevel, verify

    def _apply(self, fn: Any, recurse: bool = True) -> "ECC":
        exact = self.thresholds  # half() and float() would convert them, and cuda() would move them from the host
        super()._apply(fn, recurse)
        self.thresholds = exact if self.thresholds.device.type == "cuda" else exact.to(self.thresholds.device)
        return self

    def forward(self, images: Images) -> Tensor:
        """χ of shape (..., m), int64, of images of shape (..., *image), or of a list as in `ecc`."""
        return ecc(images, self.thresholds, dims=self.dims, construction=self.construction, superlevel=self.superlevel,
            verify=self.verify)

    def extra_repr(self) -> str:
        return _described(self)


class SoftECC(torch.nn.Module):
    """Differentiable Euler characteristic curves by `soft_ecc`: a layer.

    Parameters
    ----------
    thresholds, lam, dims, direction, alpha, construction, superlevel
        As for `soft_ecc`.
    learn : collection of {'thresholds', 'lam', 'direction', 'alpha'}
        The names of the module's parameters. The others are buffers. A learned λ is stored as its
        logarithm, ``log_lam``, so that no step makes it negative, any other as ``fixed_lam``.
        ``load_state_dict`` converts one to the other.

    Examples
    --------
    >>> import torch
    >>> from eccbench.torch import SoftECC
    >>> layer = SoftECC(torch.linspace(0, 1, 8), lam=20.0, dims=2, learn=["thresholds"])
    >>> layer
    SoftECC(8 thresholds, dims=2, lam=20, construction='T', learn=['thresholds'])
    >>> layer(torch.rand(4, 3, 32, 32)).shape
    torch.Size([4, 3, 8])
    """

    thresholds: Tensor
    log_lam: Optional[Tensor]
    fixed_lam: Optional[Tensor]
    direction: Optional[Tensor]
    alpha: Optional[Tensor]

    def __init__(
        self,
        thresholds: Union[Tensor, Sequence[float]],
        lam: float,
        *,
        dims: int,
        direction: Union[Tensor, Sequence[float], None] = None,
        alpha: float = 0.0,
        learn: Collection[str] = (),
        construction: Construction = "T",
        superlevel: bool = False,
    ):
        super().__init__()
        if isinstance(learn, str) or any(name not in _LEARNABLE for name in learn):
            raise ValueError(f"learn {learn!r}: want some of {', '.join(_LEARNABLE)}, in a list")
        if direction is None and ("direction" in learn or "alpha" in learn or alpha != 0):
            raise ValueError("direction is missing: alpha is the scale of one")
        if not 0 < float(lam) < math.inf:
            raise ValueError(f"lam {lam}: want more than 0")
        values = {"thresholds": thresholds, "log_lam": math.log(lam) if "lam" in learn else None,
            "fixed_lam": None if "lam" in learn else float(lam), "direction": direction,
            "alpha": None if direction is None else alpha}
        for name, value in values.items():
            if value is None:
                self.register_buffer(name, None)
                continue
            one = _tensor(name, value, None).detach().clone()
            one = one if one.is_floating_point() and isinstance(value, Tensor) else one.to(torch.get_default_dtype())
            if name.replace("log_", "") in learn:
                self.register_parameter(name, torch.nn.Parameter(one))
            else:
                self.register_buffer(name, one)
        self.dims, self.construction, self.superlevel, self.learn = dims, construction, superlevel, sorted(learn)

    @property
    def lam(self) -> Tensor:
        """λ, a tensor of one number."""
        fixed = self.fixed_lam
        return self.log_lam.exp() if fixed is None else fixed  # type: ignore[union-attr]

    def __setstate__(self, state: Dict[str, Any]) -> None:
        super().__setstate__(state)
        if "fixed_lam" not in self._buffers:  # of an earlier version, which stored any λ as its logarithm
            log = self._buffers.get("log_lam")
            self._buffers["fixed_lam"] = None if log is None else log.exp()
            self._buffers.update({} if log is None else {"log_lam": None})

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, *rest: Any) -> None:
        of, other, converted = "fixed_lam", "log_lam", torch.exp
        if self.fixed_lam is None:
            of, other, converted = other, of, torch.log
        if prefix + other in state_dict:
            state_dict[prefix + of] = converted(state_dict.pop(prefix + other))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, images: Images) -> Tensor:
        """χ of shape (..., m) of images of shape (..., *image), or of a list as in `soft_ecc`."""
        held = self._buffers
        if not _is_tracing() and held.keys() >= _NUMBERS:  # none is learned; attributes of a module take longer
            thresholds, lam, direction, alpha = held["thresholds"], held["fixed_lam"], held["direction"], held["alpha"]
        else:
            thresholds, lam, direction, alpha = self.thresholds, self.lam, self.direction, self.alpha
        return soft_ecc(images, thresholds, lam, dims=self.dims, direction=direction,
            alpha=0.0 if direction is None else alpha, construction=self.construction, superlevel=self.superlevel)

    def extra_repr(self) -> str:
        return _described(self, f"lam={self.lam.detach().item():.6g}") + (f", learn={self.learn}" if self.learn else "")


def _described(layer: Any, *more: str) -> str:
    parts = [f"{len(layer.thresholds)} thresholds", f"dims={layer.dims}", *more, f"construction={layer.construction!r}"]
    return ", ".join(parts + ["superlevel=True"] * layer.superlevel)


def _of_list(images: Sequence[Tensor], dims: int, curves: Callable[[Tensor], Tensor], frame: Any = None) -> Tensor:
    """Return the curves of tensors, in their order. Tensors of one shape are one batch.

    frame has a value outside of all sets, and whether there is a direction. With it, images of different shapes on
    a device are one batch, too, in frames of that value.
    """
    if not isinstance(images, (list, tuple)) or not all(isinstance(one, Tensor) for one in images):
        raise TypeError(f"images of {type(images).__name__}: want a tensor or a list of tensors; "
            f"eccbench.curve takes arrays")
    if not images or len({(one.dtype, one.device) for one in images}) > 1:
        raise ValueError(f"list of {len(images)} images: want at least one, all of one type on one device")
    for one in images:
        _split(one, dims)
    shapes = [one.shape for one in images]
    groups = _grouped(range(len(images)), shapes)
    if frame is not None and len(groups) > 1 and images[0].is_cuda and _direct(images[0]) and (
            {*map(type, images)} <= {*_PLAIN} and images[0].dtype in (*_NARROW, torch.float32)):
        groups = _in_frames(groups, shapes, dims, frame[1])
    found = []
    for numbers in groups:
        members = [images[number] for number in numbers]
        same = len({one.shape for one in members}) == 1
        found.append(curves(torch.stack(members) if same else _Framed.apply(frame[0], *members)))
    if len({batch.shape[1:] for batch in found}) > 1:
        raise ValueError("list of images: want the same axes before those of each image")
    if len(groups) == 1:
        return found[0]
    ordered = dict(zip(itertools.chain(*groups), itertools.chain(*found)))
    return torch.stack([ordered[number] for number in range(len(images))])


def _grouped(items: Iterable[Any], kinds: Iterable[Any]) -> List[List[Any]]:
    groups: Dict[Any, List[Any]] = {}
    for item, kind in zip(items, kinds):
        groups.setdefault(kind, []).append(item)
    return list(groups.values())


def _in_frames(
    groups: Sequence[List[int]], shapes: Sequence[torch.Size], dims: int, directed: bool,
) -> List[List[int]]:
    """Merge groups of images of one shape to batches in frames, where that takes less time."""

    def kind(numbers: List[int]) -> Any:
        """Return the axes before those of an image. A direction needs each exactly in the middle of a frame."""
        shape = shapes[numbers[0]]
        first = len(shape) - dims
        return shape[:first], tuple(n % 2 for n in shape[first:]) if directed else ()

    def merged(parts: Sequence[List[int]]) -> List[List[int]]:
        numbers = sorted(itertools.chain(*parts))
        if len(parts) == 1 or _worth_frames([shapes[number] for number in numbers], len(parts)):
            return [numbers]
        half = len(parts) // 2
        return [*merged(parts[:half]), *merged(parts[half:])]

    groups = sorted(groups, key=lambda numbers: shapes[numbers[0]].numel())
    return [numbers for parts in _grouped(groups, map(kind, groups)) for numbers in merged(parts)]


def _worth_frames(shapes: Sequence[Sequence[int]], batches: int) -> bool:
    """Report whether one batch of images in frames takes less time than batches without, and little memory."""
    voxels, own = len(shapes) * math.prod(map(max, zip(*shapes))), sum(map(math.prod, shapes))
    # A step of 2**22 voxels takes 25 µs of an H200, one of another batch 130 µs of the host.
    return voxels - own < (batches - 1) * 2**22 and voxels <= 4 * own + 2**22


class _Framed(torch.autograd.Function):
    """A batch of images of different shapes, each in the middle of a frame. Outside of all sets, the frame has no
    cells: the curves are those of the images."""

    @staticmethod
    def forward(ctx: Any, outside: float, *images: Tensor) -> Tensor:
        whole = [max(sizes) for sizes in zip(*[one.shape for one in images])]
        batch = images[0].new_full((len(images), *whole), outside, dtype=torch.float32)
        first, *steps = batch.stride()
        ctx.dtype, ctx.places = images[0].dtype, []
        for number, one in enumerate(images):
            margins = [(most - n) // 2 for n, most in zip(one.shape, whole)]
            ctx.places.append((one.shape, steps, number * first + sum(map(operator.mul, margins, steps))))
        for one, place in zip(images, ctx.places):
            batch.as_strided(*place).copy_(one)
        return batch

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Tuple[Optional[Tensor], ...]:
        upstream = upstream.contiguous()
        # Copies, as views would keep the frame.
        return (None, *[upstream.as_strided(*place).to(ctx.dtype, copy=True, memory_format=torch.contiguous_format)
            if wanted else None for place, wanted in zip(ctx.places, ctx.needs_input_grad[1:])])


def _split(images: Tensor, dims: int) -> Tuple[torch.Size, torch.Size]:
    """Return the axes before those of an image, and the axes of an image."""
    if isinstance(dims, (bool, float)):
        raise TypeError(f"dims {dims!r}: want a whole number")
    if dims not in (1, 2, 3) or images.ndim < dims:
        raise ValueError(f"dims {dims} of images of shape {tuple(images.shape)}: want 1, 2 or 3, and no more "
            f"than there are")
    if images.device.type not in ("cpu", "cuda", "meta"):
        raise NotImplementedError(f"images on {images.device}: eccbench.torch computes on the CPU and on "
            f"CUDA devices; take images.cpu(), through which gradients go back")
    batch, image = images.shape[: images.ndim - dims], images.shape[images.ndim - dims :]
    if 0 in image:
        raise ValueError(f"an image of shape {tuple(image)} has no voxels")
    return batch, image


def _tensor(name: str, numbers: Any, dtype: Optional[torch.dtype] = torch.float64) -> Tensor:
    """Return real numbers as a tensor. One that is given keeps its type."""
    if isinstance(numbers, Tensor):
        one = numbers.resolve_neg()
    else:
        reject_hidden(name, numbers)
        try:
            one = torch.as_tensor(numbers, dtype=dtype)
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{name} {numbers!r}: want real numbers") from None
    if one.is_complex():
        raise TypeError(f"{name} of {one.dtype}: want real numbers")
    return one


def _beside(name: str, one: Any, images: Tensor) -> Tensor:
    """Return numbers as a tensor on the device of the images, without waiting for it."""
    if isinstance(one, (int, float)):
        return torch.full((), one, dtype=torch.float64, device=images.device)
    one = _tensor(name, one)
    return one if one.device == images.device else one.to(images.device, non_blocking=images.is_cuda)


_nothing: Dict[torch.device, Tuple[Tensor, Tensor]] = {}


def _no_direction(images: Tensor) -> Tuple[Tensor, Tensor]:
    """Return α = 0 and an empty direction."""
    found = _nothing.get(images.device)
    if found is None:
        found = images.new_zeros((), dtype=torch.float64), images.new_empty(0, dtype=torch.float64)
        # Tensors of a transform end with it, and those of an inference mode cannot be saved for a backward pass.
        if _direct(images) and not found[0].is_inference():
            _nothing[images.device] = found
    return found


def _direct(x: Tensor) -> bool:
    """Report whether no tracer, transform or dispatch mode sees the operators of a tensor. Then a call
    bypasses them, in half of the time."""
    return (
        type(x) in _PLAIN
        and not _is_tracing()
        and not _transforms()
        and not _modes()
        and _tracing_state() is None
        and not (x.is_meta or x.is_neg())
    )


def _reject_derivatives_of_func(*tensors: Tensor) -> None:
    if torch.compiler.is_compiling() or not torch._C._are_functorch_transforms_active():
        return
    func = torch._C._functorch
    for x in tensors:
        while func.is_functorch_wrapped_tensor(x):
            if func.is_gradtrackingtensor(x) and (x.requires_grad or _has_tangent(x)):
                raise RuntimeError("soft_ecc does not support derivatives by torch.func, such as torch.func.grad; use "
                    "torch.autograd.grad or backward")
            x = func.get_unwrapped(x)


def _has_tangent(x: Tensor) -> bool:
    """Report whether a tensor of a transform has a derivative forward, which operators see within that transform
    alone."""
    from torch._functorch.pyfunctorch import temporarily_pop_interpreter_stack

    func = torch._C._functorch
    with contextlib.ExitStack() as popped:
        while (top := func.peek_interpreter_stack()) and top.level() > func.maybe_get_level(x):
            popped.enter_context(temporarily_pop_interpreter_stack())
        return torch._VF._unpack_dual(x, level=0)[1] is not None


# These operators are not made by torch.library.custom_op: its operators take longer to call, and the first call imports
# torch._dynamo.
_operators = torch.library.Library("eccbench", "DEF")
_SOFT = "Tensor thresholds, Tensor lam, Tensor alpha, Tensor direction, str construction"
for _schema in (
    "ecc(Tensor images, Tensor thresholds, str construction, bool superlevel, bool verify) -> Tensor",
    f"soft_ecc(Tensor images, {_SOFT}, bool derivatives) -> (Tensor, Tensor, Tensor)",
    f"soft_ecc_backward(Tensor upstream, Tensor images, Tensor kept, {_SOFT}, bool parameters) -> (Tensor, Tensor)",
):
    _operators.define(_schema, tags=(torch.Tag.pt2_compliant_tag,))
_exact = torch.ops.eccbench.ecc.default
_soft = torch.ops.eccbench.soft_ecc.default
_soft_backward = torch.ops.eccbench.soft_ecc_backward.default


def _exact_on_host(images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool) -> Tensor:
    chi = torch.empty(len(images), len(thresholds), dtype=torch.int64)
    try:
        curve(images.numpy(), batch_axis=0, at=thresholds.numpy(), construction=construction, superlevel=superlevel,
            verify=verify, threads=torch.get_num_threads(), out=chi.numpy())
    except ValueError as e:
        raise ValueError(str(e).removesuffix(NAN_ADVICE)) from None
    return chi


def _exact_fake(images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool) -> Tensor:
    return images.new_empty(images.shape[0], thresholds.shape[0], dtype=torch.int64)


def _soft_on_host(
    images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str,
    derivatives: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    """Return χ of images (n, *image), its derivatives by the threshold and by λ if they are wanted, and what the
    backward pass needs: the changes of voxels, and on a device the places of the bins."""
    images = images.contiguous()
    n, m = len(images), len(thresholds)
    numbers = torch.empty(n, 3 if derivatives else 1, m, dtype=torch.float64)
    changes = torch.empty(images.shape, dtype=torch.int8)
    _ask(False, derivatives, images, thresholds, lam, alpha, direction, construction, changes, numbers)
    by = numbers[:, 1:].transpose(0, 1).contiguous() if derivatives else numbers.new_empty(2, 0, m)
    return numbers[:, 0].to(images.dtype, copy=True, memory_format=torch.contiguous_format), by, changes


def _soft_fake(
    images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str,
    derivatives: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    n, m = images.shape[0], thresholds.shape[0]
    kept: Any = images.shape
    if images.device.type == "cuda":
        more = 2 if construction == "V" else 0
        kept = sum(_sizes_of_kept([k + more for k in images.shape[1:]], n, m, direction.shape[0]))
    by = images.new_empty((2, n if derivatives else 0, m), dtype=torch.float64)
    return images.new_empty((n, m)), by, images.new_empty(kept, dtype=torch.int8)


def _soft_backward_on_host(
    upstream: Tensor, images: Tensor, kept: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor,
    construction: str, parameters: bool,
) -> Tuple[Tensor, Tensor]:
    """Return the gradient by the images, and if they are wanted those of each by v, its last axis first, and α."""
    images, upstream = images.contiguous(), upstream.double().contiguous()
    empty = torch.empty_like if len(thresholds) else torch.zeros_like
    gradient, by = empty(images), torch.zeros(len(images), 4, dtype=torch.float64)
    memory = kept.contiguous(), upstream, gradient, by
    _ask(True, False, images, thresholds, lam, alpha, direction, construction, *memory)
    return gradient, by if parameters else by.new_empty(0, 4)


def _soft_backward_fake(
    upstream: Tensor, images: Tensor, kept: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor,
    construction: str, parameters: bool,
) -> Tuple[Tensor, Tensor]:
    by = images.new_empty((images.shape[0] if parameters else 0, 4), dtype=torch.float64)
    return images.new_empty(images.shape), by


def _ask(
    backward: bool, derivatives: bool, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor,
    direction: Tensor, construction: str, *memory: Tensor,
) -> None:
    if not len(images) or not len(thresholds):
        return
    request = {
        "shape": list(images.shape[1:]), "type": str(images.dtype).replace("torch.", ""), "images": len(images),
        "threads": torch.get_num_threads(), "construction": construction, "thresholds": thresholds.double().tolist(),
        "lambda": lam.item(), "alpha": alpha.item(), "backward": backward, "derivatives": derivatives,
        "direction": direction.double().tolist() or [1.0] * (images.ndim - 1),
    }
    if not all(map(math.isfinite, [*request["thresholds"], request["lambda"], request["alpha"],
            *request["direction"]])):
        raise ValueError("thresholds, lam, direction or alpha: one of the numbers is NaN or infinite")
    tensors = (images, *memory)
    try:
        _library.soft(request, tensors, [(t.data_ptr(), t.numel() * t.element_size()) for t in tensors])
    except _library.Error as e:
        raise _translated(e) from None


def _remember(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[Tensor, ...]) -> None:
    *tensors, ctx.construction, _ = inputs
    ctx.dims = inputs[0].ndim - 1
    ctx.save_for_backward(*tensors, *output[1:])
    ctx.set_materialize_grads(False)


def _gradients(ctx: Any, upstream: Optional[Tensor], *_: Any) -> Tuple[Any, ...]:
    if upstream is None:
        return (None,) * 7
    images, thresholds, lam, alpha, direction, by, kept = ctx.saved_tensors
    images = images.resolve_neg().reshape(-1, *images.shape[images.ndim - ctx.dims :])
    wanted = ctx.needs_input_grad
    parameters = wanted[3] or wanted[4]
    of_images = of_each = None
    if wanted[0] or parameters:
        step = _soft_backward  # rejects derivatives of the second order
        if _direct(upstream) and not torch.is_grad_enabled():
            step = _soft_backward_on_device if images.is_cuda else _soft_backward_on_host
        given = images, kept, thresholds, lam, alpha, direction, ctx.construction, parameters
        of_images, of_each = step(upstream, *given)
    others = _by_parameters(wanted, upstream, by, of_each, images, thresholds, lam, alpha, direction)
    return of_images, *others, None, None


def _by_parameters(
    wanted: Sequence[bool], upstream: Tensor, by: Any, of_each: Any, images: Tensor, thresholds: Tensor, lam: Tensor,
    alpha: Tensor, direction: Tensor,
) -> Tuple[Any, ...]:
    """Return the gradients by the thresholds, λ, α and v, None for those that are not wanted."""
    of_thresholds = of_lam = of_alpha = of_direction = None
    if _grad_enabled() and (wanted[1] or wanted[2]):
        by = _Once.apply(by, images, thresholds, lam, alpha, direction)
    if wanted[1]:
        of_thresholds = (upstream * by[0]).sum(0).to(thresholds.dtype)
    if wanted[2]:
        of_lam = (upstream * by[1]).sum().to(lam.dtype).reshape(lam.shape)
    all_of: Any = of_each.sum(0) if wanted[3] or wanted[4] else None
    if wanted[3]:
        of_alpha = all_of[3].to(alpha.dtype).reshape(alpha.shape)
    if wanted[4]:
        of_direction = all_of[: direction.shape[0]].flip(0).to(direction.dtype)
    return of_thresholds, of_lam, of_alpha, of_direction


class _Soft(torch.autograd.Function):
    """The operator soft_ecc with its gradient, for calls that bypass operators."""

    @staticmethod
    def forward(
        ctx: Any, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str,
        dims: int,
    ) -> Tensor:
        step = _soft_on_device if images.is_cuda else _soft_on_host
        x = images.reshape(-1, *images.shape[images.ndim - dims :])
        ctx.shape, ctx.curves = images.shape, (len(x), len(thresholds))
        derivatives = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
        given = x, thresholds, lam, alpha, direction, construction, derivatives
        output = step(*given)
        _remember(ctx, (images, *given[1:]), output)
        ctx.dims = dims
        return output[0].resize_(*images.shape[: images.ndim - dims], thresholds.shape[0])

    @staticmethod
    def backward(ctx: Any, upstream: Optional[Tensor]) -> Tuple[Any, ...]:
        if upstream is not None:
            upstream = upstream.reshape(ctx.curves)
        of_images, *others = _gradients(ctx, upstream)
        return None if of_images is None else of_images.reshape(ctx.shape), *others


def _no_second_order(ctx: Any, *_: Any) -> Any:
    raise RuntimeError("soft_ecc has no derivatives of the second order: leave out create_graph=True, "
        "or take its gradient of detached tensors")


class _Once(torch.autograd.Function):
    """Derivatives that were computed in the forward pass, as functions of its inputs."""

    @staticmethod
    def forward(ctx: Any, derivatives: Tensor, *inputs: Optional[Tensor]) -> Tensor:
        return derivatives.view_as(derivatives)

    backward = staticmethod(_no_second_order)


# On CUDA devices.


def _verifies(device: torch.device) -> bool:
    """Report whether there are kernels that verify on a device."""
    return torch.version.hip is None and torch.cuda.get_device_capability(device) >= (8, 0)


@functools.lru_cache(maxsize=256)
def _values(numbers: bytes, negated: bool) -> Tuple[Tuple[float, ...], float, float]:
    """Return float64 numbers as a tuple, which eccbench.cuda recognizes, their least and their greatest magnitude."""
    at = tuple(-v if negated else v for v in memoryview(numbers).cast("d"))
    return at, min(at), max(map(abs, at))


def _exact_on_device(
    images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool, dims: Optional[int] = None,
) -> Tensor:
    """Return the curves of images, whose number of axes is by default one less than that of the tensor."""
    images, thresholds, dims = images.detach(), thresholds.detach().cpu(), dims or images.ndim - 1
    limit = _LIMITS.get(images.dtype)
    if construction == "T" and limit is not None and thresholds.shape[0]:
        at, least, greatest = _values(thresholds.double().numpy().tobytes(), superlevel)
        if not verify or _verifies(images.device) and greatest <= torch.finfo(torch.float32).max:
            if superlevel:
                images = -images.float()
            elif least < limit:  # χ is 0, which is a question to floats alone
                images = images.float()
            return cuda.curve(images, at=at, dims=dims, verify=verify)
    batch, shape = _split(images, dims)
    chi = _exact_on_host(images.cpu().reshape(-1, *shape), thresholds, construction, superlevel, verify)
    return chi.reshape(*batch, thresholds.shape[0]).to(images.device)


# The types of eccbench.cuda.curve, and their least values.
_LIMITS = {torch.bool: 0, torch.uint8: 0, torch.int8: -(2**7), torch.int16: -(2**15), torch.float16: -math.inf,
    torch.float32: -math.inf}
_LOW = {torch.float32: -math.inf, torch.float64: -1e300}  # below all values


def _sizes_of_kept(counted: Sequence[Any], images: Any, thresholds: int, axes: int) -> Tuple[Any, Any, Any]:
    """Return the bytes of three parts, given the shape of a counted image and the axes of the direction: the places of
    the bins and thresholds; the terms of a direction, float32 for each voxel of a row and for each row; and the
    changes, one for each counted voxel, each row filled up to four."""
    rows: Any = 1
    for n in counted[:-1]:
        rows = rows * n
    w = counted[-1]
    return 8 * (5 + thresholds), 4 * (w + rows) if axes else 0, images * rows * ((w + 3) // 4 * 4)


def _counted(images: Tensor, construction: str, dims: int) -> Tensor:
    """Return the images as the kernels count them: voxels are top cells.

    Where they are vertices, a cell of k dimensions is dual to one of d − k of top cells, and has the
    greatest value in Y where that has the least in −Y. So −Y is counted, between voxels that are less
    than all: they have the cells at the sides, which are dual to none. Those are a sphere, whose χ is 0 or 2.
    """
    if construction == "V":
        return torch.nn.functional.pad(-images, (1, 1) * dims, value=_LOW[images.dtype])
    return images.contiguous()


def _of_images(x: Tensor, construction: str, dims: int) -> Tensor:
    """Return counted images without their border."""
    return x[(..., *[slice(1, -1)] * dims)].contiguous() if construction == "V" else x


_layouts: Dict[Any, Any] = {}


class _Layout:
    """The plan for images and parameters of one layout, and the sizes of the memory of a call: that which the
    backward pass needs, and the working memory of the forward pass."""

    def __init__(self, images: Tensor, dims: int, construction: str, numbers: Sequence[Tensor]):
        x = _counted(images, construction, dims)
        x = x.reshape(-1, *x.shape[x.ndim - dims :])
        self.dims, self.construction, self.images, self.image = dims, construction, len(x), x.shape[1:]
        self.vertices = construction == "V"
        thresholds, self.axes = numbers[0].shape[0], numbers[3].shape[0]
        self.curves = *images.shape[: images.ndim - dims], thresholds
        self.float64 = [one.dtype is torch.float64 for one in numbers]
        doubles = sum(double << bit for bit, double in enumerate(self.float64))
        self.plain = all(one.dtype in (torch.float32, torch.float64) for one in numbers)
        plan = cuda.soft(x, thresholds, self.vertices, self.axes > 0, doubles)
        if plan.kept != sum(_sizes_of_kept(self.image, self.images, thresholds, self.axes)):
            raise RuntimeError("eccbench's library has another version than its Python files: install eccbench again")
        self.add, self.blocks, self.kept = plan.add, plan.blocks // self.images, plan.kept
        self.work = plan.memory // 3, plan.memory  # without derivatives and with them

    def forward(
        self, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Any, direction: Any, derivatives: bool,
    ) -> Tuple[Tensor, Any, Tensor]:
        """Add the forward pass, and return χ, its derivatives and the memory that the backward pass needs."""
        x = _counted(images, self.construction, self.dims) if self.vertices else images
        chi, kept = images.new_empty(self.curves), images.new_empty(self.kept, dtype=_int8)
        work = images.new_empty(self.work[derivatives], dtype=_int8) if self.work[derivatives] else None
        by = images.new_empty((2, self.images, self.curves[-1]), dtype=torch.float64) if derivatives else None
        if not self.plain:
            given = thresholds, lam, alpha, direction
            thresholds, lam, alpha, direction = (
                one if double or one is None else one.float() for one, double in zip(given, self.float64))
        thresholds, of_alpha, of_direction = thresholds.contiguous(), 0, 0
        if self.axes:
            direction = direction.contiguous()
            of_alpha, of_direction = alpha.data_ptr(), direction.data_ptr()
        self.add(
            1 if derivatives else 0, x.data_ptr(), kept.data_ptr(), thresholds.data_ptr(), lam.data_ptr(), of_alpha,
            of_direction, 0 if work is None else work.data_ptr(), chi.data_ptr(), 0 if by is None else by.data_ptr(),
            0, 0, 0)
        return chi, by, kept

    def backward(
        self, upstream: Tensor, images: Tensor, kept: Tensor, alpha: Any, direction: Any, parameters: bool,
    ) -> Tuple[Tensor, Any]:
        """Add the backward pass, and return the gradients by the images, and if parameters is set those by each
        image's v and α."""
        x = _counted(images, self.construction, self.dims) if self.vertices else images
        upstream, gradient, moments = upstream.contiguous(), _empty_like(x), None
        if parameters:
            moments = x.new_empty((self.images, self.blocks, 4), dtype=torch.float64)
        self.add(
            2, x.data_ptr(), kept.data_ptr(), 0, 0, 0, 0, 0, 0, 0, upstream.data_ptr(), gradient.data_ptr(),
            0 if moments is None else moments.data_ptr())
        if self.vertices:
            gradient = _of_images(gradient, self.construction, self.dims)
        return gradient, None if moments is None else _by_direction(moments.sum(1), _Tilt(alpha, direction, self.image))


def _key(
    x: Tensor, dims: int, construction: str, tau: Tensor, lam: Tensor, alpha: Optional[Tensor] = None,
    v: Optional[Tensor] = None,
) -> Tuple[Any, ...]:
    """Return the layout of tensors, and their types and devices. There is no v without a direction."""
    key = (
        dims, construction, x.shape, x.dtype, x.get_device(), x.data_ptr() % 16, tau.shape, tau.dtype, tau.get_device(),
        tau.is_neg(), lam.shape, lam.dtype, lam.get_device(), lam.is_neg())
    if v is None or alpha is None:
        return key
    return (*key, alpha.shape, alpha.dtype, alpha.get_device(), alpha.is_neg(), v.shape, v.dtype, v.get_device(),
        v.is_neg())


def _layout(x: Tensor, dims: int, construction: str, *numbers: Tensor) -> Any:
    """Return the layout of packed float32 images and parameters, made for the first of them."""
    key = _key(x, dims, construction, *(numbers if numbers[3].shape[0] else numbers[:2]))
    found = _layouts.get(key)
    if found is None:
        if len(_layouts) >= 1024:
            _layouts.clear()
        found = _layouts[key] = _Layout(x, dims, construction, numbers)
    return found


def _by_layout(superlevel: bool, how: Any, images: Tensor, given: Tuple[Tensor, ...]) -> Tensor:
    """Return the curves of checked float32 images, with minimal work of the host. In a step of training the host
    takes longer than the device."""
    thresholds, lam, alpha, direction = given
    if superlevel:
        images, thresholds = -images, -thresholds
        alpha = -alpha if how.axes else alpha
        given = thresholds, lam, alpha, direction
    # A level of derivatives forward, which are rejected, may be of each tensor.
    learn = (thresholds.requires_grad or lam.requires_grad or forward_ad._current_level >= 0
        or how.axes and (alpha.requires_grad or direction.requires_grad))
    return _apply(how, images, given, *given) if learn else _apply(how, images, given)


class _SoftOnDevice(torch.autograd.Function):
    """_Soft for float32 images on a device. The parameters are inputs only if one of them is learned."""

    @staticmethod
    def forward(ctx: Any, how: Any, images: Tensor, given: Tuple[Tensor, ...], *learned: Tensor) -> Tensor:
        chi, by, kept = how.forward(images, *given, bool(learned) and True in ctx.needs_input_grad[3:5])
        ctx.given = how, given
        ctx.set_materialize_grads(False)
        if learned:
            ctx.save_for_backward(images, kept, by, *given[2:])
        else:
            ctx.save_for_backward(images, kept)
        return chi

    @staticmethod
    def backward(ctx: Any, upstream: Optional[Tensor]) -> Tuple[Any, ...]:
        wanted = ctx.needs_input_grad
        if upstream is None:
            return (None,) * len(wanted)
        images, kept, *more = ctx.saved_tensors
        how, (thresholds, lam, alpha, direction) = ctx.given
        by, alpha, direction = more or (None, alpha, direction)
        parameters = True in wanted[5:]
        of_images = of_each = None
        if _grad_enabled() or not _direct(upstream):  # by the operator, which rejects a second order
            alpha, direction = (alpha, direction) if how.axes else _no_direction(images)
            rows, x = upstream.reshape(how.images, -1), images.reshape(-1, *images.shape[images.ndim - how.dims :])
            given = x, kept, thresholds, lam, alpha, direction, how.construction, parameters
            of_images, of_each = _soft_backward(rows, *given)
            of_images = of_images.reshape(images.shape)
        elif wanted[1] or parameters:
            of_images, of_each = how.backward(upstream, images, kept, alpha, direction, parameters)
        if not more:
            return None, of_images, *(None,) * (len(wanted) - 2)
        rows = upstream.reshape(how.images, -1)
        of_given = _by_parameters(wanted[2:], rows, by, of_each, images, thresholds, lam, alpha, direction)
        return None, of_images, None, *of_given


# Function.apply without its search for transforms of torch.func: _direct found none. The stand-in for torch with which
# the site is made has none.
_apply: Any = getattr(super(_SoftOnDevice.__base__, _SoftOnDevice), "apply", None)


def _check_on_device(images: Tensor, *others: Tensor) -> None:
    for one in others:
        if one.device != images.device:
            raise ValueError(f"images on {images.device} and a tensor on {one.device}: want all of them on one device")


def _soft_on_device(
    images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str,
    derivatives: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    _check_on_device(images, thresholds, lam, alpha, direction)
    given = thresholds, lam, alpha, direction, construction, derivatives
    if images.dtype == torch.float64:
        return _exactly(images, *given)
    if not images.numel() or not thresholds.shape[0]:
        return _soft_fake(images, *given)
    images = images.contiguous()
    how = _layout(images, images.ndim - 1, construction, thresholds, lam, alpha, direction)
    chi, by, kept = how.forward(images, thresholds, lam, alpha, direction, derivatives)
    by = images.new_empty((2, 0, thresholds.shape[0]), dtype=torch.float64) if by is None else by
    return chi, by, kept


def _soft_backward_on_device(
    upstream: Tensor, images: Tensor, kept: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor,
    construction: str, parameters: bool,
) -> Tuple[Tensor, Tensor]:
    _check_on_device(images, thresholds, lam, alpha, direction)
    if images.dtype == torch.float64:
        given = images, kept, thresholds, lam, alpha, direction, construction, parameters
        return _exact_gradient(upstream, *given)
    by = images.new_zeros((images.shape[0] if parameters else 0, 4), dtype=torch.float64)
    if not images.numel() or not thresholds.shape[0]:
        return images.new_zeros(images.shape), by
    images = images.contiguous()
    how = _layout(images, images.ndim - 1, construction, thresholds, lam, alpha, direction)
    gradient, of_each = how.backward(upstream, images, kept, alpha, direction, parameters and how.axes > 0)
    return gradient, by if of_each is None else of_each


class _Tilt:
    """The sum that is added to X, in float64."""

    def __init__(self, alpha: Tensor, direction: Tensor, shape: Sequence[int]):
        v = direction.double()
        self.alpha, self.dims = alpha.double().reshape(()), len(v)
        self.length = v.norm()
        self.u = v / self.length
        self.places = [torch.arange(n, dtype=torch.float64, device=v.device) - (n - 1) / 2 for n in shape]

    def of(self) -> Tensor:
        """Return the term of each voxel."""
        terms = [self.alpha * u * p for u, p in zip(self.u, self.places)]
        total = terms[-1]
        for k, term in enumerate(reversed(terms[:-1]), 2):
            total = term.reshape(-1, *[1] * (k - 1)) + total
        return total


def _by_direction(sums: Tensor, tilt: _Tilt) -> Tensor:
    """Return the gradients by v, its last axis first, and by α. The sums are those of c·G' and of c·G' times the
    distance from the first voxel along each axis, the last axis first."""
    by = torch.zeros(len(sums), 4, dtype=torch.float64, device=sums.device)
    first = torch.stack([p[0] for p in reversed(tilt.places)])
    moment = (sums[:, 1 : 1 + tilt.dims] + sums[:, :1] * first).flip(1)
    along = moment @ tilt.u
    by[:, : tilt.dims] = (-(tilt.alpha / tilt.length) * (moment - along[:, None] * tilt.u)).flip(1)
    by[:, 3] = -along
    return by


# In float64, to check gradients: every sigmoid is evaluated, and the kernels only find the changes.


def _exactly(
    images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str,
    derivatives: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    chi, by, kept = _soft_fake(images, thresholds, lam, alpha, direction, construction, derivatives)
    kept.zero_()  # there are no bins
    if not chi.numel() or not images.numel():
        return chi.zero_(), by.zero_(), kept
    y = images + _Tilt(alpha, direction, images.shape[1:]).of() if len(direction) else images
    x = _counted(y, construction, images.ndim - 1)
    # By the number of lesser values that there are, which float32 has.
    y, order = x.flatten(1).sort(1)
    ranks = torch.nn.functional.pad((y[:, 1:] != y[:, :-1]).cumsum(1), (1, 0)).float()
    ranked = torch.empty_like(ranks).scatter_(1, order, ranks).reshape(x.shape)
    _, _, counted = _soft_on_device(ranked, thresholds[:1].float(), lam.float(), alpha, direction[:0], "T", False)
    changes = _changes(kept, x)
    changes.copy_(_changes(counted, x))
    c, y, sign, start = changes[..., : x.shape[-1]].flatten(1).double(), x.flatten(1), 1.0, 0.0
    tau, steep = thresholds.double(), lam.double().reshape(())
    if construction == "V":
        tau, sign, start = -tau, *((1.0, -1.0) if (x.ndim - 1) % 2 else (-1.0, 1.0))
    for k, t in enumerate(tau):
        s = torch.sigmoid(steep * (t - y))
        d = c * s * (1 - s)
        chi[:, k] = start + sign * (c * s).sum(1)
        if derivatives:
            by[0, :, k] = (-sign if construction == "V" else 1.0) * steep * d.sum(1)
            by[1, :, k] = sign * ((t - y) * d).sum(1)
    return chi, by, kept


def _changes(kept: Tensor, x: Tensor) -> Tensor:
    """Return the changes of counted images, of shape (n, rows, row filled up to four)."""
    w = (x.shape[-1] + 3) // 4 * 4
    rows = x[0].numel() // x.shape[-1]
    return kept[len(kept) - len(x) * rows * w :].view(len(x), rows, w)


def _exact_gradient(
    upstream: Tensor, images: Tensor, kept: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor,
    construction: str, parameters: bool,
) -> Tuple[Tensor, Tensor]:
    dims = images.ndim - 1
    by = torch.zeros(len(images) if parameters else 0, 4, dtype=torch.float64, device=images.device)
    if not images.numel() or not len(thresholds):
        return images.new_zeros(images.shape), by
    tilt = _Tilt(alpha, direction, images.shape[1:]) if len(direction) else None
    x = _counted(images + tilt.of() if tilt else images, construction, dims)
    turn = -1.0 if construction == "V" else 1.0
    g = upstream.double() * (turn if construction == "V" and dims % 2 else 1.0)
    slope, steep = torch.zeros((), dtype=torch.float64, device=x.device), lam.double().reshape(())
    for t, of in zip(turn * thresholds.double(), g.unbind(1)):
        s = torch.sigmoid(steep * (t - x.flatten(1)))
        slope = slope + of[:, None] * steep * s * (1 - s)
    changes = _changes(kept, x)[..., : x.shape[-1]].flatten(1).double()
    moved = _of_images((changes * slope).reshape(x.shape), construction, dims)
    if tilt and parameters:
        sums = [moved.flatten(1).sum(1)]
        for axis in reversed(range(dims)):
            at = torch.arange(images.shape[1 + axis], dtype=torch.float64, device=x.device)
            sums.append((moved * at.reshape(-1, *[1] * (dims - 1 - axis))).flatten(1).sum(1))
        by = _by_direction(torch.stack(sums, 1), tilt)
    return -moved, by


for _name, _on_host, _on_device, _fake in (
    ("ecc", _exact_on_host, _exact_on_device, _exact_fake),
    ("soft_ecc", _soft_on_host, _soft_on_device, _soft_fake),
    ("soft_ecc_backward", _soft_backward_on_host, _soft_backward_on_device, _soft_backward_fake),
):
    _operators.impl(_name, _on_host, "CPU")
    _operators.impl(_name, _on_device, "CUDA")
    torch.library.register_fake(f"eccbench::{_name}", _fake, lib=_operators)
torch.library.register_autograd("eccbench::soft_ecc", _gradients, setup_context=_remember, lib=_operators)
torch.library.register_autograd("eccbench::soft_ecc_backward", _no_second_order, lib=_operators)
