import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import definition
import numpy as np
import pytest

import eccbench
from eccbench import _library


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "float16", "float32", "int32", "uint32", "int64", "uint64", "float64"])
@pytest.mark.parametrize("order", "CF")
def test_npy(tmp_path, dtype, order):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 100, (4, 5, 6)).astype(dtype)
    if image.dtype.itemsize > 2 and image.dtype.kind in "iuf":
        image = image * np.array(1 / 3 if image.dtype.kind == "f" else 2**24 + 1, dtype)  # no float32 for some
    path = tmp_path / "image.npy"
    np.save(path, np.asarray(image, order=order))
    opened = eccbench.open(path)
    assert opened.shape == (4, 5, 6) and "4×5×6" in repr(opened)
    assert np.asarray(opened).tolist() == image.tolist()
    levels, chi = definition.curve(image)
    for c in (eccbench.curve(path), eccbench.curve(str(path)), opened.curve()):
        assert c.levels.tolist() == levels and c.chi.tolist() == chi and c.verdict == "VERIFIED"
    assert opened.curve(levels=7).chi.tolist() == eccbench.curve(image, levels=7).chi.tolist()
    superlevel = opened.curve(construction="V", superlevel=True, at=[50, 3])
    assert superlevel.chi.tolist() == [definition.chi(image >= t, "V") for t in (50, 3)]
    exact = image.astype(np.longdouble)  # NumPy 1 rounds a number to the type of the array that it is compared with
    near = np.nextafter(np.unique(exact)[::9], np.longdouble(np.inf))
    for at in (np.unique(image)[::9], [-np.inf, 0.5, np.inf], near):
        chi = [definition.chi(exact <= t, "T") for t in at]
        assert opened.curve(at=at).chi.tolist() == chi
        assert opened.curve(at=at, superlevel=True).chi.tolist() == [definition.chi(exact >= t, "T") for t in at]


def test_compressed(tmp_path):
    """A compressed file is read once, in order, and counted slab by slab."""
    image = np.random.default_rng(1).integers(0, 9, (40, 50, 60)).astype("<f4")
    path = tmp_path / "image.nrrd"
    path.write_bytes(b"NRRD0004\ntype: float\ndimension: 3\nsizes: 60 50 40\nendian: little\nencoding: gzip\n\n" + gzip.compress(image.tobytes()))
    for arguments in ({}, {"construction": "V", "superlevel": True}, {"periodic": (0, 2)}, {"levels": 9}, {"verify": False}):
        a, b = eccbench.curve(path, **arguments), eccbench.curve(image, **arguments)
        assert a.levels.tolist() == b.levels.tolist() and a.chi.tolist() == b.chi.tolist() and a.verdict == b.verdict
        assert a.convention == b.convention and a.shape == b.shape
    assert np.asarray(eccbench.open(path)).tolist() == image.tolist()


def test_raw(tmp_path):
    image = np.random.default_rng(1).integers(0, 9, (4, 5, 6)).astype("int16")
    path = tmp_path / "image.raw"
    image.tofile(path)
    assert eccbench.open(path, shape=image.shape, dtype=np.int16).curve().chi.tolist() == eccbench.curve(image).chi.tolist()
    with pytest.raises(ValueError, match="neither its shape nor its type"):
        eccbench.open(path)
    with pytest.raises(ValueError, match="needs 480"):
        eccbench.open(path, shape=image.shape, dtype="float32")
    with pytest.raises(ValueError, match="dtype '>i2': raw files are little-endian"):
        eccbench.open(path, shape=image.shape, dtype=">i2")


def test_input_string():
    image = eccbench.open("noise/shape=9x8x7/type=uint16/levels=30/seed=4")
    assert image.shape == (7, 8, 9) and image.dtype == np.uint16
    assert eccbench.curve(np.asarray(image)).chi.tolist() == image.curve().chi.tolist()
    with pytest.raises(ValueError, match="unknown key"):
        eccbench.open("noise/shape=9x8x7/of=3")


def test_not_finite(tmp_path):
    path = tmp_path / "image.npy"
    np.save(path, np.array([[1, np.nan], [np.inf, 2]], np.float32))
    with pytest.raises(ValueError, match="2 values are NaN or infinite, the first at index 1"):
        eccbench.curve(path)
    np.save(path, np.array([[1, np.nan], [3, 2]], np.float32))
    c = eccbench.curve(path, nan="mask", construction="V")
    assert (c.levels.tolist(), c.chi.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 1])
    for name in path, f"file/path={path}":
        assert np.isnan(np.asarray(eccbench.open(name))).tolist() == [[False, True], [False, False]]
        assert eccbench.curve(name, nan="mask", construction="V").chi.tolist() == [1, 2, 1]
    image = np.arange(20, dtype=np.uint8).reshape(4, 5)
    np.save(path, image)
    assert eccbench.curve(path, mask=image % 3 > 0).chi.tolist() == definition.curve(image, within=image % 3 > 0)[1]


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot find|not found" if sys.platform == "win32" else "no such file"):
        eccbench.curve("nowhere.nii.gz")
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match="bad.npy: "):
        eccbench.open(bad)
    with pytest.raises(ValueError, match="batch_axis"):
        eccbench.curve("ball/shape=9x9x9", batch_axis=0)


@pytest.mark.skipif(sys.platform == "win32", reason="the command is for Linux and macOS")
def test_command(tmp_path):
    image = np.random.default_rng(1).integers(0, 9, (4, 5, 6)).astype("uint8")
    np.save(tmp_path / "image.npy", image)
    rows = subprocess.run([sys.executable, "-m", "eccbench", "curve", "-q", tmp_path / "image.npy", "--format", "npy", "--out", tmp_path / "curve.npy"], check=True, stdout=subprocess.PIPE).stdout
    curve = np.load(tmp_path / "curve.npy")
    assert rows == b"" and curve["chi"].tolist() == eccbench.curve(image).chi.tolist()
    refused = subprocess.run([sys.executable, "-m", "eccbench", "curve", "nowhere.npy"], stderr=subprocess.PIPE)
    assert refused.returncode == 64 and b"no such file" in refused.stderr
    # Records name the code that was measured, which on Linux is in the library. How fast memory is read is held to
    # no other number, so that no clock of a busy machine decides how this ends.
    subprocess.run([sys.executable, "-m", "eccbench", "--workload", "memread", "--sizes", "8", "--max-samples", "1", "-q", "-o", tmp_path / "runs"], check=True, stdout=subprocess.PIPE)
    program = json.loads((tmp_path / "runs").read_text().splitlines()[0])["binary"]
    if sys.platform == "linux":
        assert program["sha256"] == hashlib.sha256(Path(_library.PATH).read_bytes()).hexdigest()


def test_zarr(tmp_path):
    """A Zarr array with a missing chunk is read from its folder."""
    image = np.arange(60, dtype=np.uint16).reshape(5, 3, 4) % 7
    (tmp_path / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": image.shape, "chunks": (2, 3, 4), "dtype": "<u2", "compressor": None, "filters": None, "fill_value": 9, "order": "C"}))
    for k in range(2):
        (tmp_path / f"{k}.0.0").write_bytes(image[2 * k:2 * k + 2].tobytes())
    image[4] = 9
    opened = eccbench.open(tmp_path)
    want = eccbench.curve(image)
    with pytest.warns(UserWarning, match="1 of 3 chunks missing: fill value 9"):
        assert np.array_equal(np.asarray(opened), image)
        assert opened.curve().chi.tolist() == eccbench.curve(tmp_path).chi.tolist() == want.chi.tolist()
    with pytest.raises(ValueError, match="URL, which this program does not read"):
        eccbench.open("s3://bucket/scan.zarr").curve()


def test_missing_chunks(tmp_path):
    """A missing chunk is the fill value with a warning, or an error."""
    path = tmp_path / "image.zarr"
    path.mkdir()
    (path / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": [8, 8, 8], "chunks": [4, 4, 4], "dtype": "|u1", "compressor": None, "filters": None, "fill_value": 9, "order": "C"}))
    image = np.full((8, 8, 8), 9, np.uint8)
    for k in range(7):
        z, y, x = k >> 2, k >> 1 & 1, k & 1
        (path / f"{z}.{y}.{x}").write_bytes(bytes([k + 1]) * 64)
        image[4 * z : 4 * z + 4, 4 * y : 4 * y + 4, 4 * x : 4 * x + 4] = k + 1
    missing = "1 of 8 chunks missing: fill value 9"
    with pytest.warns(UserWarning, match=missing) as warned:
        c = eccbench.curve(path)
    assert str(path) in str(warned[0].message)
    assert c.missing == missing and c.chi.tolist() == eccbench.curve(image).chi.tolist()
    with pytest.warns(UserWarning, match=missing):
        assert np.asarray(eccbench.open(path)).tolist() == image.tolist()
    with pytest.warns(UserWarning, match=missing):
        assert eccbench.betti_curves(path).missing == missing
    with pytest.warns(UserWarning, match=missing):
        assert eccbench.pairs(path).missing == missing
    with pytest.warns(UserWarning, match=missing):
        eccbench.betti(path, at=3)
    strict = eccbench.open(path, strict=True)
    for ask in (strict.curve, lambda: np.asarray(strict), lambda: eccbench.betti_curves(strict),
                lambda: eccbench.pairs(strict)):
        with pytest.raises(ValueError, match="chunk 1.1.1 is missing"):
            ask()
    (path / "1.1.1").write_bytes(bytes([8]) * 64)
    assert strict.curve().missing == ""
    with pytest.raises(TypeError, match="strict 'yes'"):
        eccbench.open(path, strict="yes")
