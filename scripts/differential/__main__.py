"""Compare eccbench's readers with the reference library of each format, on generated files.

    python -m differential [FORMAT ...] [--count N] [--seconds S] [--seed SEED]

Each format is a module of this package with three functions:

generate(rng, folder) -> str
    Write one file, valid or odd, into the empty folder. Return what is opened: its path, or an
    input string such as 'file/volume=1/path=...'. All randomness comes from rng.
reference(opened) -> numpy.ndarray
    Read it by the reference library, the slowest axis first. Raise Rejected if the library
    rejects the file or warns that it is damaged.
explain(opened, ours, theirs) -> str or None
    The known reason of a difference, or None. ours and theirs are arrays or Rejected. Look
    for the cause in the file, such as a field of its header or an oddity that the generator added
    to _common.MADE: a message alone explains too much.

A format that is no image also has read(opened), which reads it by eccbench: an array or Rejected.

A difference without a reason is printed with the seed that repeats it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import eccbench

from . import FORMATS, Rejected, _common


MEMORY = "/dev/shm"  # where files are made several times as fast as on a disk


def read(opened):
    """Read by eccbench: an array, or Rejected with the message."""
    try:
        return np.asarray(eccbench.open(opened))
    except (ValueError, OSError) as e:
        return Rejected(str(e))
    except RuntimeError as e:
        return Failed(str(e))


class Failed(Exception):
    """Reading ended with a fault of eccbench itself."""


def refer(module, opened):
    """Read by the reference library: an array, or Rejected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return module.reference(opened)
        except Rejected as e:
            return e


def same(ours, theirs):
    """Report whether both rejected the file, or read the same values of the same shape."""
    if isinstance(ours, Rejected) or isinstance(theirs, Rejected):
        return isinstance(ours, Rejected) and isinstance(theirs, Rejected)
    return ours.shape == theirs.shape and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == theirs.dtype.kind == "f")


def shown(answer):
    if isinstance(answer, Rejected):
        return f"rejected: {answer}"
    values = np.array2string(answer.ravel()[:8], separator=",", max_line_width=10_000)
    return f"{answer.dtype} {answer.shape} {values}"


def examine(module, seed, folder):
    """Generate and compare one file. Return its outcome and the text to print."""
    folder.mkdir()
    _common.MADE.clear()
    opened = module.generate(np.random.default_rng(seed), folder)
    ours, theirs = getattr(module, "read", read)(opened), refer(module, opened)
    if isinstance(ours, Failed):
        return "UNEXPLAINED", f"eccbench failed: {ours}"
    if isinstance(ours, Rejected) and len(str(ours).splitlines()) != 1:
        return "UNEXPLAINED", f"the error has more than one line: {ours!r}"
    if same(ours, theirs):
        return ("both reject" if isinstance(ours, Rejected) else "same voxels"), ""
    reason = module.explain(opened, ours, theirs)
    if reason:
        return reason, ""
    made = ", ".join(sorted(_common.MADE)) or "valid"
    return "UNEXPLAINED", f"eccbench  {shown(ours)}\nreference {shown(theirs)}\nmade      {made}"


def compare(name, options):
    """Compare one format and print its counts. Return how many differences have no reason."""
    module = importlib.import_module(f".{name}", __package__)
    counts, end = collections.Counter(), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as root:
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() > end:
                break
            folder = Path(root, "case")
            outcome, text = examine(module, seed, folder)
            counts[outcome] += 1
            if text and counts[outcome] <= 5:
                kept = Path(tempfile.gettempdir(), f"differential-{name}-{seed}")
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                print(f"{name}, seed {seed} (kept in {kept}; repeat by {name} --seed {seed} --count 1)\n{text}", flush=True)
            shutil.rmtree(folder)
    print(f"{name}: {sum(counts.values())} files")
    for outcome, n in counts.most_common():
        print(f"  {n:7d}  {outcome}")
    sys.stdout.flush()
    return counts["UNEXPLAINED"]


def main():
    parser = argparse.ArgumentParser(prog="differential", description=__doc__.split("\n")[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"one of {', '.join(FORMATS)} (default: all)")
    parser.add_argument("--count", type=int, default=100_000, help="greatest number of files a format (default 100000)")
    parser.add_argument("--seconds", type=float, default=60, help="longest time a format (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first file (default 1); the next have the next seeds")
    options = parser.parse_args()
    unknown = set(options.formats) - set(FORMATS)
    if unknown:
        parser.error(f"no format {sorted(unknown)[0]!r}; the formats are {', '.join(FORMATS)}")
    differences = sum(compare(name, options) for name in options.formats or FORMATS)
    sys.exit(1 if differences else 0)


main()
