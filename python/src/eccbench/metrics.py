"""Topological metrics of segmentations for PyTorch, with the conventions of torchmetrics and of MONAI.

They need ``pip install 'eccbench[metrics]'``. Each is a ``torchmetrics.Metric``: ``update``, ``compute``, ``reset``;
the processes of a distributed run are gathered. The shapes and the arguments are those of MONAI's
``CumulativeIterationMetric``: a call returns the numbers of a batch, and ``aggregate`` reduces all of them.

>>> import torch, eccbench.metrics
>>> truth = torch.zeros(1, 1, 5, 5)
>>> truth[..., 1:4, 1:4] = 1
>>> pred = truth.clone()
>>> pred[..., 2, 2] = 0
>>> metric = eccbench.metrics.BettiError()
>>> metric(pred, truth)
tensor([[1.]])
>>> metric.aggregate()
tensor(1.)
"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal, Sequence, get_args

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from . import cuda
from ._arguments import choice, flag, whole
from ._assess import assess

__all__ = ["BettiError", "BettiMatching", "EulerError"]

Reduction = Literal["none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"]
_REDUCTIONS = get_args(Reduction)


class _Topology(Metric):  # type: ignore[misc]
    """Numbers of pairs of masks, a row for each image and a column for each class."""

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    def __init__(
        self,
        include_background: bool = True,
        reduction: Reduction = "mean",
        get_not_nans: bool = False,
        ignore_empty: bool = False,
        num_classes: int | None = None,
        connectivity: int | None = None,
        verify: bool = True,
        threads: int | None = None,
        *,
        _dimensions: tuple[int, ...] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.include_background = flag("include_background", include_background)
        self.reduction = choice("reduction", reduction, *_REDUCTIONS)
        self.get_not_nans = flag("get_not_nans", get_not_nans)
        self.ignore_empty = flag("ignore_empty", ignore_empty)
        self.num_classes = None if num_classes is None else whole("num_classes", num_classes, 2)
        self.connectivity, self.verify, self.threads = connectivity, verify, threads
        self.dimensions = _dimensions
        # A MetricCollection merges metrics whose states have one name and agree after the first batch.
        kind = include_background, ignore_empty, self.num_classes, connectivity, self.dimensions, verify
        self._state = f"{type(self).__name__}{kind}"
        self.add_state(self._state, default=[], dist_reduce_fx="cat")

    @property
    def values(self) -> Any:
        """The numbers of the batches so far."""
        return getattr(self, self._state)

    def _number(self, row: dict[str, float], dims: range) -> float:
        """Return the number of a pair of masks from their comparison."""
        raise NotImplementedError

    def _counts_on_device(self, masks: Tensor) -> bool:
        """Report whether kernels count masks of shape (B, C, ...)."""
        return masks.is_cuda and sys.platform == "linux"

    def _counted(self, masks: Tensor, connectivity: int) -> Tensor:
        """Return the numbers of pairs of masks of shape (B, C, 2, ...), counted on their device in one batch."""
        raise NotImplementedError

    def update(self, y_pred: Tensor, y: Tensor) -> None:
        """Add a batch.

        Parameters
        ----------
        y_pred, y : Tensor of shape (B, C, H, W) or (B, C, H, W, D), or lists of B tensors without the first axis
            One-hot masks of predictions and truths: a voxel is in a class if its channel is above 0.5. With
            `num_classes`, either or both may be labels of shape (B, 1, H, W[, D]).
        """
        self.values.extend(self._rows(y_pred, y))

    def forward(self, y_pred: Tensor, y: Tensor) -> Tensor:
        """Add a batch, and return its numbers, of shape (B, classes)."""
        before = self.values
        rows: Any = []
        setattr(self, self._state, rows)
        try:
            self.update(y_pred, y)
            rows = self.values
        finally:  # in a new list, since metrics of a MetricCollection may share one, and each of them is called
            setattr(self, self._state, [*before, *rows])
        return _joined(rows)

    def _rows(self, y_pred: Any, y: Any) -> list[Tensor]:
        """Return the numbers of a batch, or of each image of lists."""
        if not isinstance(y_pred, (list, tuple)) and not isinstance(y, (list, tuple)):
            return [self._of(y_pred, y)]
        if len(y_pred) != len(y):
            raise ValueError(f"y_pred of {len(y_pred)} images, and y of {len(y)}: want as many")
        rows = [self._of(p[None], t[None]) for p, t in zip(y_pred, y)]
        if len(classes := {row.shape[1] for row in rows}) > 1:
            raise ValueError(f"images of {sorted(classes)} classes: want as many in each")
        return rows

    def compute(self) -> Any:
        """Return the reduced numbers of all batches; with `get_not_nans` also their number."""
        reduced, not_nans = _reduced(self.get_buffer(), self.reduction)
        return (reduced, not_nans) if self.get_not_nans else reduced

    def aggregate(self, reduction: Reduction | None = None) -> Any:
        """Return the numbers of `compute`, with another reduction if one is given.

        Parameters
        ----------
        reduction : {'none', 'mean', 'sum', 'mean_batch', 'sum_batch', 'mean_channel', 'sum_channel'}, optional
            Over classes and images, only over images (``_batch``) or only over classes (``_channel``). NaN is
            ignored.
        """
        before, self._computed = self.reduction, None
        try:
            self.reduction = before if reduction is None else choice("reduction", reduction, *_REDUCTIONS)
            return self.compute()
        finally:
            self.reduction, self._computed = before, None

    def get_buffer(self) -> Tensor:
        """Return the numbers of all images, of shape (images, classes)."""
        return _joined(self.values).to(self.device)

    def _of(self, y_pred: Tensor, y: Tensor) -> Tensor:
        pred, truth = self._classes("y_pred", y_pred), self._classes("y", y)
        if pred.shape != truth.shape:
            raise ValueError(f"y_pred of shape {tuple(y_pred.shape)}, and y is {tuple(y.shape)}: want one shape")
        if not self.include_background and pred.shape[1] > 1:
            pred, truth = pred[:, 1:], truth[:, 1:]
        dims = pred.ndim - 2
        great, less = (26, 6) if dims == 3 else (8, 4)
        connectivity = great if self.connectivity is None else self.connectivity
        if connectivity not in (great, less):
            raise ValueError(f"connectivity {connectivity!r}: want {less} or {great} for images of {dims} axes")
        if self._counts_on_device(pred):
            return self._on_device(pred, truth, connectivity).to(self.device)
        pred, truth = pred.cpu(), truth.cpu()
        options: dict[str, Any] = {"connectivity": connectivity, "verify": self.verify, "threads": self.threads}
        numbers = torch.zeros(pred.shape[:2])
        for b in range(pred.shape[0]):
            for c in range(pred.shape[1]):
                if self.ignore_empty and not truth[b, c].any():
                    numbers[b, c] = float("nan")
                    continue
                found = assess(pred[b, c].numpy(), truth[b, c].numpy(), labels=[1], **options)
                row = found[1, found.connectivities[0]]
                numbers[b, c] = self._number(row, range(dims))
        return numbers.to(self.device)

    def _on_device(self, pred: Tensor, truth: Tensor, connectivity: int) -> Tensor:
        """Return the numbers of `_of`, counted on the device."""
        masks = torch.stack((pred, truth.to(pred.device)), 2)
        numbers = self._counted(masks, connectivity).to(torch.float32)
        if self.ignore_empty:
            numbers = torch.where((masks[:, :, 1].flatten(2) > 0).any(2), numbers, torch.nan)
        return numbers

    def _classes(self, name: str, masks: Tensor) -> Tensor:
        """Return masks of classes, of shape (B, C, …), as uint8."""
        if masks.ndim not in (4, 5):
            raise ValueError(f"{name} of shape {tuple(masks.shape)}: want (B, C, H, W) or (B, C, H, W, D)")
        masks = masks.detach()
        if self.num_classes is not None and masks.shape[1] == 1:
            classes = torch.arange(self.num_classes, device=masks.device).view(1, -1, *[1] * (masks.ndim - 2))
            found = masks == classes
            if not (known := found.any(1, keepdim=True)).all():
                raise ValueError(f"{name}: {masks[~known][0].item()} is no label; want 0 to {self.num_classes - 1}")
            return found.to(torch.uint8)
        if (missing := int(masks.isnan().sum())) > 0:
            raise ValueError(f"{name}: {missing} of its values are NaN, which is neither in nor out of a class")
        return (masks > 0.5 if masks.dtype != torch.bool else masks).to(torch.uint8)


def _betti(masks: Tensor, connectivity: int, verify: bool) -> Tensor:
    """Return the Betti numbers of pairs of masks of 0 and 1 on a device, of shape (B, C, 2, 3). By duality, the numbers
    in the lesser connectivity are the numbers of the rest in a larger box."""
    dims = masks.ndim - 3
    if connectivity in (26, 8):
        return cuda.betti(masks, 1, superlevel=True, dims=dims, verify=verify)  # type: ignore[no-any-return]
    rest = torch.nn.functional.pad(masks, (1, 1) * dims)
    numbers = cuda.betti(rest, 0, dims=dims, verify=verify)
    turned = numbers.flip(-1) if dims == 3 else numbers[..., [1, 0, 2]]
    turned[..., dims - 1] -= 1  # the outside
    return turned  # type: ignore[no-any-return]


def _joined(values: Any) -> Tensor:
    joined: Tensor = dim_zero_cat(values) if len(values) else torch.zeros(0, 1)
    return joined


def _reduced(values: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    """Reduce the numbers of images and classes without NaN as MONAI does, and count them."""
    known = ~torch.isnan(values)
    if reduction == "none":
        return values, known.to(values.dtype)
    if reduction == "mean":  # of the means of the images that have any
        each, counts = _reduced(values, "mean_channel")
        mean, _ = _reduced(torch.where(counts > 0, each, torch.nan)[:, None], "mean_batch")
        return mean.squeeze(0), (counts > 0).sum().to(values.dtype)
    axes: Any = (0, 1) if reduction == "sum" else 0 if reduction.endswith("_batch") else 1
    count = known.sum(axes).to(values.dtype)
    total = torch.where(known, values, torch.zeros_like(values)).sum(axes)
    return (total / count.clamp(min=1) if reduction.startswith("mean") else total), count


class _ByDimension(_Topology):
    """Numbers of pairs of masks that are sums over dimensions."""

    _column = ""

    def __init__(self, *args: Any, dimensions: Sequence[int] | None = None, **kwargs: Any):
        if dimensions is not None:
            try:
                dimensions = tuple(sorted({whole("dimensions", d, 0) for d in dimensions}))
            except TypeError:
                raise TypeError(f"dimensions {dimensions!r}: want a list of whole numbers") from None
        super().__init__(*args, _dimensions=dimensions, **kwargs)

    def _chosen(self, dims: range) -> Sequence[int]:
        chosen = dims if self.dimensions is None else self.dimensions
        if not set(chosen) <= set(dims):
            raise ValueError(f"dimensions {chosen}: want some of {tuple(dims)} of images of {len(dims)} axes")
        return chosen

    def _number(self, row: dict[str, float], dims: range) -> float:
        return sum(row[self._column.format(d)] for d in self._chosen(dims))

    def _sum_of(self, errors: Tensor, masks: Tensor) -> Tensor:
        """Return the sum of the errors of pairs of masks over the chosen dimensions."""
        return errors[..., list(self._chosen(range(masks.ndim - 3)))].sum(-1)


class BettiError(_ByDimension):
    """The Betti error: the sum over dimensions of the absolute difference of the Betti numbers.

    CUDA tensors are counted on their device, a batch at once.

    Parameters
    ----------
    include_background : bool
        Whether class 0 counts, if there are several.
    reduction : {'mean', 'none', 'sum', 'mean_batch', 'sum_batch', 'mean_channel', 'sum_channel'}
        The reduction of the numbers of images and classes by `compute` and `aggregate`.
    get_not_nans : bool
        Whether they also return the number of numbers that are not NaN.
    ignore_empty : bool
        Whether a class that is missing in a truth is NaN, which reductions ignore.
    num_classes : int, optional
        The number of classes of labels in one channel.
    connectivity : int, optional
        Of the foreground: 26 or 6 in 3D, 8 or 4 in 2D. By default the greater.
    verify : bool
        Compare the numbers with those of a flood fill. On a device the witness of Betti numbers is
        `eccbench.cuda.betti_curves`, and that of matched features labels all voxels.
    threads : int, optional
        Cores to use. By default all that the process may use.
    dimensions : sequence of int, optional
        The dimensions to sum over: 0 components, 1 tunnels (in 2D holes), 2 cavities. By default all.
    **kwargs
        The options of ``torchmetrics.Metric``.

    Raises
    ------
    ValueError
        From a call or `update`, if the shapes differ or have other than four or five axes.
    """

    _column = "b{}_error"

    def _counted(self, masks: Tensor, connectivity: int) -> Tensor:
        errors = _betti(masks, connectivity, self.verify).diff(dim=2).squeeze(2).abs()
        return self._sum_of(errors, masks)


class BettiMatching(_ByDimension):
    """The Betti-matching error of binary masks (Stucki et al. 2023): the number of features without a counterpart.

    In dimension 1 of volumes it is the upper bound of `eccbench.assess`; ``dimensions=(0, 2)`` excludes it.
    CUDA tensors are counted on their device, a batch at once, in memory of the library beside that of PyTorch; give
    ``.cpu()`` tensors if the device is full. The host counts masks of more than 2²⁵ rows of 64 voxels.

    Parameters
    ----------
    include_background, reduction, get_not_nans, ignore_empty, num_classes, connectivity, verify, threads, dimensions
        As for `BettiError`.
    """

    _column = "matching_error{}_max"

    def _counts_on_device(self, masks: Tensor) -> bool:
        rows, width = math.prod(masks.shape[2:-1]), masks.shape[-1]
        return super()._counts_on_device(masks) and rows * -(-width // 64) <= cuda.MOST_WORDS and width < 2**28

    def _counted(self, masks: Tensor, connectivity: int) -> Tensor:
        numbers = _betti(masks, connectivity, self.verify)
        dims = masks.ndim - 3
        matched = cuda.matched(masks, "T" if connectivity in (26, 8) else "V", dims, self.verify)
        errors = numbers.sum(2)
        errors[..., 0] -= 2 * matched[..., 0]
        errors[..., 1 if masks.shape[-dims:-2] in ((), (1,)) else 2] -= 2 * matched[..., 1]
        return self._sum_of(torch.where(matched[..., 2:] > 0, errors, 0), masks)


class EulerError(_Topology):
    """The absolute difference of the Euler characteristics, counted as for `BettiError`.

    Parameters
    ----------
    include_background, reduction, get_not_nans, ignore_empty, num_classes, connectivity, verify, threads, **kwargs
        As for `BettiError`.
    """

    def _number(self, row: dict[str, float], dims: range) -> float:
        return row["chi_error"]

    def _counted(self, masks: Tensor, connectivity: int) -> Tensor:
        d = _betti(masks, connectivity, self.verify).diff(dim=2).squeeze(2)
        return (d[..., 0] - d[..., 1] + d[..., 2]).abs()
