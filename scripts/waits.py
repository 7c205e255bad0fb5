"""How long people wait, beside the peers that they would take, as a table.

    python waits.py [--turns N] [--only WORD] [PROGRAM]

Each case is a call or a command of eccbench and one of a peer, which take turns. The table has the least CPU
time and the least wall time of each, how many times ours is in the peer's CPU time (of threads: wall time), and
the goal: the most CPU time of ours, the most beyond the peer's, or the least ratio. A missed goal has a !. If both
answer the same question and their answers differ, the case says so, and the exit code is 1. Cases of peers that are
not installed have no peer, and soft curves need PyTorch. Without the PROGRAM there are no commands of it.
"""

import os

for threads in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{threads}_NUM_THREADS"] = "1"  # calls take one thread

import argparse
import gzip
import itertools
import resource
import subprocess
import sys
import tempfile
import time
import typing
import warnings

import numpy as np

import eccbench

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
import compare_eigenmaps

RNG = np.random.default_rng(1)


class Case(typing.NamedTuple):
    name: str
    ours: typing.Any
    peer: str = ""
    other: typing.Any = None
    most: float = np.inf  # milliseconds of CPU time
    beyond: float = np.inf  # and beyond the peer's
    least: float = 0  # times ours in the peer's time
    wall: bool = False  # whether that is wall time
    near: float = 0  # relative difference of answers that agree


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


def in_order(dims, births, deaths):
    """The pairs of unequal values, in an order that is the same for all programs."""
    rows = np.stack([dims, births, np.where(deaths > 1e300, np.inf, deaths)], axis=1)[births != deaths]
    return rows[np.lexsort(rows.T)]


def our_pairs(image):
    pairs = eccbench.pairs(image, threads=1)
    return in_order(pairs.dims, pairs.births, pairs.deaths)


def by_cripser(image):
    import cripser

    return in_order(*cripser.computePH_T(image.astype(np.float64), maxdim=2)[:, :3].T)


def our_curves(image, verify=True):
    whole = eccbench.betti_curves(image, threads=1, verify=verify)([64, 128, 192])
    return np.asarray(whole).T.ravel().tolist()


def run(command):
    """Return a call that runs a command without output, or None for none."""
    return command and (lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) and None)


def shuffled(n):
    """The tetrahedra of n³ cubes, six each, in random order and with random numbers, as rows of vertices."""
    corner = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    paths = np.cumsum([[np.eye(3, dtype=int)[a] for a in axes] for axes in itertools.permutations(range(3))], axis=1)
    steps = np.concatenate([np.zeros((6, 1, 3), int), paths], axis=1).reshape(1, 24, 3)
    cells = ((corner + steps) @ [(n + 1) ** 2, n + 1, 1]).reshape(-1, 4)
    return RNG.permuted(RNG.permutation((n + 1) ** 3)[RNG.permutation(cells)], axis=1)


def by_tree(cells):
    import gudhi

    tree = gudhi.SimplexTree()
    tree.insert_batch(cells.T.astype(np.int32), np.zeros(len(cells)))
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True, min_persistence=0)
    return (tree.betti_numbers() + [0] * 4)[:4]


def by_lobpcg(image):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(compare_eigenmaps.lobpcg(image)[0])


def rounded(values):
    """Eigenvalues to the digits that LOBPCG to 1e-6 has."""
    return np.round(np.asarray(values) * 1e5, 1)


def calls(folder):
    bytes_, floats = RNG.integers(0, 256, (10_000, 28, 28)).astype(np.uint8), RNG.random((10_000, 28, 28), np.float32)
    for images, at, most in ((bytes_, np.arange(0, 256, 4), 130),
                             (floats, np.linspace(0, 1, 64).astype(np.float32), 350)):
        def ours(images=images, at=at):
            out = np.empty((len(images), len(at)), np.int64)
            eccbench.curve(images, batch_axis=0, at=at, threads=1, out=out)
            return out
        yield Case(f"curve of 10,000 × 28² {images.dtype} at 64 values", ours,
                   "NumPy", lambda images=images, at=at: by_cells(images, at), most=most)
    large = RNG.standard_normal((256, 256, 256), np.float32)

    def ranked():
        ranks = (large > np.float32(1.25)).astype(np.uint8) + (large > np.float32(1.5))
        return eccbench.curve(ranks, threads=1)([0, 1])
    yield Case("curve of 256³ distinct float32 at 2 values", lambda: eccbench.curve(large, at=[1.25, 1.5], threads=1).chi,
               "NumPy, then eccbench", ranked, most=80)
    double, at = RNG.standard_normal((128, 128, 128)), np.linspace(-3, 3, 64)
    yield Case("curve of 128³ float64 at 64 values", lambda: eccbench.curve(double, at=at, threads=1).chi,
               "NumPy, then eccbench",
               lambda: eccbench.curve(np.searchsorted(at, double).astype(np.uint8), threads=1)(np.arange(64)), most=80)
    noise = RNG.integers(0, 256, (256, 256, 256)).astype(np.uint8)
    yield Case("betti of 256³ uint8 at a value", lambda: tuple(eccbench.betti(noise, at=127, threads=1)),
               "cc3d, scikit-image", lambda: by_labels(noise <= 127), least=5)
    within = noise <= 127
    yield Case("betti of 256³ bool", lambda: tuple(eccbench.betti(within, threads=1)),
               "eccbench, of uint8", lambda: tuple(eccbench.betti(noise, at=127, threads=1)), least=0.9)
    small = noise[:64, :64, :64].copy()
    yield Case("betti_curves of 64³ uint8", lambda: our_curves(small), "GUDHI", lambda: by_gudhi(small), least=5)
    smooth = np.asarray(eccbench.open("grf/shape=128x128x128/levels=256/type=uint8/smooth=3/seed=1"))
    yield Case("betti_curves of smooth 128³ uint8", lambda: our_curves(smooth), "eccbench, verify=False",
               lambda: our_curves(smooth, verify=False), least=1 / 1.5)
    for kind, image, least in (("smooth 128³", smooth, 4), ("noise 64³", noise[:64, :64, :64].copy(), 1.5)):
        yield Case(f"pairs of {kind} uint8", lambda image=image: our_pairs(image),
                   "CubicalRipser", lambda image=image: by_cripser(image), least=least)
    for kind, image in (("noise", noise[:4].reshape(512, 512)), *((kind, np.asarray(eccbench.open(name))) for kind, name in (
            ("tubes", "tubes/shape=512x512/type=uint8/levels=256/seed=1"),
            ("smooth", "grf/shape=512x512/levels=256/type=uint8/smooth=3/seed=1")))):
        yield Case(f"eigenmap of {kind} 512², 4 pairs",
                   lambda image=image: rounded(eccbench.eigenmap(image, 4, n_jobs=1).eigenvalues_),
                   "pyamg, LOBPCG", lambda image=image: rounded(by_lobpcg(image)), least=15)
    if len(os.sched_getaffinity(0)) > 1:
        volume = noise[:128, :128, :128].copy()
        tubes = np.asarray(eccbench.open("tubes/shape=512x512/type=uint8/levels=256/seed=1"))
        for name, on in (("betti_curves of 128³ uint8", lambda n: eccbench.betti_curves(volume, threads=n)([64, 128])),
                         ("eigenmap of tubes 512²", lambda n: eccbench.eigenmap(tubes, 4, n_jobs=n).eigenvalues_)):
            yield Case(f"{name} on 2 threads", lambda on=on: np.asarray(on(2)), "eccbench, on one",
                       lambda on=on: np.asarray(on(1)), least=1.7, wall=True)
    yield from soft()
    tetrahedra, path = shuffled(40), os.path.join(folder, "tetrahedra.txt")
    np.savetxt(path, tetrahedra, fmt="%d")
    yield Case("homology of a text of 384,000 tetrahedra", lambda: list(eccbench.homology(path, threads=1).betti),
               "GUDHI, of an array", lambda: by_tree(tetrahedra), least=5)


def soft():
    """The soft curve of small images with all gradients, beside its formula."""
    try:
        import torch
        from eccbench.torch import soft_ecc
    except ImportError:
        return
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python", "tests"))
    from formula import formula

    torch.set_num_threads(1)
    given = torch.from_numpy(RNG.random((64, 28, 28), np.float32)), torch.linspace(0, 1, 64), torch.tensor(30.0)

    def with_gradients(curve):
        of = [t.clone().requires_grad_() for t in given]
        chi = curve(*of)
        chi.sum().backward()
        return torch.cat([t.detach().flatten() for t in (chi, *(t.grad for t in of))]).numpy()
    yield Case("soft curves of 64 × 28² at 64 thresholds",
               lambda: with_gradients(lambda *of: soft_ecc(*of, dims=2)), "its formula in PyTorch",
               lambda: with_gradients(lambda *of: formula(*of, None, None, dims=2)), least=10, near=1e-4)


def imports():
    """Processes of Python alone."""
    yield Case("import eccbench", [sys.executable, "-c", "import eccbench"],
               "import numpy", [sys.executable, "-c", "import numpy"], beyond=30)
    try:
        import torch  # noqa: F401
    except ImportError:
        return
    loaded = "import torch, eccbench.torch as e\nx = torch.rand(1, 1, 28, 28, requires_grad=True)"
    first = f"{loaded}\ne.SoftECC(torch.linspace(0, 1, 16), lam=30.0, dims=2)(x).sum().backward()"
    yield Case("first call of SoftECC", [sys.executable, "-c", first],
               "import eccbench.torch", [sys.executable, "-c", loaded], beyond=100)


def commands(program, folder):
    zipped = os.path.join(folder, "image.nrrd.gz")
    voxels = np.cumsum(RNG.integers(-1, 2, (256, 256, 256), np.int8), axis=2, dtype=np.int64).astype(np.uint8)
    with gzip.open(zipped, "wb", compresslevel=6) as file:
        file.write(b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 256 256 256\nencoding: raw\n\n" + voxels.tobytes())
    yield Case("curve of a 256³ uint8 image, gzip", [program, "curve", zipped, "-q"], "zcat", ["zcat", zipped], least=1 / 0.7)
    distinct = os.path.join(folder, "distinct.npy")
    np.save(distinct, RNG.standard_normal((256, 256, 256), np.float32))
    yield Case("curve of 256³ distinct float32, every level", [program, "curve", distinct, "-q"], most=900)
    image, out = os.path.join(folder, "image.npy"), os.path.join(folder, "flow.npy")
    np.save(image, voxels[:128, :128, :128])
    flow = [program, "gvf", image, "-q", "-o", out]
    yield Case("gvf of 128³, 64 steps", [*flow, "--steps", "64"], "eccbench, the steady state", [*flow, "--tol", "1e-4"],
               least=1 / 0.8)
    mesh = "synth/order=random/seed=1"
    yield Case("homology of 2.4 M shuffled tetrahedra", [program, "homology", mesh, "-q"], most=2000)
    path = os.path.join(folder, "mesh.txt")
    np.savetxt(path, shuffled(74), fmt="%d")
    yield Case("the same, a text", [program, "homology", path, "-q"], most=2000)
    for arguments, most in (
            ("paper murty2013 --dry-run", 1000), ("paper wang2022 --dry-run", 1000), ("doctor", 1000),
            ("run -q --sizes 4 --impl extrema", 200), ("verify -q --input noise/shape=1x1/seed=1 --impl extrema", 400),
            (f"run -q --workload homology --input {mesh} --impl duality --max-time 300ms", 3000)):
        yield Case(arguments, [program, *arguments.split()], most=most)


def spent(who, call):
    before, start = resource.getrusage(who), time.perf_counter()
    answer = call()
    wall, after = time.perf_counter() - start, resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, answer


def measure(case, ours, other, who, turns):
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
    cpu, beyond, ratio = best[0][0], np.nan, np.nan
    if best[1]:
        beyond, ratio = cpu - best[1][0], best[1][case.wall] / max(best[0][case.wall], 1e-6)
    beside = f"{best[1][0]:9.1f} {best[1][1]:9.1f} {ratio:8.2f}" if best[1] else " " * 28
    goal = next((f"{sign}{most:.0f} ms" for sign, most in (("", case.most), ("+", case.beyond)) if most < np.inf),
                f"{case.least:.2g} ×")
    missed = "!" if cpu > case.most or beyond > case.beyond or ratio < case.least else " "
    a, b = answers
    same = b is None or np.array_equal(a, b) or case.near > 0 and np.linalg.norm(a - b) <= case.near * np.linalg.norm(b)
    print(f"{case.name:46.46} {cpu:9.1f} {best[0][1]:9.1f} {beside} {goal:>8}{missed} {case.peer}{missing}"
          f"{'' if same else ': ANOTHER ANSWER'}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--turns", type=int, default=6, help="of which the first is not counted")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    title = f"milliseconds, the least of {max(1, asked.turns - 1)} turns"
    print(f"{title:46} {'CPU':>9} {'wall':>9} {'CPU':>9} {'wall':>9} {'× ours':>8} {'goal':>8}  peer")
    agree = True
    with tempfile.TemporaryDirectory() as folder:
        for case in calls(folder):
            if asked.only in case.name:
                agree &= measure(case, case.ours, case.other, resource.RUSAGE_SELF, asked.turns)
        for case in itertools.chain(imports(), commands(asked.program, folder) if asked.program else ()):
            if asked.only in case.name:
                measure(case, run(case.ours), run(case.other), resource.RUSAGE_CHILDREN, asked.turns)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
