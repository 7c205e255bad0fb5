"""The options of the guide are those of the functions."""

import inspect

import pytest

import eccbench

SETS = {"construction", "superlevel", "periodic", "mask", "nan", "batch_axis", "verify", "threads"}


@pytest.mark.parametrize("ask, others", [
    (eccbench.curve, {"levels", "at", "out"}),
    (eccbench.betti, {"at"}),
    (eccbench.betti_curves, set()),
    (eccbench.pairs, {"dims", "min_persistence"}),
])
def test_options(ask, others):
    """Functions about sets have the same options."""
    without = {"periodic"} if ask is eccbench.pairs else set()
    assert set(inspect.signature(ask).parameters) == {"image"} | SETS - without | others
