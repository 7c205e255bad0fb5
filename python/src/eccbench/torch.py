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

The hole of the ring is filled at 9. So the gradient says that χ grows where the middle falls.
"""

# PyTorch reads the annotations of operators as types: they are no strings here.

import math
from typing import Any, Collection, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from . import _library, cuda
from ._arguments import Construction
from ._curve import _translated, curve

if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"eccbench.torch needs PyTorch 2.4 or later, this is {torch.__version__}")

__all__ = ["ECC", "SoftECC", "ecc", "soft_ecc"]

_LEARNABLE = ("thresholds", "lam", "direction", "alpha")


def ecc(images: Tensor, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: Construction = "T", superlevel: bool = False, verify: bool = True) -> Tensor:
    """Exact Euler characteristic curves of images, without a gradient.

    Parameters
    ----------
    images : Tensor of shape (..., *image)
        Any number of axes before the `dims` of each image, on the CPU or a CUDA device, of any
        type that `eccbench.curve` takes, or bfloat16. Finite.
    thresholds : Tensor of shape (m,), or sequence of float
        The values at which χ is taken. On the CPU, unless the device may be waited for.
    dims : {1, 2, 3}
        How many of the last axes are those of an image.
    construction, superlevel, verify
        As those of `eccbench.curve`.

    Returns
    -------
    chi : Tensor of shape (..., m), int64
        On the device of the images. Images on a CUDA device are copied to the host, and counted
        and verified there; with ``verify=False``, construction T and a type that
        `eccbench.cuda.curve` takes they are counted on the device, and nothing waits.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As of `eccbench.curve`.

    Examples
    --------
    >>> import torch, eccbench.torch
    >>> eccbench.torch.ecc(torch.eye(4).expand(2, 3, 4, 4), [0.0, 1.0], dims=2).shape
    torch.Size([2, 3, 2])
    """
    batch, shape = _split(images, dims)
    if images.dtype == torch.bfloat16:
        images = images.float()
    at = thresholds if isinstance(thresholds, Tensor) else torch.as_tensor(thresholds, dtype=torch.float64)
    if at.dtype == torch.bfloat16:
        at = at.float()
    if at.ndim != 1:
        raise ValueError(f"thresholds of shape {tuple(at.shape)}: want one axis")
    chi: Tensor = _exact(images.detach().reshape(-1, *shape), at.detach(), construction, superlevel, verify)
    return chi.reshape(*batch, len(at))


def soft_ecc(
    images: Tensor,
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
    images : Tensor of shape (..., *image)
        X: any number of axes before the `dims` of each image, on the CPU or a CUDA device; finite.
        float32 and float64 are taken as they are; bfloat16, float16, bool and integers of up to 16 bits as
        float32.
    thresholds : Tensor of shape (m,), or sequence of float
        τ, in grey values and in any order.
    lam : Tensor of one number, or float
        λ > 0, the steepness, in 1/grey value.
    dims : {1, 2, 3}
        How many of the last axes are those of an image.
    direction : Tensor of shape (dims,), or sequence of float, optional
        v ≠ 0, by the axes of an image in their order; u = v/|v|.
    alpha : Tensor of one number, or float
        α, in grey values a voxel. p is the place of a voxel, from the middle of the image.
    construction : {'T', 'V'}
        'T': voxels are the top cells of a complex, 'V': they are its vertices.
    superlevel : bool
        Take sets of the values of Y at or above each threshold.

    Returns
    -------
    chi : Tensor of shape (..., m)
        Of float64 for images of float64, otherwise of float32. Gradients go to the images,
        thresholds, lam, direction and alpha. There are none of the second order.

    Raises
    ------
    TypeError, ValueError
        If a tensor is of a type or a shape that is not understood; on the CPU also if a value is NaN
        or infinite, or λ is not greater than 0.
    NotImplementedError
        If the images are neither on the CPU nor on a CUDA device.

    Notes
    -----
    float32 is within 1e-5 of the definition, relative to the largest number of each result, at
    a cost that does not depend on m: doc/proofs/softecc.md of the sources has the method. In float64
    every sigmoid is evaluated, to the precision of the type, which is slow and of use to check
    gradients. Of voxels that are equal, the gradient is one of the derivatives to either side.
    As many cores are used as ``torch.get_num_threads()`` says. An upstream gradient that is not
    finite gives NaN.

    On a CUDA device all is added to the current stream, and nothing waits for it, so nobody looks
    at the numbers: χ is NaN where one of them is, where λ is not greater than 0, and where λ times
    the range of the values that a threshold sees is more than 3,000. Bins are 65,536 there.

    References
    ----------
    .. [1] Saxena et al., "A PyTorch framework for scalable non-crossing Euler characteristic
       curves", 2025, arXiv 2510.20271.
    """
    batch, shape = _split(images, dims)
    x = images
    if x.dtype in (torch.bfloat16, torch.float16, torch.bool, torch.uint8, torch.int8, torch.int16):
        x = x.float()
    elif x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"images of {x.dtype}: want float32, float64, bfloat16, float16, bool or integers of up to 16 bits")
    if direction is None:
        if isinstance(alpha, Tensor) or alpha != 0:
            raise ValueError("direction is missing: alpha is the scale of one")
        direction = torch.empty(0, dtype=torch.float64)  # Y is X
        axes: Tuple[int, ...] = (0,)
    else:
        axes = (dims,)
    tau, lam, alpha, v = (_beside(one, images) for one in (thresholds, lam, alpha, direction))
    if tau.ndim != 1 or v.shape != axes or lam.numel() != 1 or alpha.numel() != 1:
        raise ValueError(f"thresholds of shape {tuple(tau.shape)}, lam {tuple(lam.shape)}, direction {tuple(v.shape)}, alpha {tuple(alpha.shape)}: "
                         f"want one axis, one number, ({dims},) and one number")
    if superlevel:
        x, tau, alpha = -x, -tau, -alpha
    chi, _, _, _, _ = _soft(x.reshape(-1, *shape), tau, lam, alpha, v, construction)
    out: Tensor = chi.to(x.dtype).reshape(*batch, len(tau))
    return out


class ECC(torch.nn.Module):
    """Exact Euler characteristic curves, as `ecc` takes them: a layer without a gradient.

    Parameters
    ----------
    thresholds, dims, construction, superlevel, verify
        As those of `ecc`. The thresholds are kept in float64.
    """

    thresholds: Tensor

    def __init__(self, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: Construction = "T", superlevel: bool = False, verify: bool = True):
        super().__init__()
        given = thresholds if isinstance(thresholds, Tensor) else torch.as_tensor(thresholds, dtype=torch.float64)
        self.register_buffer("thresholds", given.detach().clone().double())
        self.dims, self.construction, self.superlevel, self.verify = dims, construction, superlevel, verify

    def _apply(self, fn: Any, recurse: bool = True) -> "ECC":
        exact = self.thresholds  # half() and float() would move them, and of cuda() they are wanted on the host
        super()._apply(fn, recurse)
        self.thresholds = exact if self.thresholds.device.type == "cuda" else exact.to(self.thresholds.device)
        return self

    def forward(self, images: Tensor) -> Tensor:
        """χ of shape (..., m), int64, of images of shape (..., *image)."""
        return ecc(images, self.thresholds, dims=self.dims, construction=self.construction, superlevel=self.superlevel, verify=self.verify)

    def extra_repr(self) -> str:
        return _described(self)


class SoftECC(torch.nn.Module):
    """Differentiable Euler characteristic curves, as `soft_ecc` takes them.

    Parameters
    ----------
    thresholds, lam, dims, direction, alpha, construction, superlevel
        As those of `soft_ecc`.
    learn : collection of {'thresholds', 'lam', 'direction', 'alpha'}
        What is a parameter of the module. The rest is in its buffers. λ is kept by its
        logarithm, ``log_lam``, so that no step makes it negative.

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
    log_lam: Tensor
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
        values = {"thresholds": thresholds, "log_lam": math.log(lam), "direction": direction, "alpha": None if direction is None else alpha}
        for name, value in values.items():
            if value is None:
                self.register_buffer(name, None)
                continue
            one = torch.as_tensor(value).detach().clone()
            one = one if one.is_floating_point() and isinstance(value, Tensor) else one.to(torch.get_default_dtype())
            if name.replace("log_", "") in learn:
                self.register_parameter(name, torch.nn.Parameter(one))
            else:
                self.register_buffer(name, one)
        self.dims, self.construction, self.superlevel, self.learn = dims, construction, superlevel, sorted(learn)

    @property
    def lam(self) -> Tensor:
        """λ, a tensor of one number."""
        return self.log_lam.exp()

    def forward(self, images: Tensor) -> Tensor:
        """χ of shape (..., m) of images of shape (..., *image)."""
        return soft_ecc(images, self.thresholds, self.lam, dims=self.dims, direction=self.direction, alpha=0.0 if self.alpha is None else self.alpha,
                        construction=self.construction, superlevel=self.superlevel)

    def extra_repr(self) -> str:
        return _described(self, f"lam={self.lam.detach().item():.6g}") + (f", learn={self.learn}" if self.learn else "")


def _described(layer: Any, *more: str) -> str:
    parts = [f"{len(layer.thresholds)} thresholds", f"dims={layer.dims}", *more, f"construction={layer.construction!r}"]
    return ", ".join(parts + ["superlevel=True"] * layer.superlevel)


def _split(images: Tensor, dims: int) -> Tuple[torch.Size, torch.Size]:
    """The axes before those of an image, and those."""
    if not isinstance(images, Tensor):
        raise TypeError(f"images of {type(images).__name__}: want a tensor; eccbench.curve takes arrays")
    if dims not in (1, 2, 3) or images.ndim < dims:
        raise ValueError(f"dims {dims} of images of shape {tuple(images.shape)}: want 1, 2 or 3, and no more than there are")
    if images.device.type not in ("cpu", "cuda", "meta"):
        raise NotImplementedError(f"images on {images.device}: eccbench.torch computes on the CPU and on CUDA devices; take images.cpu(), through which gradients go back")
    return images.shape[: images.ndim - dims], images.shape[images.ndim - dims :]


def _beside(one: Any, images: Tensor) -> Tensor:
    """Numbers as a tensor where the images are, without waiting for a device."""
    if isinstance(one, Tensor):
        return one if one.device == images.device else one.to(images.device, non_blocking=images.is_cuda)
    if isinstance(one, (int, float)):
        return torch.full((), one, dtype=torch.float64, device=images.device)
    return torch.as_tensor(one, dtype=torch.float64).to(images.device, non_blocking=images.is_cuda)


@torch.library.custom_op("eccbench::ecc", mutates_args=(), device_types="cpu")
def _exact(images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool) -> Tensor:
    chi = torch.empty(len(images), len(thresholds), dtype=torch.int64)
    curve(images.numpy(), batch_axis=0, at=thresholds.numpy(), construction=construction, superlevel=superlevel, verify=verify,
          threads=torch.get_num_threads(), out=chi.numpy())
    return chi


@_exact.register_fake
def _(images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool) -> Tensor:
    return images.new_empty(images.shape[0], thresholds.shape[0], dtype=torch.int64)


@torch.library.custom_op("eccbench::soft_ecc", mutates_args=(), device_types="cpu")
def _soft(images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """χ of images (n, *image), its derivatives by the threshold and by λ, and what the backward pass takes: of each voxel, and on a device of the bins."""
    images = images.contiguous()
    n, m = len(images), len(thresholds)
    numbers = torch.empty(n, 3, m, dtype=torch.float64)
    changes = torch.empty(images.shape, dtype=torch.int8)
    _ask(False, images, thresholds, lam, alpha, direction, construction, changes, numbers)
    return (*(numbers[:, k].clone(memory_format=torch.contiguous_format) for k in range(3)), changes, torch.empty(0, dtype=torch.float64))


@_soft.register_fake
def _(images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    shape, bins = (_shape_of_changes(images, construction), 4) if images.device.type == "cuda" else (images.shape, 0)
    changes = torch.empty(shape, dtype=torch.int8, device=images.device)
    return (*(images.new_empty(images.shape[0], thresholds.shape[0], dtype=torch.float64) for _ in range(3)), changes, images.new_empty(bins, dtype=torch.float64))


@torch.library.custom_op("eccbench::soft_ecc_backward", mutates_args=(), device_types="cpu")
def _soft_backward(upstream: Tensor, images: Tensor, changes: Tensor, bins: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor]:
    """The gradients by the images, and for each of them by v, its last axis first, and α."""
    images, upstream = images.contiguous(), upstream.contiguous()
    gradient, parameters = torch.empty_like(images), torch.empty(len(images), 4, dtype=torch.float64)
    _ask(True, images, thresholds, lam, alpha, direction, construction, changes.contiguous(), upstream, gradient, parameters)
    return gradient, parameters


@_soft_backward.register_fake
def _(upstream: Tensor, images: Tensor, changes: Tensor, bins: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor]:
    return torch.empty(images.shape, dtype=images.dtype, device=images.device), images.new_empty(images.shape[0], 4, dtype=torch.float64)


def _ask(backward: bool, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str, *memory: Tensor) -> None:
    if len(images) == 0:
        return
    request = {
        "shape": list(images.shape[1:]), "type": str(images.dtype).replace("torch.", ""), "images": len(images), "threads": torch.get_num_threads(),
        "construction": construction, "thresholds": thresholds.double().tolist(), "lambda": lam.item(), "alpha": alpha.item(), "direction": direction.double().tolist() or [1.0] * (images.ndim - 1),
        "backward": backward,
    }
    if not all(map(math.isfinite, [*request["thresholds"], request["lambda"], request["alpha"], *request["direction"]])):
        raise ValueError("thresholds, lam, direction or alpha: one of the numbers is NaN or infinite")
    tensors = (images, *memory)
    try:
        _library.soft(request, tensors, [(t.data_ptr(), t.numel() * t.element_size()) for t in tensors])
    except _library.Error as e:
        raise _translated(e) from None


def _remember(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[Tensor, ...]) -> None:
    *tensors, ctx.construction = inputs
    _, by_threshold, by_lam, changes, bins = output
    ctx.save_for_backward(*tensors, by_threshold, by_lam, changes, bins)


def _gradients(ctx: Any, upstream: Tensor, *_: Any) -> Tuple[Any, ...]:
    images, thresholds, lam, alpha, direction, by_threshold, by_lam, changes, bins = ctx.saved_tensors
    of_images = of_thresholds = of_lam = of_alpha = of_direction = None
    if ctx.needs_input_grad[0] or ctx.needs_input_grad[3] or ctx.needs_input_grad[4]:
        of_images, parameters = _soft_backward(upstream, images, changes, bins, thresholds, lam, alpha, direction, ctx.construction)
        all_of = parameters.sum(0) if ctx.needs_input_grad[3] or ctx.needs_input_grad[4] else parameters
        if ctx.needs_input_grad[4]:
            of_direction = all_of[: direction.shape[0]].flip(0).to(direction.dtype)
        if ctx.needs_input_grad[3]:
            of_alpha = all_of[3].to(alpha.dtype).reshape(alpha.shape)
    if ctx.needs_input_grad[1]:
        of_thresholds = (upstream * by_threshold).sum(0).to(thresholds.dtype)
    if ctx.needs_input_grad[2]:
        of_lam = (upstream * by_lam).sum().to(lam.dtype).reshape(lam.shape)
    return of_images, of_thresholds, of_lam, of_alpha, of_direction, None


_soft.register_autograd(_gradients, setup_context=_remember)


# On CUDA devices.


@_exact.register_kernel("cuda")
def _exact_on_device(images: Tensor, thresholds: Tensor, construction: str, superlevel: bool, verify: bool) -> Tensor:
    on_device = images.dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.float16, torch.float32)
    if verify or construction != "T" or not on_device or not images.is_cuda or not len(thresholds):
        return _exact(images.cpu(), thresholds.cpu(), construction, superlevel, verify).to(images.device)
    at = thresholds.double().numpy() if thresholds.device.type == "cpu" else thresholds.double().cpu().numpy()
    # Below all values of an integer type χ is 0, which is a question to floats alone.
    if superlevel or not images.is_floating_point() and at.min() < (0 if images.dtype in (torch.bool, torch.uint8) else torch.iinfo(images.dtype).min):
        images = images.float()
    return cuda.curve(-images if superlevel else images, at=-at if superlevel else at, dims=images.ndim - 1)


_BINS = 1 << 16
_FINE = 1 / 20  # of λ times the width of a bin, at most
_REACH = 40.0  # in units of 1/λ: a sigmoid that is farther away is 0 or 1
_LOW = {torch.float32: -math.inf, torch.float64: -1e300}  # below all values


def _shape_of_changes(images: Tensor, construction: str) -> Tuple[Any, ...]:
    """That of a byte for each voxel as the kernels count them: rows are filled up to four. Of vertices there is one more at each side."""
    more = 2 if construction == "V" else 0
    rows: Any = 1
    for n in images.shape[1:-1]:
        rows = rows * (n + more)
    return images.shape[0], rows, (images.shape[-1] + more + 3) // 4 * 4


class _OnDevice:
    """Soft curves of images on a device, by kernels that take voxels for top cells.

    Where they are vertices, a cell of k dimensions is dual to one of d − k of top cells, and has the
    greatest value in Y where that has the least in −Y. So −Y is counted, between voxels that are less
    than all: they have the cells at the sides, which are dual to none. Those are a sphere, whose χ is 0 or 2.
    Then χ is sign · χ' + from the one that is counted.
    """

    def __init__(self, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str):
        if construction not in ("T", "V"):
            raise ValueError(f"construction {construction!r}: want T or V")
        for one in (images, thresholds, lam, alpha, direction):
            if one.device != images.device:
                raise ValueError(f"images on {images.device} and a tensor on {one.device}: want all of them on one device")
        self.vertices, self.dims = construction == "V", images.ndim - 1
        self.images = images.contiguous()
        self.tau, self.lam = thresholds.double(), lam.double().reshape(())
        self.tilted = len(direction) > 0
        self.sign, self.start = 1.0, 0.0
        self.x = self.images
        if self.vertices:
            self.tau = -self.tau
            self.x = torch.nn.functional.pad(-self.images, (1, 1) * self.dims, value=_LOW[images.dtype])
            self.sign, self.start = (1.0, -1.0) if self.dims % 2 else (-1.0, 1.0)
        self.shape = self.x.shape[1:]
        if self.tilted:
            self._tilt(alpha.double().reshape(()), direction.double())

    def _tilt(self, alpha: Tensor, v: Tensor) -> None:
        """What is added to X."""
        images, self.alpha = self.images, -alpha if self.vertices else alpha
        self.length = v.norm()
        self.u = v / self.length
        self.places = [torch.arange(n, dtype=torch.float64, device=images.device) - (n - 1) / 2 for n in self.shape]
        self.steps = self.alpha * self.u  # that Y rises by, along each axis
        # In the order in which doc/proofs/softecc.md has it.
        self.along = self.steps[-1] * self.places[-1]
        rows = [s * p for s, p in zip(self.steps[:-1], self.places)]
        self.of_row = torch.zeros(1, dtype=torch.float64, device=images.device) if not rows else rows[0] if len(rows) == 1 else rows[1] + rows[0][:, None]

    def bins(self) -> Tensor:
        """The middle of the first bin, 1 over their width, their width, and λ."""
        least, greatest = (one.double() for one in self.images.aminmax())
        if self.vertices:
            least, greatest = -greatest, -least
        if self.tilted:
            rise = sum((s * p[0]).abs() for s, p in zip(self.steps, self.places))
            rise = rise + (rise != 0) * 2.0**-22 * torch.maximum(least.abs(), greatest.abs())  # that Y is rounded by
            least, greatest = least - rise, greatest + rise
        seen = _REACH / self.lam
        first, last = self.tau.aminmax()
        low, high = first - seen, last + seen
        lo = torch.minimum(torch.maximum(least, low), high)
        hi = torch.maximum(torch.minimum(greatest, high), low)
        width = torch.maximum(hi - lo, 1 / self.lam) / (_BINS - 3)
        return torch.stack([lo - width, 1 / width, width, self.lam])

    def asked(self, good: Tensor) -> Tensor:
        """The thresholds, which are NaN where what is asked has no answer here."""
        return torch.where(good, self.tau, math.nan)

    def kernels(self, x: Tensor, bins: Tensor, *others: Tensor) -> Tuple[Any, Tensor, Tensor, Tensor]:
        """What finds soft curves of x, and the bins and terms in the way that it takes."""
        middles = bins[0] + torch.arange(_BINS, dtype=torch.float64, device=x.device) * bins[2]
        aligned = all(t.data_ptr() % 16 == 0 for t in (x, *others))
        voxels = 1
        for n in self.shape:
            voxels *= n
        align = 16 if aligned and (len(x) == 1 or voxels % 4 == 0) else 4
        if self.tilted and self.images.dtype != torch.float64:
            along, of_row = self.along.float(), self.of_row.float().contiguous()
        else:  # ranks of float64 are those of Y
            rows = voxels // self.shape[-1]
            zeros = torch.zeros(max(self.shape[-1], rows), dtype=torch.float32, device=x.device)
            along, of_row = zeros[: self.shape[-1]], zeros[:rows]
        return cuda.soft(x, len(self.tau), _BINS, align), middles, along, of_row

    def counted(self, x: Tensor, bins: Tensor, tau: Tensor) -> Tuple[Tensor, Tensor]:
        """The curves that are counted of x with its derivatives, of shape (n, m, 3), and the changes."""
        soft, middles, along, of_row = self.kernels(x, bins)
        changes = torch.empty(_shape_of_changes(self.images, "V" if self.vertices else "T"), dtype=torch.int8, device=x.device)
        curves = torch.empty(len(x), len(tau), 3, dtype=torch.float64, device=x.device)
        ones = torch.ones(len(x), len(tau), dtype=torch.float64, device=x.device)
        work = torch.empty(soft.memory // 8, dtype=torch.float64, device=x.device)
        soft.add(False, x, changes, bins, middles, along, of_row, tau, ones, work, curves, None, None)
        return curves, changes

    def y(self) -> Tensor:
        """Y of images of float64, of shape (n, voxels)."""
        return (self.x + (self.of_row[..., None] + self.along).reshape(self.shape) if self.tilted else self.x).flatten(1)

    def of_voxels(self, changes: Tensor) -> Tensor:
        """The changes of images of float64, of shape (n, voxels)."""
        return changes[..., : self.shape[-1]].flatten(1).double()

    def ranks(self) -> Tensor:
        """Y by the number of lesser values that there are, which float32 has."""
        y, order = self.y().sort(1)
        ranks = torch.nn.functional.pad((y[:, 1:] != y[:, :-1]).cumsum(1), (1, 0)).float()
        return torch.empty_like(ranks).scatter_(1, order, ranks).reshape(self.x.shape)

    def cut(self, x: Tensor) -> Tensor:
        """The images without the voxels at their sides that are none of theirs."""
        return x[(slice(None), *[slice(1, -1)] * self.dims)].contiguous() if self.vertices else x

    def parameters(self, sums: Tensor) -> Tensor:
        """The gradients by v, its last axis first, and α, of sums of c·G' and of that times each place, the last axis first."""
        by = torch.zeros(len(sums), 4, dtype=torch.float64, device=sums.device)
        if not self.tilted:
            return by
        moment = sums[:, 1 : 1 + self.dims].flip(1)
        along = moment @ self.u
        by[:, : self.dims] = (-(self.alpha / self.length) * (moment - along[:, None] * self.u)).flip(1)
        by[:, 3] = along if self.vertices else -along
        return by


@_soft.register_kernel("cuda")
def _soft_on_device(images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    p = _OnDevice(images, thresholds, lam, alpha, direction, construction)
    bins = torch.zeros(4, dtype=torch.float64, device=images.device)
    if not images.numel() or not len(thresholds):
        none = torch.zeros(3, len(images), len(thresholds), dtype=torch.float64, device=images.device)
        return none[0].clone(), none[1].clone(), none[2].clone(), torch.zeros(_shape_of_changes(images, construction), dtype=torch.int8, device=images.device), bins
    if images.dtype == torch.float64:
        # Bins that are above all ranks, of which nothing is wanted.
        _, changes = p.counted(p.ranks(), torch.full_like(bins, 2.0**60), p.tau)
        c, values, rows = p.of_voxels(changes), p.y(), []
        for t in p.tau:
            s = torch.sigmoid(p.lam * (t - values))
            d = c * s * (1 - s)
            rows.append(torch.stack([(c * s).sum(1), p.lam * d.sum(1), ((t - values) * d).sum(1)], 1))
        curves = torch.stack(rows, 1)
    else:
        bins = p.bins()
        curves, changes = p.counted(p.x, bins, p.asked((p.lam > 0) & (p.lam * bins[2] <= _FINE)))
    if not p.vertices:
        return (*(curves[..., k].clone(memory_format=torch.contiguous_format) for k in range(3)), changes, bins)
    return p.start + p.sign * curves[..., 0], -p.sign * curves[..., 1], p.sign * curves[..., 2], changes, bins


@_soft_backward.register_kernel("cuda")
def _soft_backward_on_device(upstream: Tensor, images: Tensor, changes: Tensor, bins: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor]:
    p = _OnDevice(images, thresholds, lam, alpha, direction, construction)
    if not images.numel() or not len(thresholds):
        return torch.zeros_like(images, memory_format=torch.contiguous_format), torch.zeros(len(images), 4, dtype=torch.float64, device=images.device)
    g = upstream.double() if p.sign == 1 else p.sign * upstream.double()
    g = g.contiguous()
    changes = changes.contiguous()
    if images.dtype == torch.float64:
        c, y, slope = p.of_voxels(changes), p.y(), torch.zeros((), dtype=torch.float64, device=images.device)
        for t, of in zip(p.tau, g.unbind(1)):
            s = torch.sigmoid(p.lam * (t - y))
            slope = slope + of[:, None] * p.lam * s * (1 - s)
        moved = (c * slope).reshape(p.x.shape)
        sums = [moved.flatten(1).sum(1)]
        for axis in reversed(range(p.dims if p.tilted else 0)):
            sums.append((moved * p.places[axis].reshape(-1, *[1] * (p.dims - 1 - axis))).flatten(1).sum(1))
        dx, sums = -moved, torch.stack(sums, 1)
    else:
        dx = torch.empty_like(p.x)
        steep = p.lam * g.abs().sum(1).max()
        tau = p.asked(steep <= torch.finfo(torch.float32).max)
        soft, middles, along, of_row = p.kernels(p.x, bins, dx)
        moments = torch.empty(len(images), soft.blocks, 4, dtype=torch.float64, device=images.device)
        work = torch.empty(soft.memory // 8, dtype=torch.float64, device=images.device)
        soft.add(True, p.x, changes, bins, middles, along, of_row, tau, g, work, None, dx, moments)
        sums = moments.sum(1) if p.tilted else moments  # about the first voxel
        for k in range(p.dims if p.tilted else 0):
            sums[:, 1 + k] += sums[:, 0] * p.places[p.dims - 1 - k][0]
    return p.cut(-dx if p.vertices else dx), p.parameters(sums)
