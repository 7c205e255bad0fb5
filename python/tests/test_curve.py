import doctest
import itertools
import pickle
from pathlib import Path

import definition
import numpy as np
import pytest

import eccbench
from eccbench import _curve

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def drawn(shape, dtype, seed=0):
    """Return an image of a few values, including the extreme ones of its type."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    about = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    values = np.array([about.min, about.max, 0, 1, 2, 3], dtype)
    if dtype.kind == "f":
        values = np.concatenate([values, np.array([-0.0, -1.5, about.tiny], dtype)])
    if dtype.itemsize == 8:  # equal in float32, of integers in float64, too
        values = np.append(values, np.nextafter(values[-1:], 1) if dtype.kind == "f" else values[1:2] - dtype.type(1))
    return rng.choice(values, shape)


def check(curve, image, construction="T", superlevel=False):
    levels, chi = definition.curve(image, construction, superlevel)
    assert curve.levels.tolist() == levels
    assert curve.chi.tolist() == chi
    assert curve.chi.dtype == np.int64
    assert curve.verdict == "VERIFIED" and curve.witness.startswith("fingerprint (key ")
    assert curve.shape == image.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("shape", [(7,), (1, 1), (6, 5), (1, 9), (9, 1), (4, 3, 5), (1, 4, 5), (4, 1, 5)])
def test_definition(dtype, order, shape):
    image = drawn(shape, dtype).astype(np.dtype(dtype).newbyteorder(order))
    before = image.tobytes()
    for construction in "TV":
        for superlevel in (False, True):
            c = eccbench.curve(image, construction=construction, superlevel=superlevel)
            check(c, image, construction, superlevel)
            assert c.levels.dtype == (np.uint8 if dtype == "bool" else np.dtype(dtype))
            assert c.convention == f"{construction}, {'superlevel' if superlevel else 'sublevel'}"
    assert image.tobytes() == before


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_strides(dtype):
    large = drawn((8, 9, 10), dtype)
    for image in [large.T, large[::-1], large[:, ::-2], large[2:5, 1:, ::3], large.transpose(1, 0, 2)[::-1, ::-1, ::-1],
                  np.asfortranarray(large), np.broadcast_to(large[0], (3, 9, 10)), large[:, 4], large[3, :, 2]]:
        before = image.copy()
        check(eccbench.curve(image), image)
        assert (image == before).all()


@pytest.mark.parametrize("shape", [(7,), (5, 6), (4, 5, 3)])
@pytest.mark.parametrize("construction", "TV")
def test_periodic(shape, construction):
    image = drawn(shape, "float32")
    for n in range(len(shape) + 1):
        for periodic in itertools.combinations(range(len(shape)), n):
            levels, chi = definition.curve(image, construction, periodic=periodic)
            for turned, rings in ((image, periodic), (image.T, [len(shape) - 1 - a for a in periodic]), (image[::-1], [a - len(shape) for a in periodic])):
                c = eccbench.curve(turned, construction=construction, periodic=rings)
                assert (c.levels.tolist(), c.chi.tolist()) == (levels, chi)
                assert len(c.periodic) == n and ("periodic along" in repr(c)) == (n > 0)
    assert c.chi.tolist() == eccbench.curve(image, construction=construction, periodic=True).chi.tolist() and c.chi[-1] == 0
    with pytest.raises(ValueError, match="want axes of an image"):
        eccbench.curve(image, periodic=[len(shape)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (5, 6), (4, 5, 3)])
def test_mask(dtype, shape):
    image = drawn(shape, dtype)
    within = np.random.default_rng(5).random(shape) < 0.7
    for construction, superlevel, periodic in itertools.product("TV", (False, True), ((), (0,))):
        want = definition.curve(image, construction, superlevel, periodic, within)
        c = eccbench.curve(image, construction=construction, superlevel=superlevel, periodic=periodic, mask=within)
        assert (c.levels.tolist(), c.chi.tolist()) == want and c.verdict == "VERIFIED"
    masked = eccbench.curve(np.ma.masked_array(image.T, ~within.T))
    assert (masked.levels.tolist(), masked.chi.tolist()) == definition.curve(image, within=within)
    two = eccbench.curve(np.stack([image, image]), batch_axis=0, mask=np.stack([within, ~within]))
    assert [c.chi.tolist() for c in two] == [definition.curve(image, within=w)[1] for w in (within, ~within)]
    if image.dtype.kind == "f":
        holes = np.where(within, image, np.nan).astype(dtype)
        before = holes.tobytes()
        c = eccbench.curve(holes, nan="mask")
        assert (c.levels.tolist(), c.chi.tolist()) == definition.curve(image, within=within)
        assert holes.tobytes() == before
        with pytest.raises(ValueError, match="NaN"):
            eccbench.curve(holes)
        holes[within] = np.inf
        with pytest.raises(ValueError, match="infinite"):
            eccbench.curve(holes, nan="mask")


def test_mask_of_all_and_of_none():
    image = drawn((5, 6), "uint8")
    every = np.ones(image.shape, bool)
    assert eccbench.curve(image, mask=every).chi.tolist() == eccbench.curve(image).chi.tolist()
    c = eccbench.curve(image, mask=~every)
    assert len(c) == 0 and c(255) == 0
    with pytest.raises(ValueError, match="no voxel is part"):
        eccbench.curve(image, mask=~every, levels=3)
    with pytest.raises(ValueError):
        eccbench.curve(image, mask=np.ones((2, 2)))
    some = eccbench.curve(image, mask=image > 1, levels=4)
    assert some.levels.tolist() == np.linspace(2, 255, 4).tolist() and some.chi.tolist() == [definition.chi((image <= t) & (image > 1), "T") for t in some.levels]


def test_in_its_own_memory():
    """Rotated, flipped and Fortran-ordered images are not copied; images with gaps are."""
    image = drawn((1, 4, 5, 6), "float32")
    for same in [image, image[:, ::-1, :, ::-1], image.transpose(0, 3, 1, 2), image[:, :2], image[:, :, :1][:, :1]]:
        assert np.shares_memory(_curve._in_order(same)[0], image)
    for other in [image[..., ::2], image.astype(">f4"), image[:, :, 1:3]]:
        assert not np.shares_memory(_curve._in_order(other)[0], image)


def test_read_only_and_unaligned():
    image = drawn((5, 6, 7), "float32")
    image.flags.writeable = False
    check(eccbench.curve(image), image)
    raw = np.empty(image.nbytes + 1, np.uint8)
    odd = raw[1:].view("float32").reshape(image.shape)
    odd[...] = image
    assert not odd.flags.aligned
    check(eccbench.curve(odd), odd)


def test_minus_zero_stays():
    image = np.array([[0.0, -0.0], [-0.0, 1.0]], np.float32)
    before = image.tobytes()
    c = eccbench.curve(image)
    assert c.levels.tolist() == [0.0] and not np.signbit(c.levels).any()
    assert image.tobytes() == before


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(dtype, bad):
    image = np.zeros((4, 5, 6), dtype)
    image[2, 3, 4] = image[3, 4, 5] = bad
    for array in (image, np.asfortranarray(image)):
        with pytest.raises(ValueError, match=r"2 values are NaN or infinite, the first at index 82 \(z 2, y 3, x 4\)"):
            eccbench.curve(array)
    with pytest.raises(ValueError, match="image 1: 2 values"):
        eccbench.curve(np.stack([np.zeros_like(image), image]), batch_axis=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("superlevel", [False, True])
def test_levels(dtype, superlevel):
    image = drawn((5, 6), dtype)
    whole = eccbench.curve(image, superlevel=superlevel)
    for n in (1, 2, 17):
        c = eccbench.curve(image, levels=n, superlevel=superlevel)
        assert len(c) == n and c.sampled
        assert c.chi.tolist() == whole(c.levels).tolist()
        assert c.chi[-1] == 1 or n == 1 and superlevel
        ascending = c.levels[::-1] if superlevel else c.levels
        assert (ascending[1:] > ascending[:-1]).all()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_levels_of_few_values(dtype):
    for image in (np.full((3, 4), 7, dtype), np.array([[1, np.nextafter(np.float32(1), np.float32(2))]]).astype(dtype)):
        c = eccbench.curve(image, levels=9)
        assert (c.levels[0], c.levels[-1]) == (image.min(), image.max()) and (np.diff(c.levels) >= 0).all()
        assert c.chi.tolist() == [1] * 9


@pytest.mark.parametrize("value", [7, -1.3, 1e300, np.finfo(np.float64).max])
def test_levels_are_ascending_and_in_the_range(value):
    image = np.array([[value, np.nextafter(value, 0)]])
    for least in (image, image[:, :1]):
        for superlevel in (False, True):
            c = eccbench.curve(least, levels=64, construction="V", superlevel=superlevel)
            assert set(c.levels.tolist()) == set(least.ravel().tolist()) and c.chi.tolist() == [1] * 64


@pytest.mark.parametrize("superlevel", [False, True])
def test_levels_beyond_float64(superlevel):
    image = np.arange(24, dtype=np.int64).reshape(4, 6) + 2**53 + 1
    assert eccbench.curve(image, levels=7, superlevel=superlevel).chi.tolist() == [1] * 7
    with pytest.raises(ValueError, match="7 evenly spaced levels from 9223372036854775784 to .* need more digits"):
        eccbench.curve(image + (2**63 - 2**53 - 25), levels=7, superlevel=superlevel)


def test_levels_of_float32_and_float64_agree():
    image = np.random.default_rng(3).integers(0, 17, (20, 21, 22)).astype(np.float32)
    a, b = eccbench.curve(image, levels=17), eccbench.curve(image.astype(np.float64), levels=17)
    assert a.levels.tolist() == b.levels.tolist() == list(range(17))
    assert a.chi.tolist() == b.chi.tolist()


def test_at_and_out():
    image = drawn((6, 7, 8), "uint8")
    whole = eccbench.curve(image)
    out = np.full(3, 99, np.int64)
    c = eccbench.curve(image, at=[2.5, -1, 255], out=out)
    assert c.levels.tolist() == [2.5, -1, 255] and c.sampled
    assert c.chi.tolist() == out.tolist() == [definition.chi(image <= t, "T") for t in (2.5, -1, 255)]
    assert c(2.5) == whole(2) and c([255, -1]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="none of them"):
        c(2)
    assert eccbench.curve(image, at=2).chi.tolist() == [whole(2)]
    assert [c.chi.tolist() for c in eccbench.curve(np.stack([image, image]), batch_axis=0, at=2)] == [[whole(2)]] * 2
    batch = np.empty((2, 3), np.int64)
    curves = eccbench.curve(np.stack([image, image]), batch_axis=0, at=[0, 1, 2], out=batch)
    assert batch.tolist() == [whole([0, 1, 2]).tolist()] * 2 and len(curves) == 2
    for wrong in (np.empty(4, np.int64), np.empty(3, np.int32), [0, 0, 0]):
        with pytest.raises(ValueError, match="out: want"):
            eccbench.curve(image, at=[0, 1, 2], out=wrong)
    apart = np.zeros((3, 6, 2), np.int64)
    line = np.zeros(9, np.int64)
    stack = np.stack([image, image])
    skewed = np.lib.stride_tricks.as_strided(line, (2, 2), (8, 24))
    for fits in (batch[:, ::-1], apart[::2, ::2, 1].T[::-1][:2, :2], skewed):
        eccbench.curve(stack, batch_axis=0, at=[0, 1, 2][: fits.shape[1]], out=fits)
        assert fits.tolist() == [whole([0, 1, 2][: fits.shape[1]]).tolist()] * 2
    for strides in ((0, 8), (8, 8), (16, 0), (8, -8)):
        shared = np.lib.stride_tricks.as_strided(line[4:], (2, 3), strides)
        with pytest.raises(ValueError, match="out: its elements share memory"):
            eccbench.curve(stack, batch_axis=0, at=[0, 1, 2], out=shared)
    with pytest.raises(ValueError, match="give levels or at"):
        eccbench.curve(image, out=out)


@pytest.mark.parametrize("superlevel", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "uint64", "float32"])
def test_call(dtype, superlevel):
    image = drawn((6, 7), dtype)
    c = eccbench.curve(image, superlevel=superlevel)
    values = [-np.inf, -1, 0, 0.5, 2, 3, 255, 256, 1e19, np.inf]
    want = [definition.chi(image >= v if superlevel else image <= v, "T") for v in values]
    assert c(values).tolist() == want
    assert [c(v) for v in values] == want and type(c(1)) is int
    assert c(np.float16(0.5)) == c(0.5)
    exact = c.levels  # no float64
    assert c(exact).tolist() == c.chi.tolist()
    assert c(np.array([[1, 2], [3, 4]])).shape == (2, 2)
    with pytest.raises(ValueError, match="NaN"):
        c(np.nan)
    with pytest.raises(TypeError):
        c("1")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "float32", "float64"])
def test_batch(axis, dtype):
    images = [drawn((5, 6, 7), dtype, seed) for seed in range(4)]
    curves = eccbench.curve(np.stack(images, axis), batch_axis=axis)
    for c, image in zip(curves, images):
        check(c, image)
    assert len(curves) == 4
    assert eccbench.curve(np.empty((0, 3, 3), dtype), batch_axis=0) == []


@pytest.mark.parametrize("superlevel", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"])
def test_batch_at_values(dtype, superlevel):
    rng = np.random.default_rng(5)

    def random(*shape):
        values = rng.standard_normal(shape) * 40
        if "int" in dtype:  # processors convert negative floats to unsigned integers in different ways
            values = values.astype(np.int64)
        return values.astype(dtype)

    images = random(4, 7, 9)
    for at in ([1.2, 1.5], [5, -3, 5, 1e30, -1e30, 0.0, -0.0], np.array([2**63 + 5, 0, 3], np.uint64), images.astype(np.float64).ravel()[:40]):
        for c, image in zip(eccbench.curve(images, at=at, batch_axis=0, superlevel=superlevel), images):
            whole = eccbench.curve(image, superlevel=superlevel)
            assert np.array_equal(c.chi, whole(at)) and c.verdict == "VERIFIED" and len(c) == len(at)
    many = random(20, 21, 22)
    assert np.array_equal(eccbench.curve(many, at=[-3.5, 8], superlevel=superlevel).chi, eccbench.curve(many, superlevel=superlevel)([-3.5, 8]))


def test_large_batch_and_threads():
    images = np.random.default_rng(0).integers(0, 9, (300, 12, 12), np.uint8)
    ones = [eccbench.curve(i, threads=1) for i in images]
    for a, b in zip(ones, eccbench.curve(images, batch_axis=0, threads=3)):
        assert a.chi.tolist() == b.chi.tolist() and a.levels.tolist() == b.levels.tolist()
    with pytest.raises(ValueError, match="threads 0"):
        eccbench.curve(images[0], threads=0)
    with pytest.raises(ValueError, match="threads 5000: want 1 to 4096"):
        eccbench.curve(images[0], threads=5000)


def test_cores_do_not_matter():
    image = np.random.default_rng(0).random((70, 80, 90), np.float32)
    one, many = (eccbench.curve(image, threads=n) for n in (1, 7))
    assert one.chi.tolist() == many.chi.tolist() and len(one) > 100_000


def test_unverified():
    c = eccbench.curve(drawn((4, 5), "uint8"), verify=False)
    assert (c.verdict, c.witness) == ("UNVERIFIED", "") and "UNVERIFIED" in repr(c)


@pytest.mark.parametrize("image, error, text", [
    (np.zeros((2, 2), complex), TypeError, "its magnitude"),
    (np.zeros((2, 2), object), TypeError, "array of object"),
    (np.zeros((2, 2), "M8[s]"), TypeError, "array of datetime"),
    (np.zeros((2, 0)), ValueError, "no voxels"),
    (np.zeros((1, 2, 3, 4)), ValueError, "batch_axis"),
    (np.float32(3), ValueError, "want 1 to 3 axes"),
])
def test_refused(image, error, text):
    with pytest.raises(error, match=text) as e:
        eccbench.curve(image)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("arguments, error", [
    ({"construction": "U"}, ValueError), ({"levels": 0}, ValueError), ({"levels": 2.5}, TypeError), ({"levels": 2, "at": [1]}, ValueError),
    ({"at": [[1]]}, ValueError), ({"threads": "2"}, TypeError), ({"batch_axis": 3}, ValueError),
])
def test_arguments(arguments, error):
    with pytest.raises(error):
        eccbench.curve(np.zeros((2, 2), np.uint8), **arguments)


def test_other_arrays():
    image = drawn((4, 5, 6), "float32")

    class Interface:
        __array_interface__ = image.__array_interface__
        keeps = image

    class Shared:
        def __dlpack__(self, **arguments):
            return image.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return image.__dlpack_device__()

    class Elsewhere(Shared):
        def __dlpack_device__(self):
            return (2, 0)

    class Traced(Shared):
        __dlpack_device__ = property(lambda self: self.values)

    for other in (Interface(), Shared(), image.tolist(), memoryview(image)):
        assert eccbench.curve(other).chi.tolist() == eccbench.curve(image).chi.tolist()
    with pytest.raises(TypeError, match="copy it to the CPU"):
        eccbench.curve(Elsewhere())
    with pytest.raises(TypeError, match="image of Traced: it has no values yet"):
        eccbench.curve(Traced())


def test_kept(tmp_path):
    c = eccbench.curve(drawn((4, 5), "int64"))
    np.savez(tmp_path / "c.npz", **c)
    with np.load(tmp_path / "c.npz") as kept:
        assert kept["levels"].tolist() == c.levels.tolist() and kept["chi"].tolist() == c.chi.tolist()
    again = pickle.loads(pickle.dumps(c))
    assert again.chi.tolist() == c.chi.tolist() and again.witness == c.witness
    assert dict(c).keys() == {"levels", "chi"}
    with pytest.raises(KeyError):
        c["witness"]


def test_readme():
    readme = Path(__file__).parents[1] / "README.md"
    assert doctest.testfile(str(readme), module_relative=False, raise_on_error=True).attempted > 10


@pytest.mark.parametrize("superlevel", [False, True])
def test_more_sets_than_ranks_of_a_byte(superlevel):
    image = np.random.default_rng(3).standard_normal((9, 8, 7))
    whole = eccbench.curve(image, superlevel=superlevel)
    some = eccbench.curve(image, levels=600, superlevel=superlevel)
    assert some.sampled and some.chi.tolist() == whole(some.levels).tolist()
    assert eccbench.curve(image, at=some.levels, superlevel=superlevel).chi.tolist() == some.chi.tolist()


@pytest.mark.filterwarnings("error")
def test_values_of_narrow_floats():
    """Scalars of float16 in a list are compared without a warning."""
    assert eccbench.curve(np.float16([[0, 1]]), at=[np.float16(0.5), np.float16(60000)]).chi.tolist() == [1, 1]


def test_too_many_levels():
    """The number of levels is bounded as that of the command, before any memory is allocated."""
    for image in np.float32([[0, 1]]), np.float64([[0, 1]]):
        with pytest.raises(ValueError, match="levels 1000000000: want 1 to 16777216"):
            eccbench.curve(image, levels=10**9)


def test_bool_of_other_bytes():
    """An array of bool whose bytes are not 0 and 1 has the values True and False."""
    image = np.array([[3, 0, 0], [1, 0, 2]], np.uint8).view(bool)
    clean = np.array([[1, 0, 0], [1, 0, 1]], bool)
    for superlevel in (False, True):
        got, want = (eccbench.curve(a, superlevel=superlevel) for a in (image, clean))
        assert (got.levels.tolist(), got.chi.tolist()) == (want.levels.tolist(), want.chi.tolist())
    assert eccbench.betti(image, at=0) == eccbench.betti(clean, at=0)
    assert eccbench.betti(image) == eccbench.betti(clean) == (2, 0, 0)
    assert eccbench.betti(image, mask=image) == (2, 0, 0)
