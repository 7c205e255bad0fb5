"""Transformers of scikit-learn."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", "1.6")

import eccbench  # noqa: E402
from eccbench.sklearn import BettiCurve, Eigenmap, EulerCurve  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402


@parametrize_with_checks([EulerCurve(levels=5), BettiCurve(levels=5), Eigenmap(n_pairs=2)])
@pytest.mark.filterwarnings("ignore")
def test_estimator(estimator, check):
    check(estimator)


DIGITS = load_digits()


def test_numbers():
    """Features equal the numbers of eccbench, for rows and for images."""
    images = DIGITS.images[:20]
    at = [2, 5.5, 9]
    for X, shape in ((images, None), (DIGITS.data[:20], (8, 8))):
        chi = EulerCurve(at, shape=shape, construction="V", superlevel=True).fit_transform(X)
        want = [eccbench.curve(i, at=at, construction="V", superlevel=True).chi.tolist() for i in images]
        assert chi.tolist() == want
        numbers = BettiCurve(at, shape=shape).fit_transform(X)
        assert numbers.tolist() == [np.asarray(eccbench.betti(i, at))[:, :2].T.ravel().tolist() for i in images]
        pairs = Eigenmap(3, shape=shape).fit_transform(X)
        assert np.allclose(pairs, [eccbench.eigenmap(i, 3).eigenvalues_ for i in images])
    volumes = np.random.default_rng(1).integers(0, 5, (4, 3, 4, 5))
    assert BettiCurve([1, 2]).fit_transform(volumes).shape == (4, 6)
    ring = EulerCurve([1], periodic=True).fit(volumes)
    assert ring.transform(volumes)[:, 0].tolist() == [eccbench.curve(v, at=[1], periodic=True).chi[0] for v in volumes]


def test_pipeline():
    """Curves classify the digits better than chance, by cross-validation of a pipeline, which clones it."""
    pipeline = make_pipeline(EulerCurve(levels=16, shape=(8, 8)), StandardScaler(), LogisticRegression(max_iter=500))
    scores = cross_val_score(clone(pipeline), DIGITS.data[:600], DIGITS.target[:600], cv=3)
    assert scores.mean() > 0.2  # chance is 0.1


def test_names_and_output():
    pandas = pytest.importorskip("pandas")
    frame = EulerCurve(levels=3, shape=(8, 8)).set_output(transform="pandas").fit_transform(DIGITS.data[:5])
    assert isinstance(frame, pandas.DataFrame) and list(frame) == ["chi_0", "chi_1", "chi_2"]
    assert BettiCurve([1, 2], shape=(8, 8)).fit(DIGITS.data[:5]).get_feature_names_out().tolist() == ["b0_0", "b0_1", "b1_0", "b1_1"]
    assert Eigenmap(2, shape=(8, 8)).fit(DIGITS.data[:5]).get_feature_names_out().tolist() == ["eigenvalue_0", "eigenvalue_1"]


def test_refused():
    with pytest.raises(ValueError, match="no rows of 49 voxels"):
        EulerCurve(shape=(7, 7)).fit(DIGITS.data)
    with pytest.raises(ValueError, match="want \\(8, 8\\), as fit had them"):
        EulerCurve().fit(DIGITS.images).transform(DIGITS.images[:, :, :7])
    with pytest.raises(ValueError, match="NaN"):
        EulerCurve().fit(np.full((3, 4, 4), np.nan))
    with pytest.raises(ValueError, match="X: the array is masked"):
        EulerCurve().fit(np.ma.masked_equal(DIGITS.images, 0))
    with pytest.raises(ValueError, match="levels: the array is masked"):
        EulerCurve(np.ma.masked_equal([1, 2], 2)).fit(DIGITS.images)


def test_periodic_as_array():
    """The periodic axes are any sequence, as for betti, and no axes are none."""
    image = np.zeros((3, 3))
    for periodic, want in (np.array([0, 1]), [1, 2, 1]), (np.array([], int), [1, 0]):
        assert BettiCurve([0], periodic=periodic).fit([image]).transform([image]).tolist() == [want]
