"""requires: torch==2.11.0 numpy==2.4.6 pyect==1.0.1"""
from itertools import product

import torch
from common import claims, peer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def tilted(x, u, alpha):  # rounded as the question has it, with gradients of float64
    places = [torch.arange(n, dtype=torch.float64, device=DEVICE) - (n - 1) / 2 for n in x.shape]
    along = [alpha * u[i] * p.reshape(-1, *[1] * i) for i, p in enumerate(reversed(places))]
    row, exact = sum(along[1:]), x + sum(along)
    rounded = x.float() + (row.float() + (along[0] + 0 * row).float()).float()
    return exact + (rounded.double() - exact).detach()


def curve(y, tau, lam):  # the sigmoids of all cells; of equal voxels the first owns a cell
    total = 0
    for between in product((0, 1), repeat=y.ndim):
        values = y
        for axis in (a for a, b in enumerate(between) if b):
            end = torch.full_like(values.narrow(axis, 0, 1), torch.inf)
            low, high = torch.cat([end, values], axis), torch.cat([values, end], axis)
            values = torch.where(low <= high, low, high)
        steps = torch.sigmoid(lam * (tau[:, None] - values.reshape(1, -1))).sum(1)
        total = total + (-1) ** (y.ndim - sum(between)) * steps
    return total


def answer(q):
    torch.set_num_threads(q.threads)
    words = [[float(v) for v in q[k].split(",")] for k in ("thresholds", "direction", "lambda", "alpha", "upstream")]
    x, tau, v, lam, alpha, upstream = [
        torch.tensor(t, dtype=torch.float64, device=DEVICE).requires_grad_() for t in (q.image, *words)]
    chi = curve(tilted(x, v / v.norm(), alpha), tau, lam)
    dx, dtau, dv, dlam, dalpha = torch.autograd.grad(chi, (x, tau, v, lam, alpha), upstream.detach())
    q.put(chi.detach().cpu().numpy())
    for name, values in ("image", dx), ("thresholds", dtau), ("direction", dv), ("scales", torch.cat([dlam, dalpha])):
        q.put(values.cpu().numpy(), "answer." + name)


where, limits = "gpu" if DEVICE == "cuda" else "cpu", {"max_voxels": 1 << 21, "bytes_per_voxel": 20000}
peer.serve(answer, name="torch", version=torch.__version__, licence="BSD-3-Clause", source="pytorch.org", where=where,
           method="the soft curve by its formula in float64, gradients by autograd",
           answers=claims("softecc", {}, **limits))
