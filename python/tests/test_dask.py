import os
import signal

import numpy as np
import pytest

import eccbench
from test_curve import DTYPES, drawn

if not os.environ.get("ECCBENCH_REQUIRE_DASK"):
    pytest.importorskip("dask.array", reason="Dask is not installed")
    pytest.importorskip("distributed", reason="dask.distributed is not installed")

import dask.array
import distributed

import eccbench.dask


def same(got, want):
    assert got.levels.dtype == want.levels.dtype and got.chi.dtype == want.chi.dtype
    assert got.levels.tobytes() == want.levels.tobytes() and got.chi.tobytes() == want.chi.tobytes()
    assert (got.shape, got.verdict, got.convention, got.sampled) == (want.shape, want.verdict, want.convention, want.sampled)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9,), (6, 7), (7, 5, 6)])
def test_types(shape, dtype):
    """Slabs of images of all types, for any cut, give the curve of the whole."""
    image = drawn(shape, dtype)
    for superlevel in (False, True):
        want = eccbench.curve(image, superlevel=superlevel)
        for chunks, slices in ((2, None), (3, 1), (-1, 4), (1, 100)):
            array = dask.array.from_array(image, chunks=chunks)
            same(eccbench.dask.curve(array, superlevel=superlevel, slices=slices), want)


@pytest.mark.parametrize("construction", ["T", "V"])
@pytest.mark.parametrize("periodic", [(), (0,), (1, 2), True])
def test_conventions(construction, periodic):
    image = drawn((7, 5, 6), np.uint8)
    within = np.random.default_rng(3).random(image.shape) < 0.8
    array = dask.array.from_array(image, chunks=(2, 3, 3))
    options = {"construction": construction, "periodic": periodic}
    same(eccbench.dask.curve(array, **options, slices=2), eccbench.curve(image, **options))
    same(eccbench.dask.curve(array, **options, slices=3, mask=within), eccbench.curve(image, **options, mask=within))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9,), (6, 7), (1, 8, 9), (9, 5, 6)])
def test_betti(shape, dtype):
    """Numbers of all types, for any cut into one to nine slabs, with components across slabs."""
    image = drawn(shape, dtype)
    at = np.concatenate([np.unique(image)[1::3].astype(float), [-np.inf, np.inf]])[None]
    for construction in "TV":
        for superlevel in (False, True):
            options = {"construction": construction, "superlevel": superlevel}
            want = eccbench.betti(image, at, **options)
            for chunks, slices in ((2, None), (3, 1), (-1, 4), (1, 100)):
                array = dask.array.from_array(image, chunks=chunks)
                got = eccbench.dask.betti(array, at, slices=slices, **options)
                assert got.dtype == np.int64 and got.tolist() == want.tolist()


def test_betti_of_tree():
    """Slabs that are merged in several steps, with bodies across most of them."""
    image = np.random.default_rng(4).integers(0, 256, (40, 12, 13), np.uint8)
    image[:, 3, 3], image[:, 6, 6:9], image[20, :, :] = 0, 255, 255
    array = dask.array.from_array(image, chunks=(1, -1, -1))
    want = eccbench.betti(image, [100, 3, 200])
    assert len({tuple(row) for row in want.tolist()}) == 3
    assert eccbench.dask.betti(array, [100, 3, 200], slices=1).tolist() == want.tolist()
    z, y, x = np.mgrid[-10:11, -10:11, -10:11]
    shell = dask.array.from_array(abs(np.sqrt(x * x + y * y + z * z) - 7) < 1.5, chunks=4)
    assert eccbench.dask.betti(shell, slices=2) == eccbench.Betti(1, 0, 1)


def test_cluster():
    """Processes of dask.distributed, none of which has the image; and a failing task."""
    image = drawn((40, 21, 22), np.uint16)
    array = dask.array.from_array(image, chunks=(5, 10, 22))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp") as cluster:
        with distributed.Client(cluster) as client:
            got = eccbench.dask.curve(array, slices=5)
            same(got, eccbench.curve(image))
            assert got.witness == "fingerprints of 15 slabs and slices"
            later = eccbench.dask.curve(array, slices=10, compute=False)
            same(client.compute(later).result(), eccbench.curve(image))
            assert eccbench.dask.betti(array, 30000, slices=5) == eccbench.betti(image, 30000)
            assert client.compute(eccbench.dask.betti(array, 30000, slices=9, compute=False)).result() == eccbench.betti(image, 30000)
            holes = image.astype(np.float32)
            holes[17, 3, 4] = np.nan
            with pytest.raises(ValueError, match="NaN"):
                eccbench.dask.curve(dask.array.from_array(holes, chunks=(5, -1, -1)), slices=5)
            same(eccbench.dask.curve(dask.array.from_array(holes, chunks=(5, -1, -1)), slices=5, nan="mask"), eccbench.curve(holes, nan="mask"))


def dies_once(block, path):
    """Return a block, but kill the first process that loads it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed(tmp_path):
    """A process that is killed during counting is replaced, and the curve is right."""
    image = drawn((20, 21, 22), np.uint8)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp") as cluster:
        with distributed.Client(cluster):
            for question, name in ((eccbench.dask.curve, "curve"), (lambda array, **options: eccbench.dask.betti(array, 100, **options), "betti")):
                path = tmp_path / name
                array = dask.array.from_array(image, chunks=(20, 21, 22)).map_blocks(dies_once, str(path), dtype=image.dtype, meta=np.empty((0, 0, 0), image.dtype))
                got = question(array, slices=5)
                assert path.exists()
                if name == "curve":
                    same(got, eccbench.curve(image))
                else:
                    assert got == eccbench.betti(image, 100)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("shape", [(9,), (11, 7), (9, 6, 5)])
def test_masked_betti(shape, dtype):
    """Betti numbers of slabs within a mask equal those of the whole, even with slabs of one slice."""
    rng = np.random.default_rng(8)
    image, within = (rng.integers(0, 5, shape) * (1 if dtype == np.uint8 else 2**60)).astype(dtype), rng.random(shape) < 0.8
    array = dask.array.from_array(image, chunks=4)
    values = [int(v) for v in np.unique(image)[[1, 3]]]
    for superlevel in (False, True):
        want = eccbench.betti(image, values, superlevel=superlevel, mask=within)
        assert np.array_equal(eccbench.dask.betti(array, values, superlevel=superlevel, mask=within, slices=3), want)
    with pytest.raises(ValueError, match="a mask of shape"):
        eccbench.dask.betti(array, values, mask=within[:-1])


def test_masked_arrays():
    """The masks of the chunks of an array count, and those of a mask."""
    rng = np.random.default_rng(8)
    image, within = rng.integers(0, 5, (7, 5, 6)).astype(np.uint8), rng.random((7, 5, 6)) < 0.8
    array = dask.array.ma.masked_array(dask.array.from_array(image, chunks=3), ~within)
    for superlevel, periodic in ((False, ()), (np.True_, True)):
        want = eccbench.curve(image, mask=within, superlevel=superlevel, periodic=periodic)
        assert eccbench.curve(array, superlevel=superlevel, periodic=periodic) == want
        got = eccbench.dask.curve(array, superlevel=superlevel, periodic=periodic, slices=2)
        assert got == want and got.superlevel is bool(superlevel)
    ones = dask.array.ma.masked_array(dask.array.ones(image.shape, chunks=3), ~within)
    assert eccbench.curve(image, mask=ones) == eccbench.dask.curve(array, slices=2)


def test_refused():
    array = dask.array.zeros((4, 5, 6), chunks=2)
    with pytest.raises(ValueError, match=r"want an array of the shape of an image, \(5, 6\)"):
        eccbench.dask.curves(array, [1], mask=np.ones((2, 5, 6)))
    with pytest.raises(TypeError, match="want a dask.array.Array"):
        eccbench.dask.curve(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="4 axes"):
        eccbench.dask.curve(array[None])
    with pytest.raises(ValueError, match="is empty"):
        eccbench.dask.curve(array[:0])
    with pytest.raises(ValueError, match="at least 3"):
        eccbench.dask.curve(array[:2], periodic=(0,))
    with pytest.raises(ValueError, match="slices 0: want at least 1"):
        eccbench.dask.curve(array, slices=0)
    for what, at in (("at is missing", None), ("NaN", np.nan), ("256 values", range(256)), ("no values", [])):
        with pytest.raises(ValueError, match=what):
            eccbench.dask.betti(array, at)
    with pytest.raises(ValueError, match="NaN"):
        eccbench.dask.betti(dask.array.full((4, 5, 6), np.nan, chunks=2), 1)
    with pytest.raises(TypeError, match="want a dask.array.Array; eccbench.betti"):
        eccbench.dask.betti(np.zeros((2, 2)), 1)
    with pytest.raises(ValueError, match="a mask of shape"):
        eccbench.dask.curve(array, mask=np.ones((4, 5)))
    with pytest.raises(ValueError, match="does not know all"):
        eccbench.dask.curve(array[array[:, 0, 0] > 1])


@pytest.mark.parametrize("rows", [3, 5])
def test_chunks_of_another_shape(rows):
    """Slabs of chunks that are shorter or longer than Dask expects would be added in the wrong places."""
    image = dask.array.from_array(drawn((8, 5, 6), np.uint8), chunks=(4, 5, 6))
    changed = image.map_blocks(lambda block: np.resize(block, (rows, 5, 6)), dtype=np.uint8)
    for slices in (4, 8):
        with pytest.raises(ValueError, match="and Dask expects .* map_blocks"):
            eccbench.dask.curve(changed, slices=slices)
        with pytest.raises(ValueError, match="and Dask expects"):
            eccbench.dask.betti(changed, 4, slices=slices)
    with pytest.raises(ValueError, match="and Dask expects"):
        eccbench.dask.curve(image, mask=changed > 0)
    with pytest.raises(ValueError, match="and Dask expects"):
        eccbench.dask.curves(changed, [4]).compute()


@pytest.mark.parametrize("chunks", [(4, 2, 3), (10, 6, 7), (3, -1, -1)])
def test_curves(chunks):
    """Features of many images equal those of eccbench.curve, for any chunks, and are computed lazily."""
    images = np.random.default_rng(5).integers(0, 9, (10, 6, 7))
    lazy = eccbench.dask.curves(dask.array.from_array(images, chunks=chunks), [2, 4.5], construction="V")
    assert lazy.shape == (10, 2) and lazy.dtype == np.int64
    want = [c.chi.tolist() for c in eccbench.curve(images, at=[2, 4.5], batch_axis=0, construction="V")]
    assert lazy.compute().tolist() == want
    turned = eccbench.dask.curves(dask.array.from_array(np.moveaxis(images, 0, 2)), at=[2, 4.5], batch_axis=-1, construction="V")
    assert turned.compute().tolist() == want
    with pytest.raises(TypeError, match="want a dask.array.Array"):
        eccbench.dask.curves(images, [1])
