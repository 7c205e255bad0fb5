"""The soft curve by its definition in PyTorch, whose gradients are PyTorch's."""

import itertools

import torch


def tilted(x, v, alpha):
    """Return Y of images X, whose last axes are those of v."""
    for k, u in enumerate(v / v.norm()):
        axis = x.ndim - len(v) + k
        n = x.shape[axis]
        place = torch.arange(n, dtype=x.dtype, device=x.device) - (n - 1) / 2
        x = x + alpha * u * place.reshape([-1] + [1] * (x.ndim - 1 - axis))
    return x


def formula(x, tau, lam, v, alpha, construction="T", superlevel=False, dims=None):
    """Return χ of images at thresholds, cell by cell. The last dims axes, or all, are an image; v may be None."""
    first = x.ndim - (dims or x.ndim)
    axes = range(first, x.ndim)
    if v is not None:
        x = tilted(x, v, alpha)
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
        of_cells = torch.sigmoid(lam * (tau[:, None] - values.flatten(first)[..., None, :]))
        total = total + (-1) ** sum(spans) * of_cells.sum(-1)
    return total
