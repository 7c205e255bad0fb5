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

from . import _library
from ._curve import _translated, curve

if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"eccbench.torch needs PyTorch 2.4 or later, this is {torch.__version__}")

__all__ = ["ECC", "SoftECC", "ecc", "soft_ecc"]

_LEARNABLE = ("thresholds", "lam", "direction", "alpha")


def ecc(images: Tensor, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: str = "T", superlevel: bool = False, verify: bool = True) -> Tensor:
    """Exact Euler characteristic curves of images, without a gradient.

    Parameters
    ----------
    images : Tensor of shape (..., *image)
        Any number of axes before the `dims` of each image, on the CPU, of any type that
        `eccbench.curve` takes, or bfloat16. Finite.
    thresholds : Tensor of shape (m,), or sequence of float
        The values at which χ is taken.
    dims : {1, 2, 3}
        How many of the last axes are those of an image.
    construction, superlevel, verify
        As those of `eccbench.curve`.

    Returns
    -------
    chi : Tensor of shape (..., m), int64

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
    construction: str = "T",
    superlevel: bool = False,
) -> Tensor:
    """Differentiable Euler characteristic curves of images.

    In the exact curve a cell of the complex counts from its value on. Here it counts by a
    sigmoid (Saxena et al. [1]_, equations 4 to 10): of Y = X + α⟨u, p⟩ the curve is

        χ(τ) = Σ over cells of (−1)^dimension · σ(λ(τ − value)).

    Parameters
    ----------
    images : Tensor of shape (..., *image)
        X: any number of axes before the `dims` of each image, on the CPU; finite. float32 and
        float64 are taken as they are; bfloat16, float16, bool and integers of up to 16 bits as
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
        If a tensor is of a type or a shape that is not understood, a value is NaN or infinite,
        or λ is not greater than 0.
    NotImplementedError
        If the images are not on the CPU.

    Notes
    -----
    float32 is within 1e-5 of the definition, relative to the largest number of each result, at
    a cost that does not depend on m: doc/softecc.md of the sources has the method. In float64
    every sigmoid is evaluated, to the precision of the type, which is slow and of use to check
    gradients. Of voxels that are equal, the gradient is one of the derivatives to either side.
    As many cores are used as ``torch.get_num_threads()`` says. An upstream gradient that is not
    finite gives NaN.

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
        direction = torch.ones(dims, dtype=torch.float64)
    tau, lam, alpha, v = (one if isinstance(one, Tensor) else torch.as_tensor(one, dtype=torch.float64) for one in (thresholds, lam, alpha, direction))
    if tau.ndim != 1 or v.shape != (dims,) or lam.numel() != 1 or alpha.numel() != 1:
        raise ValueError(f"thresholds of shape {tuple(tau.shape)}, lam {tuple(lam.shape)}, direction {tuple(v.shape)}, alpha {tuple(alpha.shape)}: "
                         f"want one axis, one number, ({dims},) and one number")
    if superlevel:
        x, tau, alpha = -x, -tau, -alpha
    chi, _, _, _ = _soft(x.reshape(-1, *shape), tau, lam, alpha, v, construction)
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

    def __init__(self, thresholds: Union[Tensor, Sequence[float]], *, dims: int, construction: str = "T", superlevel: bool = False, verify: bool = True):
        super().__init__()
        given = thresholds if isinstance(thresholds, Tensor) else torch.as_tensor(thresholds, dtype=torch.float64)
        self.register_buffer("thresholds", given.detach().clone().double())
        self.dims, self.construction, self.superlevel, self.verify = dims, construction, superlevel, verify

    def _apply(self, fn: Any, recurse: bool = True) -> "ECC":
        exact = self.thresholds  # half() and float() would move them
        super()._apply(fn, recurse)
        self.thresholds = exact.to(self.thresholds.device)
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
        construction: str = "T",
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
    if images.device.type not in ("cpu", "meta"):
        raise NotImplementedError(f"images on {images.device}: eccbench.torch computes on the CPU; take images.cpu(), through which gradients go back")
    return images.shape[: images.ndim - dims], images.shape[images.ndim - dims :]


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
def _soft(images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """χ of images (n, *image), its derivatives by the threshold and by λ, and what the backward pass takes of each voxel."""
    images = images.contiguous()
    n, m = len(images), len(thresholds)
    numbers = torch.empty(n, 3, m, dtype=torch.float64)
    changes = torch.empty(images.shape, dtype=torch.int8)
    _ask(False, images, thresholds, lam, alpha, direction, construction, changes, numbers)
    return (*(numbers[:, k].clone(memory_format=torch.contiguous_format) for k in range(3)), changes)


@_soft.register_fake
def _(images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    return (*(images.new_empty(images.shape[0], thresholds.shape[0], dtype=torch.float64) for _ in range(3)), torch.empty(images.shape, dtype=torch.int8, device=images.device))


@torch.library.custom_op("eccbench::soft_ecc_backward", mutates_args=(), device_types="cpu")
def _soft_backward(upstream: Tensor, images: Tensor, changes: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor]:
    """The gradients by the images, and for each of them by v, its last axis first, and α."""
    images, upstream = images.contiguous(), upstream.contiguous()
    gradient, parameters = torch.empty_like(images), torch.empty(len(images), 4, dtype=torch.float64)
    _ask(True, images, thresholds, lam, alpha, direction, construction, changes.contiguous(), upstream, gradient, parameters)
    return gradient, parameters


@_soft_backward.register_fake
def _(upstream: Tensor, images: Tensor, changes: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str) -> Tuple[Tensor, Tensor]:
    return torch.empty(images.shape, dtype=images.dtype, device=images.device), images.new_empty(images.shape[0], 4, dtype=torch.float64)


def _ask(backward: bool, images: Tensor, thresholds: Tensor, lam: Tensor, alpha: Tensor, direction: Tensor, construction: str, *memory: Tensor) -> None:
    if len(images) == 0:
        return
    request = {
        "shape": list(images.shape[1:]), "type": str(images.dtype).replace("torch.", ""), "images": len(images), "threads": torch.get_num_threads(),
        "construction": construction, "thresholds": thresholds.double().tolist(), "lambda": lam.item(), "alpha": alpha.item(), "direction": direction.double().tolist(),
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
    _, by_threshold, by_lam, changes = output
    ctx.save_for_backward(*tensors, by_threshold, by_lam, changes)


def _gradients(ctx: Any, upstream: Tensor, *_: Any) -> Tuple[Any, ...]:
    images, thresholds, lam, alpha, direction, by_threshold, by_lam, changes = ctx.saved_tensors
    of_images = of_alpha = of_direction = None
    if ctx.needs_input_grad[0] or ctx.needs_input_grad[3] or ctx.needs_input_grad[4]:
        of_images, parameters = _soft_backward(upstream, images, changes, thresholds, lam, alpha, direction, ctx.construction)
        all_of = parameters.sum(0)
        of_direction = all_of[: direction.shape[0]].flip(0).to(direction.dtype)
        of_alpha = all_of[3].to(alpha.dtype).reshape(alpha.shape)
    of_thresholds = (upstream * by_threshold).sum(0).to(thresholds.dtype)
    of_lam = (upstream * by_lam).sum().to(lam.dtype).reshape(lam.shape)
    return of_images, of_thresholds, of_lam, of_alpha, of_direction, None


_soft.register_autograd(_gradients, setup_context=_remember)
