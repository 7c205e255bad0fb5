"""How long people wait, beside the peers that they would take, as a table.

    python waits.py [--turns N] [--only WORD] PROGRAM

Each case is a call or a command of eccbench and one of a peer, which take turns. The table has the least CPU
time and the least wall time of each, and how many times ours is in the peer's. Where both answer the same
question and their answers differ, that is said, and the exit code is 1. A peer that is not installed is left out.
"""

import argparse
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import eccbench

RNG = np.random.default_rng(1)


def by_cells(images, at):
    """χ of a batch of 2D images at some values: the vertices, edges and squares of each set, counted."""
    n, m = len(images), len(at)
    rank = np.full((n, images.shape[1] + 2, images.shape[2] + 2), m, np.int64)
    rank[:, 1:-1, 1:-1] = np.searchsorted(at, images)
    rank += np.arange(n)[:, None, None] * (m + 1)
    rows, columns = np.minimum(rank[:, 1:], rank[:, :-1]), np.minimum(rank[:, :, 1:], rank[:, :, :-1])
    corners = np.minimum(rows[:, :, 1:], rows[:, :, :-1])
    count = sum(sign * np.bincount(cells.ravel(), minlength=n * (m + 1)) for sign, cells in
                ((1, corners), (-1, rows[:, :, 1:-1]), (-1, columns[:, 1:-1]), (1, rank[:, 1:-1, 1:-1])))
    return count.reshape(n, m + 1)[:, :m].cumsum(axis=1)


def by_labels(within):
    import cc3d
    from skimage.measure import euler_number

    b0 = int(cc3d.connected_components(within, connectivity=26, return_N=True)[1])
    rest = np.pad(~within, 1, constant_values=True)
    b2 = int(cc3d.connected_components(rest, connectivity=6, return_N=True)[1]) - 1
    return (b0, b0 + b2 - int(euler_number(within, connectivity=3)), b2)


def by_gudhi(image):
    import gudhi

    cells = gudhi.CubicalComplex(top_dimensional_cells=image.astype(np.float64))
    cells.compute_persistence(homology_coeff_field=2, min_persistence=0)
    pairs = map(cells.persistence_intervals_in_dimension, range(3))
    return [sum((p[:, 0] <= t) & (t < p[:, 1])) for p in pairs for t in (64, 128, 192)]


def our_curves(image):
    whole = eccbench.betti_curves(image, threads=1)([64, 128, 192])
    return np.asarray(whole).T.ravel().tolist()


def run(command):
    """Return a call that runs a command without output, or None for none."""
    return command and (lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) and None)


def calls():
    """The name of each case, ours and the peer's."""
    bytes_, floats = RNG.integers(0, 256, (10_000, 28, 28)).astype(np.uint8), RNG.random((10_000, 28, 28), np.float32)
    for images, at in ((bytes_, np.arange(0, 256, 4)), (floats, np.linspace(0, 1, 64).astype(np.float32))):
        def ours(images=images, at=at):
            out = np.empty((len(images), len(at)), np.int64)
            eccbench.curve(images, batch_axis=0, at=at, threads=1, out=out)
            return out
        yield f"curve of 10,000 × 28² {images.dtype} at 64 values", ours, "NumPy", lambda images=images, at=at: by_cells(images, at)
    large = RNG.standard_normal((256, 256, 256), np.float32)

    def ranked():
        ranks = (large > np.float32(1.25)).astype(np.uint8) + (large > np.float32(1.5))
        return eccbench.curve(ranks, threads=1)([0, 1])
    yield ("curve of 256³ distinct float32 at 2 values", lambda: eccbench.curve(large, at=[1.25, 1.5], threads=1).chi,
           "NumPy, then eccbench", ranked)
    double, at = RNG.standard_normal((128, 128, 128)), np.linspace(-3, 3, 64)
    yield ("curve of 128³ float64 at 64 values", lambda: eccbench.curve(double, at=at, threads=1).chi,
           "NumPy, then eccbench", lambda: eccbench.curve(np.searchsorted(at, double).astype(np.uint8), threads=1)(np.arange(64)))
    noise = RNG.integers(0, 256, (256, 256, 256)).astype(np.uint8)
    yield "betti of 256³ uint8 at a value", lambda: tuple(eccbench.betti(noise, at=127, threads=1)), \
        "cc3d, scikit-image", lambda: by_labels(noise <= 127)
    within = noise <= 127
    yield "betti of 256³ bool", lambda: tuple(eccbench.betti(within, threads=1)), \
        "eccbench, of uint8", lambda: tuple(eccbench.betti(noise, at=127, threads=1))
    small = noise[:64, :64, :64].copy()
    yield "betti_curves of 64³ uint8", lambda: our_curves(small), "GUDHI", lambda: by_gudhi(small)


def commands(program, folder):
    zipped = os.path.join(folder, "image.nrrd.gz")
    voxels = np.cumsum(RNG.integers(-1, 2, (256, 256, 256), np.int8), axis=2, dtype=np.int64).astype(np.uint8)
    with gzip.open(zipped, "wb", compresslevel=6) as file:
        file.write(b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 256 256 256\nencoding: raw\n\n" + voxels.tobytes())
    yield "curve of a 256³ uint8 image, gzip", [program, "curve", zipped, "-q"], "zcat", ["zcat", zipped]
    image, out = os.path.join(folder, "image.npy"), os.path.join(folder, "flow.npy")
    np.save(image, voxels[:128, :128, :128])
    flow = [program, "gvf", image, "-q", "-o", out]
    yield "gvf of 128³, 64 steps", [*flow, "--steps", "64"], "eccbench, the steady state", [*flow, "--tol", "1e-4"]
    yield "homology of 2.4 M shuffled tetrahedra", [program, "homology", "synth/order=random/seed=1", "-q"], "", None
    yield "import eccbench", [sys.executable, "-c", "import eccbench"], "import numpy", [sys.executable, "-c", "import numpy"]
    for arguments in ("paper murty2013 --dry-run", "paper wang2022 --dry-run", "run -q --sizes 4 --impl extrema", "doctor"):
        yield arguments, [program, *arguments.split()], "", None


def spent(who, call):
    before, start = resource.getrusage(who), time.perf_counter()
    answer = call()
    wall, after = time.perf_counter() - start, resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, answer


def measure(name, ours, peer, other, who, turns):
    """Print a line, and report whether the answers agree."""
    times, answers, missing = ([], []), [None, None], ""
    for turn in range(turns):
        for i, call in enumerate((ours, other)):
            if call is None or missing and i:
                continue
            try:
                cpu, wall, answers[i] = spent(who, call)
            except ImportError as e:
                missing = f" ({e})"
                continue
            if turn or turns == 1:  # the first call loads
                times[i].append((cpu, wall))
    best = [[min(t) * 1e3 for t in zip(*some)] for some in times]
    beside = f"{best[1][0]:9.1f} {best[1][1]:9.1f} {best[1][0] / max(best[0][0], 1e-6):8.2f}" if best[1] else " " * 28
    same = answers[1] is None or np.array_equal(answers[0], answers[1])
    print(f"{name:46} {best[0][0]:9.1f} {best[0][1]:9.1f} {beside}  {peer}{missing}{'' if same else ': ANOTHER ANSWER'}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--turns", type=int, default=6, help="of which the first is not counted")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    print(f"{'milliseconds, the least of ' + str(max(1, asked.turns - 1)) + ' turns':46} {'CPU':>9} {'wall':>9} {'CPU':>9} {'wall':>9} {'× ours':>8}  peer")
    agree = True
    for name, ours, peer, other in calls():
        if asked.only in name:
            agree &= measure(name, ours, peer, other, resource.RUSAGE_SELF, asked.turns)
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, peer, other in commands(asked.program, folder):
            if asked.only in name:
                measure(name, run(ours), peer, run(other), resource.RUSAGE_CHILDREN, asked.turns)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
