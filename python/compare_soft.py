"""The soft curve and its formula in PyTorch, as a table.

    python compare_soft.py [--device cuda] [--write]

Both tables compare soft_ecc with its definition in PyTorch (tests/formula.py), forward and backward. Run
it on an idle machine.

On the CPU: images of float32 at 64 thresholds, with all gradients. Times are the fastest of at least three
calls, with PyTorch's number of threads. --write updates the table in README.md.

With --device cuda: steps of training, of batches of float32. Times are medians of consecutive steps by CUDA
events, below 10 ms the least of rounds in which all ways take turns. Each answer is compared with the formula in
float64. --write updates the table in ../reports/training.md.
"""

import itertools
import math
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
from formula import formula, tilted  # noqa: E402

M, LAMBDA, ALPHA = 64, 100.0, 0.001
IMAGES = ["noise/shape=64x64x64/levels=1024/type=float32/seed=1",
          "grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
          "grf/shape=256x256x256/levels=1024/type=float32/smooth=2/seed=1"]
LARGEST = 64**3  # limited by the memory of the formula


def both_ways(function, name):
    """Return a call that computes the curve and all gradients."""
    x = torch.from_numpy(np.asarray(eccbench.open(name)).copy())
    x = (x - x.min()) / (x.max() - x.min())
    upstream = torch.randn(M, generator=torch.Generator().manual_seed(1))

    def call():
        given = x, torch.linspace(0, 1, M), torch.tensor(LAMBDA), torch.tensor([1.0, 2.0, 3.0]), torch.tensor(ALPHA)
        of = [t.clone().requires_grad_() for t in given]
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


BATCHES = [(256, 1, 28, 28), (64, 1, 256, 256), (16, 1, 128, 128),
           (8, 1, 32, 32, 32), (4, 1, 64, 64, 64), (2, 1, 128, 128, 128), (1, 1, 512, 512, 512)]
WAYS = ["eager", "`make_graphed_callables`", "step as a graph",
        "formula", "compiled", "compiled, step as a graph"]
ROUNDS = 15  # of steps that the host slows down: it varies by a factor of two
LIMIT = 1e-5  # of an error, relative as in doc/proofs/softecc.md
NEAR = 1e-6  # nearer values may be equal, or change their order, in float32
LIST = 32  # images of different shapes
LARGE = 2**24  # voxels, from which on the memory of one way is that of the device
AT_ONCE = 2**28  # voxels times thresholds of the formula in float64


def step(curve, x):
    """Return a step of training, which returns χ and the gradient."""

    def call():
        chi = curve(x)
        return chi.detach(), *torch.autograd.grad(chi.square().mean(), x)

    return call


def captured(call):
    """Return the same call as one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()

    def replay(call=call):  # which owns tensors that the graph reads
        graph.replay()
        return result

    return replay


def by_events(calls):
    """Return the median milliseconds of consecutive calls of each function without waits: the least of some rounds, in
    turn, of functions below 10 ms."""

    def seconds(call):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def median(call, repeats):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
        events[0].record()
        for event in events[1:]:
            call()
            event.record()
        events[-1].synchronize()
        return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))

    took = [[seconds(call) for _ in range(3)][-1] for call in calls]
    medians = [[median(call, 21 if t < 0.1 else 3)] for call, t in zip(calls, took)]
    for _ in range(ROUNDS - 1):
        for call, t, of in zip(calls, took, medians):
            if t < 0.01:
                of.append(median(call, 21))
    return list(map(min, medians))


def by_host(calls, repeats=101, rounds=7):
    """Return the median host time of each call in microseconds, in turn, while the device is faster."""
    took = [[] for _ in calls]
    for _ in range(rounds):
        for call, times in zip(calls, took):
            for _ in range(10):
                call()
            torch.cuda.synchronize()
            marks = []
            for _ in range(repeats):
                marks.append(time.perf_counter())
                call()
            times += [b - a for a, b in zip(marks, marks[1:])]
    return [1e6 * statistics.median(times) for times in took]


class Nothing(torch.autograd.Function):
    """A layer that allocates its answer and its gradient, and computes neither."""

    @staticmethod
    def forward(ctx, x, m):
        ctx.save_for_backward(x)
        return x.new_empty((*x.shape[:2], m))

    @staticmethod
    def backward(ctx, _):
        return torch.empty_like(ctx.saved_tensors[0]), None


def in_one_thread(call):
    """Return the same call without PyTorch's thread for the backward passes of a device."""

    def alone():
        with torch.autograd.set_multithreading_enabled(False):
            return call()

    return alone


def of_lists():
    """Return the milliseconds of a step of a list of images of different shapes, at once and image by image."""
    images = [drawn((1, 20 + k, 51 - k)) for k in range(LIST)]
    layer = SoftECC(torch.linspace(0, 1, 16, device="cuda"), LAMBDA, dims=2).cuda()

    def step(curves):
        return lambda: torch.autograd.grad(curves(images).square().mean(), images)

    return by_events([step(layer), step(lambda images: torch.stack([layer(one) for one in images]))])


def clear(y, dims):
    """Return the voxels without a nearly equal neighbour in y. Elsewhere the gradient is a one-sided derivative."""
    found = torch.ones_like(y, dtype=torch.bool)
    whole = slice(None)
    ends = {-1: (slice(1, None), slice(None, -1)), 0: (whole, whole), 1: (slice(None, -1), slice(1, None))}
    for way in itertools.product(ends, repeat=dims):
        here, there = ((..., *(ends[k][side] for k in way)) for side in (0, 1))
        if any(way):
            found[here] &= (y[here] - y[there]).abs() > NEAR
    return found


def by_definition(curve, x, tau, y):
    """Return χ and the gradient of a step in float64, with their least scales and the voxels that count."""
    x = x.detach().double().requires_grad_()
    parts = tau.double().split(max(1, AT_ONCE // x.numel()))
    with torch.no_grad():
        chi = torch.cat([curve(x, t) for t in parts], -1)
    upstream = 2 * chi / chi.numel()
    gradient, k = torch.zeros_like(x), 0
    for t in parts:
        gradient += torch.autograd.grad(curve(x, t), x, upstream[..., k : k + len(t)].contiguous())[0]
        k += len(t)
    everywhere = torch.ones_like(chi, dtype=torch.bool)
    return (chi, 1.0, everywhere), (gradient, upstream.abs().max().item() * LAMBDA / 4, clear(y, y.ndim - 2))


def off(answer, right):
    """Return the largest error, relative to the largest number, or to the limit of one cell if that is larger."""
    return max((((got - want) * counts).abs().max() / max(want.abs().max().item(), least)).item()
               for got, (want, least, counts) in zip(answer, right))


def drawn(shape, smooth=False):
    """Return images of noise between 0 and 1, averaged twice over five voxels along each axis if smooth is set."""
    x = torch.rand(shape, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    for axis in list(range(2, x.ndim)) * 2 if smooth else ():
        x = sum(x.roll(k, axis) for k in range(-2, 3))
    return ((x - x.min()) / (x.max() - x.min())).requires_grad_() if smooth else x.requires_grad_()


def measured(shape, m, directed, smooth):
    """Return the milliseconds and the error of each of WAYS, None without enough memory."""
    dims = len(shape) - 2
    tau = torch.linspace(0, 1, m, device="cuda")
    v, alpha = (torch.tensor([1.0, 2.0, 3.0][:dims], device="cuda"), ALPHA) if directed else (None, 0.0)

    def plain(x, at=tau):
        return formula(x, at, LAMBDA, None if v is None else v.to(x.dtype), alpha, dims=dims)

    def layer():
        return SoftECC(tau, LAMBDA, dims=dims, direction=v, alpha=alpha).cuda()

    x = drawn(shape, smooth)
    y = x.detach().double()
    right = by_definition(plain, x, tau, y if v is None else tilted(y, v.double(), alpha))
    compiled = torch.compile(plain, dynamic=False)
    made = [
        lambda: step(layer(), x),
        lambda: step(torch.cuda.make_graphed_callables(layer(), (x.detach().clone().requires_grad_(),)), x),
        lambda: captured(step(layer(), x)),
        lambda: step(plain, x), lambda: step(compiled, x), lambda: captured(step(compiled, x)),
    ]
    took, errors = [], []
    for makes in [made] if x.numel() < LARGE else zip(made):
        try:
            calls = [make() for make in makes]
            found = by_events(calls), [off(call(), right) for call in calls]
        except torch.OutOfMemoryError:
            found = [None] * len(makes), [None] * len(makes)
        took += found[0]
        errors += found[1]
        calls = None
        torch.cuda.empty_cache()
    return took, errors


def ratio(a, b):
    return "—" if a is None or b is None else f"{a / b:.2g}"


def told(line):
    """Print a line of the table as soon as it is known."""
    print(line, file=sys.stderr, flush=True)
    return line


def steps():
    for shape, m, smooth in itertools.product(BATCHES, (16, 64), (False, True)):
        torch._dynamo.reset()
        both = [measured(shape, m, directed, smooth) for directed in (False, True)]
        pairs = list(zip(*(took for took, _ in both)))
        cells = [" / ".join("—" if t is None else f"{t:.2g}" for t in pair) for pair in pairs]
        eager, _, graph, _, compiled, replayed = (pair[0] for pair in pairs)
        cells.append(f"{ratio(compiled, eager)} / {ratio(replayed, graph)}")
        ours, theirs = ([e for _, errors in both for e in errors[k:k + 3] if e is not None] for k in (0, 3))
        batch = f"{'×'.join(map(str, shape[:3]))}{'²³'[len(shape) - 4]}"
        status = "UNVERIFIED" if not ours else "VERIFIED" if all(e <= LIMIT for e in ours) else "**WRONG**"
        verdict = f"{status}, {max(ours, default=math.nan):.1g} and {max(theirs, default=math.nan):.1g}"
        yield told(f"| {batch} | {'smooth' if smooth else 'noise'} | {m} | {' | '.join(cells)} | {verdict} |")


def on_device():
    x, tau = drawn(BATCHES[0]), torch.linspace(0, 1, 16, device="cuda")
    compiled = torch.compile(lambda x: formula(x, tau, LAMBDA, None, 0.0, dims=2), dynamic=False)
    layers = SoftECC(tau, LAMBDA, dims=2).cuda(), lambda x: Nothing.apply(x, len(tau)), compiled
    calls = [step(layer, x) for layer in layers]
    took = [f"{us:.0f}" for us in by_host([*calls, *map(in_one_thread, calls)])]
    at_once, one_by_one = of_lists()
    written("../reports/training.md", "compare_soft.py", [
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, float32, λ = {LAMBDA:g}. "
        "Milliseconds of forward,",
        "`square().mean()` and backward, without / with a direction; medians of steps that follow each other, "
        "the least of",
        f"{ROUNDS} such medians for steps below 10 ms, in turn. The last but one column is the time of the compiled",
        "formula in times of `SoftECC`: eager / a step as a graph, without a direction. The last column has the largest",
        "errors of `SoftECC` and of the formula in float32, at voxels that equal no neighbour.",
        "",
        told(f"An eager step of 256×1×28² takes {took[0]} µs of the host, {took[1]} µs with an `autograd.Function` that "
            f"computes nothing,"),
        told(f"and {took[2]} µs with the compiled formula. Under `torch.autograd.set_multithreading_enabled(False)` it "
            f"is {', '.join(took[3:5])}"),
        f"and {took[5]} µs. All are medians of all steps, in turns. A step of a",
        told(f"list of {LIST} images of {LIST} shapes of 20 to 51 pixels takes {at_once:.2g} ms, image by image "
            f"{one_by_one:.2g} ms: the least"),
        f"of {ROUNDS} medians, as in the table.",
        "",
        f"| batch | image | m | {' | '.join(WAYS)} | × compiled | verdict and errors |",
        "|---" * (len(WAYS) + 5) + "|",
        *steps(),
    ])


def main():
    before, body, after = load(), list(rows()), load()
    written("README.md", "compare_soft.py", [
        f"{torch.get_num_threads()} threads of {processor()}, PyTorch {torch.__version__}, {M} thresholds, "
        f"λ·range {LAMBDA:g}, a direction; a load of",
        f"{before:.1f} before and {after:.1f} after, its own included. \"χ is off by\" is the distance of eccbench, "
        "and of the formula",
        "in float32, from the formula in float64 in the 2-norm.",
        "",
        "| image | eccbench | Gvox/s | the formula | times as long | χ is off by |",
        "|---|---|---|---|---|---|",
        *body,
    ])


if __name__ == "__main__":
    on_device() if "cuda" in sys.argv[1:] else main()
