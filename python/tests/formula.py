"""The soft curve by its definition in PyTorch, whose gradients are PyTorch's."""

import itertools

import torch


def formula(x, tau, lam, v, alpha, construction="T", superlevel=False):
    """χ of one image at thresholds, cell by cell."""
    axes = x.ndim
    u = v / v.norm()
    for axis, n in enumerate(x.shape):
        place = (torch.arange(n, dtype=x.dtype) - (n - 1) / 2).reshape([-1] + [1] * (axes - 1 - axis))
        x = x + alpha * u[axis] * place
    if superlevel:
        x, tau = -x, -tau
    total = 0
    for spans in itertools.product((0, 1), repeat=axes):  # the axes along which a cell extends
        values = x
        for axis, span in enumerate(spans):
            if construction == "T" and not span:  # the least of the voxels on either side, or of one
                end = torch.full([1 if a == axis else n for a, n in enumerate(values.shape)], float("inf"), dtype=x.dtype)
                values = torch.minimum(torch.cat([end, values], axis), torch.cat([values, end], axis))
            elif construction == "V" and span:  # the greatest of two vertices
                values = torch.maximum(values.narrow(axis, 0, values.shape[axis] - 1), values.narrow(axis, 1, values.shape[axis] - 1))
        total = total + (-1) ** sum(spans) * torch.sigmoid(lam * (tau[:, None] - values.reshape(1, -1))).sum(1)
    return total
