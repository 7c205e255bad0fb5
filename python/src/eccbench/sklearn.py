"""Transformers of scikit-learn from images to features.

>>> import numpy as np, eccbench.sklearn
>>> images = np.random.default_rng(1).integers(0, 16, (10, 8, 8))
>>> eccbench.sklearn.EulerCurve(levels=16).fit_transform(images).shape
(10, 16)
"""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from . import _eigenmap
from ._arguments import Construction, Graph, cores, reject_hidden, rings, whole
from ._betti import betti
from ._curve import _numbers, curve

__all__ = ["BettiCurve", "Eigenmap", "EulerCurve"]

_Shape = Union[Sequence[int], None]


class _OfImages(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of images. X is an array of more than two axes, or a table whose rows have a shape."""

    shape: _Shape
    n_jobs: int | None

    def _images(self, given: Any, fitted: bool) -> NDArray[Any]:
        """Return the images of X, checked and shaped."""
        reject_hidden("X", given)
        X: Any = validate_data(self, given, reset=not fitted, allow_nd=True, dtype="numeric")
        images: NDArray[Any] = X
        if self.shape is not None:
            want = tuple(whole("shape", n) for n in self.shape)
            if X.ndim != 2 or X.shape[1] != np.prod(want):
                raise ValueError(f"shape {want}: X of shape {X.shape} has no rows of {np.prod(want)} voxels")
            images = X.reshape(len(X), *want)
        if fitted and images.shape[1:] != self.image_shape_:
            raise ValueError(f"images of shape {images.shape[1:]}: want {self.image_shape_}, as fit had them")
        self.image_shape_: tuple[int, ...] = images.shape[1:]
        return images

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the shape of the images, and the features.

        Parameters
        ----------
        X : array_like of shape (n_samples, n_features) or (n_samples, *image)
            Images, or rows of their voxels.
        y : ignored

        Returns
        -------
        self
        """
        self._learn(self._images(X, fitted=False))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features of images.

        Parameters
        ----------
        X : array_like of shape (n_samples, n_features) or (n_samples, *image)

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self._features(self._images(X, fitted=True))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.asarray(self._names(), dtype=object)

    def _learn(self, images: NDArray[Any]) -> None:
        raise NotImplementedError

    def _features(self, images: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _threads(self) -> int | None:
        return None if self.n_jobs in (None, -1) else cores("n_jobs", self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        tags.requires_fit = True
        return tags


class _ByLevel(_OfImages):
    """A transformer whose features are numbers of sets of the images."""

    def __init__(
        self,
        levels: int | Sequence[float] = 64,
        *,
        shape: _Shape = None,
        construction: Construction = "T",
        superlevel: bool = False,
        periodic: bool | Sequence[int] = (),
        verify: bool = True,
        n_jobs: int | None = None,
    ):
        self.levels = levels
        self.shape = shape
        self.construction = construction
        self.superlevel = superlevel
        self.periodic = periodic
        self.verify = verify
        self.n_jobs = n_jobs

    def _learn(self, images: NDArray[Any]) -> None:
        if np.ndim(self.levels) == 0:
            self.levels_ = np.linspace(float(images.min()), float(images.max()), whole("levels", self.levels))
        else:
            self.levels_ = _numbers(self.levels, "levels")

    def _options(self) -> dict[str, Any]:
        return {
            "at": self.levels_,
            "batch_axis": 0,
            "construction": self.construction,
            "superlevel": self.superlevel,
            "periodic": self.periodic,
            "verify": self.verify,
            "threads": self._threads(),
        }

    def _named(self, number: str) -> list[str]:
        return [f"{number}_{i}" for i in range(len(self.levels_))]


class EulerCurve(_ByLevel):
    """The Euler characteristic of images at some levels as features.

    Parameters
    ----------
    levels : int or sequence of float, default 64
        The levels, or their number, evenly spaced from the least value to the greatest of the images in `fit`.
    shape : sequence of int, optional
        The shape of the image in each row of X, such as (8, 8) for the digits. By default X has the axes of
        the images after its first, and a table has images of one axis.
    construction, superlevel, periodic
        As for `eccbench.curve`.
    verify : bool
        Compare the numbers with the fingerprints of the images.
    n_jobs : int, optional
        Cores to use. By default, and by -1, all that the process may use.

    Attributes
    ----------
    levels_ : ndarray of shape (n,)
        The levels of the features, in units of the images.
    image_shape_ : tuple of int

    Raises
    ------
    ValueError
        From `fit` and `transform`, if a value is NaN or infinite, or images have another shape than in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from eccbench.sklearn import EulerCurve
    >>> y, x = np.mgrid[-8:8, -8:8]
    >>> discs = np.stack([np.hypot(y, x) < r for r in (4, 5, 6, 7)]).astype(float)
    >>> rings = np.stack([d * (np.hypot(y, x) > 1) for d in discs])
    >>> X, labels = np.concatenate([discs, rings]), [0] * 4 + [1] * 4
    >>> pipeline = make_pipeline(EulerCurve([0.5], superlevel=True), LogisticRegression())
    >>> float(pipeline.fit(X, labels).score(X, labels))
    1.0
    """

    def _features(self, images: NDArray[Any]) -> NDArray[np.int64]:
        features = np.empty((len(images), len(self.levels_)), np.int64)
        curve(images, out=features, **self._options())
        return features

    def _names(self) -> list[str]:
        return self._named("chi")


class BettiCurve(_ByLevel):
    """The Betti numbers of images at some levels as features: all b0, then b1, then for volumes b2.

    Parameters
    ----------
    levels, shape, construction, superlevel, periodic, n_jobs
        As for `EulerCurve`.
    verify : bool
        Compare the numbers with a flood fill.

    Attributes
    ----------
    levels_ : ndarray of shape (n,)
        The levels of the features, in units of the images.
    image_shape_ : tuple of int

    Raises
    ------
    ValueError
        As from `EulerCurve`.

    Examples
    --------
    >>> import numpy as np
    >>> from eccbench.sklearn import BettiCurve
    >>> ring = np.array([[0, 0, 0], [0, 9, 0], [0, 0, 0]])
    >>> features = BettiCurve([0, 9]).fit([ring])
    >>> features.transform([ring]), features.get_feature_names_out().tolist()
    (array([[1, 1, 1, 0]]), ['b0_0', 'b0_1', 'b1_0', 'b1_1'])
    """

    def _features(self, images: NDArray[Any]) -> NDArray[np.int64]:
        numbers = np.asarray(betti(images, **self._options()))[..., : self._dimensions()]
        return np.ascontiguousarray(np.moveaxis(numbers, 2, 1)).reshape(len(images), -1)

    def _dimensions(self) -> int:
        axes = len(self.image_shape_)
        return min(3, axes + bool(rings(self.periodic, axes)))

    def _names(self) -> list[str]:
        return [name for d in range(self._dimensions()) for name in self._named(f"b{d}")]


class Eigenmap(_OfImages):
    """The lowest eigenvalues of the graphs of images as features.

    Use `eccbench.Eigenmap` to cut one image in two, or to embed its voxels.

    Parameters
    ----------
    n_pairs : int, default 4
        The number of eigenvalues, including 0.
    shape, n_jobs
        As for `EulerCurve`.
    graph, tol, sigma, verify
        As for `eccbench.Eigenmap`.

    Attributes
    ----------
    image_shape_ : tuple of int

    Raises
    ------
    ValueError
        As from `EulerCurve`; or if an image has fewer voxels than there are eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from eccbench.sklearn import Eigenmap
    >>> Eigenmap(n_pairs=3).fit_transform(np.zeros((2, 3))).round(6)
    array([[0., 1., 2.],
           [0., 1., 2.]])
    """

    def __init__(
        self,
        n_pairs: int = 4,
        *,
        shape: _Shape = None,
        graph: Graph = "grid",
        tol: float | None = None,
        sigma: float = 0.1,
        verify: bool = True,
        n_jobs: int | None = None,
    ):
        self.n_pairs = n_pairs
        self.shape = shape
        self.graph = graph
        self.tol = tol
        self.sigma = sigma
        self.verify = verify
        self.n_jobs = n_jobs

    def _learn(self, images: NDArray[Any]) -> None:
        n, voxels = whole("n_pairs", self.n_pairs), int(np.prod(images.shape[1:]))
        if voxels < n:
            raise ValueError(f"n_pairs {n}: the images have n_features={voxels}, want as many voxels as pairs")
        self.n_pairs_ = n

    def _features(self, images: NDArray[Any]) -> NDArray[np.float64]:
        options: dict[str, Any] = {
            "graph": self.graph,
            "tol": self.tol,
            "sigma": self.sigma,
            "verify": self.verify,
            "n_jobs": self.n_jobs,
        }
        return np.stack([_eigenmap.eigenmap(image, self.n_pairs_, **options).eigenvalues_ for image in images])

    def _names(self) -> list[str]:
        return [f"eigenvalue_{i}" for i in range(self.n_pairs_)]
