"""What the generators and references of several formats share."""

import contextlib
import gzip
import os
import re
import tempfile
import zlib
from pathlib import Path

import numpy as np

from . import Rejected

# NumPy types that eccbench reads, and the integers among them.
INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]
FLOATS = ["f4", "f8"]
MADE = set()  # the features and the damage of the generated file, for explain


def chance(rng, n):
    """True once in n times."""
    return int(rng.integers(n)) == 0


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def voxels(rng, dtype, shape):
    """Values of a type that float32 holds, since that is what numpy.asarray makes of other types."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        return (rng.integers(-1000, 1000, shape) / 4).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(-(2**24), limits.min), min(2**24, limits.max), shape).astype(dtype)


def volume_of(opened):
    """The path and the volume of what is opened."""
    found = re.fullmatch(r"file/volume=(\d+)/path=(.*)", opened)
    return (found[2], int(found[1])) if found else (opened, None)


def named(path, volume):
    """What is opened for a volume of a file, None for the only one."""
    return str(path) if volume is None else f"file/volume={volume}/path={path}"


def image(array, volume=None, space=True):
    """The image that the guide says an array is, the slowest axis first: one axis is a row, and of more
    than three the slowest count volumes. Unless the last three are known to be of space, those at the
    end of one element beyond the third are dropped."""
    if array.ndim == 0:
        raise Rejected("a number without axes")
    shape = list(array.shape)
    while len(shape) > 3 and shape[0] == 1:
        shape.pop(0)
    while not space and len(shape) > 3 and shape[-1] == 1:
        shape.pop()
    if array.size == 0:
        raise Rejected("no voxels")
    if len(shape) <= 3:
        if volume not in (None, 0):
            raise Rejected("one volume")
        return array.reshape([1] * (2 - len(shape)) + shape)
    volumes = array.reshape([-1] + shape[-3:])
    if volume is None or volume >= len(volumes):
        raise Rejected("several volumes")
    return volumes[volume]


def one_of(images, volume):
    """The image that is asked for of those along the first axis."""
    if volume is None and len(images) > 1 or (volume or 0) >= len(images):
        raise Rejected("several images, or no such one")
    if images.size == 0:
        raise Rejected("no voxels")
    return images[volume or 0]


def packed(rng, path, data):
    """Write data to a path, once in six times by gzip with an ending .gz: padded, cut, in several
    members or with other bytes behind. Return the path."""
    if not chance(rng, 6):
        path.write_bytes(data)
        return path
    cut = int(rng.integers(len(data) + 1))
    whole = gzip.compress(data, 1)
    kind = int(rng.integers(8))
    if kind == 0:
        whole += bytes(int(rng.integers(1, 600)))
    elif kind == 1:
        MADE.add("longer")
        whole += b"\0" * int(rng.integers(3)) + b"end"
    elif kind == 2:
        whole = whole[: int(rng.integers(2, len(whole)))]
    elif kind == 3:
        whole = gzip.compress(data[:cut], 1) + bytes(int(rng.integers(3))) + gzip.compress(data[cut:], 1)
    elif kind == 4:
        at = int(rng.integers(10, len(whole)))
        whole = whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(8))]) + whole[at + 1 :]
    path = path.with_name(path.name + ".gz")
    path.write_bytes(whole)
    return path


def unpacked(path):
    """The path of a file without gzip, which is read to its end."""
    path = Path(path)
    if path.suffix != ".gz":
        return path
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as e:
        raise Rejected(str(e)) from None
    inner = path.with_name("unpacked-" + path.name[:-3])
    inner.write_bytes(data)
    return inner


@contextlib.contextmanager
def no_words():
    """Reject a file of which the library says anything on standard error, where C++ libraries warn."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as words:
        os.dup2(words.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        words.seek(0)
        said = words.read().decode(errors="replace").strip()
    if said:
        raise Rejected(said.splitlines()[0])


def by_cause(ours, head, reasons):
    """The reason whose pattern our message has, if its header has what causes that, or None.
    reasons are tuples of the pattern, that of the header, in any lines and capitals, and the reason."""
    if isinstance(ours, Rejected):
        for pattern, cause, reason in reasons:
            if re.search(pattern, str(ours)) and re.search(cause, head, re.M | re.I):
                return reason
    return None


def by_made(answer, reasons, made=MADE):
    """Return the reason whose pattern the message of a rejection matches, if the generator made one of its causes,
    or None. reasons are tuples of a pattern, causes that are separated by commas, and a reason."""
    if isinstance(answer, Rejected):
        for pattern, causes, reason in reasons:
            if re.search(pattern, str(answer)) and made & set(causes.split(", ")):
                return reason
    return None


def rounded(ours, theirs):
    """The reason of values that are scaled to float32, or None."""
    if isinstance(ours, Rejected) or isinstance(theirs, Rejected) or ours.size != theirs.size:
        return None
    if ours.dtype == np.float32 and ours.shape == theirs.shape:
        if np.array_equal(ours.ravel(), theirs.ravel().astype(np.float32)):
            return "scaled values are rounded to float32"
    return None


UNORDERED = "infinities, and NaN of an input string, are rejected"


def unordered(opened, ours, theirs):
    """Report whether values that are not numbers are the reason of a rejection."""
    if theirs.dtype.kind != "f" or "NaN or infinite" not in str(ours):
        return False
    return bool(np.isinf(theirs).any() or str(opened).startswith("file/") and np.isnan(theirs).any())


def explain(opened, ours, theirs):
    """The reasons that formats have in common."""
    if isinstance(theirs, Rejected):
        return None
    if isinstance(ours, Rejected):
        if unordered(opened, ours, theirs):
            return UNORDERED
        if "trailing data" in str(ours) and "longer" in MADE:
            return "bytes behind the voxels are rejected"
        return None
    return None
