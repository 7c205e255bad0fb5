"""Results: tables, pictures, files, equality, and verdicts of numbers."""

import copy
import dataclasses
import errno
import os
import pickle
import threading

import numpy as np
import pytest

import eccbench
from eccbench._result import Array
from test_curve import DTYPES, drawn

IMAGE = np.random.default_rng(4).integers(0, 6, (5, 6, 7)).astype(np.int16)


def results():
    labels = (IMAGE > 2).astype(np.uint8)
    return [
        eccbench.curve(IMAGE), eccbench.curve(IMAGE, superlevel=True, construction="V", periodic=(0, 2)), eccbench.curve(IMAGE, at=[1.5, 3]),
        eccbench.betti_curves(IMAGE), eccbench.assess(labels, (IMAGE > 1).astype(np.uint8)), eccbench.homology("lens/p=3/q=1", field="Z"),
        eccbench.pairs(IMAGE),
    ]


@pytest.mark.parametrize("result", results(), ids=repr)
def test_kept(result, tmp_path):
    """A loaded result is the same, including its verdict. Results are equal exactly if their numbers are."""
    result.save(tmp_path / "kept")
    again = type(result).load(tmp_path / "kept")
    for field in dataclasses.fields(result):
        a, b = getattr(result, field.name), getattr(again, field.name)
        assert type(a) is type(b) and (np.array_equal(a, b, equal_nan=field.name == "values") if isinstance(a, np.ndarray) else a == b), field.name
    assert result == again and repr(result) == repr(again)
    assert result == dataclasses.replace(result, witness="another", verdict="UNVERIFIED", implementation="another")
    other = {"labels": ("9",) * len(result.labels)} if isinstance(result, eccbench.Assessment) else {"betti": (9,)} if isinstance(result, eccbench.Homology) else {"superlevel": not result.superlevel}
    assert result != dataclasses.replace(result, **other) and result != 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.verdict = "VERIFIED"
    with pytest.raises(TypeError):
        hash(result)
    for name in ("_repr_html_",):
        assert "VERIFIED by" in getattr(result, name)()


def test_numbers_decide_equality():
    a, b = eccbench.curve(IMAGE), eccbench.curve(IMAGE, verify=False, threads=1)
    assert a == b and a.verdict != b.verdict
    assert a != eccbench.curve(IMAGE + (IMAGE == IMAGE.max())) and a != eccbench.curve(IMAGE, construction="V")
    chi = a.chi.copy()
    chi[0] += 1
    assert a != dataclasses.replace(a, chi=chi)


def test_frozen():
    """The arrays of results, and of copies of them, are read-only. Those of the caller are not."""
    at = np.array([1, 3])
    batches = [eccbench.curve(IMAGE, batch_axis=0, **rows) for rows in ({}, {"at": at}, {"levels": 3})]
    for result in [*results(), eccbench.curve(IMAGE, at=at), *batches[0], *batches[1], *batches[2]]:
        for one in (result, copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            assert one == result
            for value in vars(one).values():
                assert not isinstance(value, np.ndarray) or not value.flags.writeable
    kept = eccbench.curve(IMAGE, at=at)
    at[:] = 5
    assert kept.levels.tolist() == batches[1][0].levels.tolist() == [1, 3]
    mine = kept.chi.copy()
    view = mine[:]
    view.setflags(write=False)
    replaced = [dataclasses.replace(kept, chi=chi) for chi in (mine, view)]
    mine += 1
    assert replaced == [kept, kept] and not replaced[0].chi.flags.writeable


@pytest.mark.parametrize("result", results(), ids=repr)
def test_lengths_in_files(result, tmp_path):
    """A file whose columns have different lengths is no result."""
    result.save(tmp_path / "whole.npz")
    kept = dict(np.load(tmp_path / "whole.npz"))
    for name in kept:
        if name == "facts" and "torsion" not in str(kept[name]):
            continue
        torn = {"facts": str(kept[name]).replace(", []]", "]")} if name == "facts" else {name: kept[name][:-1]}
        np.savez(tmp_path / "torn.npz", **{**kept, **torn})
        with pytest.raises(ValueError, match="no result of eccbench.*the lengths of its columns differ"):
            type(result).load(tmp_path / "torn.npz")


def test_wrong_files(tmp_path):
    curve = eccbench.curve(IMAGE)
    curve.save(tmp_path / "curve.npz")
    assert np.load(tmp_path / "curve.npz")["chi"].tolist() == curve.chi.tolist()
    with pytest.raises(ValueError, match="holds a Curve, want a BettiCurves: take Curve.load"):
        eccbench.BettiCurves.load(tmp_path / "curve.npz")
    np.savez(tmp_path / "other.npz", a=IMAGE)
    np.save(tmp_path / "array.npy", IMAGE)
    (tmp_path / "text").write_text("no array")
    (tmp_path / "empty").touch()
    for name, why in (("other.npz", "facts"), ("text", "no .npz archive"), ("array.npy", "an array"), ("empty", "is empty")):
        with pytest.raises(ValueError, match=f"no result of eccbench, .*{why}") as e:
            eccbench.Curve.load(tmp_path / name)
        assert "\n" not in str(e.value)
    for name in ("curve.csv", b"curve.NPY"):
        with pytest.raises(ValueError, match="save writes an .npz archive"):
            curve.save(name)
    with pytest.raises(FileNotFoundError):
        eccbench.Curve.load(tmp_path / "nowhere")


def test_full_disk(tmp_path, monkeypatch):
    """A file that cannot be written whole leaves the file of its name as it was, and no other."""
    curve, path, link = eccbench.curve(IMAGE), tmp_path / "curve.npz", tmp_path / "link"
    link.symlink_to(path)

    def torn(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for existing in (False, True):
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", torn)
            for to in (path, link):
                with pytest.raises(OSError, match="No space left on device"):
                    curve.save(to)
        assert {p.name for p in tmp_path.iterdir()} == ({"link", "curve.npz"} if existing else {"link"})
        if existing:
            assert eccbench.Curve.load(path) == curve and path.stat().st_mode & 0o777 == 0o640
        else:
            curve.save(link)
            path.chmod(0o640)
            curve.save(link)
            assert link.is_symlink() and not path.is_symlink()
    with pytest.raises(FileNotFoundError, match="nowhere/curve'"):
        curve.save(tmp_path / "nowhere" / "curve")
    with pytest.raises(IsADirectoryError):
        curve.save(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_saved_to_a_pipe(tmp_path):
    curve = eccbench.curve(IMAGE)
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(target=lambda: (tmp_path / "kept").write_bytes((tmp_path / "pipe").read_bytes()))
    reader.start()
    curve.save(tmp_path / "pipe")
    reader.join()
    assert eccbench.Curve.load(tmp_path / "kept") == curve


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs paths of descriptors")
def test_saved_to_a_descriptor(tmp_path):
    curve = eccbench.curve(IMAGE)
    with open(tmp_path / "kept", "wb") as file:
        curve.save(f"/dev/fd/{file.fileno()}")
        assert os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    assert eccbench.Curve.load(tmp_path / "kept") == curve


@pytest.mark.parametrize("dtype", DTYPES)
def test_files_of_types(dtype, tmp_path):
    curve = eccbench.curve(drawn((5, 6), dtype))
    curve.save(tmp_path / "c.npz")
    again = eccbench.Curve.load(tmp_path / "c.npz")
    assert again == curve and again.levels.dtype == curve.levels.dtype
    assert "<svg" in curve._repr_html_()


def test_html():
    assert "no rows" in eccbench.curve(IMAGE, mask=np.zeros(IMAGE.shape, bool))._repr_html_()
    one, falling = eccbench.curve(np.zeros((3, 3), np.uint8)), eccbench.curve(IMAGE, superlevel=True)
    assert "0.0,48.0 240,48.0" in one._repr_html_()
    points = falling._repr_html_().split('points="')[1].split('"')[0].split()
    assert points[0].startswith("240.0,") and points[-1].startswith("0,")
    assert eccbench.betti_curves(IMAGE)._repr_html_().count("<polyline") == 3
    fitted = eccbench.eigenmap(IMAGE[0], 2)
    assert "eigenvalue" in fitted._repr_html_() and "Eigenmap()" in eccbench.Eigenmap()._repr_html_()


def test_verdicts_of_numbers():
    """Betti numbers and fields have a verdict; numbers that are computed from them have none."""
    two = np.stack([IMAGE, IMAGE])
    for numbers in (eccbench.betti(IMAGE, 2), eccbench.betti(IMAGE, [1, 2]), eccbench.betti(two, [1, 2], batch_axis=0), eccbench.betti(two, 2, batch_axis=0),
                    eccbench.betti_curves(IMAGE)(2), eccbench.betti_curves(IMAGE)([1, 2]), eccbench.gvf(IMAGE, steps=1)):
        assert numbers.verdict == "VERIFIED" and numbers.witness and numbers.implementation
        again = pickle.loads(pickle.dumps(numbers))
        assert np.array_equal(again, numbers) and (again.verdict, again.witness) == ("VERIFIED", numbers.witness)
    unverified = eccbench.betti(IMAGE, 2, verify=False)
    assert (unverified.verdict, unverified.witness) == ("UNVERIFIED", "") and unverified == eccbench.betti(IMAGE, 2) == tuple(unverified)
    b0, b1, b2 = unverified
    assert repr(unverified) == f"Betti(b0={b0}, b1={b1}, b2={b2})" and unverified.b1 == b1
    numbers = eccbench.betti(IMAGE, [1, 2])
    assert numbers[0].verdict == "VERIFIED" and repr(numbers) == repr(np.asarray(numbers))
    for computed in (numbers + 1, numbers.sum(axis=0), np.abs(numbers), numbers @ np.ones(3), np.concatenate([numbers, numbers])):
        assert not isinstance(computed, Array) or computed.verdict == "UNVERIFIED"
    assert isinstance(numbers.sum(), np.integer)


def test_numbers_are_read_only():
    """Betti numbers and fields, and their views, cannot be changed. Their copies can, and have no verdict."""
    def halve(x):
        for component in x:
            component //= 2

    changes = [lambda x: x.fill(1), lambda x: x.sort(), lambda x: np.copyto(x, 1), lambda x: x.put(0, 1), halve,
               lambda x: x.flat.__setitem__(0, 1), lambda x: x[0].__setitem__(..., 1), lambda x: x.__iadd__(1)]
    two, verified = np.stack([IMAGE, IMAGE]), eccbench.betti(IMAGE, [1, 2])
    for numbers in (verified, eccbench.betti_curves(IMAGE)([1, 2]), eccbench.gvf(IMAGE, steps=1),
                    eccbench.gvf(two, steps=1, batch_axis=0), eccbench.betti(two, [1, 2], batch_axis=0),
                    pickle.loads(pickle.dumps(verified))):
        was = np.array(numbers)
        for change in changes:
            with pytest.raises(ValueError, match="read-only"):
                change(numbers)
        assert numbers.verdict == numbers[0].verdict == "VERIFIED" and np.array_equal(numbers, was)
        for mine in (numbers.copy(), copy.copy(numbers), copy.deepcopy(numbers), numbers[[0, 1]]):
            mine[0] = 0
            for one in (mine, mine[0], pickle.loads(pickle.dumps(mine))):
                assert one.flags.writeable and (one.verdict, one.witness, one.implementation) == ("UNVERIFIED", "", "")
    assert eccbench.betti(IMAGE, [1, 2]).tolist() == verified.tolist()


def test_frames():
    pandas = pytest.importorskip("pandas")
    for result in results():
        frame = result.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and len(frame) > 0 and frame.attrs["verdict"] == "VERIFIED"
    curve = eccbench.curve(IMAGE)
    assert list(curve.to_pandas()) == ["levels", "chi"] and curve.to_pandas()["chi"].tolist() == curve.chi.tolist()
    assert eccbench.eigenmap(IMAGE[0], 2).to_pandas()["eigenvalue"].is_monotonic_increasing


def test_datasets():
    pytest.importorskip("xarray")
    for dtype in DTYPES:
        curve = eccbench.curve(drawn((5, 6), dtype))
        data = curve.to_xarray()
        assert data["chi"].values.tolist() == curve.chi.tolist() and data["levels"].values.tolist() == curve.levels.tolist()
        assert data.attrs["convention"] == "T, sublevel" and data.attrs["witness"] == curve.witness
    assert eccbench.curve(IMAGE, at=[1, 1, 0]).to_xarray()["chi"].shape == (3,)
    data["chi"] += 1
    assert data["chi"].values.tolist() == (curve.chi + 1).tolist()
    labels = (IMAGE > 2).astype(np.uint8)
    assessed = eccbench.assess(labels, labels).to_xarray()
    assert assessed["dice"].sel(label="1", connectivity=26) == 1 and assessed["dice"].dims == ("label", "connectivity")


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    curve = eccbench.curve(IMAGE)
    ax = curve.plot()
    assert ax.get_title() == "T, sublevel: VERIFIED" and ax.get_ylabel() == "χ" and ax.lines[0].get_drawstyle() == "steps-post"
    assert ax.lines[0].get_ydata().tolist() == curve.chi.tolist()
    assert eccbench.curve(IMAGE, at=[1, 2]).plot(ax, color="red") is ax and ax.lines[1].get_color() == "red" and ax.lines[1].get_marker() == "."
    assert [line.get_label() for line in eccbench.betti_curves(IMAGE).plot().lines] == ["b0", "b1", "b2"]
    for image in (IMAGE, IMAGE[0], IMAGE[0, 0]):
        assert eccbench.eigenmap(image, 2).plot().images
    pyplot.close("all")
