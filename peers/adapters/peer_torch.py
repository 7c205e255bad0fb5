"""requires: torch==2.11.0 numpy==2.4.6
needs: an NVIDIA GPU"""
from itertools import product

import torch
from common import claims, peer


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def tilted(x, u, alpha):
    """The image with its rise along a direction, rounded as the question has it, with gradients of float64."""
    places = [torch.arange(n, dtype=torch.float64, device=DEVICE) - (n - 1) / 2 for n in x.shape]
    along = [alpha * u[i] * p.reshape(-1, *[1] * i) for i, p in enumerate(reversed(places))]
    row, rounded = sum(along[1:]), (along[0] + 0 * sum(along[1:])).float()
    rounded = (x.float() + (row.float() + rounded).float()).double()
    exact = x + along[0] + row
    return exact + (rounded - exact).detach()


def curve(y, tau, lam):
    """The sum of the sigmoids of all cells. Of equal voxels the first owns a cell."""
    total = 0
    for between in product((0, 1), repeat=y.ndim):
        values = y
        for axis, b in enumerate(between):
            if b:
                end = torch.full_like(values.narrow(axis, 0, 1), torch.inf)
                low, high = torch.cat([end, values], axis), torch.cat([values, end], axis)
                values = torch.where(low <= high, low, high)
        total = total + (-1) ** (y.ndim - sum(between)) * torch.sigmoid(lam * (tau[:, None] - values.reshape(1, -1))).sum(1)
    return total


def answer(q):
    torch.set_num_threads(q.threads)
    numbers = {k: torch.tensor([float(v) for v in q[k].split(",")], dtype=torch.float64, device=DEVICE) for k in ("thresholds", "upstream", "direction", "lambda", "alpha")}
    x = torch.from_numpy(q.image.astype("f8")).to(DEVICE)
    of = [t.requires_grad_() for t in (x, *(numbers[k] for k in ("thresholds", "direction", "lambda", "alpha")))]
    v = numbers["direction"]
    chi = curve(tilted(x, v / v.norm(), numbers["alpha"]), numbers["thresholds"], numbers["lambda"])
    dx, dtau, dv, dlam, dalpha = torch.autograd.grad(chi, of, numbers["upstream"])
    q.put(chi.detach().cpu().numpy())
    for name, values in ("image", dx), ("thresholds", dtau), ("direction", dv), ("scales", torch.cat([dlam, dalpha])):
        q.put(values.cpu().numpy(), "answer." + name)


peer.serve(answer, name="torch", version=torch.__version__, licence="BSD-3-Clause", source="pytorch.org",
           method="the soft curve by its formula in float64, gradients by autograd",
           where="gpu" if DEVICE == "cuda" else "cpu", answers=claims("softecc", {}, max_voxels=1 << 21, bytes_per_voxel=20000))
