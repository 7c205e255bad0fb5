#!/usr/bin/env python3
"""Compares eigenmaps of random images of 5² to 96² pixels with dense eigenvalues of LAPACK, and counts verdicts.

Most images are small, because a dense matrix of 96² nodes takes LAPACK a minute.
"""

import argparse
import collections

import numpy as np
import scipy.linalg

import eccbench

MOST_DENSE = 96


def drawn(rng, most):
    """Return an image of few or many values: squares on noise or on nothing, noise alone, or isolated pixels."""
    height, width = np.exp(rng.uniform(np.log(5), np.log(most + 0.999), 2)).astype(int)
    noise = rng.integers(0, rng.choice([1, 4, 256]), (height, width)).astype(np.uint8)
    for _ in range(rng.integers(0, 8)):
        y, x = rng.integers(0, height), rng.integers(0, width)
        size = 1 if rng.random() < 0.3 else rng.integers(1, 1 + max(1, min(height, width) // 2))
        noise[y : y + size, x : x + rng.integers(1, size + 1)] = rng.choice([90, 160, 250, 255])
    return noise


def laplacian(image, floor, corners, plain, sigma=0.1):
    """Return the Laplacian of the graph of pixels as a dense matrix."""
    values = image.astype(float)
    f = (values - values.min()) / ((values.max() - values.min()) or 1)
    index = np.arange(f.size).reshape(f.shape)
    weights = np.zeros((f.size, f.size))
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)] if corners else [(0, 1), (1, 0)]
    for dy, dx in steps:
        here = (slice(0, f.shape[0] - dy), slice(max(0, -dx), f.shape[1] - max(0, dx)))
        there = (slice(dy, None), slice(max(0, dx), f.shape[1] - max(0, -dx)))
        w = np.exp(-((f[here] - f[there]) ** 2) / sigma**2) + floor
        weights[index[here], index[there]] = weights[index[there], index[here]] = w
    degrees = weights.sum(1)
    result = np.diag(degrees) - weights
    return result if plain else result / np.sqrt(np.outer(degrees, degrees))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--most", type=int, default=MOST_DENSE, help="longest side")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    counts, reasons, worst, longest = collections.Counter(), collections.Counter(), 0.0, 0
    for n in range(args.images):
        image, pairs = drawn(rng, args.most), int(rng.integers(2, 6))
        options = {"floor": float(10 ** rng.uniform(-12, -2)), "corners": bool(rng.random() < 0.3)}
        plain = bool(rng.random() < 0.3)
        longest = max(longest, *image.shape)
        try:
            found = eccbench.eigenmap(image, pairs, laplacian="plain" if plain else "normalized", **options)
        except (RuntimeError, ValueError) as error:
            counts["error"] += 1
            reasons[str(error)[:200]] += 1
            continue
        dense = laplacian(image, plain=plain, **options)
        true = scipy.linalg.eigh(dense, eigvals_only=True, subset_by_index=[0, pairs - 1])
        given = found.eigenvalues_
        # LAPACK's own error, and the rule of the third part of a right answer.
        slack = 1e-13 * max(1.0, float(np.abs(true).max()) if plain else 2.0) * np.sqrt(image.size)
        ok = (true >= 0.99 * given - slack).all() and (true <= given * (1 + 1e-6) + slack).all()
        counts[found.verdict_ if ok else f"{found.verdict_}, and the values differ"] += 1
        if not ok:
            print(n, image.shape, pairs, options, plain, given, true, flush=True)
        if found.verdict_ != "VERIFIED":
            reasons[str(found.witness_)[:200]] += 1
            print(n, image.shape, pairs, options, plain, found.verdict_, found.witness_, given, true, flush=True)
        worst = max(worst, float(((given - true) / np.maximum(true, slack / 0.01)).max()))
    print(f"{args.images} images to a side of {longest}: {dict(counts)}; largest relative error {worst:.2g}")
    for reason, times in reasons.most_common():
        print(f"{times}× {reason}")


if __name__ == "__main__":
    main()
