"""Calls of the C library, as a program in another language makes them."""

import ctypes
import json

import numpy as np
import pytest

from eccbench import _library

library = _library._library()
IMAGE = np.arange(120, dtype=np.uint8).reshape(4, 5, 6)
REQUEST = json.dumps({"shape": IMAGE.shape, "type": "uint8", "construction": "T", "threads": 1, "images": 1, "verify": True}).encode()
AT = IMAGE.ctypes.data


def started(job, *, request=REQUEST, length=None, voxels=AT, size=120, mask=0, masked=0):
    """Start a job, wait for it and return its result."""
    said = ctypes.create_string_buffer(4096)
    n = library.eccbench_start(job, request, len(REQUEST) if length is None else length, voxels, size, mask, masked, said, 4096)
    if n < 0:
        assert library.eccbench_wait(job, 2**63 - 1) == 1
        n = library.eccbench_answer(job, said, 4096)
    return json.loads(said.raw[:n])


@pytest.mark.parametrize("given, words", [
    ({"voxels": 0}, "voxels is NULL: want a pointer to 120 bytes"), ({"size": -1}, "voxels: -1 bytes"),
    ({"masked": 120}, "mask is NULL"), ({"masked": 0, "mask": AT}, "mask of 0 bytes"), ({"masked": -120, "mask": AT}, "mask: -120 bytes"),
    ({"request": None}, "request is NULL"), ({"length": -1}, "request: -1 bytes"), ({"size": 119}, "119 bytes, want 120"),
])
def test_sizes_and_null(given, words):
    known = started(2**40, **given)
    library.eccbench_end(2**40)
    assert known["kind"] == "value" and words in known["error"]


def test_rows():
    job = 2**40 + 1
    (answer,) = started(job)["answers"]
    levels, chi = np.empty(answer["rows"], answer["levels"]), np.empty(answer["rows"], np.int64)
    for given in ((0, 0, 0, 0), (0, 0, levels.nbytes, chi.ctypes.data), (0, levels.ctypes.data, -1, chi.ctypes.data),
            (0, levels.ctypes.data, levels.nbytes, 0), (1, levels.ctypes.data, levels.nbytes, chi.ctypes.data)):
        assert library.eccbench_rows(job, *given) == 0
    assert library.eccbench_answer(job, None, 4096) > 0
    assert library.eccbench_rows(job, 0, levels.ctypes.data, levels.nbytes, chi.ctypes.data) == 1
    assert chi[-1] == 1
    library.eccbench_end(job)
