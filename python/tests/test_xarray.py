"""The accessor of xarray."""

import numpy as np
import pytest

xarray = pytest.importorskip("xarray")

import eccbench  # noqa: E402
import eccbench.xarray  # noqa: E402

rng = np.random.default_rng(2)
SCAN = xarray.DataArray(rng.integers(0, 9, (5, 3, 6)), dims=("y", "time", "x"), coords={"time": [10, 20, 30], "x": np.arange(6) / 2}, name="scan")


def test_one_image():
    image = SCAN.isel(time=0)
    chi = image.eccbench.curve(construction="V", periodic=["x"])
    want = eccbench.curve(image.values, construction="V", periodic=[1])
    assert chi.values.tolist() == want.chi.tolist() and chi.attrs.keys() == want._about().keys()
    assert chi.attrs["verdict"] == "VERIFIED" and chi.attrs["convention"] == "V, sublevel, periodic along x"
    assert chi.dims == ("level",) and chi["level"].values.tolist() == want.levels.tolist() and chi.sel(level=3) == want([3])[0]
    assert chi.name == "chi" and chi["time"] == 10
    sampled = image.eccbench.curve(at=[2, 5])
    assert sampled.sel(level=[5, 2]).values.tolist() == eccbench.curve(image.values)([5, 2]).tolist()
    turned = image.eccbench.curve(("x", "y"), periodic=["y", "x"])
    assert turned.attrs["convention"] == "T, sublevel, periodic along x, y"
    numbers = image.eccbench.betti(4)
    assert numbers.dims == ("dimension",) and tuple(numbers.values) == eccbench.betti(image.values, 4) and numbers.attrs["verdict"] == "VERIFIED"
    field = image.eccbench.gvf(steps=3)
    assert field.dims == ("component", "y", "x") and field["component"].values.tolist() == ["y", "x"] and np.array_equal(field, eccbench.gvf(image.values, steps=3))
    assert field["x"].values.tolist() == SCAN["x"].values.tolist()
    for mine in (chi, numbers, field):
        mine += 1  # not read-only


def test_several_images():
    """Axes that are no image's count images, wherever they are."""
    mask = xarray.DataArray(rng.random((6, 5)) < 0.8, dims=("x", "y"))
    for within in (None, mask, mask.expand_dims(time=3)):
        of = None if within is None else (mask.values.T)
        chi = SCAN.eccbench.curve(dims=("y", "x"), at=[2, 5], mask=within, periodic=["x"])
        assert chi.attrs["convention"] == "T, sublevel, periodic along x" and chi.sel(time=20, level=5) == chi[1, 1]
        assert chi.dims == ("time", "level") and chi["time"].values.tolist() == [10, 20, 30] and "x" not in chi.coords
        numbers = SCAN.eccbench.betti([2, 5], dims=("x", "y"), periodic=["x"], mask=within)
        assert numbers.dims == ("time", "level", "dimension")
        for t in range(3):
            image = SCAN.isel(time=t).values
            assert chi[t].values.tolist() == eccbench.curve(image, at=[2, 5], periodic=[1], mask=of).chi.tolist()
            assert np.array_equal(numbers[t], eccbench.betti(image, [2, 5], periodic=[1], mask=of))
    assert SCAN.eccbench.betti(2, dims=("y", "x")).dims == ("time", "dimension")


def test_refused():
    with pytest.raises(TypeError, match="the axes of an array have names"):
        SCAN.eccbench.gvf(steps=1, batch_axis=1)
    for ask, text in [
        (lambda: SCAN.eccbench.curve(mask=SCAN.isel(x=slice(None, None, -1)) > 2), "coordinates along 'x'"),
        (lambda: SCAN.eccbench.gvf(steps=1, mask=SCAN.isel(x=slice(None, None, -1)) > 2), "coordinates along 'x'"),
        (lambda: SCAN.eccbench.betti([[1]], dims=("y", "x")), "want one value or one axis"),
        (lambda: SCAN.eccbench.curve(dims=("y", "z"), at=[1]), "dims \\['z'\\]"),
        (lambda: SCAN.eccbench.curve(dims=("y", "y"), at=[1]), "want each axis once"),
        (lambda: SCAN.eccbench.curve(dims=("y", "x")), "at is missing"),
        (lambda: SCAN.eccbench.curve(dims=("y", "x"), at=[1], periodic=["time"]), "periodic \\['time'\\]"),
    ]:
        with pytest.raises(ValueError, match=text):
            ask()


def test_names_of_the_result():
    """An axis or a coordinate that the result keeps is not named like a new axis."""
    for ask, name in [
        (lambda of: of.eccbench.curve(dims=("y", "x"), at=[1]), "level"),
        (lambda of: of.eccbench.betti([1, 2], dims=("y", "x")), "level"),
        (lambda of: of.eccbench.betti(1, dims=("y", "x")), "dimension"),
        (lambda of: of.eccbench.gvf(steps=1), "component"),
    ]:
        added = [SCAN.assign_coords({name: values}) for values in (("time", [1, 2, 3]), 7)]
        for of in (SCAN.rename(time=name), *added):
            with pytest.raises(ValueError, match=f"'{name}' is an axis of the result: rename that of the array") as e:
                ask(of)
            assert "\n" not in str(e.value)
    of = SCAN.rename(x="level")
    assert of.eccbench.curve(dims=("y", "level"), at=[1, 2]).dims == ("time", "level")
    with pytest.raises(ValueError, match="'level' is an axis of the result"):
        of.isel(level=0).eccbench.curve()
    assert of.isel(level=0).eccbench.betti(2).dims == ("dimension",)


def test_no_images():
    empty = SCAN.isel(time=slice(0, 0))
    assert empty.eccbench.curve(dims=("y", "x"), at=[1, 2]).sizes == {"time": 0, "level": 2}
    assert empty.eccbench.betti([1, 2], dims=("y", "x")).sizes == {"time": 0, "level": 2, "dimension": 3}


def test_lazily():
    pytest.importorskip("dask.array")
    image = SCAN.isel(time=0)
    assert image.chunk(y=2).eccbench.curve().equals(image.eccbench.curve())


def test_unnamed_mask_has_the_axes_of_the_array():
    rng = np.random.default_rng(1)
    images, within = rng.integers(0, 5, (4, 4, 4)), rng.random((4, 4, 4)) < 0.7
    array = xarray.DataArray(images, dims=("x", "t", "y"))
    want = [eccbench.curve(images[:, i].T, mask=within[:, i].T, at=[1, 3]).chi for i in range(4)]
    assert np.array_equal(array.eccbench.curve(["y", "x"], at=[1, 3], mask=within), want)
    assert np.array_equal(array.eccbench.curve(["y", "x"], at=[1, 3], mask=within[:, 0].T)[0], want[0])
    one, mask = array[:, 0].copy(), within[:, 0]
    assert np.array_equal(one.eccbench.curve(["y", "x"], mask=mask), eccbench.curve(images[:, 0].T, mask=mask.T).chi)
    for ask in (one.eccbench.curve, lambda **k: one.eccbench.betti(2, **k)):
        with pytest.raises(ValueError, match="mask"):
            ask(mask=mask[1:])


@pytest.mark.filterwarnings("error")
def test_unnamed_masks_of_all_forms(tmp_path):
    """Those of eccbench.curve: hidden voxels of a masked array are outside, the axes of nibabel are (x, y, z)."""
    rng = np.random.default_rng(2)
    image, within = rng.integers(0, 5, (4, 4, 4)), rng.random((4, 4, 4)) < 0.7
    array = xarray.DataArray(image, dims=("z", "y", "x"))
    np.save(tmp_path / "mask.npy", within.astype(np.uint8))
    masks = [np.ma.masked_array(np.ones_like(within), ~within), np.ma.masked_array(np.ones(within.shape), ~within),
        tmp_path / "mask.npy", eccbench.open(tmp_path / "mask.npy"), within.tolist()]
    try:
        import nibabel
    except ImportError:
        pass
    else:
        masks += [nibabel.Nifti1Image(turned.astype(np.uint8), np.eye(4)) for turned in (within.T, within.T.copy())]
    for mask in masks:
        assert array.eccbench.curve(mask=mask).values.tolist() == eccbench.curve(image, mask=within).chi.tolist()
        turned = array.eccbench.curve(("x", "z", "y"), periodic=["x"], mask=mask).values.tolist()
        assert turned == eccbench.curve(image, periodic=[2], mask=within).chi.tolist()
        assert tuple(array.eccbench.betti(2, mask=mask).values) == eccbench.betti(image, 2, mask=within)
        field = array.astype("int16").eccbench.gvf(steps=3, mask=mask)
        assert np.array_equal(field, eccbench.gvf(image.astype(np.int16), steps=3, mask=within.astype(np.uint8)))
    several = xarray.DataArray([image, image.T], dims=("t", "z", "y", "x"))
    for mask in masks:
        chi = several.eccbench.curve(("z", "y", "x"), at=[1, 3], mask=mask)
        assert chi[1].values.tolist() == eccbench.curve(image.T, at=[1, 3], mask=within).chi.tolist()
