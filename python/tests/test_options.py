"""Options of the questions, as the guide has them."""

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
    """Questions about sets take the same options."""
    assert set(inspect.signature(ask).parameters) == {"image"} | SETS | others
