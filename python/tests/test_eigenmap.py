
import numpy as np
import pytest

import eccbench
from test_curve import DTYPES, drawn


def of_voxels(image, sigma=0.1, floor=0.001, square=1, plain=False):
    """Return the Laplacian of the graph of voxels, as a matrix."""
    values = np.asarray(image).astype(float)
    if values.max() > 1e308:  # a range beyond float64
        values = values / 2
    f = (values - values.min()) / ((values.max() - values.min()) or 1)
    places, f = np.argwhere(np.ones(f.shape, bool)), f.ravel()
    apart = ((places[:, None] - places[None]) ** 2).sum(-1)
    weights = np.where((apart > 0) & (apart <= square), np.exp(-((f[:, None] - f[None]) ** 2) / sigma**2) + floor, 0)
    degrees = weights.sum(1)
    laplacian = np.diag(degrees) - weights
    return laplacian if plain else laplacian / np.sqrt(np.outer(degrees, degrees))


def of_patches(image, alpha, beta, side):
    """Return the Laplacian of the graph of patches of a 2D image of grey values."""
    height, width = (n // side for n in image.shape)
    x = image[: height * side, : width * side].reshape(height, side, width, side).swapaxes(1, 2).reshape(-1, side * side).astype(float)
    p = np.argwhere(np.ones((height, width), bool))
    exponent = ((x[:, None] - x[None]) ** 2).sum(-1) / (side**2 * alpha**2) + ((p[:, None] - p[None]) ** 2).sum(-1) / (2 * beta**2)
    weights = np.exp(-exponent)
    np.fill_diagonal(weights, 0)
    degrees = weights.sum(1)
    return np.eye(len(x)) - weights / np.sqrt(np.outer(degrees, degrees))


def held(found, laplacian, tol):
    """Check by NumPy that the pairs are the lowest ones."""
    values = np.linalg.eigvalsh(laplacian)
    k = len(found.eigenvalues_)
    assert np.allclose(found.eigenvalues_, values[:k], atol=max(tol, 1e-12) * 10)
    vectors = found.eigenvectors_.reshape(k, -1)
    assert np.allclose(vectors @ vectors.T, np.eye(k), atol=1e-10)
    left = np.linalg.norm(vectors @ laplacian - found.eigenvalues_[:, None] * vectors, axis=1)
    # Residuals of patches include a bound for omitted weights: less than a thousandth of the tolerance.
    more = tol / 1000 if found.graph == "patch" else 0
    assert (left <= 1.001 * tol + 1e-13).all() and (left <= found.residuals_ + 1e-12).all() and (found.residuals_ <= left + more + 1e-12).all()
    assert all(v[abs(v).argmax()] > 0 for v in vectors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 7), (4, 5, 6), (9, 1), (11,)])
def test_types(shape, dtype):
    image = drawn(shape, dtype)
    before = image.copy()
    found = eccbench.eigenmap(image, 3, sigma=0.5, tol=1e-9)
    held(found, of_voxels(image, sigma=0.5), 1e-9)
    assert found.labels_.shape == shape and found.labels_.dtype == np.int64 and found.embedding_.shape == (*shape, 3)
    assert found.verdict_ == "VERIFIED" and "inertia" in found.witness_ and found.implementation_ == "multigrid"
    assert np.array_equal(image, before)


def test_neighbours():
    image = np.random.default_rng(1).random((7, 6, 5))
    for ask, square, plain in [
        ({"corners": True}, 3, False), ({"radius": 2}, 4, False), ({"radius": 3, "laplacian": "plain"}, 9, True), ({"laplacian": "plain"}, 1, True),
    ]:
        held(eccbench.eigenmap(image, 4, sigma=0.3, tol=1e-8, **ask), of_voxels(image, 0.3, 0.001, square, plain), 1e-8)


def test_patches():
    image = np.random.default_rng(2).integers(0, 256, (22, 31), np.uint8)
    found = eccbench.eigenmap(image, graph="patch", side=3, alpha=90, beta=4)
    held(found, of_patches(image, 90, 4, 3), 1e-8)
    few = image[:9, :6] // 2 + 40  # fewer voxels than grey values
    held(eccbench.eigenmap(few, graph="patch", side=3, alpha=90, beta=4), of_patches(few, 90, 4, 3), 1e-8)
    mask = (image > 200).astype(bool)
    for part in mask, mask[:9, :6]:
        held(eccbench.eigenmap(part, graph="patch", side=3, alpha=2, beta=4), of_patches(part, 2, 4, 3), 1e-8)
    assert found.eigenvectors_.shape == (2, 7, 10)
    # All voxels of a patch have its number, and so have the voxels after the last patch.
    rows, columns = np.minimum(np.arange(22) // 3, 6), np.minimum(np.arange(31) // 3, 9)
    assert np.array_equal(found.embedding_[..., 1], found.eigenvectors_[1][rows][:, columns])
    assert np.array_equal(found.labels_, found.embedding_[..., 1] > 0)


def test_order_of_memory():
    image = np.random.default_rng(3).random((8, 9, 7)).astype(np.float32)
    want = eccbench.eigenmap(image, n_jobs=1)
    for other in (np.asfortranarray(image), image.astype(">f4"), image[::-1][::-1], image.transpose(2, 1, 0).copy().transpose(2, 1, 0)):
        assert np.array_equal(eccbench.eigenmap(other, n_jobs=-1).eigenvectors_, want.eigenvectors_)


def test_estimator():
    """It has scikit-learn's conventions, without scikit-learn."""
    e = eccbench.Eigenmap(n_pairs=3, sigma=0.2)
    assert repr(e) == "Eigenmap(n_pairs=3, sigma=0.2)" and not hasattr(e, "labels_")
    copy = type(e)(**e.get_params())
    assert copy.get_params() == e.get_params() and copy.set_params(sigma=0.3) is copy and copy.sigma == 0.3
    with pytest.raises(ValueError, match="parameter 'gamma'"):
        e.set_params(gamma=1)
    image = np.random.default_rng(4).random((9, 8))
    assert e.fit(image) is e
    assert np.array_equal(e.fit_predict(image), e.labels_) and e.fit_transform(image) is e.embedding_
    assert eccbench.eigenmap(image, 1).labels_.sum() == 0
    unverified = eccbench.eigenmap(image, verify=False)
    assert (unverified.verdict_, unverified.witness_) == ("UNVERIFIED", "")


def test_sklearn():
    base = pytest.importorskip("sklearn.base")
    e = eccbench.Eigenmap(n_pairs=3, sigma=0.2)
    assert base.clone(e).get_params() == e.get_params()


def test_file(tmp_path):
    image = np.random.default_rng(5).integers(0, 9, (11, 12)).astype(np.int16)
    np.save(tmp_path / "image.npy", image)
    want = eccbench.eigenmap(image)
    for of in (tmp_path / "image.npy", eccbench.open(tmp_path / "image.npy")):
        assert np.array_equal(eccbench.eigenmap(of).eigenvectors_, want.eigenvectors_)


def test_refused(tmp_path):
    image = np.eye(6)
    for what, error, ask in [
        ("n_pairs 0", ValueError, {"n_pairs": 0}),
        ("n_pairs 1.5", TypeError, {"n_pairs": 1.5}),
        ("37 pairs of 36", ValueError, {"n_pairs": 37}),
        ("tolerance 2", ValueError, {"tol": 2}),
        ("tol nan", ValueError, {"tol": float("nan")}),
        ("sigma is 0", ValueError, {"sigma": 0}),
        ("floor -1", ValueError, {"floor": -1}),
        ("graph 'tree'", ValueError, {"graph": "tree"}),
        ("laplacian 'random'", ValueError, {"laplacian": "random"}),
        ("alpha 3", ValueError, {"alpha": 3}),
        ("sigma 0.2: is not of graph 'patch'", ValueError, {"graph": "patch", "sigma": 0.2}),
        ("a graph of 1 node", ValueError, {"graph": "patch"}),
        ("corners and radius 2", ValueError, {"corners": True, "radius": 2}),
        ("want a larger sigma, or a floor above 0", ValueError, {"sigma": 0.01, "floor": 0}),
        ("n_jobs 0", ValueError, {"n_jobs": 0}),
    ]:
        with pytest.raises(error, match=what):
            eccbench.eigenmap(image, **ask)
    for what, error, bad in [
        ("1 to 3 axes", ValueError, np.zeros((2, 2, 2, 2))),
        ("no voxels", ValueError, np.zeros((0, 2))),
        ("complex", TypeError, image.astype(complex)),
        ("NaN", ValueError, np.where(image > 0, np.nan, 0)),
        ("masked", ValueError, np.ma.masked_array(image, image > 0)),
        ("nowhere", FileNotFoundError, tmp_path / "nowhere.npy"),
    ]:
        with pytest.raises(error, match=what):
            eccbench.eigenmap(bad)


def test_batch():
    images = np.random.default_rng(3).integers(0, 9, (6, 3, 7))
    found = eccbench.eigenmap(images, 2, batch_axis=1, sigma=0.2)
    for i, one in enumerate(found):
        assert np.array_equal(one.eigenvalues_, eccbench.eigenmap(images[:, i], 2, sigma=0.2).eigenvalues_)
    assert len(found) == 3
    hidden = np.ma.masked_equal(images, 3)
    with pytest.raises(ValueError, match="the array is masked"):
        eccbench.eigenmap(hidden, 2, batch_axis=1)
