"""The soft curve beside its formula in PyTorch, as a table.

    python compare_soft.py [--device cuda] [--write]

Both tables compare soft_ecc with its definition as one writes it in PyTorch (tests/formula.py), forward
and backward. Run it on a machine that does nothing else.

On the CPU: images of float32 at 64 thresholds, with all gradients. Times are the fastest of at least three
calls, on the threads that PyTorch takes. --write puts the table into README.md.

With --device cuda: steps of training, of batches of float32. Times are medians by CUDA events of steps that follow
each other. Each answer is compared with the formula in float64. --write puts the table into
../doc/guide/training.md.
"""

import itertools
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

import eccbench
from compare import fastest, load, processor, rounded, spelled, written
from eccbench.torch import SoftECC, soft_ecc

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


BATCHES = [(256, 1, 28, 28), (64, 1, 256, 256), (16, 1, 128, 128), (8, 1, 32, 32, 32), (4, 1, 64, 64, 64), (2, 1, 128, 128, 128), (1, 1, 512, 512, 512)]
LIMIT = 1e-5  # of an error, relative as doc/proofs/softecc.md has it
AT_ONCE = 2**28  # voxels times thresholds of the formula in float64


def step(curve, x):
    """A step of training, which returns χ and the gradient."""

    def call():
        chi = curve(x)
        return chi.detach(), *torch.autograd.grad(chi.square().mean(), x)

    return call


def captured(call):
    """The same call as one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()

    def replay():
        graph.replay()
        return result

    return replay


def by_events(call, repeats=21):
    """The median milliseconds of a call that follows others, none of which waits."""
    for _ in range(3):
        call()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    events[-1].synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))


def by_host(call, repeats=201):
    """The median microseconds that a call takes of the host, while the device is faster."""
    for _ in range(20):
        call()
    torch.cuda.synchronize()
    marks = []
    for _ in range(repeats):
        marks.append(time.perf_counter())
        call()
    return 1e6 * statistics.median(b - a for a, b in zip(marks, marks[1:]))


def empty_operator():
    """An operator of PyTorch with a gradient that computes nothing."""

    @torch.library.custom_op("compare_soft::empty", mutates_args=())
    def empty(x: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
        return x.new_empty((*x.shape[:2], len(tau)))

    empty.register_autograd(lambda ctx, _: (torch.empty_like(ctx.x), None),
                            setup_context=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0].detach()))
    return empty


def by_definition(curve, x, tau):
    """χ and the gradient of a step in float64, some thresholds at a time."""
    x = x.detach().double().requires_grad_()
    parts = tau.double().split(max(1, AT_ONCE // x.numel()))
    with torch.no_grad():
        chi = torch.cat([curve(x, t) for t in parts], -1)
    upstream = 2 * chi / chi.numel()
    gradient, k = torch.zeros_like(x), 0
    for t in parts:
        gradient += torch.autograd.grad(curve(x, t), x, upstream[..., k : k + len(t)].contiguous())[0]
        k += len(t)
    return (chi, 1.0), (gradient, upstream.abs().max().item() * LAMBDA / 4)


def off(answer, right):
    """The largest error, relative to the largest number, or to the most that one cell has if that is more."""
    return max(((got - want).abs().max() / max(want.abs().max().item(), least)).item() for got, (want, least) in zip(answer, right))


def drawn(shape, smooth):
    x = torch.rand(shape, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    if smooth:
        pool = torch.nn.functional.avg_pool2d if len(shape) == 4 else torch.nn.functional.avg_pool3d
        for _ in range(2):
            x = pool(x, 5, 1, 2, count_include_pad=False)
        x = (x - x.min()) / (x.max() - x.min())
    return x.requires_grad_()


def measured(shape, m, tilted):
    """The milliseconds of each way to take a step, None for what the memory is too small for, and two errors."""
    dims = len(shape) - 2
    tau = torch.linspace(0, 1, m, device="cuda")
    v, alpha = (torch.tensor([1.0, 2.0, 3.0][:dims], device="cuda"), ALPHA) if tilted else (None, 0.0)

    def plain(x, at=tau):
        return formula(x, at, LAMBDA, None if v is None else v.to(x.dtype), alpha, dims=dims)

    x = drawn(shape, False)
    right = by_definition(plain, x, tau)
    layer = SoftECC(tau, LAMBDA, dims=dims, direction=v, alpha=alpha).cuda()
    graphed = torch.cuda.make_graphed_callables(SoftECC(tau, LAMBDA, dims=dims, direction=v, alpha=alpha).cuda(), (x.detach().clone().requires_grad_(),))
    torch._dynamo.reset()
    compiled = torch.compile(plain, dynamic=False)
    ways = {"eager": lambda: step(layer, x), "graphed": lambda: step(graphed, x), "captured": lambda: captured(step(layer, x)),
            "smooth": lambda: captured(step(layer, drawn(shape, True))),
            "formula": lambda: step(plain, x), "compiled": lambda: step(compiled, x), "compiled, captured": lambda: captured(step(compiled, x))}
    took, errors = {}, {}
    for name, made in ways.items():
        try:
            call = made()
            took[name] = by_events(call)
            errors[name] = off(call(), right) if name != "smooth" else 0.0
        except torch.OutOfMemoryError:
            took[name], errors[name] = None, 0.0
        call = None
        torch.cuda.empty_cache()
    return took, max(errors[name] for name in ("eager", "graphed", "captured")), max(errors["formula"], errors["compiled"], errors["compiled, captured"])


def steps():
    for shape, m in itertools.product(BATCHES, (16, 64)):
        both = [measured(shape, m, tilted) for tilted in (False, True)]
        ms = lambda name: " / ".join("—" if took[name] is None else f"{took[name]:.3g}" for took, *_ in both)  # noqa: E731
        ours, theirs = (max(b[k] for b in both) for k in (1, 2))
        verdict = "VERIFIED" if ours <= LIMIT else "**WRONG**"
        row = f"| {'×'.join(map(str, shape[:2]))}×{shape[2]}{'²³'[len(shape) - 4]} | {m} | " + " | ".join(map(ms, both[0][0])) + f" | {verdict}: {ours:.1g} | {theirs:.1g} |"
        print(row, file=sys.stderr, flush=True)
        yield row


def on_device():
    x, tau = drawn(BATCHES[0], False), torch.linspace(0, 1, 16, device="cuda")
    ours, empty = by_host(step(SoftECC(tau, LAMBDA, dims=2).cuda(), x)), empty_operator()
    floor = by_host(step(lambda x: empty(x, tau), x))
    written("../doc/guide/training.md", "compare_soft.py", [
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, float32, noise, λ = {LAMBDA:g}: medians in milliseconds of forward, `square().mean()`",
        f"and backward, without / with a direction. An eager step of {'×'.join(map(str, BATCHES[0]))} takes {ours:.0f} µs of the host, and one with an empty",
        f"custom operator of PyTorch {floor:.0f} µs.",
        "",
        "| batch | m | eager | `make_graphed_callables` | step as one graph | the same, smooth image | formula, eager | `torch.compile` of it | that as one graph | off by | formula off by |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *steps(),
    ])


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
    on_device() if "cuda" in sys.argv[1:] else main()
