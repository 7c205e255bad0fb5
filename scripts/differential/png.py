"""PNG against Pillow. All depths, colour types and chunks, cut, padded and damaged files."""

import struct
import zlib

import numpy as np
from PIL import Image, ImageFile

from . import Rejected, _common
from ._common import MADE

ImageFile.LOAD_TRUNCATED_IMAGES = False
DEPTHS = {0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]}
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
SHOWN = [b"gAMA", b"tEXt", b"bKGD", b"prVt", b"tIME"]
# Files that eccbench rejects and Pillow reads: the message, the features that cause it, and the reason.
REASONS = [
    ("an image in colour", "colour2, colour6, changed", "colours are rejected"),
    ("with transparency", "colour0, colour4, colour6, changed", "pixels that are not opaque are rejected"),
    ("a palette", "colour3, changed", "palettes are rejected"),
    ("animated", "acTL, changed", "animated images are rejected"),
    ("calibrated", "pCAL, changed", "pCAL is rejected"),
    ("must be understood", "CgBI, changed", "unknown critical chunks are rejected"),
    ("trailing data", "longer, changed", "bytes after IEND are rejected"),
    ("truncated", "cut, changed", "a file that ends early is rejected"),
    ("checksum", "changed", "wrong checksums are rejected"),
    ("invalid format", "changed", "chunks that break the specification are rejected"),
    ("zlib", "changed", "a damaged stream is rejected"),
    ("decompressing", "changed", "a damaged stream is rejected"),
    ("unsupported", "changed", "filters and methods that the specification lacks are rejected"),
]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def passes(w, h, interlaced):
    if not interlaced:
        return [(0, 1, 0, 1)]
    return [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]


def generate(rng, folder):
    colour = int(rng.choice([0, 0, 0, 0, 2, 3, 4, 6]))
    depth = int(rng.choice(DEPTHS[colour]))
    w, h = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    interlaced = int(rng.integers(4) == 0)
    n = SAMPLES[colour]
    MADE.add(f"colour{colour}")
    grey = rng.integers(0, 1 << depth, (h, w))
    pixels = np.repeat(grey[..., None], n, 2)
    if n in (2, 4):
        pixels[..., -1] = (1 << depth) - 1
    if n > 1 and rng.integers(4) == 0:
        pixels[int(rng.integers(h)), int(rng.integers(w)), int(rng.integers(n))] ^= 1
    rows = b""
    for x0, dx, y0, dy in passes(w, h, interlaced):
        for line in pixels[y0::dy, x0::dx]:
            if line.size:
                rows += filtered(rng, line, depth, n)
    data = zlib.compress(rows, int(rng.integers(10)))
    cut = int(rng.integers(len(data) + 1))
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, interlaced))]
    if colour == 3:
        parts.append(chunk(b"PLTE", rng.integers(0, 256, 3 << depth).astype("u1").tobytes()))
    extra = int(rng.integers(12))
    if extra == 0 and colour == 0:
        parts.append(chunk(b"tRNS", struct.pack(">H", int(rng.integers(1 << depth)))))
    elif extra == 1:
        kind = bytes(rng.choice([b"acTL", b"pCAL", b"CgBI"]))
        MADE.add(kind.decode())
        parts.append(chunk(kind, bytes(8)))
    elif extra == 2:
        kind = bytes(rng.choice(SHOWN))
        parts.append(chunk(kind, {b"gAMA": struct.pack(">I", 45455), b"tEXt": b"a\0b", b"bKGD": bytes(6 if colour in (2, 6) else 1 if colour == 3 else 2), b"tIME": bytes(7)}.get(kind, b"x")))
    parts += [chunk(b"IDAT", data[:cut]), chunk(b"IDAT", data[cut:]), chunk(b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    odd = rng.integers(8)
    if odd < 3:
        MADE.add(("cut", "longer", "changed")[odd])
    if odd == 0:
        data = data[: int(rng.integers(0, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 20)))
    elif odd == 2:
        data = bytearray(data)
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path = folder / "image.png"
    path.write_bytes(data)
    return str(path)


def filtered(rng, line, depth, n):
    """A row with filter 0, 1 or 2 of zeros above, which all are simple to write."""
    if depth == 16:
        text = line.astype(">u2").tobytes()
    else:
        bits = np.unpackbits(line.astype("u1").reshape(-1, 1), axis=1)[:, 8 - depth :]
        text = np.packbits(bits.ravel()).tobytes()
    if rng.integers(2):
        return b"\0" + text
    step = max(1, depth * n // 8)
    raw = np.frombuffer(bytes(step) + text, "u1")
    return b"\1" + (raw[step:] - raw[:-step]).astype("u1").tobytes()


def reference(opened):
    try:
        with Image.open(opened) as image:
            if image.format != "PNG":
                raise Rejected("not PNG")
            depth = image.mode
            transparent = image.info.get("transparency")
            array = np.asarray(image.convert("L") if depth == "1" else image)
    except (OSError, ValueError, SyntaxError, IndexError, struct.error, zlib.error, Image.DecompressionBombError, MemoryError, EOFError) as e:
        raise Rejected(str(e)) from None
    if depth == "P":
        raise Rejected("palette")
    if array.ndim == 3:
        colours = array[..., : {2: 1, 3: 3, 4: 3}[array.shape[2]]]
        if array.shape[2] != colours.shape[2] and not np.all(array[..., -1] == 255):
            raise Rejected("transparency")
        if not np.all(colours == colours[..., :1]):
            raise Rejected("colours")
        array = colours[..., 0]
    if transparent is not None and isinstance(transparent, int) and np.any(array == transparent):
        raise Rejected("transparency")
    return array


def explain(opened, ours, theirs):
    if isinstance(ours, Rejected):
        return _common.by_made(ours, REASONS)
    if not isinstance(theirs, Rejected) and ours.dtype == np.uint16 and np.array_equal(ours >> 8, theirs):
        return "Pillow reads the upper 8 of 16 bits of colours and of grey with alpha"
    return None
