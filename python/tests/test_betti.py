import doctest
import pickle

import definition
import numpy as np
import pytest

import eccbench
from eccbench import _betti
from test_curve import DTYPES, drawn
from test_processes import linux, run


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9,), (6, 7), (4, 5, 6)])
def test_types(shape, dtype):
    """Curves of all types in all conventions: χ by the definition, and one set after the other."""
    image = drawn(shape, dtype)
    before = image.copy()
    for construction in "TV":
        for superlevel in (False, True):
            curves = eccbench.betti_curves(image, construction=construction, superlevel=superlevel)
            levels, chi = definition.curve(image, construction, superlevel)
            euler = curves.b0 - curves.b1 + curves.b2
            assert dict(zip(curves.levels.tolist(), euler.tolist())).items() >= dict(zip(levels, chi)).items()
            assert curves.verdict == "VERIFIED" and curves.witness.startswith("unions of all voxels")
            assert curves.levels.dtype == (np.uint8 if image.dtype == bool else image.dtype) and curves.b0.dtype == np.int64
            if image.dtype.itemsize < 8:
                at = np.asarray(curves.levels, float)
                numbers = eccbench.betti(image, at, construction=construction, superlevel=superlevel)
                assert numbers.tolist() == np.stack([curves.b0, curves.b1, curves.b2], -1).tolist() == curves(at).tolist()
            whole = image.min() if superlevel else image.max()
            assert curves(whole) == (1, 0, 0)
    assert np.array_equal(image, before)


def test_solids():
    z, y, x = np.mgrid[-10:11, -10:11, -10:11]
    shell = abs(np.sqrt(x * x + y * y + z * z) - 7) < 1.5
    torus = (np.hypot(x, y) - 7) ** 2 + z * z < 6
    assert eccbench.betti(shell) == eccbench.Betti(1, 0, 1)
    assert eccbench.betti(torus) == (1, 1, 0)
    assert eccbench.betti(torus[10]) == (1, 1, 0)
    assert eccbench.betti(torus | (abs(z) > 9)).b0 == 3
    assert eccbench.betti(np.asfortranarray(shell)[::-1, :, ::2]).b0 == 1
    corner = np.array([[1, 0], [0, 1]], bool)
    assert eccbench.betti(corner).b0 == 1 and eccbench.betti(corner, construction="V").b0 == 2
    assert eccbench.betti(torus.astype(np.float32), [[0.5, 0]], superlevel=True).tolist() == [[[1, 1, 0], [1, 0, 0]]]
    assert eccbench.betti(torus.astype(np.uint8), []).shape == (0, 3)


def test_file(tmp_path):
    image = np.random.default_rng(3).integers(0, 9, (11, 12, 13)).astype(np.int16)
    np.save(tmp_path / "image.npy", image)
    of_file, of_array = eccbench.betti_curves(tmp_path / "image.npy"), eccbench.betti_curves(image, threads=1)
    for key in of_array.keys():
        assert of_file[key].tolist() == of_array[key].tolist()
    assert eccbench.betti(str(tmp_path / "image.npy"), 4) == of_array(4.5)
    assert eccbench.betti_curves("links/shape=32x32x32/type=uint8")(0) == (2, 2, 0)
    unverified = eccbench.betti_curves(image, verify=False)
    assert unverified.verdict == "UNVERIFIED" and unverified.witness == "" and unverified.b1.tolist() == of_array.b1.tolist()
    assert repr(of_array).startswith("<BettiCurves of 11×12×13, T, sublevel: 9 changes, VERIFIED by unions")
    assert pickle.loads(pickle.dumps(of_array)).b2.tolist() == of_array.b2.tolist()
    np.savez(tmp_path / "kept.npz", **of_array)
    assert np.load(tmp_path / "kept.npz")["b1"].tolist() == of_array.b1.tolist()


def test_refused(tmp_path):
    image = np.zeros((3, 4), np.float32)
    for what, error, ask in [
        ("at is missing", ValueError, lambda: eccbench.betti(image)),
        ("construction 'U'", ValueError, lambda: eccbench.betti(image, 0, construction="U")),
        ("a value is NaN", ValueError, lambda: eccbench.betti(image, float("nan"))),
        ("want numbers", TypeError, lambda: eccbench.betti(image, "high")),
        ("beside fractions", ValueError, lambda: eccbench.betti(image, [2**53 + 1, 0.5])),
        ("infinite", ValueError, lambda: eccbench.betti(image, float("inf"))),
        ("1 to 3 axes", ValueError, lambda: eccbench.betti_curves(np.zeros((2, 2, 2, 2)))),
        ("masked array", ValueError, lambda: eccbench.betti_curves(np.ma.masked_array(image, image == 0))),
        ("complex", TypeError, lambda: eccbench.betti_curves(image.astype(complex))),
        ("NaN", ValueError, lambda: eccbench.betti_curves(np.where(np.eye(4) > 0, np.nan, 0))),
        ("threads 0", ValueError, lambda: eccbench.betti_curves(image, threads=0)),
        ("nowhere", FileNotFoundError, lambda: eccbench.betti_curves(tmp_path / "nowhere.npy")),
    ]:
        with pytest.raises(error, match=what):
            ask()


@linux
def test_interrupt():
    """Ctrl-C ends the wait, and the job soon after."""
    done = run("""
        image = np.random.default_rng(1).random((300, 300, 300), np.float32)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            eccbench.betti_curves(image)
            print("ended")
        except KeyboardInterrupt:
            print("interrupted")
        print(eccbench.betti(image[:9, :9, :9] < 2))
    """)
    assert done.stdout.splitlines() == ["interrupted", "Betti(b0=1, b1=0, b2=0)"], done.stderr


def test_examples():
    assert doctest.testmod(_betti, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
