"""The Python examples of the manual."""

import doctest
from pathlib import Path

import pytest

DOC = Path(__file__).parents[2]
PAGES = [DOC / "README.md", *sorted((DOC / "doc/guide").glob("*.md"))]


@pytest.mark.parametrize("page", [p for p in PAGES if ">>> " in p.read_text("utf-8")], ids=lambda p: p.stem)
def test_examples(page):
    """The examples of a page print the output that it shows."""
    if "import torch" in page.read_text("utf-8"):
        pytest.importorskip("torch")
    failed, ran = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert ran > 0 and failed == 0
