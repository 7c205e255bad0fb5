import pickle

import definition
import numpy as np
import pytest

import eccbench
from test_curve import DTYPES, drawn
from test_processes import linux, run


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9,), (6, 7), (4, 5, 6)])
def test_types(shape, dtype):
    """Curves of all types in all conventions equal χ by the definition, and the sets one by one."""
    image = drawn(shape, dtype)
    before = image.copy()
    for construction in "TV":
        for superlevel in (False, True):
            curves = eccbench.betti_curves(image, construction=construction, superlevel=superlevel)
            levels, chi = definition.curve(image, construction, superlevel)
            euler = curves.b0 - curves.b1 + curves.b2
            assert dict(zip(curves.levels.tolist(), euler.tolist())).items() >= dict(zip(levels, chi)).items()
            assert curves.verdict == "VERIFIED" and curves.witness.startswith("unions of all voxels")
            assert curves.levels.dtype == (np.uint8 if image.dtype == bool else image.dtype) and curves.b0.dtype == np.int64
            if image.dtype.itemsize < 8:
                at = np.asarray(curves.levels, float)
                numbers = eccbench.betti(image, at, construction=construction, superlevel=superlevel)
                assert numbers.tolist() == np.stack([curves.b0, curves.b1, curves.b2], -1).tolist() == curves(at).tolist()
            whole = image.min() if superlevel else image.max()
            assert curves(whole) == (1, 0, 0)
    assert np.array_equal(image, before)


def test_solids():
    z, y, x = np.mgrid[-10:11, -10:11, -10:11]
    shell = abs(np.sqrt(x * x + y * y + z * z) - 7) < 1.5
    torus = (np.hypot(x, y) - 7) ** 2 + z * z < 6
    assert eccbench.betti(shell) == eccbench.Betti(1, 0, 1)
    assert eccbench.betti(torus) == (1, 1, 0)
    assert eccbench.betti(torus[10]) == (1, 1, 0)
    assert eccbench.betti(torus | (abs(z) > 9)).b0 == 3
    assert eccbench.betti(np.asfortranarray(shell)[::-1, :, ::2]).b0 == 1
    corner = np.array([[1, 0], [0, 1]], bool)
    assert eccbench.betti(corner).b0 == 1 and eccbench.betti(corner, construction="V").b0 == 2
    assert eccbench.betti(torus.astype(np.float32), [[0.5, 0]], superlevel=True).tolist() == [[[1, 1, 0], [1, 0, 0]]]
    assert eccbench.betti(torus.astype(np.uint8), []).shape == (0, 3)


def test_file(tmp_path):
    image = np.random.default_rng(3).integers(0, 9, (11, 12, 13)).astype(np.int16)
    np.save(tmp_path / "image.npy", image)
    of_file, of_array = eccbench.betti_curves(tmp_path / "image.npy"), eccbench.betti_curves(image, threads=1)
    for key in of_array.keys():
        assert of_file[key].tolist() == of_array[key].tolist()
    assert eccbench.betti(str(tmp_path / "image.npy"), 4) == of_array(4.5)
    assert eccbench.betti_curves("links/shape=32x32x32/type=uint8")(0) == (2, 2, 0)
    unverified = eccbench.betti_curves(image, verify=False)
    assert unverified.verdict == "UNVERIFIED" and unverified.witness == "" and unverified.b1.tolist() == of_array.b1.tolist()
    assert repr(of_array).startswith("<BettiCurves of 11×12×13, T, sublevel: 9 changes, VERIFIED by unions")
    assert pickle.loads(pickle.dumps(of_array)).b2.tolist() == of_array.b2.tolist()
    np.savez(tmp_path / "kept.npz", **of_array)
    assert np.load(tmp_path / "kept.npz")["b1"].tolist() == of_array.b1.tolist()


@pytest.mark.parametrize("construction", ["T", "V"])
@pytest.mark.parametrize("superlevel", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64])
def test_masks(tmp_path, construction, superlevel, dtype):
    """Voxels outside of a mask are in no set, like values beyond all sets.

    The images are arrays, batches, masked arrays, arrays with NaN, and files.
    """
    rng = np.random.default_rng(7)
    images, within = rng.integers(1, 6, (3, 5, 6, 7)).astype(dtype), rng.random((3, 5, 6, 7)) < 0.7
    ask = {"construction": construction, "superlevel": superlevel}
    outside = images.dtype.type(0 if superlevel else 9)
    values = [1, 3, 4.5]
    want = [eccbench.betti(np.where(w, i, outside), values, **ask) for i, w in zip(images, within)]
    for (b0, b1, b2), t in zip(want[0], values):
        inside = (images[0] >= t if superlevel else images[0] <= t) & within[0]
        assert b0 - b1 + b2 == definition.chi(inside, construction)
    assert np.array_equal(eccbench.betti(images, values, mask=within, batch_axis=0, **ask), want)
    assert np.array_equal(eccbench.betti(np.moveaxis(images, 0, 2), values, mask=np.moveaxis(within, 0, 2), batch_axis=2, **ask), want)
    assert np.array_equal(eccbench.betti(images, 3, mask=within, batch_axis=0, **ask), [w[1] for w in want])
    assert tuple(eccbench.betti(images[0], 3, mask=within[0], **ask)) == tuple(want[0][1])
    np.save(tmp_path / "image.npy", images[0])
    np.save(tmp_path / "mask.npy", within[0].astype(np.uint8))
    assert np.array_equal(eccbench.betti(tmp_path / "image.npy", values, mask=tmp_path / "mask.npy", **ask), want[0])
    assert np.array_equal(eccbench.betti(np.ma.masked_array(images[0], ~within[0]), values, **ask), want[0])
    if images.dtype.kind == "f":
        gaps = np.where(within[0], images[0], np.nan).astype(dtype)
        assert np.array_equal(eccbench.betti(gaps, values, nan="mask", **ask), want[0])
        np.save(tmp_path / "gaps.npy", gaps)
        if dtype == np.float32:
            assert np.array_equal(eccbench.betti(tmp_path / "gaps.npy", values, nan="mask", **ask), want[0])
    else:
        assert np.array_equal(eccbench.betti(tmp_path / "image.npy", values, nan="mask", **ask), eccbench.betti(images[0], values, **ask))
    curves = eccbench.betti_curves(images, mask=within, batch_axis=0, **ask)
    for c, numbers in zip(curves, want):
        assert np.array_equal(c(values), numbers) and c.levels.dtype == dtype and c.verdict == "VERIFIED"
    assert [c.b0.tolist() for c in eccbench.betti_curves(images[:2], mask=within[0], batch_axis=0, **ask)][0] == curves[0].b0.tolist()
    assert eccbench.betti(images[:0], values, batch_axis=0).shape == (0, 3, 3)


@pytest.mark.parametrize("construction", ["T", "V"])
def test_rings(tmp_path, construction):
    """Sets around periodic axes: a slab, a bar and a whole volume; and χ by the definition, in any order of axes."""
    bar = np.zeros((3, 4, 5), bool)
    bar[:, 1, 2] = True
    assert eccbench.betti(bar, construction=construction, periodic=[0]) == (1, 1, 0)
    assert eccbench.betti(bar, construction=construction, periodic=[1, 2]) == (1, 0, 0)
    slab = np.zeros((3, 4, 5), bool)
    slab[1] = True
    assert eccbench.betti(slab, construction=construction, periodic=[1, 2]) == (1, 2, 1)
    assert eccbench.betti(slab, construction=construction, periodic=True) == (1, 2, 1)
    assert eccbench.betti(slab | True, construction=construction, periodic=True) == (1, 3, 3)
    assert eccbench.betti(slab[1:2], construction=construction, periodic=[0]).b1 == 1
    assert eccbench.betti_curves(slab, periodic=[-1]).convention == "T, sublevel, periodic along 2"
    image, within = np.random.default_rng(5).integers(0, 5, (4, 5, 6)).astype(np.uint8), np.random.default_rng(6).random((4, 5, 6)) < 0.9
    np.save(tmp_path / "image.npy", image)
    for closed in ([0], [1, 2], [0, 1]):
        want = eccbench.betti(image, [1, 2], construction=construction, periodic=closed)
        for (b0, b1, b2), t in zip(want, [1, 2]):
            assert b0 - b1 + b2 == definition.chi(image <= t, construction, tuple(closed))
        assert np.array_equal(eccbench.betti(tmp_path / "image.npy", [1, 2], construction=construction, periodic=closed), want)
        assert np.array_equal(eccbench.betti(np.asfortranarray(image), [1, 2], construction=construction, periodic=closed), want)
        turned = eccbench.betti(image.transpose(2, 0, 1), [1, 2], construction=construction, periodic=[(a + 1) % 3 for a in closed])
        assert np.array_equal(turned, want)
        curves = eccbench.betti_curves(image, construction=construction, periodic=closed)
        assert np.array_equal(curves([1, 2]), want) and curves.verdict == "VERIFIED"
        b0, b1, b2 = eccbench.betti(image, 2, construction=construction, periodic=closed, mask=within)
        assert b0 - b1 + b2 == definition.chi((image <= 2) & within, construction, tuple(closed))


def test_sets_of_a_batch():
    """A batch of bool needs no values."""
    sets = np.zeros((2, 5, 5), bool)
    sets[0, 1:4, 1:4] = True
    sets[0, 2, 2] = False
    assert eccbench.betti(sets, batch_axis=0).tolist() == [[1, 1, 0], [0, 0, 0]]
    assert eccbench.betti(sets, batch_axis=0, mask=np.indices((5, 5))[1] < 3).tolist() == [[1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("mask", [None, np.arange(12).reshape(3, 4) % 3 > 0])
def test_infinite_values(dtype, mask):
    """The set of an infinite value is empty or has all voxels, but none outside of a mask."""
    image = np.arange(12).reshape(3, 4).astype(dtype)
    every = eccbench.betti(np.ones((3, 4), bool) if mask is None else mask)
    assert eccbench.betti(image, [-np.inf, np.inf], mask=mask).tolist() == [[0, 0, 0], list(every)]
    assert eccbench.betti(image, [-np.inf, np.inf], mask=mask, superlevel=True).tolist() == [list(every), [0, 0, 0]]


def test_refused(tmp_path):
    image = np.zeros((3, 4), np.float32)
    for what, error, ask in [
        ("at is missing", ValueError, lambda: eccbench.betti(image)),
        ("construction 'U'", ValueError, lambda: eccbench.betti(image, 0, construction="U")),
        ("a value is NaN", ValueError, lambda: eccbench.betti(image, float("nan"))),
        ("want numbers", TypeError, lambda: eccbench.betti(image, "high")),
        ("is not exact in float64", ValueError, lambda: eccbench.betti(image, [2**53 + 1, 0.5])),
        ("1 to 3 axes", ValueError, lambda: eccbench.betti_curves(np.zeros((2, 2, 2, 2)))),
        ("nan='mask' leaves NaN out", ValueError, lambda: eccbench.betti(np.where(np.eye(4) > 0, np.nan, 0), 1)),
        ("nan 'drop'", ValueError, lambda: eccbench.betti(image, 0, nan="drop")),
        (r"mask of shape \(4, 3\)", ValueError, lambda: eccbench.betti(image, 0, mask=image.T)),
        ("batch_axis 2", ValueError, lambda: eccbench.betti(image, 0, batch_axis=2)),
        ("complex", TypeError, lambda: eccbench.betti_curves(image.astype(complex))),
        ("NaN", ValueError, lambda: eccbench.betti_curves(np.where(np.eye(4) > 0, np.nan, 0))),
        ("threads 0", ValueError, lambda: eccbench.betti_curves(image, threads=0)),
        ("nowhere", FileNotFoundError, lambda: eccbench.betti_curves(tmp_path / "nowhere.npy")),
    ]:
        with pytest.raises(error, match=what):
            ask()


@linux
def test_interrupt():
    """Ctrl-C ends the wait, and the job soon after."""
    done = run("""
        image = np.random.default_rng(1).random((300, 300, 300), np.float32)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            eccbench.betti_curves(image)
            print("ended")
        except KeyboardInterrupt:
            print("interrupted")
        print(eccbench.betti(image[:9, :9, :9] < 2))
    """)
    assert done.stdout.splitlines() == ["interrupted", "Betti(b0=1, b1=0, b2=0)"], done.stderr


@pytest.mark.parametrize("construction", ["T", "V"])
@pytest.mark.parametrize("superlevel", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"])
def test_batches_at_values(dtype, superlevel, construction):
    """The images of a batch have their individual numbers, at few values and at many."""
    rng = np.random.default_rng(8)
    ask = {"superlevel": superlevel, "construction": construction}
    for shape in ((7, 9), (3, 4, 5)):
        images = np.round(rng.standard_normal((3, *shape)) * 3).astype(dtype)
        for at in (1, [1.5], [[3, -2], [1e30, -1e30]], np.arange(-6, 30) / 2):
            numbers = eccbench.betti(np.moveaxis(images, 0, 1), at, batch_axis=1, **ask)
            assert numbers.tolist() == [np.asarray(eccbench.betti(i, at, **ask)).tolist() for i in images]
            assert numbers.verdict == "VERIFIED" and numbers.shape == (3, *np.shape(at), 3)
    if images.dtype.kind == "f":
        images[1, 0, 0, 0] = np.nan
        with pytest.raises(ValueError, match="image 1: 1 value is NaN.*nan='mask'"):
            eccbench.betti(images, [1, 2], batch_axis=0)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_many_values(dtype):
    """An image of many 64-bit values is ranked among the requested values."""
    image = (np.random.default_rng(9).standard_normal((20, 20, 21)) * 1e6).astype(dtype)
    for superlevel in (False, True):
        for at in (5, [2.5, -1e5, 1e30]):
            numbers = eccbench.betti(image, at, superlevel=superlevel)
            sets = [image >= t if superlevel else image <= t for t in np.atleast_1d(at)]
            assert np.array_equal(np.reshape(numbers, (-1, 3)), [eccbench.betti(s) for s in sets]) and numbers.verdict == "VERIFIED"
    if dtype == "float64":
        image[1, 2, 3] = np.inf
        with pytest.raises(ValueError, match=r"index 465 \(z 1, y 2, x 3\)"):
            eccbench.betti(image, 5)


@pytest.mark.parametrize("ask", [eccbench.betti, eccbench.curve])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_no_sets(ask, dtype):
    """No sets of an image are as VERIFIED as some, and the image is checked."""
    image = np.arange(60).reshape(3, 4, 5).astype(dtype)
    assert ask(image, at=[]).verdict == ask(image, at=[7]).verdict == "VERIFIED"
    assert len(ask(image, at=[])) == 0
    if image.dtype.kind == "f":
        image[1, 2, 3] = np.nan
        with pytest.raises(ValueError, match="1 value is NaN"):
            ask(image, at=[])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("batch_axis", [None, 0])
def test_few_sets_of_many_values(dtype, batch_axis):
    """The numbers at some values, with a mask or without, are those of the sets as images of bool."""
    random, shape = np.random.default_rng(5), (17, 16, 17)
    bounds = np.finfo(dtype) if dtype in (np.float32, np.float64) else np.iinfo(dtype)
    image = random.standard_normal(shape).astype(dtype) if bounds.dtype.kind == "f" else \
        np.frombuffer(random.bytes(17 * 16 * 17 * np.dtype(dtype).itemsize), dtype).reshape(shape).copy()
    image.reshape(-1)[:200] = random.choice(np.array([bounds.min, 0, 1, bounds.max], dtype), 200)
    some = np.sort(image.reshape(-1))[[1000, 4000]]
    at = [np.array([0], dtype), np.array([some[0], bounds.max, some[1], bounds.min], dtype), [-0.5, 0.5, np.inf, -np.inf]]
    images = image if batch_axis is None else np.stack([image, image[::-1]])
    for i in range(16):
        construction, superlevel, values = "TV"[i & 1], i & 2 > 0, at[i % 3]
        mask = None if i & 4 else random.random(shape if i & 8 else images.shape) < 0.7
        options = {"construction": construction, "mask": mask, "batch_axis": batch_axis}
        numbers = eccbench.betti(images, values, superlevel=superlevel, **options)
        curves = eccbench.curve(images, at=values, superlevel=superlevel, **options)
        chi = np.array([c.chi for c in ([curves] if batch_axis is None else curves)])
        assert numbers.verdict == "VERIFIED" and {c.verdict for c in ([curves] if batch_axis is None else curves)} == {"VERIFIED"}
        for k, value in enumerate(np.asarray(values).tolist()):
            inside = np.array([v >= value if superlevel else v <= value for v in images.ravel().tolist()])
            want = eccbench.betti(inside.reshape(images.shape), **options)
            assert np.array_equal(np.atleast_2d(numbers[..., k, :]), np.atleast_2d(want))
            assert chi[:, k].tolist() == (np.atleast_2d(want) @ [1, -1, 1]).tolist()
        if batch_axis is None:
            whole = eccbench.curve(image, superlevel=superlevel, construction=construction, mask=mask)
            even = eccbench.curve(image, levels=20, superlevel=superlevel, construction=construction, mask=mask)
            inside = image if mask is None else image[mask]
            assert even.sampled and len(even) == 20 and even.chi.tolist() == whole(even.levels).tolist()
            ends = [float(inside.min()), float(inside.max())]
            assert np.allclose([even.levels.min(), even.levels.max()], ends, rtol=1e-15, atol=0)


def test_nothing_within_a_mask():
    image = np.random.default_rng(1).standard_normal((17, 16, 17))
    nothing = np.zeros(image.shape)
    assert eccbench.betti(image, at=0, mask=nothing) == (0, 0, 0)
    assert eccbench.curve(image, at=[0, 9], mask=nothing).chi.tolist() == [0, 0]
    with pytest.raises(ValueError, match="no voxel is part of the image"):
        eccbench.curve(image, levels=5, mask=nothing)
    image[3, 4, 5] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*nan='mask'"):
        eccbench.betti(image, at=0, mask=np.ones(image.shape))
    assert eccbench.betti(image, at=np.inf, nan="mask", superlevel=True) == (0, 0, 0)
    assert eccbench.betti(image, at=np.inf, nan="mask") == eccbench.betti(~np.isnan(image))
