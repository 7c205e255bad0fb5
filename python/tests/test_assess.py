"""Comparisons of segmentations with their truths."""

from __future__ import annotations

import re

import numpy as np
import pytest

import eccbench


def masks() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    truth = (rng.random((9, 10, 11)) < 0.3).astype(np.uint8) * rng.integers(1, 3, (9, 10, 11), np.uint8)
    pred = np.where(rng.random(truth.shape) < 0.1, rng.integers(0, 3, truth.shape, np.uint8), truth)
    return pred, truth


def test_numbers_are_those_of_betti() -> None:
    pred, truth = masks()
    result = eccbench.assess(pred, truth, groups={"both": [1, 2]})
    assert result.labels == ("1", "2", "all", "both") and result.connectivities == (26, 6) and result.verdict == "VERIFIED"
    for label, of in (("1", lambda a: a == 1), ("2", lambda a: a == 2), ("all", lambda a: a > 0), ("both", lambda a: a > 0)):
        for connectivity, construction in ((26, "T"), (6, "V")):
            row = result[label, connectivity]
            for side, mask in (("pred", of(pred)), ("truth", of(truth))):
                assert row[f"{side}_voxels"] == mask.sum()
                assert (row[f"b0_{side}"], row[f"b1_{side}"], row[f"b2_{side}"]) == eccbench.betti(mask, construction=construction)
            assert row["dice"] == pytest.approx(2 * (of(pred) & of(truth)).sum() / (of(pred).sum() + of(truth).sum()))
            assert row["b0_error"] == abs(row["b0_pred"] - row["b0_truth"])
            assert 0 <= row["matched0_min"] == row["matched0_max"] <= min(row["b0_pred"], row["b0_truth"])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint64, np.float32, np.float64])
def test_types_and_labels(dtype: type) -> None:
    pred, truth = masks()
    want = eccbench.assess(pred, truth)
    assert np.array_equal(eccbench.assess(pred.astype(dtype), truth).values, want.values)
    if np.iinfo(np.int16).max < (np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1e6):
        other = eccbench.assess(*(np.where(a == 1, dtype(60000), a.astype(dtype)) for a in (pred, truth)))
        assert other.labels == ("2", "60000", "all") and np.array_equal(other.values, want.values[[1, 0, 2]])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float64])
def test_large_labels_have_all_digits(dtype: type) -> None:
    pred, truth = masks()
    want = eccbench.assess(pred, truth)
    first = 2**63 - 2 if dtype in (np.int64, np.uint64) else 2**24 + 1
    names = np.array([0, first, first + 1], dtype)
    got = eccbench.assess(names[pred], names[truth], groups={"second": [first + 1]})
    assert got.labels == (str(first), str(first + 1), "all", "second")
    assert np.array_equal(got.values, want.values[[0, 1, 2, 1]])
    chosen = eccbench.assess(names[pred], names[truth], labels=[names[2]])
    assert chosen.labels == (str(first + 1), "all") and np.array_equal(chosen.values, want.values[1:])


def test_masks_and_2d() -> None:
    pred, truth = masks()
    result = eccbench.assess(pred[0] > 0, truth[0] > 0, connectivity=4)
    assert result.labels == ("1",) and result.connectivities == (4,)
    assert result["1", 4]["b0_pred"] == eccbench.betti(pred[0] > 0, construction="V").b0
    same = eccbench.assess(truth, truth, labels=[1], verify=False)
    assert same.labels == ("1", "all") and same.verdict == "UNVERIFIED" and same["1", 26]["matching_error1_max"] == 0


def test_mapping() -> None:
    result = eccbench.assess(*masks(), connectivity=26)
    assert list(result) == [("1", 26), ("2", 26), ("all", 26)] and dict(result)["2", 26] == result["2", 26]
    assert len(result) == 3 and (1, 26) in result and ("1", 6) not in result and 1 not in result
    assert dict(result.items()) == dict(result) and result.get(("1", 26)) == result["1", 26] and result.get(1, 2) == 2
    for key in (0, "1", "12", ("1",), ("1", 26, 0)):
        with pytest.raises(KeyError, match="want a label and a connectivity, such as \\('1', 26\\)"):
            result[key]  # type: ignore[index]


def test_shown() -> None:
    result = eccbench.assess(*masks())
    assert repr(result) == "<Assessment of 9×10×11: 3 masks, VERIFIED>"
    assert result._repr_html_().count("<tr>") == 7
    with pytest.raises(AttributeError):
        result.verdict = ""  # type: ignore[misc]
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.to_pandas(), pandas.DataFrame) and len(result.to_pandas()) == 6


def test_impossible() -> None:
    pred, truth = masks()
    for message, arguments in (
        ("want images of one shape", (pred[1:], truth)),
        ("some values are not whole numbers", (pred + 0.5, truth)),
        ("some values are not whole numbers", (np.where(pred, np.inf, 0), truth)),
        ("want an image of 2 or 3 axes", (pred[0, 0], truth[0, 0])),
    ):
        with pytest.raises(ValueError, match=message):
            eccbench.assess(*arguments)
    with pytest.raises(ValueError, match="want 'both', 26 or 6"):
        eccbench.assess(pred, truth, connectivity=8)
    for chosen in ({"labels": [1.5]}, {"groups": {"a": [np.nan]}}):
        with pytest.raises(ValueError, match="want whole numbers"):
            eccbench.assess(pred, truth, **chosen)
    with pytest.raises(ValueError, match="labels from -1 to 9223372036854775808: want labels of one integer type"):
        eccbench.assess(np.full((2, 2), -1), np.full((2, 2), np.uint64(2**63)))
    with pytest.raises(TypeError, match="want a sequence of labels"):
        eccbench.assess(pred, truth, labels=1)
    with pytest.raises(KeyError, match="want one of the labels"):
        eccbench.assess(pred, truth)[9, 26]
    with pytest.raises(ValueError, match="given twice"):
        eccbench.assess(pred, truth, groups={"1": [1]})
    with pytest.raises(ValueError, match=re.escape("background: leave it out")):
        eccbench.assess(pred, truth, labels=[0])
