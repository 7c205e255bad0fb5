"""NumPy's .npy against numpy.load. Headers of Python 2, of all versions and spellings, cut and padded files."""

import struct
import warnings

import numpy as np

from . import Rejected, _common
from ._common import MADE, chance, pick

TYPES = ["|u1", "|i1", "<u2", ">u2", "<i2", ">i2", "<f4", ">f4", "<f8", ">f8", "<u4", "<i4", ">i4", "<i8", ">i8", "<u8", "|b1", "<f2", ">f2"]
ODD_TYPES = ["<c8", "|O", "=u2", "u2", "float32", "?", "|S3", "<f16", "<u3", "|V2", "<U1", "bool", ">u1", "<M8[s]", ""]


def generate(rng, folder):
    data, volume = array_file(rng)
    return _common.named(_common.packed(rng, folder / "image.npy", data), volume)


def array_file(rng):
    """The bytes of a file, and the volume that is asked for."""
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(0 if chance(rng, 9) else 1, 6)))
    if chance(rng, 60):
        shape += (0,)
    descr = pick(rng, TYPES)
    body = _common.voxels(rng, descr, shape)
    if descr == "|b1" and chance(rng, 3):
        body = rng.integers(0, 256, shape).astype("u1")
    if descr[1] == "f" and body.size and chance(rng, 20):
        body.ravel()[0] = pick(rng, [np.nan, np.inf, -np.inf])
    order = bool(rng.integers(2))
    if chance(rng, 12):
        MADE.add("type")
        descr = pick(rng, ODD_TYPES)
    text = header(rng, descr, order, shape)
    version = pick(rng, [1, 1, 2, 3, 3]) if not chance(rng, 40) else pick(rng, [0, 4])
    width = 2 if version <= 1 else 4
    text = text.ljust(-(len(text) + 9 + width) % pick(rng, [16, 64]) + len(text)) + ("\n" if not chance(rng, 20) else "")
    size = struct.pack("<H" if width == 2 else "<I", len(text))
    data = b"\x93NUMPY" + bytes([version, 0 if not chance(rng, 40) else 1]) + size + text.encode() + body.tobytes("F" if order else "C")
    odd = rng.integers(24)
    if odd == 0:
        data = data[: int(rng.integers(0, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 20)))
    elif odd == 2:
        MADE.add("changed")
        at = int(rng.integers(min(len(data), 90)))
        data = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(7))]) + data[at + 1 :]
    volume = int(rng.integers(max(1, np.prod(shape[:-3], dtype=int)))) if len(shape) > 3 and not chance(rng, 8) or chance(rng, 30) else None
    return data, volume


def header(rng, descr, order, shape):
    quote = pick(rng, "''''\"")
    items = [f"{quote}descr{quote}: {quote}{descr}{quote}", f"'fortran_order': {order}", f"'shape': {dimensions(rng, shape)}"]
    if chance(rng, 6):
        rng.shuffle(items)
    if chance(rng, 40):
        MADE.add("key")
        items.append(pick(rng, ["'more': 1", items[0]]))
    if chance(rng, 40):
        items.pop()
    space = pick(rng, [" ", " ", "", "  ", "\n"])
    return "{" + f",{space}".join(items) + pick(rng, [", }", "}", ",}"])


def dimensions(rng, shape):
    """The tuple as Python 3 writes it, or as Python 2 does, or otherwise."""
    kind = int(rng.integers(30))
    if kind < 5 and shape:
        MADE.add("Python 2")
        return "(" + "".join(f"{n}L, " for n in shape).rstrip(" " if len(shape) == 1 else ", ") + ")"
    if kind == 5:
        return repr(list(shape))
    if kind == 6:
        return "(" + ",".join(map(str, shape)) + ")"
    if kind == 7:
        MADE.add("sizes")
        return repr(shape).replace("1", pick(rng, ["+1", "0x1", "01", "1_", "1.0", "-1", "True"]))
    return repr(shape)


def reference(opened):
    path, volume = _common.volume_of(opened)
    with open(_common.unpacked(path), "rb") as f:
        return _common.image(stored(f), volume, space=False)


def stored(f):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.lib.format.read_array(f, allow_pickle=False)
    except Exception as e:  # numpy.load of damaged headers raises of every kind
        raise Rejected(str(e)) from None
    if f.read(1):
        raise Rejected("bytes behind the array")
    return array


# Files that eccbench rejects and NumPy reads: the message, the features that cause it, and the reason.
REASONS = [
    ("has no byte order", "type, changed", "a type of several bytes without a byte order is rejected"),
    (r"dtype \"(<[cfUM]|\|[SV]|[a-z?]|)", "type, changed",
     "a type that is no bool, integer or float of up to 64 bits, or is spelled by its name, is rejected"),
    ("no whole number at byte|no comma at byte", "sizes", "sizes are decimal digits"),
    ("key .* twice", "key", "a key that stands twice is rejected"),
]


def explain(opened, ours, theirs):
    if isinstance(theirs, Rejected):
        if "Cannot parse header" in str(theirs) and "Python 2" in MADE:
            return "a number of Python 2 is read in a header of any version"
        return None
    return _common.by_made(ours, REASONS) or _common.explain(opened, ours, theirs)
