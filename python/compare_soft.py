"""The soft curve beside its formula in PyTorch, as a table.

    python compare_soft.py [--write]

Forward and backward of soft_ecc at 64 thresholds, of an image of float32, and the same by the
definition as one writes it in PyTorch (tests/formula.py), with its gradients. Times are the fastest of
at least three calls, on the threads that PyTorch takes. --write puts the table into README.md. Run it
on a machine that does nothing else.
"""

import sys
from pathlib import Path

import numpy as np
import torch

import eccbench
from compare import fastest, load, processor, rounded, spelled, written
from eccbench.torch import soft_ecc

sys.path.insert(0, str(Path(__file__).with_name("tests")))
from formula import formula  # noqa: E402

M, LAMBDA, ALPHA = 64, 100.0, 0.001
IMAGES = ["noise/shape=64x64x64/levels=1024/type=float32/seed=1", "grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", "grf/shape=256x256x256/levels=1024/type=float32/smooth=2/seed=1"]
LARGEST = 64**3  # that the formula has the memory for


def both_ways(function, name):
    """A call that takes the curve and all gradients, and gives them."""
    x = torch.from_numpy(np.asarray(eccbench.open(name)).copy())
    x = (x - x.min()) / (x.max() - x.min())
    upstream = torch.randn(M, generator=torch.Generator().manual_seed(1))

    def call():
        of = [t.clone().requires_grad_() for t in (x, torch.linspace(0, 1, M), torch.tensor(LAMBDA), torch.tensor([1.0, 2.0, 3.0]), torch.tensor(ALPHA))]
        chi = function(*of)
        chi.backward(upstream.to(chi.dtype))
        return [chi.detach(), *(t.grad for t in of)]

    return call, x.numel()


def ours(x, tau, lam, v, alpha):
    return soft_ecc(x, tau, lam, dims=3, direction=v, alpha=alpha)


def rows():
    for name in IMAGES:
        call, voxels = both_ways(ours, name)
        took = fastest(call)
        shown = f"| `{name}` | {spelled(took)} | {voxels / took / 1e9:.3f} |"
        if voxels > LARGEST:
            yield f"{shown} — | — | — |"
            continue
        plain, _ = both_ways(formula, name)
        right = both_ways(lambda *of: formula(*(t.double() for t in of)), name)[0]()[0]
        off = [f"{float((c()[0] - right).norm() / right.norm()):.1g}" for c in (call, plain)]
        slow = fastest(plain)
        yield f"{shown} {spelled(slow)} | {rounded(slow / took)} | {', '.join(off)} |"


def main():
    before, body, after = load(), list(rows()), load()
    written("README.md", "compare_soft.py", [
        f"{torch.get_num_threads()} threads of {processor()}, PyTorch {torch.__version__}, {M} thresholds, λ·range {LAMBDA:g}, a direction; a load of",
        f"{before:.1f} before and {after:.1f} after, its own included. χ is off from the formula in float64 by so much in the 2-norm,",
        "of eccbench and of the formula in float32.",
        "",
        "| image | eccbench | Gvox/s | the formula | times as long | χ is off by |",
        "|---|---|---|---|---|---|",
        *body,
    ])


if __name__ == "__main__":
    main()
