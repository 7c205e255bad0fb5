"""Generated image files, read by eccbench and by the reference library of their format."""

from pathlib import Path

# A module a format.
FORMATS = sorted(p.stem for p in Path(__file__).parent.glob("[a-z]*.py"))


class Rejected(Exception):
    """A reader does not accept a file."""
