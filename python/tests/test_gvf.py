
import numpy as np
import pytest

import eccbench
from test_curve import DTYPES, drawn


def beside(v, axis, labels=None):
    """Return the neighbours of each value along an axis: the value itself beyond a border and across labels."""
    before = np.concatenate([v.take([0], axis), v.take(range(v.shape[axis] - 1), axis)], axis)
    after = np.concatenate([v.take(range(1, v.shape[axis]), axis), v.take([-1], axis)], axis)
    if labels is not None:
        other = beside(labels, axis)
        before, after = (np.where(o == labels, n, v) for o, n in zip(other, (before, after)))
    return before, after


def flow(image, steps, mu, labels=None):
    """Return the field by float32 arithmetic in the order of doc/proofs/gvf.md."""
    image = np.asarray(image)
    inside = np.ones(image.shape, bool) if labels is None else labels != 0
    values = image.astype(float)
    if values.max() > 1e308:  # a range beyond float64
        values = values / 2
    least, most = values[inside].min(), values[inside].max()
    f = ((values - least) / ((most - least) or 1)).astype(np.float32)
    mu = np.float32(mu)
    field = np.stack([np.float32(0.5) * (after - before) for before, after in (beside(f, a, labels) for a in range(f.ndim))])
    field[:, ~inside] = 0
    squares = [v * v for v in field[::-1]]  # x, y, z
    b = squares[0] + squares[1]
    for more in squares[2:]:
        b = b + more
    v0 = field
    for _ in range(steps):
        step = []
        for v, start in zip(field, v0):
            pairs = [np.add(*beside(v, a, labels)) for a in reversed(range(v.ndim))]
            s = pairs[0] + pairs[1]
            for more in pairs[2:]:
                s = s + more
            step.append(v + (mu * (s - np.float32(2 * v.ndim) * v) - (v - start) * b))
        field = np.stack(step)
        field[:, ~inside] = 0
    return field


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 7), (4, 5, 6), (9, 1)])
def test_types(shape, dtype):
    image = drawn(shape, dtype)
    before = image.copy()
    field = eccbench.gvf(image, steps=5, mu=0.07)
    assert field.dtype == np.float32 and field.shape == (len(shape), *shape) and field.flags.c_contiguous
    assert np.array_equal(field, flow(image, 5, 0.07)) and np.array_equal(image, before)


def test_order_of_memory():
    image = np.random.default_rng(1).random((8, 9, 10)).astype(np.float32)
    want = flow(image, 3, 0.1)
    for other in (np.asfortranarray(image), image.astype(">f4"), image[::-1][::-1], image.transpose(2, 1, 0).copy().transpose(2, 1, 0)):
        assert np.array_equal(eccbench.gvf(other, steps=3, mu=0.1, threads=1), want)
    turned = eccbench.gvf(image.transpose(2, 0, 1), steps=3, mu=0.1)
    assert np.allclose(turned, want.transpose(0, 3, 1, 2)[[2, 0, 1]], atol=1e-6)


def test_one_axis():
    line = np.array([0, 0, 1, 1, 4.0])
    assert eccbench.gvf(line, steps=0).tolist() == [[0, 0.125, 0.125, 0.375, 0.375]]
    assert eccbench.gvf(line, tol=1e-4).shape == (1, 5)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, float])
def test_mask(kind):
    rng = np.random.default_rng(2)
    image = rng.random((11, 13))
    labels = rng.integers(0, 3, (11, 13)).repeat(2, 1)[:, :13].astype(kind)
    assert np.array_equal(eccbench.gvf(image, steps=6, mask=labels), flow(image, 6, 0.05, labels))
    if kind is np.int64:  # labels that are equal in float32
        far = np.where(labels > 0, labels + 2**40, 0)
        assert np.array_equal(eccbench.gvf(image, steps=6, mask=far), flow(image, 6, 0.05, labels))
        far = np.where(labels > 0, labels + 2**53 - 1, 0)  # and in float64
        assert np.array_equal(eccbench.gvf(image, steps=6, mask=far), flow(image, 6, 0.05, labels))
    hidden = np.ma.masked_array(np.where(labels == 0, np.nan, image), labels == 0)
    assert np.array_equal(eccbench.gvf(hidden, steps=4), flow(np.where(labels == 0, 0, image), 4, 0.05, (labels != 0).astype(int)))


@pytest.mark.parametrize("dtype, base", [(np.int64, -(2**60)), (np.uint64, 2**63)])
def test_small_differences_of_large_integers(dtype, base):
    """Differences count that float64 does not hold beside the values."""
    small = np.random.default_rng(4).integers(0, 9, (9, 8))
    large = (small.astype(object) + base).astype(dtype)
    assert np.array_equal(eccbench.gvf(large, steps=4), eccbench.gvf(small, steps=4))
    assert np.array_equal(eccbench.gvf(np.where(small > 2, large, 0), steps=4, mask=small > 2),
                          eccbench.gvf(np.where(small > 2, small, 3), steps=4, mask=small > 2))
    assert np.array_equal(eccbench.eigenmap(large, 3).eigenvalues_, eccbench.eigenmap(small, 3).eigenvalues_)


def test_rest():
    """At rest the residual, computed by NumPy, is at most tol."""
    image = np.random.default_rng(3).random((40, 33))
    start = flow(image, 0, 0.1).astype(float)
    b = (start**2).sum(0)
    for mu in (0.1, 5.0):
        field = eccbench.gvf(image, tol=1e-5, mu=mu).astype(float)
        for v, v0 in zip(field, start):
            left = b * v0 - b * v + np.float32(mu) * (sum(np.add(*beside(v, a)) for a in range(2)) - 4 * v)
            assert np.linalg.norm(left) <= 1.001e-5 * np.linalg.norm(b * v0)


def test_file(tmp_path):
    image = np.random.default_rng(4).integers(0, 9, (11, 12, 13)).astype(np.int16)
    np.save(tmp_path / "image.npy", image)
    want = eccbench.gvf(image, steps=7, verify=False)
    assert np.array_equal(eccbench.gvf(tmp_path / "image.npy", steps=7), want)
    assert np.array_equal(eccbench.gvf(eccbench.open(tmp_path / "image.npy"), steps=7, mask=np.ones(image.shape)), want)
    assert eccbench.gvf("tubes/shape=32x24/type=uint8", steps=3).shape == (2, 24, 32)


def test_refused(tmp_path):
    image = np.eye(4)
    for what, error, ask in [
        ("want one of steps", ValueError, lambda: eccbench.gvf(image)),
        ("want one of steps", ValueError, lambda: eccbench.gvf(image, steps=1, tol=0.1)),
        ("steps 1.5", ValueError, lambda: eccbench.gvf(image, steps=1.5)),
        ("steps 4294967296: want a whole", ValueError, lambda: eccbench.gvf(image, steps=2**32)),
        ("steps -1", ValueError, lambda: eccbench.gvf(image, steps=-1)),
        ("tol 0", ValueError, lambda: eccbench.gvf(image, tol=0)),
        ("mu nan", ValueError, lambda: eccbench.gvf(image, steps=1, mu=float("nan"))),
        ("grow without bound", ValueError, lambda: eccbench.gvf(image, steps=1, mu=0.3)),
        ("boundary 'wrap'", ValueError, lambda: eccbench.gvf(image, steps=1, boundary="wrap")),
        ("larger tolerance", ValueError, lambda: eccbench.gvf(np.random.default_rng(1).random((40, 40)), tol=1e-12)),
        ("a steady state needs a whole image", ValueError, lambda: eccbench.gvf(image, tol=0.1, mask=image)),
        (r"mask of shape \(3,\)", ValueError, lambda: eccbench.gvf(image, steps=1, mask=[1, 2, 3])),
        ("0 everywhere", ValueError, lambda: eccbench.gvf(image, steps=1, mask=0 * image)),
        ("1 to 3 axes", ValueError, lambda: eccbench.gvf(np.zeros((2, 2, 2, 2)), steps=1)),
        ("no voxels", ValueError, lambda: eccbench.gvf(np.zeros((0, 2)), steps=1)),
        ("complex", TypeError, lambda: eccbench.gvf(image.astype(complex), steps=1)),
        ("NaN", ValueError, lambda: eccbench.gvf(np.where(image > 0, np.nan, 0), steps=1)),
        ("threads 0", ValueError, lambda: eccbench.gvf(image, steps=1, threads=0)),
        ("nowhere", FileNotFoundError, lambda: eccbench.gvf(tmp_path / "nowhere.npy", steps=1)),
    ]:
        with pytest.raises(error, match=what):
            ask()


def test_batch():
    """The fields of a batch equal those of its images, with one mask for all or one for each."""
    images, labels = rng_images(), rng_images() > 3
    want = [eccbench.gvf(i, steps=3) for i in np.moveaxis(images, 1, 0)]
    found = eccbench.gvf(images, steps=3, batch_axis=1)
    assert np.array_equal(found, want) and found.verdict == "VERIFIED" and found.dtype == np.float32
    assert np.array_equal(eccbench.gvf(images, steps=3, batch_axis=1, mask=labels), [eccbench.gvf(i, steps=3, mask=m) for i, m in zip(np.moveaxis(images, 1, 0), np.moveaxis(labels, 1, 0))])
    assert np.array_equal(eccbench.gvf(images, steps=3, batch_axis=1, mask=labels[:, 0]), [eccbench.gvf(i, steps=3, mask=labels[:, 0]) for i in np.moveaxis(images, 1, 0)])
    assert eccbench.gvf(images[:, :0], steps=3, batch_axis=1).shape == (0, 2, 6, 7)
    with pytest.raises(ValueError, match="batch_axis 3"):
        eccbench.gvf(images, steps=3, batch_axis=3)


def rng_images():
    return np.random.default_rng(12).integers(0, 9, (6, 3, 7)).astype(np.uint8)
