"""BMP against Pillow. All headers, depths and palettes, cut, padded and damaged files."""

import io
import struct

import numpy as np
from PIL import Image

from . import Rejected, _common
from ._common import MADE

HEADERS = [12, 40, 40, 40, 52, 56, 64, 108, 124]
# Files that eccbench rejects and Pillow reads: the message, the features that cause it, and the reason.
REASONS = [
    ("trailing data", "longer, changed", "bytes after the pixels are rejected"),
    ("which the palette lacks", "beyond, changed", "a pixel beyond the palette is rejected"),
    ("truncated", "cut, changed", "a file that ends early is rejected"),
    ("a palette of", "changed", "a palette larger than its bits is rejected"),
    ("within itself", "changed", "pixels within the header are rejected"),
    ("of compression", "changed", "run lengths and other compressions are rejected"),
    ("16 bits", "16 bits, changed", "16 bits are rejected"),
    ("colours are not a byte each", "changed", "masks other than a byte each are rejected"),
    ("the image is empty", "changed", "negative sizes are rejected"),
]


def generate(rng, folder):
    path = folder / "image.bmp"
    if rng.integers(4) == 0:
        image = Image.fromarray(rng.integers(0, 256, (int(rng.integers(1, 9)), int(rng.integers(1, 9)))).astype("u1"))
        buffer = io.BytesIO()
        image.convert(rng.choice(["1", "L", "L", "RGB", "RGBA"])).save(buffer, "BMP")
        data = buffer.getvalue()
    else:
        data = written(rng)
    odd = rng.integers(8)
    if odd < 3:
        MADE.add(("cut", "longer", "changed")[odd])
    if odd == 0:
        data = data[: int(rng.integers(0, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 6)))
    elif odd == 2:
        data = bytearray(data)
        data[int(rng.integers(len(data)) if rng.integers(2) else rng.integers(min(60, len(data))))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)
    return str(path)


def written(rng):
    header = int(rng.choice(HEADERS))
    bits = int(rng.choice([1, 4, 8, 8, 24, 32, 16]))
    MADE.add(f"{bits} bits")
    w, h = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    down = header > 12 and rng.integers(3) == 0
    compression, masks = 0, []
    if header > 12 and bits == 32 and rng.integers(2):
        compression, masks = 3, [0xFF0000, 0xFF00, 0xFF] + ([int(rng.choice([0, 0xFF000000]))] if header >= 56 else [])
    colours = int(rng.integers(1, (1 << bits) + 1)) if bits <= 8 and header > 12 and rng.integers(2) else 0
    info = struct.pack("<I", header)
    if header == 12:
        info += struct.pack("<HHHH", w, h, 1, bits)
    else:
        info += struct.pack("<iiHHIIIIII", w, -h if down else h, 1, bits, compression, 0, 0, 0, colours, 0)
        if header > 40:
            info += b"".join(struct.pack("<I", m) for m in masks)
            info = info.ljust(header, b"\0")
        elif masks:
            info += struct.pack("<III", *masks[:3])
    pixels = rng.integers(0, 256, (h, w)).astype("u1")
    palette = b""
    if bits <= 8:
        n = colours or 1 << bits
        greys = np.arange(n) * 255 // max(1, n - 1) if rng.integers(2) else rng.integers(0, 256, n)
        entries = np.repeat(greys.astype("u1")[:, None], 3 if header == 12 else 4, 1)
        if rng.integers(6) == 0:
            entries[int(rng.integers(n)), 0] ^= 1
        palette = entries.tobytes()
        beyond = rng.integers(10) == 0
        if beyond:  # of its palette
            MADE.add("beyond")
        pixels = (pixels.astype(int) % (1 << bits if beyond else n)).astype("u1")
    gap = bytes(int(rng.integers(1, 9))) if rng.integers(6) == 0 else b""
    rows = [row(rng, line, bits) for line in (pixels if down else pixels[::-1])]
    data = b"".join(rows)
    start = 14 + len(info) + len(palette) + len(gap)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + info + palette + gap + data


def row(rng, line, bits):
    if bits <= 8:
        each = np.unpackbits(line[:, None], axis=1)[:, 8 - bits :]
        text = np.packbits(each.ravel()).tobytes()
    elif bits == 16:
        text = (line.astype("<u2") >> 3).tobytes()
    else:
        samples = np.repeat(line[:, None], bits // 8, 1)
        if bits == 32:
            samples[:, 3] = rng.choice([0, 255, 255, 255, 7])
        text = samples.tobytes()
    return text + bytes(-len(text) % 4)


def reference(opened):
    try:
        with Image.open(opened) as image:
            if image.format != "BMP":
                raise Rejected("not BMP")
            array = np.asarray(image.convert("RGBA"))
    except (OSError, ValueError, SyntaxError, IndexError, struct.error, Image.DecompressionBombError, MemoryError) as e:
        raise Rejected(str(e)) from None
    if not np.array_equal(array[..., 0], array[..., 1]) or not np.array_equal(array[..., 0], array[..., 2]):
        raise Rejected("colours")
    if not np.all(array[..., 3] == 255):
        raise Rejected("transparency")
    return array[..., 0]


def explain(opened, ours, theirs):
    if isinstance(ours, Rejected):
        return _common.by_made(ours, REASONS)
    with open(opened, "rb") as f:
        head = f.read(54)
    if head[28] in (4, 8) and head[14] > 12 and 0 < int.from_bytes(head[46:50], "little") <= 2:
        return "Pillow decodes black and white palettes of 4 and 8 bits as if of 1 bit"
    return None
