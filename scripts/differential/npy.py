"""NumPy's .npy against numpy.load. Headers of Python 2, of all versions, cut and padded files."""

import struct

import numpy as np

from . import Rejected

TYPES = ["u1", "i1", "<u2", ">u2", "<i2", ">i2", "<f4", ">f4", "<f8", ">f8", "<u4", "<i4", "<i8", "<u8", "?", "<f2"]


def generate(rng, folder):
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
    dtype = np.dtype(rng.choice(TYPES))
    array = rng.integers(0, 100, shape).astype(dtype)
    order = bool(rng.integers(2))
    header = "{'descr': %r, 'fortran_order': %s, 'shape': %s, }" % (dtype.str, order, dimensions(rng, shape))
    version = int(rng.integers(1, 4))
    width = 2 if version == 1 else 4
    header = header.ljust(-(len(header) + 9 + width) % 64 + len(header)) + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    data = b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + array.tobytes("F" if order else "C")
    odd = rng.integers(10)
    if odd == 0:
        data = data[: int(rng.integers(0, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 20)))
    path = folder / "image.npy"
    path.write_bytes(data)
    return str(path)


def dimensions(rng, shape):
    """The tuple as Python 3 writes it, or as Python 2 does."""
    if rng.integers(5) == 0:
        return "(" + "".join(f"{n}L, " for n in shape).rstrip(" " if len(shape) == 1 else ", ") + ")"
    return repr(shape)


def reference(opened):
    try:
        with open(opened, "rb") as f:
            array = np.lib.format.read_array(f, allow_pickle=False)
            if f.read(1):
                raise Rejected("bytes after the array")
    except (ValueError, EOFError, OSError) as e:
        raise Rejected(str(e)) from None
    return array


def explain(opened, ours, theirs):
    if isinstance(theirs, Rejected):
        return None
    if isinstance(ours, Rejected) and theirs.ndim not in (2, 3):
        return f"{theirs.ndim} axes are no image"
    return None
