"""The soft curve by its definition in PyTorch, whose gradients are PyTorch's."""

import itertools

import torch


def formula(x, tau, lam, v, alpha, construction="T", superlevel=False, dims=None):
    """χ of images at thresholds, cell by cell. The last dims axes are those of an image, by default all; v may be None."""
    first = x.ndim - (dims or x.ndim)
    axes = range(first, x.ndim)
    for axis in axes if v is not None else ():
        n = x.shape[axis]
        place = torch.arange(n, dtype=x.dtype, device=x.device) - (n - 1) / 2
        x = x + alpha * (v / v.norm())[axis - first] * place.reshape([-1] + [1] * (x.ndim - 1 - axis))
    if superlevel:
        x, tau = -x, -tau
    total = 0
    for spans in itertools.product((0, 1), repeat=len(axes)):  # the axes along which a cell extends
        values = x
        for axis, span in zip(axes, spans):
            if construction == "T" and not span:  # the least of the voxels on either side, or of one
                end = torch.full_like(values.narrow(axis, 0, 1), float("inf"))
                values = torch.minimum(torch.cat([end, values], axis), torch.cat([values, end], axis))
            elif construction == "V" and span:  # the greatest of two vertices
                n = values.shape[axis] - 1
                values = torch.maximum(values.narrow(axis, 0, n), values.narrow(axis, 1, n))
        total = total + (-1) ** sum(spans) * torch.sigmoid(lam * (tau[:, None] - values.flatten(first)[..., None, :])).sum(-1)
    return total
