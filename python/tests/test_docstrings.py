"""Docstrings in NumPy style, whose examples run."""

import doctest
import importlib
import inspect
import re

import pytest

import eccbench

MODULES = ["eccbench", *(f"eccbench.{m}" for m in (
    "_assess", "_betti", "_curve", "_eigenmap", "_gvf", "_homology", "_pairs", "dask", "metrics", "sklearn", "torch", "xarray"))]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ImportError as e:
        if (e.name or "").startswith("eccbench"):
            raise
        pytest.skip(f"{name} needs {e.name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.parametrize("name", eccbench.__all__)
def test_sections(name):
    """Docstrings of functions have all sections, with a source and an example; those of classes their attributes."""
    public = getattr(eccbench, name)
    text = inspect.getdoc(public)
    if inspect.isclass(public):
        assert re.search("^Attributes\n---", text, re.M)
        return
    for section in ("Parameters", "Returns", "Examples"):
        assert re.search(f"^{section}\n{'-' * len(section)}$", text, re.M), section
    assert re.search("^Raises\n---", text, re.M)
    assert re.search("^(Notes|References)\n---", text, re.M) or name == "open"
    for parameter in inspect.signature(public).parameters:
        assert re.search(rf"^(\w+, )*\**{parameter}(, \w+)*( :|$)", text, re.M), parameter
