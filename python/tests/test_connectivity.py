"""The table "Which connectivity does your package mean?" compared with the packages that are installed."""

from pathlib import Path

import numpy as np
import pytest

import eccbench

PAGE = Path(__file__).parents[2] / "doc/guide/bone.md"


def classes(pairs):
    """Return the number of components at level 0, from pairs of persistence (dimension, birth, …)."""
    return sum(d == 0 and birth == 0 for d, birth, *_ in pairs)


def gudhi(package, mask, cells):
    cube = package.CubicalComplex(**{cells: np.where(mask, 0.0, 1.0)})
    found = cube.persistence(homology_coeff_field=2, min_persistence=0)
    return classes((d, *pair) for d, pair in found)


def cripser(package, mask, **options):
    return classes(package.compute_ph(np.where(mask, 0.0, 1.0), maxdim=0, **options))


def itk(package, mask, connected=None):
    components = package.ConnectedComponentImageFilter()
    if connected is not None:
        components.SetFullyConnected(connected)
    components.Execute(package.GetImageFromArray(mask.astype(np.uint8)))
    return components.GetObjectCount()


def skimage(package, mask, **options):
    return package.label(mask, **options).max()


def cc3d(package, mask, **options):
    return package.connected_components(mask, **options).max()


def scipy(package, mask, **options):
    return package.label(mask, **options)[1]


# Row of the table, module, dimensions, construction by default, and the components by default and by the other option.
CASES = [
    ("scikit-image", "skimage.measure", 2, "T", skimage, lambda p, m: skimage(p, m, connectivity=1)),
    ("scikit-image", "skimage.measure", 3, "T", skimage, lambda p, m: skimage(p, m, connectivity=1)),
    ("connected-components-3d", "cc3d", 2, "T", cc3d, lambda p, m: cc3d(p, m, connectivity=4)),
    ("connected-components-3d", "cc3d", 3, "T", cc3d, lambda p, m: cc3d(p, m, connectivity=6)),
    ("SciPy", "scipy.ndimage", 3, "V", scipy, lambda p, m: scipy(p, m, structure=np.ones((3, 3, 3)))),
    ("SimpleITK", "SimpleITK", 3, "V", itk, lambda p, m: itk(p, m, True)),
    ("mahotas", "mahotas", 2, "V", scipy, lambda p, m: scipy(p, m, Bc=np.ones((3, 3)))),
    ("GUDHI", "gudhi", 3, "T", lambda p, m: gudhi(p, m, "top_dimensional_cells"), lambda p, m: gudhi(p, m, "vertices")),
    ("cripser", "cripser", 3, "V", cripser, lambda p, m: cripser(p, m, filtration="T")),
]


IDS = [f"{c[0]}-{c[2]}d" for c in CASES]


@pytest.mark.parametrize("row, module, dims, construction, default, other", CASES, ids=IDS)
def test_components(row, module, dims, construction, default, other):
    """A package counts the components of the stated construction by default, and of the other one if told so."""
    package = pytest.importorskip(module, reason=f"{row} is not installed")
    mask = np.random.default_rng(dims).random((9, 10, 11)[:dims]) < 0.3
    want = {c: eccbench.betti(np.where(mask, 0, 1).astype(np.uint8), 0, construction=c).b0 for c in "TV"}
    assert want["T"] < want["V"]
    try:
        found = [int(default(package, mask)), int(other(package, mask))]
    except TypeError as e:
        pytest.skip(f"{row} of another version: {e}")
    assert found == [want[c] for c in (construction, "TV".replace(construction, ""))]


def test_euler_number():
    """scikit-image counts χ in T by default."""
    measure = pytest.importorskip("skimage.measure", reason="scikit-image is not installed")
    mask = np.random.default_rng(3).random((9, 10, 11)) < 0.3
    for construction, options in (("T", {}), ("V", {"connectivity": 1})):
        curve = eccbench.curve(np.where(mask, 0, 1).astype(np.uint8), construction=construction)
        assert measure.euler_number(mask, **options) == curve(0)


def test_table():
    """Every row of the table has a case with its default."""
    if not PAGE.exists():
        pytest.skip("without the manual")
    lines = PAGE.read_text().split("## Which connectivity")[1].split("\n## ")[0].splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:3]] for line in lines if line.startswith("|")][2:]
    assert {(package.split()[0], default[0]) for package, default in table} == {(c[0], c[3]) for c in CASES}
