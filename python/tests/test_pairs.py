import numpy as np
import pytest

import eccbench
from test_curve import DTYPES, drawn


def check(pairs, image, curves):
    """Voxels have the values of their pairs, and the classes alive at each level are counted by Betti curves."""
    born, ends = image[tuple(pairs.birth_voxels.T)], np.isfinite(pairs.deaths)
    died = image[tuple(pairs.death_voxels[ends].T)]
    assert np.array_equal(born, pairs.births) and (pairs.death_voxels[~ends] == -1).all()
    assert np.array_equal(died.astype(pairs.deaths.dtype), pairs.deaths[ends])
    assert (pairs.deaths[~ends] == (-np.inf if pairs.superlevel else np.inf)).all()
    assert (born[ends] > died if pairs.superlevel else born[ends] < died).all()
    grows = born[1:] <= born[:-1] if pairs.superlevel else born[1:] >= born[:-1]
    assert (np.diff(pairs.dims) >= 0).all() and (grows | (np.diff(pairs.dims) > 0)).all()
    for level, *numbers in zip(*curves):
        dead = np.zeros(len(pairs), bool)
        dead[ends] = died >= level if pairs.superlevel else died <= level
        here = (born >= level if pairs.superlevel else born <= level) & ~dead
        assert [int((here & (pairs.dims == d)).sum()) for d in range(3)] == numbers


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9,), (6, 7), (4, 5, 6)])
def test_types(shape, dtype):
    image = drawn(shape, dtype)
    before = image.copy()
    kept = image.astype(np.uint8) if image.dtype == bool else image
    for construction in "TV":
        for superlevel in (False, True):
            ask = {"construction": construction, "superlevel": superlevel}
            pairs = eccbench.pairs(image, **ask)
            check(pairs, kept, eccbench.betti_curves(image, **ask))
            assert pairs.verdict == "VERIFIED" and pairs.births.dtype == kept.dtype and np.isinf(pairs.deaths).sum() == 1
            assert pairs.deaths.dtype == (kept.dtype if kept.dtype.kind == "f" else np.float64)
    assert np.array_equal(image, before)


def test_order():
    """Voxels are those of the array's own axes, and equal values are in its C order."""
    image = np.random.default_rng(5).integers(0, 4, (5, 6, 7)).astype(np.uint8)
    want = eccbench.pairs(image)
    turned = image[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1]
    for same in (np.asfortranarray(image), turned, image.astype(">i4"), image.tolist()):
        found = eccbench.pairs(same)
        assert np.array_equal(found.birth_voxels, want.birth_voxels)
        assert np.array_equal(found.death_voxels, want.death_voxels)
    turned = eccbench.pairs(image.transpose(2, 0, 1))
    for d in range(3):
        assert sorted(turned.diagram(d).tolist()) == sorted(want.diagram(d).tolist())
    assert turned.birth_voxels.max(axis=0)[0] <= 6 and turned.shape == (7, 5, 6)
    tall = np.random.default_rng(5).integers(0, 9, (2, 300, 3)).astype(np.uint8)  # curves exchange its rows and columns
    found = eccbench.pairs(tall)
    assert np.array_equal(tall[tuple(found.birth_voxels.T)], found.births)


def test_solids():
    z, y, x = np.mgrid[-10:11, -10:11, -10:11]
    torus = (np.hypot(np.hypot(x, y) - 6, z) * 10).astype(np.int16)
    pairs = eccbench.pairs(torus, min_persistence=20)
    assert pairs.dims.tolist() == [0, 1] and pairs.births[1] < 10 and 50 < pairs.deaths[1] < 70
    shell = abs(np.sqrt(x * x + y * y + z * z) - 7).astype(np.float32)
    pairs = eccbench.pairs(shell, min_persistence=4)
    assert pairs.dims.tolist() == [0, 2] and pairs.death_voxels[1].tolist() == [10, 10, 10] and pairs.deaths[1] == 7
    assert eccbench.pairs(shell, dims=[2, 0], min_persistence=4) == pairs
    assert eccbench.pairs(shell, dims=[1], min_persistence=4).diagram(1).shape == (0, 2)
    assert eccbench.pairs(np.zeros((3, 3))).diagram(0).tolist() == [[0, np.inf]]


def test_wide():
    """Integers that float64 rounds are told apart."""
    wide = 2**60
    image = np.array([[wide, wide + 9, wide + 1], [wide + 9, wide + 9, wide + 9]], np.int64)
    pairs = eccbench.pairs(image)
    assert pairs.births.tolist() == [wide, wide + 1] and pairs.birth_voxels.tolist() == [[0, 0], [0, 2]]
    assert len(eccbench.pairs(image, min_persistence=8)) == 2 and len(eccbench.pairs(image, min_persistence=8.5)) == 1


@pytest.mark.parametrize("superlevel", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64])
def test_masks(tmp_path, superlevel, dtype):
    rng = np.random.default_rng(7)
    images, within = rng.integers(1, 6, (3, 5, 6, 7)).astype(dtype), rng.random((3, 5, 6, 7)) < 0.7
    ask = {"superlevel": superlevel}
    for construction in "TV":
        want = [eccbench.pairs(i, mask=w, construction=construction, **ask) for i, w in zip(images, within)]
        check(want[0], images[0], eccbench.betti_curves(images[0], mask=within[0], construction=construction, **ask))
        assert within[0][tuple(want[0].birth_voxels.T)].all() and np.isinf(want[0].deaths).sum() > 1
        assert eccbench.pairs(images, mask=within, batch_axis=0, construction=construction, **ask) == want
        assert eccbench.pairs(np.ma.array(images[0], mask=~within[0]), construction=construction, **ask) == want[0]
        if dtype == np.float32:
            gaps = np.where(within[0], images[0], np.nan)
            assert eccbench.pairs(gaps, nan="mask", construction=construction, **ask) == want[0]
            np.save(tmp_path / "gaps.npy", gaps.astype(np.float32))
            assert eccbench.pairs(tmp_path / "gaps.npy", nan="mask", construction=construction, **ask) == want[0]
    none = eccbench.pairs(images[0], mask=np.zeros_like(within[0]), **ask)
    assert len(none) == 0 and none.diagram(0).shape == (0, 2)


def test_file(tmp_path):
    image = np.random.default_rng(3).integers(0, 9, (7, 8, 9)).astype(np.int16)
    np.save(tmp_path / "image.npy", image)
    of_array = eccbench.pairs(image, threads=1)
    assert eccbench.pairs(tmp_path / "image.npy") == eccbench.pairs(eccbench.open(str(tmp_path / "image.npy"))) == of_array
    unverified = eccbench.pairs(image, verify=False)
    assert unverified == of_array and unverified.verdict == "UNVERIFIED" and unverified.witness == ""
    assert repr(of_array).startswith(f"<Pairs of 7×8×9, T, sublevel: {len(of_array)} pairs, VERIFIED by ")
    assert eccbench.pairs(image[None], batch_axis=0) == [of_array] and eccbench.pairs(image[:0], batch_axis=0) == []


def test_table(tmp_path):
    pandas = pytest.importorskip("pandas")
    image = np.random.default_rng(3).integers(0, 9, (7, 8, 9)).astype(np.int16)
    frame = eccbench.pairs(image).to_pandas()
    assert list(frame) == ["dim", "birth", "death", *(f"{end}_{axis}" for end in ("birth", "death") for axis in "xyz")]
    assert frame.attrs["convention"] == "T, sublevel" and frame.attrs["coefficients"] == "GF(2)"
    row = frame.iloc[3].astype(int)
    assert image[row.birth_z, row.birth_y, row.birth_x] == row.birth
    assert image[row.death_z, row.death_y, row.death_x] == row.death
    pytest.importorskip("xarray")
    assert eccbench.pairs(image).to_xarray().attrs["coefficients"] == "GF(2)"


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    image = np.random.default_rng(3).normal(size=(9, 9))
    for superlevel in (False, True):
        drawn_ = eccbench.pairs(image, superlevel=superlevel).plot()
        assert drawn_.get_title().startswith("T, su") and len(drawn_.get_legend().get_texts()) == 3
    assert eccbench.pairs(image, mask=np.zeros((9, 9), bool)).plot().get_legend() is None


@pytest.mark.parametrize("ask, kind, message", [
    (lambda i: eccbench.pairs(i, dims=[3]), ValueError, "dims 3: want 0 to 2"),
    (lambda i: eccbench.pairs(i, dims=[]), ValueError, "dims is empty"),
    (lambda i: eccbench.pairs(i, dims="0"), TypeError, "dims '0': want a whole number"),
    (lambda i: eccbench.pairs(i, min_persistence=-1), ValueError, "min_persistence -1.0: want a finite number"),
    (lambda i: eccbench.pairs(i, min_persistence=np.nan), ValueError, "min_persistence nan"),
    (lambda i: eccbench.pairs(i, periodic=True), TypeError, "periodic"),
    (lambda i: eccbench.pairs(np.full((2, 2), np.nan)), ValueError, "4 values are NaN or infinite.*nan='mask'"),
    (lambda i: eccbench.pairs(i).diagram(3), ValueError, "dim 3: want 0 to 2"),
    (lambda i: eccbench.pairs("nowhere.npy"), FileNotFoundError, "nowhere.npy"),
    (lambda i: eccbench.pairs(np.zeros((2, 0))), ValueError, "has no voxels"),
])
def test_errors(ask, kind, message):
    with pytest.raises(kind, match=message):
        ask(np.arange(9).reshape(3, 3))
