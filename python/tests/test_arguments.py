"""Arguments: each keyword is used, or rejected with one line of this package."""

import io
import warnings
from pathlib import Path

import definition
import numpy as np
import pytest

import eccbench

rng = np.random.default_rng(7)
IMAGE = rng.integers(0, 5, (4, 5, 6)).astype(np.int16)
WITHIN = rng.random(IMAGE.shape) < 0.7
WANT = definition.curve(IMAGE, within=WITHIN)


def rows(c):
    return c.levels.tolist(), c.chi.tolist()


class Nibabel:
    """The interface of a nibabel image: axes (x, y, z)."""

    affine = np.eye(4)

    def __init__(self, array):
        self.dataobj = np.asarray(array).T


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "image.npy", IMAGE)
    np.save(tmp_path / "mask.npy", WITHIN.astype(np.uint8) * 3)
    return tmp_path


def test_masks(files):
    """All forms of a mask give the curve of the definition, for an array and a file."""
    for image in (IMAGE, files / "image.npy", eccbench.open(files / "image.npy"), Nibabel(IMAGE)):
        for mask in (WITHIN, WITHIN * 2.5, WITHIN.tolist(), files / "mask.npy", str(files / "mask.npy"), eccbench.open(files / "mask.npy"),
                     Nibabel(WITHIN.astype(np.uint8)), np.ma.masked_array(np.ones_like(WITHIN), ~WITHIN)):
            assert rows(eccbench.curve(image, mask=mask)) == WANT, (image, mask)
    labels = WITHIN.astype(np.uint8) * 3
    field = eccbench.gvf(IMAGE, steps=3, mask=labels)
    for mask in (files / "mask.npy", str(files / "mask.npy"), eccbench.open(files / "mask.npy"), Nibabel(labels)):
        for image in (IMAGE, files / "image.npy", Nibabel(IMAGE)):
            assert np.array_equal(eccbench.gvf(image, steps=3, mask=mask), field)


def test_images_are_read_once():
    """Betti numbers of a nibabel image read its voxels once."""

    class Proxy:
        reads = 0

        def __array__(self, dtype=None, copy=None):
            self.reads += 1
            return IMAGE.T

    for at in (3, [2, 3]):
        image = Nibabel(IMAGE)
        image.dataobj = Proxy()
        assert np.array_equal(eccbench.betti(image, at), eccbench.betti(IMAGE, at)) and image.dataobj.reads == 1


def test_masks_of_nibabel(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    for name, array in (("image", IMAGE), ("mask", WITHIN.astype(np.uint8))):
        nibabel.save(nibabel.Nifti1Image(array.T, np.eye(4)), tmp_path / f"{name}.nii.gz")
    image, mask = nibabel.load(tmp_path / "image.nii.gz"), nibabel.load(tmp_path / "mask.nii.gz")
    for i in (image, tmp_path / "image.nii.gz", IMAGE):
        for m in (mask, tmp_path / "mask.nii.gz", WITHIN):
            assert rows(eccbench.curve(i, mask=m)) == WANT
    assert eccbench.curve(image).shape == eccbench.open(tmp_path / "image.nii.gz").shape == IMAGE.shape
    assert eccbench.betti(image, 2) == eccbench.betti(IMAGE, 2)
    assert np.array_equal(eccbench.gvf(image, steps=2), eccbench.gvf(IMAGE, steps=2))
    assert np.allclose(eccbench.eigenmap(image, 2).eigenvalues_, eccbench.eigenmap(IMAGE, 2).eigenvalues_)
    series = nibabel.Nifti1Image(np.stack([IMAGE.T, IMAGE.T + 1], -1), np.eye(4))
    assert [c.shape for c in eccbench.curve(series, batch_axis=0)] == [IMAGE.shape] * 2
    assert rows(eccbench.curve(nibabel.Nifti1Image(IMAGE.T[..., None], np.eye(4)))) == definition.curve(IMAGE)


def test_nifti_without_a_place(tmp_path):
    """The affine that nibabel makes up for a file without codes is no place: all forms of it are the same."""
    nibabel = pytest.importorskip("nibabel")
    path = tmp_path / "image.nii.gz"
    image = nibabel.Nifti1Image(IMAGE.T, np.diag([2, 3, 4, 1]))
    image.set_sform(None, 0)
    image.set_qform(None, 0)
    nibabel.save(image, path)
    placed = nibabel.Nifti1Image((IMAGE > 2).astype(np.uint8).T, np.eye(4))
    loaded, opened = nibabel.load(path), eccbench.open(path)
    assert loaded.affine[0, 0] == -2 and opened.affine is None
    for one in (path, loaded, opened):
        for other in (path, loaded, opened, placed):
            within = IMAGE > (2 if other is placed else 0)
            assert rows(eccbench.curve(one, mask=other)) == definition.curve(IMAGE, within=within)
    with pytest.raises(ValueError, match="different affines"):
        eccbench.curve(nibabel.Nifti1Image(IMAGE.T, np.diag([2, 3, 4, 1])), mask=placed)


@pytest.mark.parametrize("of", ["nibabel", "files"])
def test_masks_elsewhere(of, tmp_path):
    """A mask of nibabel or in a file with another affine is rejected."""
    image, mask = Nibabel(IMAGE), Nibabel(WITHIN.astype(np.uint8))
    mask.affine = np.diag([-1.0, 1, 1, 1])
    if of == "files":
        image, mask = tmp_path / "image.nrrd", tmp_path / "mask.nrrd"
        for path, array, x in (image, IMAGE, 1), (mask, WITHIN.astype(np.uint8), -1):
            path.write_text(f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: {' '.join(map(str, array.shape[::-1]))}\nencoding: ascii\n"
                f"space: RAS\nspace directions: ({x},0,0) (0,1,0) (0,0,1)\n\n{' '.join(map(str, array.ravel().tolist()))}\n")
        assert np.array_equal(eccbench.open(mask).affine, np.diag([-1, 1, 1, 1]))
    for ask in (eccbench.curve, lambda i, mask: eccbench.betti(i, 3, mask=mask), eccbench.betti_curves,
                eccbench.pairs, lambda i, mask: eccbench.gvf(i, steps=1, mask=mask)):
        with pytest.raises(ValueError, match="image and mask have different affines"):
            ask(image, mask=mask)
        ask(IMAGE, mask=mask)


def test_masks_of_planes(tmp_path):
    """Images of two axes are compared without the thickness, which is made up; spacings alone are no place."""
    head = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 2 2\nencoding: ascii\n"
    ends = {"plane": "space dimension: 2\nspace directions: (1,0) (0,1)\n", "spaced": "spacings: 1 1\n",
            "moved": "space dimension: 2\nspace directions: (1,0) (0,1)\nspace origin: (0,1)\n"}
    for name, end in ends.items():
        (tmp_path / f"{name}.nrrd").write_text(head + end + "\n0 1 1 1\n")
    plane, spaced, moved = (tmp_path / f"{name}.nrrd" for name in ends)
    thick = Nibabel(np.ones((2, 2), np.uint8))
    thick.shape, thick.affine = (2, 2), np.diag([-1.0, -1, 5, 1])
    assert eccbench.open(spaced).affine is None
    for mask in plane, spaced, thick:
        assert eccbench.curve(plane, mask=mask).chi[-1] == 1 and eccbench.curve(moved, mask=spaced).chi[-1] == 1
    for mask in plane, thick:
        with pytest.raises(ValueError, match="different affines"):
            eccbench.curve(moved, mask=mask)


def test_wrong_masks(files):
    image = files / "image.npy"
    for mask, error, text in [
        (True, TypeError, "mask True"), (np.float32(1), TypeError, "mask"), (3, TypeError, "mask 3"),
        ("nowhere.nii.gz", FileNotFoundError, "nowhere"), (Path("mask"), FileNotFoundError, "mask"), (object(), TypeError, "mask of object"),
        (b"mask.npy", TypeError, "os.fsdecode"), (io.BytesIO(), TypeError, "BytesIO"), (np.full(IMAGE.shape, "x"), TypeError, "want bool or numbers"),
        (np.full(IMAGE.shape, np.nan), ValueError, "120 of its values are NaN"), (np.where(WITHIN, 1, np.nan), ValueError, "NaN"),
        (WITHIN[0], ValueError, r"mask of shape \(5, 6\), and the image is \(4, 5, 6\)"), (WITHIN.T, ValueError, r"mask of shape \(6, 5, 4\).*nibabel"),
        (np.ones((1, 1, 1), bool), ValueError, r"\(1, 1, 1\)"), (Nibabel(WITHIN.T), ValueError, r"\(6, 5, 4\)"),
    ]:
        for ask in (lambda i: eccbench.curve(i, mask=mask), lambda i: eccbench.gvf(i, steps=1, mask=mask)):
            for i in (IMAGE, image):
                with pytest.raises(error, match=text) as e:
                    ask(i)
                assert "\n" not in str(e.value)


def test_mask_and_nan():
    """mask= and nan='mask' both count, and so does the mask of a masked array."""
    image = IMAGE.astype(np.float32)
    image[rng.random(IMAGE.shape) < 0.1] = np.nan
    both = WITHIN & ~np.isnan(image)
    filled = np.where(np.isnan(image), 0, image)
    assert (WITHIN != both).any() and (~np.isnan(image) != both).any()
    want = definition.curve(filled, within=both)
    assert rows(eccbench.curve(image, mask=WITHIN, nan="mask")) == want
    hidden = rng.random(IMAGE.shape) < 0.2
    assert rows(eccbench.curve(np.ma.masked_array(image, hidden), mask=WITHIN, nan="mask")) == definition.curve(filled, within=both & ~hidden)
    with pytest.raises(ValueError, match="nan='mask' leaves NaN out"):
        eccbench.curve(image)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_in_files(tmp_path, dtype):
    """Values that float32 does not hold are kept beside NaN."""
    close = np.nextafter(dtype(1), dtype(2))
    image = np.array([[close, 5, 1, np.nan, 0.5], [np.nan, 5, 5, 5, close]], dtype)
    path = tmp_path / "image.npy"
    np.save(path, image)
    assert np.array_equal(np.asarray(eccbench.open(path)), image, equal_nan=True)
    within = np.ones(image.shape)
    within[:, -1] = 0
    for options in ({}, {"superlevel": True, "construction": "V", "periodic": True}, {"mask": within}, {"levels": 3}, {"at": [1, 2]}):
        for given in [path] + ([] if "levels" in options else [f"file/path={path}", f"file/levels=every/path={path}"]):
            assert rows(eccbench.curve(given, nan="mask", **options)) == rows(eccbench.curve(image, nan="mask", **options)), options
    assert eccbench.betti(path, 1, nan="mask") == eccbench.betti(image, 1, nan="mask") == (2, 0, 0)
    assert eccbench.betti_curves(path, nan="mask") == eccbench.betti_curves(image, nan="mask")
    for ask in (eccbench.curve, lambda i: eccbench.betti(i, 1), lambda i: eccbench.gvf(i, steps=1)):
        with pytest.raises(ValueError, match="2 values are NaN"):
            ask(path)


def test_sequences_of_masked_arrays():
    """A list of masked arrays keeps their masks."""
    both = [np.ma.masked_array(IMAGE, ~WITHIN)] * 2
    assert [rows(c) for c in eccbench.curve(both, batch_axis=0)] == [WANT] * 2
    assert eccbench.betti(both, 3, batch_axis=0).tolist() == [list(eccbench.betti(IMAGE, 3, mask=WITHIN))] * 2
    assert [c.b0.tolist() for c in eccbench.betti_curves(both, batch_axis=0)] == [eccbench.betti_curves(IMAGE, mask=WITHIN).b0.tolist()] * 2
    assert np.array_equal(eccbench.gvf(both, steps=3, batch_axis=0)[1], eccbench.gvf(IMAGE, steps=3, mask=WITHIN))
    assert [rows(c) for c in eccbench.curve([IMAGE] * 2, mask=[np.ma.masked_array(WITHIN | True, ~WITHIN)] * 2, batch_axis=0)] == [WANT] * 2
    rest = both[0]
    nested = eccbench.curve([list(map(list, rest[0])), rest[1]])
    assert rows(nested) == rows(eccbench.curve(rest[:2])) != rows(eccbench.curve(IMAGE[:2]))
    one = np.ma.masked_array([1, 2], [True, False])
    for ask in (
        lambda: eccbench.eigenmap(both), lambda: eccbench.eigenmap([both]), lambda: eccbench.assess(both[0], IMAGE),
        lambda: eccbench.assess(IMAGE, IMAGE, labels=one), lambda: eccbench.assess(IMAGE, IMAGE, groups={"a": one}),
        lambda: eccbench.curve(IMAGE, at=rest.ravel()), lambda: eccbench.curve(IMAGE, at=[one[0], 1]),
        lambda: eccbench.curve(IMAGE, levels=one[0]), lambda: eccbench.curve(IMAGE, periodic=one),
        lambda: eccbench.betti(IMAGE, [list(one)]), lambda: eccbench.betti_curves(IMAGE)(one),
        lambda: eccbench.gvf(IMAGE, steps=one[0]), lambda: eccbench.homology(np.ma.stack([one, one])),
        lambda: eccbench.homology([(3, 4), one]), lambda: eccbench.homology([np.array([[3, 4]]), one[None]]),
        lambda: eccbench.homology([(0, 1)], points=np.ma.stack([one, one])),
    ):
        with pytest.raises(ValueError, match="the array is masked") as e:
            ask()
        assert "\n" not in str(e.value)


def test_mask_of_a_batch():
    two = np.stack([IMAGE, IMAGE + 1], 2)
    for mask in (WITHIN, np.stack([WITHIN, WITHIN], 2)):
        assert [rows(c) for c in eccbench.curve(two, batch_axis=2, mask=mask)] == [WANT, definition.curve(IMAGE + 1, within=WITHIN)]


def test_order_of_axes(tmp_path):
    """A mask in nibabel's order for a file causes a warning if only its shape fits."""
    cube = rng.integers(0, 3, (5, 4, 5)).astype(np.uint8)
    np.save(tmp_path / "cube.npy", cube)
    within = np.asfortranarray(rng.random(cube.shape) < 0.7)
    for ask in (lambda: eccbench.curve(tmp_path / "cube.npy", mask=within), lambda: eccbench.gvf(tmp_path / "cube.npy", steps=1, mask=within)):
        with pytest.warns(UserWarning, match=r"\(x, y, z\)") as seen:
            ask()
        assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eccbench.curve(tmp_path / "cube.npy", mask=np.ascontiguousarray(within))
        eccbench.curve(cube, mask=within)


@pytest.mark.parametrize("arguments", [
    {"superlevel": "false"}, {"superlevel": 1}, {"verify": "no"}, {"periodic": "x"}, {"periodic": 0}, {"periodic": (0.5,)}, {"periodic": (True, False)}, {"batch_axis": (0, 1)}, {"batch_axis": True},
    {"batch_axis": "0"}, {"levels": "3"}, {"levels": True}, {"at": "5"}, {"at": ["5"]}, {"threads": 1.5}, {"construction": 1}, {"nan": None},
])
def test_types(arguments):
    (name, value), = arguments.items()
    with pytest.raises(TypeError, match=name) as e:
        eccbench.curve(IMAGE, **arguments)
    assert "\n" not in str(e.value) and len(str(e.value)) < 120


def test_types_of_others():
    for ask, text in [
        (lambda: eccbench.betti(IMAGE, 2, superlevel="yes"), "superlevel"), (lambda: eccbench.betti(IMAGE, "2"), "at of"), (lambda: eccbench.betti_curves(IMAGE, verify=0), "verify 0"),
        (lambda: eccbench.gvf(IMAGE, tol="1e-4"), "tol '1e-4'"), (lambda: eccbench.gvf(IMAGE, steps="3"), "steps '3'"), (lambda: eccbench.gvf(IMAGE, steps=True), "steps True"),
        (lambda: eccbench.gvf(IMAGE, steps=1, mu=[1]), r"mu \[1\]"), (lambda: eccbench.gvf(IMAGE, steps=1, boundary=3), "boundary 3"), (lambda: eccbench.gvf(IMAGE, steps=1, verify="x"), "verify"),
        (lambda: eccbench.eigenmap(IMAGE, "2"), "n_pairs '2'"), (lambda: eccbench.eigenmap(IMAGE, sigma="1"), "sigma '1'"), (lambda: eccbench.eigenmap(IMAGE, corners="no"), "corners"),
        (lambda: eccbench.eigenmap(IMAGE, graph=1), "graph 1"), (lambda: eccbench.open(b"x.npy"), "bytes"), (lambda: eccbench.open(3), "int"),
        (lambda: eccbench.curve(io.BytesIO(b"")), "image of BytesIO: want an array, a path"), (lambda: eccbench.curve(b"x.npy"), "os.fsdecode"),
        (lambda: eccbench.gvf(io.StringIO(), steps=1), "image of StringIO"), (lambda: eccbench.betti(object(), 1), "image of object"),
    ]:
        with pytest.raises(TypeError, match=text) as e:
            ask()
        assert "\n" not in str(e.value) and "astype" not in str(e.value)


def test_unpacked():
    curve = eccbench.curve(IMAGE)
    levels, chi = curve
    assert levels is curve.levels and chi is curve.chi
    table = np.asarray(curve)
    assert table.dtype == np.int64 and table.tolist() == [list(row) for row in zip(levels.tolist(), chi.tolist())]
    assert np.asarray(eccbench.curve(IMAGE.astype(np.uint64))).tolist() == table.tolist() and np.asarray(curve, float).dtype == float
    with pytest.raises(ValueError, match="beyond int64"):
        np.asarray(eccbench.curve(np.array([[2**64 - 1]], np.uint64)))
    assert dict(curve).keys() == {"levels", "chi"} == {*curve.keys()}
    levels, b0, b1, b2 = eccbench.betti_curves(IMAGE)
    assert (b0 - b1 + b2)[-1] == chi[-1]


def test_frame():
    pandas = pytest.importorskip("pandas")
    curve = eccbench.curve(IMAGE)
    assert pandas.DataFrame(curve).to_numpy().tolist() == np.asarray(curve).tolist()
    frame = pandas.DataFrame(dict(curve))
    assert list(frame) == ["levels", "chi"] and frame["chi"].tolist() == curve.chi.tolist()


def test_colours():
    rgb = rng.integers(0, 9, (20, 21, 3)).astype(np.uint8)
    for ask in (eccbench.curve, eccbench.betti_curves, eccbench.pairs, lambda i: eccbench.gvf(i, steps=1),
                lambda i: eccbench.curve(i[None], batch_axis=0)):
        with pytest.warns(UserWarning, match="volume of 20 slices, not for one of 3 colours.*image") as seen:
            ask(rgb)
        assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eccbench.curve(rgb[..., 0])
        eccbench.curve(rgb.transpose(2, 0, 1))
        eccbench.curve(rgb[:5])


BIG = 2**53


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_beyond_float64(dtype):
    """Values are compared with levels exactly."""
    image = np.array([[0, BIG + 1, 0]], dtype)
    assert eccbench.betti(image, at=BIG).b0 == 2 and eccbench.betti(image, at=BIG + 1).b0 == 1
    assert eccbench.betti(image, at=float(BIG)).b0 == 2 and eccbench.betti(image, at=[BIG, BIG + 2]).tolist() == [[2, 0, 0], [1, 0, 0]]
    assert eccbench.curve(image, at=[BIG, BIG + 1]).chi.tolist() == [2, 1]
    upper = np.array([[BIG + 3, 0, BIG + 3]], dtype)
    assert eccbench.betti(upper, at=BIG + 4, superlevel=True).b0 == 0 and eccbench.betti(upper, at=BIG + 3, superlevel=True).b0 == 2
    assert eccbench.curve(upper, superlevel=True)([BIG + 4, BIG + 3]).tolist() == [0, 2]
    some = eccbench.curve(image, at=np.array([BIG, BIG + 1], dtype))
    assert some(BIG + 1) == 1 and some(BIG) == 2
    with pytest.raises(ValueError, match="none of them"):
        some(BIG + 2)
    with pytest.raises(ValueError, match=f"{BIG + 1} is not exact in float64"):
        eccbench.curve(image, at=[BIG + 1, 0.5])
    for at in (2**64, [1, -(2**63) - 1]):
        with pytest.raises(ValueError, match="is no integer of 64 bits; want -2\\*\\*63 to 2\\*\\*64 - 1"):
            eccbench.betti(image, at)
    whole = np.array([[2**64 - 1, 2**64 - 3]], np.uint64)
    assert eccbench.curve(whole, at=[3, 2**64 - 3, 2**64 - 2, 2**64 - 1]).levels.dtype == np.uint64
    assert eccbench.betti(whole, [3, 2**64 - 2], superlevel=True)[:, 0].tolist() == [1, 1]
    with pytest.raises(ValueError, match="NaN"):
        eccbench.curve(image, at=[np.nan])


def test_lists_of_large_integers():
    """NumPy makes float64 of some lists of integers, which are not rounded here."""
    whole, upper = [[2**63 + 1, 2**63 + 2, 1]], 2**63 + 2
    for curve in (eccbench.curve(whole, superlevel=True), eccbench.curve([whole], superlevel=True, batch_axis=0)[0]):
        assert curve == eccbench.curve(np.array(whole, np.uint64), superlevel=True) and curve(upper) == 1
    at = [np.array(2**63 + 1, np.uint64), np.array(3)]
    assert eccbench.curve(whole, at=at).levels.tolist() == [2**63 + 1, 3]
    labelled = eccbench.gvf([[1, 2, 4]], steps=1, mask=whole)
    assert np.array_equal(labelled, eccbench.gvf([[1, 2, 4]], steps=1, mask=np.array(whole, np.uint64)))
    for image, text in [([[upper, -1]], f"{upper} is not exact"), ([[BIG + 1, 0.5]], f"{BIG + 1} is not exact"),
                        ([[2**64, 0]], f"image: {2**64} is no integer of 64 bits")]:
        for ask in (eccbench.curve, lambda i: eccbench.betti(i, 1), lambda i: eccbench.gvf(i, steps=1)):
            with pytest.raises(ValueError, match=text):
                ask(image)


def test_empty_paths():
    for ask in (eccbench.curve, eccbench.open, eccbench.homology, eccbench.eigenmap, eccbench.pairs,
                lambda p: eccbench.betti(p, 1), lambda p: eccbench.curve(IMAGE, mask=p),
                lambda p: eccbench.assess(p, IMAGE)):
        with pytest.raises(ValueError, match="^an empty path: want that of"):
            ask("")


def test_floats_beside_large_integers():
    image = np.array([[0.0, BIG, 0.0]])
    curve = eccbench.curve(image, superlevel=True)
    assert curve(BIG + 1) == 0 and curve(BIG) == 1
    assert eccbench.betti(image, at=BIG + 1, superlevel=True).b0 == 0
    assert eccbench.curve(image)(BIG - 1) == 2


@pytest.mark.parametrize("shape", [(1, 5, 6), (1, 1, 6), (1, 1, 1), (1, 5, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
def test_one_slice(tmp_path, shape, dtype):
    """A volume of one slice has three axes, as an array and as a file."""
    image = rng.integers(0, 4, shape).astype(dtype)
    np.save(tmp_path / "one.npy", image)
    opened = eccbench.open(tmp_path / "one.npy")
    assert opened.shape == np.asarray(opened).shape == shape
    within = rng.random(shape) < 0.8
    for construction in "TV":
        for rings in ((), (0,), (0, 2), (1, 2), (0, 1, 2)):
            for of in (image, opened):
                curve = eccbench.curve(of, construction=construction, periodic=rings)
                assert rows(curve) == definition.curve(image, construction, periodic=rings) and curve.shape == shape and curve.periodic == rings
                assert curve.verdict == "VERIFIED"
            masked = eccbench.curve(image, construction=construction, periodic=rings, mask=within)
            assert rows(masked) == definition.curve(image, construction, periodic=rings, within=within)
    for of in (image, opened):
        field = eccbench.gvf(of, steps=2)
        assert field.shape == (3, *shape) and not field[0].any() and np.array_equal(field[1:], eccbench.gvf(image[0], steps=2)[:, None])
        assert eccbench.betti_curves(of).shape == shape
        pairs = eccbench.pairs(of)
        assert pairs.shape == shape and np.array_equal(image[tuple(pairs.birth_voxels.T)], pairs.births)


def test_flat_file(tmp_path):
    np.save(tmp_path / "flat.npy", IMAGE[0])
    opened = eccbench.open(tmp_path / "flat.npy")
    assert opened.shape == (5, 6)
    with pytest.raises(ValueError, match="want axes"):
        eccbench.curve(opened, periodic=(2,))
    with pytest.raises(ValueError, match=r"index 8 \(y 1, x 2\)"):
        eccbench.curve(np.where(np.arange(30).reshape(5, 6) == 8, np.nan, 0))


def test_levels_of_files(tmp_path):
    """Evenly spaced levels of a file equal those of its array, even if float32 cannot represent them."""
    near = np.array([[1, np.nextafter(np.float32(1), np.float32(2))]], np.float32)
    for i, image in enumerate((near, IMAGE, IMAGE.astype(np.float32), IMAGE.astype(np.int64) * 1024 + 2**60)):
        np.save(tmp_path / f"{i}.npy", image)
        for superlevel in (False, True):
            of_file, of_array = (eccbench.curve(of, levels=4, superlevel=superlevel) for of in (tmp_path / f"{i}.npy", image))
            assert rows(of_file) == rows(of_array) and len(of_file) == 4


def test_same_kind():
    """Tensors of PyTorch on the CPU are read in place, and a field is a tensor."""
    theirs = pytest.importorskip("torch")
    image = rng.random((5, 6, 7)).astype(np.float32)
    other = theirs.asarray(image)
    field = eccbench.gvf(other, steps=2)
    assert type(field) is type(other) and np.array_equal(np.asarray(field), eccbench.gvf(image, steps=2))
    assert eccbench.betti(other, 0.5) == eccbench.betti(image, 0.5) and eccbench.betti(other > 0.5) == eccbench.betti(image > 0.5)
    assert rows(eccbench.curve(other)) == rows(eccbench.curve(image))
