"""NIfTI-1 and 2 against nibabel: one file and pairs, types, byte orders, scaling, 4D, extensions, offsets."""

import logging
import struct

import nibabel
import numpy as np

from . import Rejected, _common
from ._common import MADE, chance, pick

logging.getLogger("nibabel.global").setLevel(logging.CRITICAL + 1)
CODES = {2: "u1", 256: "i1", 4: "i2", 512: "u2", 8: "i4", 768: "u4", 1024: "i8", 1280: "u8", 16: "f4", 64: "f8"}
ODD_CODES = [0, 1, 32, 128, 1536, 1792, 2304, 3]


def generate(rng, folder):
    two, pair, big = chance(rng, 3), chance(rng, 4), bool(rng.integers(2))
    order = ">" if big else "<"
    axes = [int(n) for n in rng.integers(1, 5, pick(rng, [2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 7] if not chance(rng, 40) else [1]))]  # slowest first
    if len(axes) > 5 or len(axes) > 3 and chance(rng, 3):
        axes[: len(axes) - 3] = [1] * (len(axes) - 3)
    code = pick(rng, list(CODES))
    array = _common.voxels(rng, CODES[code], axes).astype(order + CODES[code])
    if array.dtype.kind == "f" and chance(rng, 20):
        array.ravel()[0] = np.nan
    dim = [len(axes), *axes[::-1], *[pick(rng, [1, 0])] * (7 - len(axes))]
    if chance(rng, 40):
        dim[int(rng.integers(3))] = pick(rng, [0, -1, 9])
    if not 2 <= dim[0] <= 7:
        MADE.add("axes")
    size = 540 if two else 348
    extension = chance(rng, 5) and not pair
    ext = bytes([1, 0, 0, 0]) + struct.pack(order + "2i", 32, 6) + b"text".ljust(24, b"\0") if extension else bytes(4)
    offset = 0 if pair else size + len(ext)
    if chance(rng, 8) and not extension:
        offset += pick(rng, [12, 16, 32])
    said = offset if not chance(rng, 30) else pick(rng, [0, -1, size, size - 4, offset + 0.5 if not two else offset + 1])
    if said != offset:
        MADE.add("offset")
    slope = pick(rng, [(0, 0), (0, 0), (1, 0), (1, 0), (0, 5), (2, 0), (0.5, -3), (1, 1), (-1, 0), (np.nan, 0), (np.nan, np.nan), (2, np.nan), (np.inf, 0)])
    head = (nifti2 if two else nifti1)(order, pair, dim, code if not chance(rng, 30) else pick(rng, ODD_CODES), array.itemsize * 8, said, slope)
    if chance(rng, 60):
        at = pick(rng, [4, 5, 7] if two else [344, 345, 346])
        head[at : at + 1] = b"x"
    data = array.tobytes()
    if chance(rng, 20):
        data = data[: int(rng.integers(len(data) + 1))]
    elif chance(rng, 20):
        MADE.add("longer")
        data += bytes(int(rng.integers(1, 9)))
    volume = int(rng.integers(max(1, int(np.prod(axes[:-3]))))) if len(axes) > 3 and not chance(rng, 6) else None
    if pair:
        (folder / "image.img").write_bytes(bytes(int(offset)) + data)
        (folder / "image.hdr").write_bytes(bytes(head) + (bytes(4) if chance(rng, 2) else b""))
        return _common.named(folder / pick(rng, ["image.hdr", "image.img"]), volume)
    whole = bytes(head) + ext
    return _common.named(_common.packed(rng, folder / "image.nii", whole.ljust(int(offset), b"\0") + data), volume)


def nifti1(order, pair, dim, code, bits, offset, slope):
    head = bytearray(348)
    struct.pack_into(order + "i", head, 0, 348)
    struct.pack_into(order + "8h", head, 40, *dim)
    struct.pack_into(order + "2h", head, 70, code, bits)
    struct.pack_into(order + "8f", head, 76, *[1] * 8)
    struct.pack_into(order + "3f", head, 108, offset, *slope)
    head[344:348] = b"ni1\0" if pair else b"n+1\0"
    return head


def nifti2(order, pair, dim, code, bits, offset, slope):
    head = bytearray(540)
    struct.pack_into(order + "i", head, 0, 540)
    head[4:12] = (b"ni2" if pair else b"n+2") + b"\0\r\n\x1a\n"
    struct.pack_into(order + "2h8q", head, 12, code, bits, *dim)
    struct.pack_into(order + "8d", head, 104, *[1] * 8)
    struct.pack_into(order + "q2d", head, 168, int(offset), *slope)
    return head


def reference(opened):
    path, volume = _common.volume_of(opened)
    inner = _common.unpacked(path)
    try:
        read = nibabel.load(inner)
        array = np.asanyarray(read.dataobj)
    except Exception as e:  # nibabel raises of every kind for a damaged header
        raise Rejected(f"{type(e).__name__} {e}") from None
    if not isinstance(read, (nibabel.Nifti1Pair, nibabel.Nifti2Pair)):
        raise Rejected("ANALYZE 7.5")
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise Rejected(f"voxels of {array.dtype}")
    return _common.image(array.transpose(), volume)


# Files that eccbench rejects and nibabel reads: the message, the features that cause it, and the reason.
REASONS = [
    ("the header places the voxels at", "offset", "voxels start at a whole number behind the header"),
    ("trailing data", "offset", "voxels that start before the place where they were written leave bytes behind"),
    ("axes; want", "axes", "an image has 2 to 7 axes"),
]


def explain(opened, ours, theirs):
    return _common.by_made(ours, REASONS) or _common.explain(opened, ours, theirs) or _common.rounded(ours, theirs)
