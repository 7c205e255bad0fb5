"""Speed and agreement of eccbench and other Python libraries, as a table.

    python compare.py [--write]

Each installed library computes χ at every grey level of the same image of noise. Its answer is
compared with that of eccbench at all levels, and timed: the fastest of some calls, on one core,
from an array to the curve. --write updates the table in README.md. Run it on an idle machine.
"""

import importlib
import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

import eccbench

LEVELS = 256
IMAGES = {"64³ uint8": (64, 64, 64), "512² uint8": (512, 512)}


def by_intervals(dimension, born, died):
    """χ at every level, of intervals of persistent homology."""
    change = np.zeros(LEVELS + 1, np.int64)
    sign = 1 - 2 * (np.asarray(dimension, int) % 2)
    np.add.at(change, np.asarray(born, int), sign)
    np.add.at(change, np.clip(died, 0, LEVELS).astype(int), -sign)
    return np.cumsum(change[:LEVELS])


def gudhi(cells):
    def curve(image):
        complex_ = importlib.import_module("gudhi").CubicalComplex(**{cells: image.astype(np.float64)})
        complex_.compute_persistence(homology_coeff_field=2, min_persistence=0)
        parts = [(d, complex_.persistence_intervals_in_dimension(d)) for d in range(image.ndim)]
        return sum(by_intervals(np.full(len(p), d), p[:, 0], p[:, 1]) for d, p in parts)
    return curve


def cripser(function):
    def curve(image):
        pairs = getattr(importlib.import_module("cripser"), function)(image.astype(np.float64), maxdim=image.ndim - 1)
        return by_intervals(pairs[:, 0], pairs[:, 1], pairs[:, 2])
    return curve


def scikit_image(construction):
    def curve(image):
        measure = importlib.import_module("skimage.measure")
        connectivity = image.ndim if construction == "T" else 1
        return np.array([measure.euler_number(image <= t, connectivity=connectivity) for t in range(LEVELS)])
    return curve


def pyect(image):
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    layer = getattr(importlib.import_module("pyect"), f"Image_ECF_{image.ndim}D")(LEVELS)
    # It rounds up to a level: a value slightly below its own stays there.
    values = np.nextafter(image / np.float32(LEVELS - 1), np.float32(0), dtype=np.float32)
    return layer(torch.from_numpy(values)).numpy()


def ours(construction, verify):
    def curve(image):
        return eccbench.curve(image, construction=construction, verify=verify, threads=1)(np.arange(LEVELS))
    return curve


# Distribution, method, construction, function of an image.
PEERS = [
    ("eccbench", "counts extrema, verified", "T", ours("T", True)),
    ("eccbench", "counts extrema, verified", "V", ours("V", True)),
    ("eccbench", "counts extrema, `verify=False`", "T", ours("T", False)),
    ("gudhi", "persistent homology", "T", gudhi("top_dimensional_cells")),
    ("gudhi", "persistent homology", "V", gudhi("vertices")),
    ("cripser", "persistent homology", "T", cripser("computePH_T")),
    ("cripser", "persistent homology", "V", cripser("computePH")),
    ("scikit-image", "`euler_number`, a call a level", "T", scikit_image("T")),
    ("scikit-image", "`euler_number`, a call a level", "V", scikit_image("V")),
    ("pyect", "values of all cells, in PyTorch", "V", pyect),
]


def fastest(call, seconds=1.0):
    """Return the least time of a call, of at least three calls and a number of seconds."""
    times = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def rows():
    rng = np.random.default_rng(1)
    for name, shape in IMAGES.items():
        image = rng.integers(0, LEVELS, shape, np.uint8)
        right = {c: ours(c, True)(image) for c in "TV"}
        one = {}
        for library, does, construction, curve in PEERS:
            try:
                version = importlib.metadata.version(library)
                answer = curve(image)
            except ImportError:
                print(f"{library} is not installed", file=sys.stderr)
                continue
            wrong = int((answer != right[construction]).sum())
            took = fastest(lambda: curve(image))
            one.setdefault(construction, took)
            agrees = f"all {LEVELS} levels" if wrong == 0 else f"**not at {wrong} of {LEVELS} levels**"
            yield f"| {name} | {library} {version} | {does} | {construction} | {agrees} | {spelled(took)} | {rounded(took / one[construction])} |"


def spelled(seconds):
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def rounded(ratio):
    """Return a number with two digits."""
    return f"{float(f'{ratio:.2g}'):,g}"


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load():
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def written(page, name, lines):
    """Print a table, and with --write put it into the page at the script's name."""
    text = "\n".join(lines) + "\n"
    print(text)
    if "--write" in sys.argv[1:]:
        page = Path(__file__).parent / page
        mark = f"<!-- {name} -->\n"
        before, rest = page.read_text().split(mark, 1)
        _, after = rest.split("<!-- end -->\n", 1)
        page.write_text(f"{before}{mark}\n{text}\n<!-- end -->\n{after}")


def main():
    before, body, after = load(), list(rows()), load()
    written("README.md", "compare.py", [
        f"One core of {os.cpu_count()} of {processor()}, noise on {LEVELS} levels, the fastest of at least",
        f"three calls, a load of {before:.1f} before and {after:.1f} after, its own 1 included. Libraries of",
        "persistent homology compute more than χ.",
        "",
        "| image | library | method | construction | agrees with eccbench | from array to curve | × eccbench, verified |",
        "|---|---|---|---|---|---|---|",
        *body,
    ])


if __name__ == "__main__":
    main()
