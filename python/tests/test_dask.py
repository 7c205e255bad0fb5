import doctest
import os

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
    """Parts of images of all types, however cut, are the whole."""
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


def test_cluster():
    """By processes of dask.distributed, of which none has the image; and a task that fails."""
    image = drawn((40, 21, 22), np.uint16)
    array = dask.array.from_array(image, chunks=(5, 10, 22))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp") as cluster:
        with distributed.Client(cluster) as client:
            got = eccbench.dask.curve(array, slices=5)
            same(got, eccbench.curve(image))
            assert got.witness == "fingerprints of 15 slabs and slices"
            later = eccbench.dask.curve(array, slices=10, compute=False)
            same(client.compute(later).result(), eccbench.curve(image))
            holes = image.astype(np.float32)
            holes[17, 3, 4] = np.nan
            with pytest.raises(ValueError, match="NaN"):
                eccbench.dask.curve(dask.array.from_array(holes, chunks=(5, -1, -1)), slices=5)
            same(eccbench.dask.curve(dask.array.from_array(holes, chunks=(5, -1, -1)), slices=5, nan="mask"), eccbench.curve(holes, nan="mask"))


def test_examples():
    assert doctest.testmod(eccbench.dask).failed == 0


def test_refused():
    array = dask.array.zeros((4, 5, 6), chunks=2)
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
    with pytest.raises(ValueError, match="a mask of shape"):
        eccbench.dask.curve(array, mask=np.ones((4, 5)))
    with pytest.raises(ValueError, match="does not know all"):
        eccbench.dask.curve(array[array[:, 0, 0] > 1])
