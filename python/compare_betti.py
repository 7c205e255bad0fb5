"""Betti numbers of eccbench and other Python libraries, as two tables.

    python compare_betti.py [--side N] [--curves N] [--threads N] [--device cuda]

The first table is of one set, for images of N³ uint8 (256): eccbench, and the usual method, which
is labels of SciPy or cc3d with scikit-image's Euler number. The second table is of all sets, for
images of N³ (128): eccbench, and the pairs of CubicalRipser. Each answer is compared with that of
eccbench, and timed in the same run: the fastest of at least three calls, or one call of more than
five seconds. eccbench uses --threads cores (2) and does not verify, because no other library does;
the libraries use one core. The last column is a library's time relative to eccbench. Run it on an
idle machine.

With --device cuda the only table is of a batch of 8 pairs of binary masks of N³ (--curves, 128): the Betti numbers of
all masks, and the numbers with the matched features, as medians of consecutive calls without waits by CUDA events (the
least of rounds in turn); and calls of the metric BettiMatching, which wait and verify, on the device and on the host.
"""

import argparse
import importlib
import os
import sys
import time

import numpy as np
from compare import fastest, load, processor, rounded, spelled

import eccbench


def noise(side):
    return np.random.default_rng(7).integers(0, 256, (side,) * 3, np.uint8)


def grf(side):
    """Return Gaussian noise, smoothed by 2.5 voxels, on 256 levels."""
    noise = np.random.default_rng(7).normal(size=(side,) * 3)
    smoothed = importlib.import_module("scipy.ndimage").gaussian_filter(noise, 2.5, mode="wrap")
    return np.interp(smoothed, (smoothed.min(), smoothed.max()), (0, 255)).astype(np.uint8)


def serpent(side):
    """Return a box with one path of zero voxels along every second row of every second plane."""
    image = np.full((side,) * 3, 255, np.uint8)
    last = (side - 1) // 2 * 2
    x = 0
    for z in range(0, side, 2):
        rows = range(0, side, 2) if z % 4 == 0 else range(last, -1, -2)
        for y in rows:
            image[z, y, : last + 1] = 0
            x = last - x
            if y != rows[-1]:
                image[z, y + (1 if z % 4 == 0 else -1), x] = 0
        if z + 2 < side:
            image[z + 1, rows[-1], x] = 0
    return image


def by_scipy(within):
    label = importlib.import_module("scipy.ndimage").label
    return lambda: (label(within, np.ones((3, 3, 3)))[1], label(np.pad(~within, 1, constant_values=True))[1])


def by_cc3d(within):
    cc3d = importlib.import_module("cc3d")

    def components(of, connectivity):
        return cc3d.connected_components(of, connectivity=connectivity, return_N=True)[1]
    return lambda: (components(within, 26), components(np.pad(~within, 1, constant_values=True), 6))


def by_labels(labelled):
    """Return b0, b1 and b2 by labels of the set and of its complement, and the Euler number."""
    def numbers(image, at):
        euler = importlib.import_module("skimage.measure").euler_number
        within = image <= at
        b0, around = labelled(within)()
        b2 = around - 1
        return b0, b0 + b2 - int(euler(within, connectivity=3)), b2
    return numbers


def by_cripser(image):
    pairs = importlib.import_module("cripser").computePH_T(image.astype(np.float64), maxdim=2)
    changes = np.zeros((3, 257), np.int64)
    dimension = pairs[:, 0].astype(int)
    np.add.at(changes, (dimension, pairs[:, 1].astype(int)), 1)
    np.add.at(changes, (dimension, np.clip(pairs[:, 2], 0, 256).astype(int)), -1)
    return np.cumsum(changes, axis=1)[:, :256].T


def timed(call):
    """Return the result of a call, and the least time of several."""
    start = time.perf_counter()
    answer = call()
    first = time.perf_counter() - start
    return answer, first if first > 5 else fastest(call)


def beside(name, ours, peers):
    """Yield rows of a table: eccbench, then the installed libraries."""
    want, own = timed(ours)
    yield f"| {name} | eccbench | | {spelled(own)} | 1 |"
    for library, call in peers.items():
        try:
            got, took = timed(call)
        except ImportError as missing:
            print(f"{library}: {missing}", file=sys.stderr)
            continue
        agrees = "yes" if np.array_equal(np.asarray(want), np.asarray(got)) else "**no**"
        yield f"| {name} | {library} | {agrees} | {spelled(took)} | {rounded(took / own)} |"


def on_device(side):
    """Yield rows of the table of a batch on a device."""
    import torch
    from compare_soft import by_events

    from eccbench.metrics import BettiError, BettiMatching

    smooth, rng = grf(side), np.random.default_rng(7)
    median = np.median(smooth)
    shifted = [np.roll(smooth, 5 * k, k % 3) <= median for k in range(8)]
    batches = {"noise ½": rng.random((2, 8, 1, *(side,) * 3)) < 0.5,
               "grf, median": np.stack([shifted, [np.roll(mask, 2, 0) for mask in shifted]])[:, :, None]}
    for name, masks in batches.items():
        of = torch.from_numpy(masks).cuda()
        pairs = torch.stack(tuple(of), 2).to(torch.uint8)
        for connectivity in 26, 6:
            metrics = [m(connectivity=connectivity, verify=False) for m in (BettiError, BettiMatching)]
            numbers, both = by_events([lambda m=m: m._counted(pairs, connectivity) for m in metrics])
            verified = BettiMatching(connectivity=connectivity, threads=2)
            answer, took = timed(lambda: verified(*of).cpu())
            on_host = of.cpu()
            want, host = timed(lambda: verified(*on_host))
            agrees = "yes" if torch.equal(answer, want) else "**no**"
            yield (f"| {name} | {connectivity} | {numbers:.3g} ms | {both:.3g} ms | {spelled(took)} | "
                   f"{spelled(host)} | {agrees} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=256, help="of images whose sets are counted")
    parser.add_argument("--curves", type=int, default=128, help="of images whose curves are")
    parser.add_argument("--threads", type=int, default=2, help="of eccbench")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    asked = parser.parse_args()
    if asked.device == "cuda":
        print(f"8 pairs of {asked.curves}³\n\n| image | connectivity | numbers | numbers and matching | metric, verified | "
              "host, 2 cores | agrees |")
        print("|---" * 7 + "|", *on_device(asked.curves), sep="\n")
        return
    before = load()
    body = []
    median = float(np.median(smooth := grf(asked.side)))
    for name, image, at in (
            ("noise ½", noise(asked.side), 127), ("grf, median", smooth, median), ("serpent", serpent(asked.side), 0)):
        peers = {library: lambda by=by, image=image, at=at: by_labels(by)(image, at)
                 for library, by in (("SciPy + scikit-image", by_scipy), ("cc3d + scikit-image", by_cc3d))}
        body += beside(f"{name}, a set of {asked.side}³",
                       lambda image=image, at=at: tuple(
                           eccbench.betti(image, at=at, verify=False, threads=asked.threads)), peers)
    for name, image in (("noise", noise(asked.curves)), ("grf", grf(asked.curves))):
        def ours(image=image):
            curves = eccbench.betti_curves(image, verify=False, threads=asked.threads)
            at = np.searchsorted(curves.levels, np.arange(256), side="right")
            return np.concatenate([[(0, 0, 0)], np.stack([curves.b0, curves.b1, curves.b2], axis=1)])[at]
        body += beside(f"{name}, curves of {asked.curves}³", ours, {"CubicalRipser": lambda image=image: by_cripser(image)})
    print(f"{asked.threads} cores of {os.cpu_count()} of {processor()} for eccbench, one for others; a load of {before:.1f} before and {load():.1f} after.\n")
    print("| image | library | agrees | from array to numbers | × eccbench |\n|---|---|---|---|---|")
    print("\n".join(body))


if __name__ == "__main__":
    main()
