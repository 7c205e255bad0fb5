"""Comparisons with other libraries, if they are installed."""

import numpy as np
import pytest

import eccbench

SHAPES = [(1, 9), (9, 1), (13, 11), (1, 7, 8), (7, 8, 9)]


def images(shape):
    rng = np.random.default_rng(len(shape))
    yield rng.integers(0, 6, shape).astype(np.uint8)
    yield rng.integers(-5, 5, shape).astype(np.int16)
    yield rng.standard_normal(shape).astype(np.float32)
    yield rng.standard_normal(shape)


def changes(born, died, dimension):
    """Return the changes of χ at each level from intervals of persistent homology."""
    change = {}
    for levels, sign in ((born, 1), (died, -1)):
        for level, d in zip(levels, dimension):
            if np.isfinite(level) and abs(level) < 1e300:
                change[level] = change.get(level, 0) + sign * (-1) ** int(d)
    return {level: n for level, n in change.items() if n}


def paired(image, construction, rows):
    """Compare the pairs of an image with rows of dimension, birth and death, some of which have no length."""
    pairs = eccbench.pairs(image, construction=construction)
    want = sorted((int(d), b, e if abs(e) < 1e300 else np.inf) for d, b, e in rows if b < e)
    assert sorted(zip(pairs.dims.tolist(), pairs.births.tolist(), pairs.deaths.tolist())) == want


def same(curve, change):
    assert dict(zip(curve.levels.tolist(), np.diff(curve.chi, prepend=0).tolist())) == change


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("construction, cells", [("T", "top_dimensional_cells"), ("V", "vertices")])
def test_gudhi(shape, construction, cells):
    gudhi = pytest.importorskip("gudhi", reason="GUDHI is not installed")
    try:
        gudhi.CubicalComplex(**{cells: np.zeros((2, 2))})
    except TypeError:
        pytest.skip(f"GUDHI {gudhi.__version__} takes no {cells}")
    for image in images(shape):
        intervals = gudhi.CubicalComplex(**{cells: image.astype(np.float64)}).persistence(homology_coeff_field=2, min_persistence=0)
        d, b, e = zip(*[(d, *pair) for d, pair in intervals])
        same(eccbench.curve(image, construction=construction), changes(b, e, d))
        paired(image, construction, zip(d, b, e))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("superlevel", [False, True])
def test_scikit_image(shape, superlevel):
    measure = pytest.importorskip("skimage.measure", reason="scikit-image is not installed")
    for image in images(shape):
        at = np.unique(image)[::7]
        for construction, connectivity in (("T", image.ndim), ("V", 1)):
            curve = eccbench.curve(image, construction=construction, superlevel=superlevel)
            sets = [image >= t if superlevel else image <= t for t in at]
            assert curve(at).tolist() == [measure.euler_number(s, connectivity=connectivity) for s in sets]


@pytest.mark.parametrize("shape", [s for s in SHAPES if len(s) == 3])
def test_cripser(shape):
    cripser = pytest.importorskip("cripser", reason="cripser is not installed")
    for image in images(shape):
        for construction, compute in (("T", cripser.computePH_T), ("V", cripser.computePH)):
            pairs = compute(image.astype(np.float64), maxdim=image.ndim - 1)
            same(eccbench.curve(image, construction=construction), changes(pairs[:, 1], pairs[:, 2], pairs[:, 0]))
            paired(image, construction, pairs[:, :3].tolist())


@pytest.mark.filterwarnings("ignore")  # warnings of its own modules would end the process as errors
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_itk(steps):
    """Its time step is 1 in 3D where the noise level, which is mu, is 1/8; then |V0|² of up to 1/2 is stable in it."""
    itk = pytest.importorskip("itk", reason="ITK is not installed")
    image = np.random.default_rng(1).random((9, 10, 11)).astype(np.float32)
    image += sum(np.roll(image, 1, axis) for axis in range(3))
    start = eccbench.gvf(image, steps=0)
    assert (start**2).sum(0).max() < 0.5
    kind = itk.Image[itk.CovariantVector[itk.F, 3], 3]
    flow = itk.GradientVectorFlowImageFilter[kind, kind, itk.F].New(itk.image_from_array(np.moveaxis(start[::-1], 0, -1).copy(), ttype=kind))
    flow.SetIterationNum(steps)
    flow.SetNoiseLevel(0.125)
    flow.Update()
    assert flow.GetTimeStep() == 1
    field = np.moveaxis(itk.array_from_image(flow.GetOutput()), -1, 0)[::-1]
    assert abs(field - eccbench.gvf(image, steps=steps, mu=0.125)).max() < 1e-6
    assert abs(field - eccbench.gvf(image, steps=steps - 1, mu=0.125)).max() > 1e-3
