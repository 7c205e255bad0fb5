"""MRC against mrcfile: modes, byte orders, stacks, orders of axes, extended headers, stamps."""

import struct
import warnings

import mrcfile
import numpy as np

from . import Rejected, _common
from ._common import chance, pick

MODES = {0: "i1", 1: "i2", 2: "f4", 6: "u2", 12: "f2"}


def generate(rng, folder):
    x, y, z = (int(n) for n in rng.integers(1, 5, 3))
    if chance(rng, 4):
        z = 1
    mode = pick(rng, list(MODES))
    big = bool(rng.integers(2))
    order = ">" if big else "<"
    array = _common.voxels(rng, MODES[mode], (z, y, x)).astype(order + MODES[mode])
    if chance(rng, 30):
        mode = pick(rng, [3, 4, 5, 7, 101, -1])
    group, depth = pick(rng, [(1, z), (1, z), (0, 1), (0, z), (0, 0), (401, z), (401, 1), (401, 2)])
    places = pick(rng, [(1, 2, 3)] * 8 + [(0, 0, 0), (3, 2, 1), (2, 1, 3), (1, 3, 2), (2, 3, 1), (3, 1, 2), (1, 1, 3), (4, 5, 6)])
    extended = bytes(int(rng.integers(1, 300))) if chance(rng, 5) else b""
    words = [x, y, z, mode, 0, 0, 0, x, y, depth, *[0] * 6, *places, *[0] * 3, group, len(extended)]
    head = bytearray(1024)
    struct.pack_into(f"{order}{len(words)}i", head, 0, *words)
    head[208:212] = b"MAP " if not chance(rng, 30) else pick(rng, [b"MAP\0", b"\0\0\0\0", b"map "])
    stamp = b"\x11\x11" if big else pick(rng, [b"DD", b"DA"])
    head[212:214] = stamp if not chance(rng, 12) else pick(rng, [b"\0\0", b"\0\0", b"AA", b"D\0", b"\x11\0"])
    if mode == 0 and chance(rng, 4):
        struct.pack_into(f"{order}2i", head, 152, 1146047817, int(rng.integers(2)))
    data = bytes(head) + extended + array.tobytes()
    if chance(rng, 15):
        data = data[: int(rng.integers(1, len(data)))]
    elif chance(rng, 15):
        data += bytes(int(rng.integers(1, 9)))
    volume = int(rng.integers(4)) if chance(rng, 2) and z > 1 and group != 1 else None
    return _common.named(_common.packed(rng, folder / pick(rng, ["image.mrc", "image.map", "image.mrcs", "image.rec"]), data), volume)


def reference(opened):
    path, volume = _common.volume_of(opened)
    inner = _common.unpacked(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with mrcfile.open(inner) as f:
                array, head = f.data.copy(), f.header.copy()
                stack = f.is_image_stack()
    except (ValueError, RuntimeWarning, OSError, UserWarning) as e:
        raise Rejected(str(e)) from None
    if array.dtype.kind == "c":
        raise Rejected("complex")
    if stack and head.mz == 1 and array.shape[0] > 1:
        return _common.one_of(array, volume)
    if array.ndim == 4:
        return _common.one_of(array, volume)
    return _common.image(array, volume)


def permuted(opened):
    """The numbers of the axes, fastest first, and whether IMOD says that bytes have no sign."""
    head = _common.unpacked(_common.volume_of(opened)[0]).read_bytes()[:1024]
    order = ">" if head[212] == 0x11 or head[212] == 0 and head[12] == 0 and head[15] != 0 else "<"
    imod = struct.unpack_from(order + "2i", head, 152)
    return struct.unpack_from(order + "3i", head, 64), imod[0] == 1146047817 and imod[1] & 1 == 0, head


def explain(opened, ours, theirs):
    places, unsigned, head = permuted(opened)
    if isinstance(theirs, Rejected):
        if "machine stamp" in str(theirs) and head[212] == 0:
            return "without a machine stamp the byte order is the one that fits the length of the file"
        if "machine stamp" in str(theirs) and head[212:214] in (b"D\0", b"\x11\0"):
            return "of the machine stamp the first byte counts"
        return None
    if isinstance(ours, Rejected) and "are in the order" in str(ours) and places not in ((0, 0, 0), (1, 2, 3)):
        return "axes that are no order of x, y and z, or of several volumes, are rejected"
    if unsigned and not isinstance(ours, Rejected) and np.array_equal(ours.ravel(), theirs.ravel().astype("i2") & 255):
        return "bytes have no sign where IMOD says so"
    if sorted(places) == [1, 2, 3] and places != (1, 2, 3) and not isinstance(ours, Rejected):
        whole = theirs.reshape((1,) * (3 - theirs.ndim) + theirs.shape)
        turned = whole.transpose([2 - places.index(axis) for axis in (3, 2, 1)])
        if unsigned:
            turned = turned.astype("i2") & 255
        if np.array_equal(ours.ravel(), turned.ravel()):
            return "axes are brought into the order x, y, z, which mrcfile leaves to its user"
    if not isinstance(ours, Rejected) and ours.shape == (1, *theirs.shape) and np.array_equal(ours[0], theirs):
        return "a header has three axes, of which mrcfile drops one slice"
    return _common.explain(opened, ours, theirs)
