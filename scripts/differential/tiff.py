"""TIFF against tifffile, with files by tifffile and Pillow.

All types, layouts, compressions and predictors; stacks, hyperstacks of ImageJ, OME and tifffile;
depth, bits, reduced pages, subdirectories, planes without directories; other tags; cut and damaged
files.
"""

import io
import logging
import re
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from . import Rejected
from ._common import MADE, UNORDERED

TYPES = ["u1", "u1", "u2", "u2", "i1", "i2", "u4", "i4", "f2", "f4", "f8", "u8", "i8", "?"]
KINDS = ["plain", "shaped", "imagej", "ome", "depth", "reduced", "series", "below", "pillow", "colours"]
READ = [254, 255, 256, 257, 258, 259, 262, 266, 270, 273, 277, 278, 279, 284, 297, 305, 317, 322, 323, 324, 325, 330, 338, 339, 32997, 32998, 42113]
FILES = Path(__file__).parents[2] / "datasets/files/testdata/files"
FIXTURES = [p.read_bytes() for p in sorted(FILES.glob("*.tif")) if p.stat().st_size < 1000]
LARGEST = 1 << 20  # bytes; damaged headers make tifffile allocate more
WARNINGS = []


class Collect(logging.Handler):
    def emit(self, record):
        WARNINGS.append(record.getMessage())


logging.getLogger("tifffile").handlers = [Collect(logging.WARNING)]
logging.getLogger("tifffile").propagate = False


def generate(rng, folder):
    path = folder / "image.tif"
    if rng.integers(6) == 0:
        path.write_bytes(mutant(rng))
        return f"file/path={path}"
    buffer = io.BytesIO()
    volume = channel = None
    while True:
        buffer.seek(0)
        buffer.truncate()
        MADE.clear()
        try:
            axes = write(rng, buffer)
            break
        except Exception:  # what no file can hold
            continue
    if rng.integers(2) and axes:
        if "C" in axes and rng.integers(2):
            channel = int(rng.integers(axes["C"]))
            del axes["C"]
        n = int(np.prod([k for k in axes.values()]))
        if n > 1 or rng.integers(4) == 0:
            volume = int(rng.integers(n))
    path.write_bytes(damaged(rng, buffer.getvalue()))
    options = "".join(f"{k}={v}/" for k, v in (("volume", volume), ("channel", channel)) if v is not None)
    return f"file/{options}path={path}"


def mutant(rng):
    """A fixture of the Go tests with some bytes changed."""
    MADE.add("changed")
    data = bytearray(FIXTURES[int(rng.integers(len(FIXTURES)))])
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(data)))
        data[at] = int(rng.integers(256)) if rng.integers(2) else data[at] ^ 1 << int(rng.integers(8))
    return bytes(data)


def damaged(rng, data):
    odd = rng.integers(10)
    if odd < 3:
        MADE.add(("cut", "longer", "changed")[odd])
    if odd == 0:
        return data[: int(rng.integers(0, len(data)))]
    if odd == 1:
        return data + bytes(int(rng.integers(1, 20)))
    if odd == 2:
        data = bytearray(data)
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def values(rng, shape, kind):
    dtype = np.dtype(kind)
    if dtype.char == "?":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.kind == "u" else -100
    return rng.integers(low, 120, shape).astype(dtype)


def packing(rng, dtype, options):
    """Compression, predictor and layout."""
    if rng.integers(2):
        options["compression"] = str(rng.choice(["zlib", "lzw", "packbits", "deflate"]))
        if rng.integers(3) == 0 and np.dtype(dtype).char != "?" and options["compression"] != "packbits":
            options["predictor"] = 3 if np.dtype(dtype).kind == "f" else 2
    layout = rng.integers(3)
    if layout == 0:
        options["rowsperstrip"] = int(rng.integers(1, 8))
    elif layout == 1:
        options["tile"] = (16, 16 * int(rng.integers(1, 3)))
    return options


def write(rng, buffer):
    """Write a file. Return the axes that count volumes, with their lengths."""
    kind = str(rng.choice(KINDS))
    MADE.add(kind)
    dtype = str(rng.choice(TYPES))
    h, w = int(rng.integers(1, 24)), int(rng.integers(1, 24))
    order = "<>"[int(rng.integers(2))]
    options = packing(rng, dtype, {"photometric": "minisblack"})
    if dtype == "?":
        options = {k: v for k, v in options.items() if k in ("photometric", "compression")}
        options["photometric"] = str(rng.choice(["minisblack", "miniswhite"]))
    elif rng.integers(30) == 0:
        options["photometric"] = "miniswhite"
    if rng.integers(12) == 0:
        options["extratags"] = [extra(rng)]
        MADE.add(f"tag{options['extratags'][0][0]}")
    if options.get("photometric") == "miniswhite":
        MADE.add("white")
    big = bool(rng.integers(6) == 0)
    dims = {a: int(rng.integers(1, 4)) for a in "TZC"}
    if kind == "pillow":
        return pillow(rng, buffer, h, w)
    if kind == "imagej":
        dtype = str(rng.choice(["u1", "u2", "f4"]))
        options = {} if rng.integers(3) == 0 else {"truncate": True} if rng.integers(2) else packing(rng, dtype, {})
        metadata = {"axes": "TZCYX"}
        if rng.integers(6) == 0:
            metadata["info"] = "x"
            MADE.add("info")
        tifffile.imwrite(buffer, values(rng, (*dims.values(), h, w), dtype), imagej=True, metadata=metadata, byteorder=order, **options)
        return {a: n for a, n in dims.items() if a != "Z"}
    if kind == "ome":
        axes = list(rng.permutation(list("TZC")))
        shape = [dims[a] for a in axes]
        metadata = {"axes": "".join(axes) + "YX"}
        if rng.integers(3) == 0:
            metadata["Channel"] = {"Name": [f"c{i}" for i in range(dims["C"])]}
        tifffile.imwrite(buffer, values(rng, (*shape, h, w), dtype), ome=True, metadata=metadata, byteorder=order, bigtiff=big, **options)
        return {a: dims[a] for a in axes if a != "Z"}
    if kind == "shaped":
        n = int(rng.integers(0, 4))
        letters = [str(a) for a in rng.permutation(list("TZCQIPRAL"))[:n]]
        shape = tuple(int(rng.integers(1, 4)) for _ in letters)
        metadata = {"axes": "".join(letters) + "YX"} if rng.integers(2) else {}
        if not metadata:
            letters = [f"Q{i}" for i in range(n)]
        if rng.integers(5) == 0:
            options = {"truncate": True, "photometric": "minisblack"}
        tifffile.imwrite(buffer, values(rng, (*shape, h, w), dtype), metadata=metadata, byteorder=order, bigtiff=big, **options)
        return {a: k for a, k in zip(letters, shape) if a != "Z"}
    if kind == "depth":
        n, d = int(rng.integers(1, 3)), int(rng.integers(1, 6))
        if "tile" in options:
            options["tile"] = (16 * int(rng.integers(1, 3)), 16, 16)
        metadata = None if rng.integers(2) else {}
        tifffile.imwrite(buffer, values(rng, (n, d, h, w), dtype), volumetric=True, metadata=metadata, byteorder=order, **options)
        return {"I": n}
    if kind == "colours":
        return colours(rng, buffer, h, w, order)
    several(rng, buffer, kind, h, w, dtype, order, big, options)
    return {}


def extra(rng):
    """A tag of another program, or one that says more of the pixels."""
    return [
        (270, "s", 0, "a description", True),
        (270, "s", 0, '{"shape": [3, 3]}', True),
        (270, "s", 0, "ImageJ=1.53t\nimages=2\nslices=2\n", True),
        (274, "H", 1, 3, True),
        (297, "H", 2, (1, 2), True),
        (42113, "s", 0, str(rng.integers(-3, 120)), True),
        (33629, "I", 1, 5, True),
        (34412, "I", 1, 5, True),
        (34361, "I", 1, 5, True),
    ][int(rng.integers(9))]


def several(rng, buffer, kind, h, w, dtype, order, big, options):
    """Several calls of write: stacks, series, reduced pages, subdirectories."""
    n = int(rng.integers(1, 4))
    metadata = None if kind == "plain" or rng.integers(2) else {}
    deep = (int(rng.integers(1, 4)),) if kind == "series" and rng.integers(2) else ()
    with tifffile.TiffWriter(buffer, byteorder=order, bigtiff=big) as t:
        for i in range(n):
            more = dict(options)
            if kind == "reduced" and i > 0:
                more["subfiletype"] = int(rng.choice([0, 1, 1, 2, 4]))
                if rng.integers(2) and more["subfiletype"] == 1:
                    t.write(values(rng, ((h + 1) // 2, (w + 1) // 2), dtype), metadata=metadata, **more)
                    continue
            if kind == "below":
                more["subifds"] = 1
            t.write(values(rng, (*deep, h, w), dtype), metadata=metadata, **more)
            if kind == "below":
                size = ((h + 1) // 2, (w + 1) // 2) if rng.integers(4) else (h, w)
                more.pop("subifds")
                t.write(values(rng, (*deep, *size), dtype), subfiletype=int(rng.integers(2)), metadata=metadata, **more)


def colours(rng, buffer, h, w, order):
    """Colours or alpha, all grey and opaque, or not."""
    dtype = str(rng.choice(["u1", "u2", "f4"]))
    n = int(rng.integers(2, 5))
    array = np.repeat(values(rng, (h, w, 1), dtype), n, 2)
    if n != 3:
        array[..., -1] = np.iinfo(dtype).max if dtype != "f4" else 1
    if rng.integers(4) == 0:
        array[int(rng.integers(h)), int(rng.integers(w)), int(rng.integers(n))] = 125
    options = packing(rng, dtype, {"photometric": "rgb" if n > 2 else "minisblack", "planarconfig": "contig"})
    options["extrasamples"] = [str(rng.choice(["unassalpha", "assocalpha", "unspecified"]))] if n != 3 else None
    tifffile.imwrite(buffer, array, byteorder=order, **options)
    return {}


def pillow(rng, buffer, h, w):
    mode = str(rng.choice(["1", "L", "I;16", "F", "I"]))
    images = []
    for _ in range(int(rng.integers(1, 4))):
        array = rng.integers(0, 120, (h, w))
        dtype = {"1": "u1", "L": "u1", "I;16": "u2", "F": "f4", "I": "i4"}[mode]
        image = Image.fromarray(array.astype(dtype))
        images.append(image.convert("1") if mode == "1" else image)
    compression = str(rng.choice(["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "tiff_deflate"] + ["group4"] * (mode == "1")))
    images[0].save(buffer, "TIFF", save_all=True, append_images=images[1:], compression=None if compression == "raw" else compression)
    return {}


def asked(opened):
    """The options and the path of what is opened."""
    options, _, path = opened.removeprefix("file/").partition("path=")
    return {k: int(v) for k, _, v in (o.partition("=") for o in options.split("/") if o)}, path


def reference(opened):
    options, path = asked(opened)
    WARNINGS.clear()
    try:
        with tifffile.TiffFile(path) as t:
            series = t.series[0]
            page = series.keyframe
            if series.size > LARGEST:
                raise Rejected("more pixels than the generator writes")
            axes = series.get_axes(squeeze=False)
            array = series.asarray().reshape(series.get_shape(squeeze=False))
            white = page.photometric == 0 and array.dtype.char != "?"
            alpha = [int(e) for e in page.extrasamples]
    except Exception as e:  # of any kind, from damaged files
        raise Rejected(str(e)) from None
    if WARNINGS:
        raise Rejected(WARNINGS[0])
    if white:
        raise Rejected("white is zero")
    if "S" in axes and array.shape[axes.index("S")] > 1:
        array = grey(np.moveaxis(array, axes.index("S"), -1), alpha)
        axes = axes.replace("S", "")
    elif "S" in axes:
        array = array.squeeze(axes.index("S"))
        axes = axes.replace("S", "")
    while not axes.endswith("YX") and array.shape[-1] == 1:
        array, axes = array[..., 0], axes[:-1]
    return chosen(array, axes, options)


def grey(array, alpha):
    n = array.shape[-1] - len(alpha)
    if len(alpha) > 1 or alpha and alpha[0] not in (1, 2) or n not in (1, 3):
        raise Rejected("samples")
    if array.dtype.kind != "u" or alpha and not np.all(array[..., -1] == np.iinfo(array.dtype).max):
        raise Rejected("transparency")
    if not np.all(array[..., :n] == array[..., :1]):
        raise Rejected("colours")
    return array[..., 0]


def chosen(array, axes, options):
    """The volume that the options choose of an array with axes."""
    if array.size == 0 or array.dtype.kind not in "uifb" or array.ndim < 2 or axes[-2:] != "YX":
        raise Rejected(f"{array.dtype} {axes}")
    outer = list(axes[:-2])
    letters = [a for a, n in zip(outer, array.shape) if n > 1]
    depth = next((i for i, a in enumerate(outer) if a in "ZXY" and array.shape[i] > 1), None)
    if depth is None:
        unnamed = [i for i, a in enumerate(outer) if a in "QI" and array.shape[i] > 1]
        depth = unnamed[-1] if unnamed else None
    if sum(a in "ZXY" for a in letters) > 1:
        raise Rejected("two axes of depth")
    if depth is None:
        array, depth = array[None], 0
        outer.insert(0, "Z")
    array = np.moveaxis(array, depth, -3)
    del outer[depth]
    if "channel" in options:
        if "C" not in outer:
            raise Rejected("no channels")
        at = outer.index("C")
        if options["channel"] >= array.shape[at]:
            raise Rejected("no such channel")
        array = np.take(array, options["channel"], at)
    volumes = array.reshape(-1, *array.shape[-3:])
    if len(volumes) > 1 and "volume" not in options or options.get("volume", 0) >= len(volumes):
        raise Rejected(f"{len(volumes)} volumes")
    volume = volumes[options.get("volume", 0)]
    return volume[0] if len(volume) == 1 else volume


# What eccbench rejects and tifffile reads, by the message.
POLICIES = {
    "trailing data": "segments that hold more than their rows are rejected",
    "truncated": "segments and directories beyond the end are rejected",
    "NaN or infinite": UNORDERED,
    "within the header": "segments within the header are rejected",
    "no-data value": "pixels of GDAL's no-data value are rejected",
    "subfile type": "masks, and pages of a document beside others, are rejected",
    "in a subdirectory": "images in subdirectories that are not reduced are rejected",
    "and follows number": "pages that say another order are rejected",
    "its description states": "descriptions that are not those of the pages are rejected",
    "names no axis of channels": "of one channel ImageJ does not say that it is one",
    "its description ": "descriptions that cannot be read are rejected",
    "ImageJ states": "descriptions that are not those of the pages are rejected",
    "its OME-XML": "descriptions that are not those of the pages are rejected",
    "begins a series": "series that differ are rejected",
    "differs from": "pages that differ are rejected",
    "its last series": "series that differ are rejected",
    "all pages are reduced": "files of reduced pages alone are rejected",
    "MetaMorph": "MetaMorph stacks are rejected",
    "in a way of its own": "descriptions by other programs' tags are rejected",
    "white is zero": "white-is-zero masks that are not by tifffile are rejected",
    "choose one of 0..": "series of several planes are volumes",
    "is not none, LZW, deflate or PackBits": "other compressions are rejected",
    "overlap": "segments and directories that overlap are rejected",
    "sample format": "samples of other bits or formats are rejected",
    "samples": "samples that are no grey are rejected",
    "photometric interpretation": "other photometric interpretations are rejected",
    "predictor": "predictors of other types are rejected",
    "fill order": "other fill orders are rejected",
    "calibrates": "ImageJ's other calibrations are rejected",
    "the file is damaged": "damaged directories are rejected",
    "header is damaged": "damaged headers are rejected",
    "decompressing": "damaged streams are rejected",
    "is sparse": "sparse segments are rejected",
    "not a TIFF file": "other versions are rejected",
    "offsets are not of 8": "other versions are rejected",
}


# What the generator made of the files that are rejected so. A changed byte may do it too, and for
# messages that are not here it alone does.
CAUSES = {
    "trailing data": "cut longer",
    "truncated": "cut longer",
    "no-data value": "tag42113",
    "subfile type": "reduced",
    "in a subdirectory": "below",
    "and follows number": "tag297",
    "MetaMorph": "tag33629",
    "in a way of its own": "tag33629 tag34412 tag34361",
    "white is zero": "white pillow",
    "is not none, LZW, deflate or PackBits": "pillow",
    "overlap": "cut",
    "samples": "colours",
    "the file is damaged": "cut",
    "header is damaged": "cut",
    "decompressing": "cut",
    "is sparse": "cut",
    "not a TIFF file": "cut",
    "offsets are not of 8": "cut",
    "all pages are reduced": "reduced below",
    "names no axis of channels": "imagej",
    "choose one of 0..": "series",
    "its description states": "tag270",
}


ONE_AT_END = "an axis of length 1 at the end of a shape is of samples, as tifffile stores it"


def ends_in_one(path):
    """Report whether the description of a file is a shape whose last axis has length 1."""
    with tifffile.TiffFile(path) as t:
        return re.search(r"shape.*[, (\[]1,?[])]", t.pages.first.description) is not None


def scattered(pages):
    """Report whether the segments of pages do not follow one another."""
    places = [place for p in pages for place in zip(p.dataoffsets, p.databytecounts)]
    return any(at + n != following for (at, n), (following, _) in zip(places, places[1:]))


def explain(opened, ours, theirs):
    if isinstance(ours, Rejected):
        text = next((text for text in POLICIES if text in str(ours)), None)
        if "choose one of 0.." in str(ours) and ends_in_one(asked(opened)[1]):
            return ONE_AT_END
        if not MADE & {"changed", *CAUSES.get(text, "").split()}:
            return None
        return POLICIES.get(text)
    options, path = asked(opened)
    if isinstance(theirs, Rejected):
        tag = re.search(r"TiffTag (\d+)", str(theirs))
        if tag and int(tag[1]) not in READ or re.search("is not a known|invalid literal|instances of|must be integers|invalid ImageJ metadata", str(theirs)):
            return "tags that do not bear on the pixels, and the types of others, are not looked into"
        if "coercing invalid ASCII" in str(theirs) and "changed" in MADE:
            return "a description ends at its first NUL, whatever follows"
        if options and re.search("compress|_decode|BAD_DATA|corrupted", str(theirs)):
            return "the other volumes are not decompressed"
        with tifffile.TiffFile(path) as t:
            tags = {tag.code: tag.value for tag in t.pages.first.tags}
        if str(theirs) == "white is zero" and 262 not in tags:
            return "without a photometric interpretation black is zero"
        if "INSUFFICIENT_SPACE" in str(theirs) and isinstance(tags.get(278), int) and tags[257] % tags[278]:
            return "a last strip may be filled up to the rows of a strip"
        if re.search(r" volumes$|^\w+ Y$", str(theirs)) and ends_in_one(path):
            return ONE_AT_END
        if "XML declaration" in str(theirs) and {"changed", "ome"} <= MADE:
            return "the declaration of OME-XML is not looked at"
        if "failed to reshape" in str(theirs):
            return "tifffile writes that bits are truncated where they are not"
    elif ours.size == theirs.size and [n for n in ours.shape if n > 1] == [n for n in theirs.shape if n > 1] and np.array_equal(ours.ravel(), theirs.ravel()):
        return ONE_AT_END
    elif options and ends_in_one(path):
        if any(np.array_equal(ours.ravel(), part) for part in theirs.reshape(-1, ours.size)):
            return ONE_AT_END
    try:
        with tifffile.TiffFile(path) as t:
            full = [p.aspage() for p in t.pages if not p.aspage().is_reduced and p.aspage().size <= LARGEST]
            arrays = [grey(p.asarray(), list(map(int, p.extrasamples))) if p.samplesperpixel > 1 else p.asarray() for p in full]
    except Exception:
        return None
    stack = np.concatenate([np.atleast_3d(a).reshape(-1, *ours.shape[-2:]) for a in arrays]) if all(a.size % (ours.shape[-1] * ours.shape[-2]) == 0 and a.shape[-2:] == ours.shape[-2:] for a in arrays) else None
    planes = [] if stack is None else ours.reshape(-1, *ours.shape[-2:])
    if t.is_imagej and scattered(full) and all(any(np.array_equal(plane, page) for page in stack) for plane in planes):
        return "ImageJ's pages are where their directories say; tifffile reads them one behind the other"
    if stack is not None and np.array_equal(stack.reshape(ours.shape) if stack.size == ours.size else stack, ours):
        if len(full) < len(t.pages):
            return "reduced pages are skipped; tifffile takes them for series"
        return "series of one plane are slices; tifffile reads the first alone"
    return None
