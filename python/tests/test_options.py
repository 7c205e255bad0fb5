"""The options of the guide are those of the functions."""

import inspect

import pytest

import eccbench

SETS = {"construction", "superlevel", "periodic", "mask", "nan", "batch_axis", "verify", "threads"}


@pytest.mark.parametrize("ask, others", [
    (eccbench.curve, {"levels", "at", "out"}),
    (eccbench.betti, {"at"}),
    (eccbench.betti_curves, set()),
])
def test_options(ask, others):
    """Functions about sets have the same options."""
    assert set(inspect.signature(ask).parameters) == {"image"} | SETS | others
