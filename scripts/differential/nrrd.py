"""NRRD against pynrrd and, by turns, SimpleITK: encodings, attached and detached data, spellings of fields."""

import bz2
import gzip
import re
import zlib

import nrrd
import numpy as np
import SimpleITK

from . import Rejected, _common
from ._common import MADE, chance, pick

SimpleITK.ProcessObject.SetGlobalWarningDisplay(False)
NAMES = {
    "u1": ["uchar", "unsigned char", "uint8", "uint8_t"], "i1": ["signed char", "int8", "int8_t"],
    "u2": ["ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"],
    "i2": ["short", "short int", "signed short", "signed short int", "int16", "int16_t"],
    "u4": ["uint", "unsigned int", "uint32", "uint32_t"], "i4": ["int", "signed int", "int32", "int32_t"],
    "u8": ["ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"],
    "i8": ["longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t"],
    "f4": ["float"], "f8": ["double"],
}
LISTS = ["vector", "RGB-color", "list", "3-color", "covariant-vector"]


def generate(rng, folder):
    axes = [int(n) for n in rng.integers(1, 5, pick(rng, [2, 3, 3, 3, 4]))]  # slowest first
    if chance(rng, 90):
        axes[0] = 0
    dtype = pick(rng, list(NAMES))
    array = _common.voxels(rng, dtype, axes)
    big = bool(rng.integers(2))
    itk = chance(rng, 4)
    fields = [("type", pick(rng, NAMES[dtype])), ("dimension", len(axes)), ("sizes", " ".join(map(str, axes[::-1])))]
    if array.itemsize > 1 or chance(rng, 3):
        fields.append(("endian", pick(rng, ["big", "BIG"] if big and chance(rng, 20) and not itk else ["big"] if big else ["little"])))
    if chance(rng, 60):
        MADE.add("type")
        fields[0] = ("type", pick(rng, ["block", "long double", "FLOAT", "half"]))
    fields += extras(rng, len(axes))
    kinds = kinds_of(rng, len(axes)) if not itk and chance(rng, 3) else None
    if kinds:
        fields.append(("kinds", " ".join(kinds)))
    tail, files = data_of(rng, folder, array.astype(array.dtype.newbyteorder(">" if big else "<")), axes, fields, itk)
    if chance(rng, 3):
        rng.shuffle(fields)
    stem = "itk" if itk else "image"
    path = folder / f"{stem}.{'nhdr' if tail and tail[0][0].startswith('data') else 'nrrd'}"
    volume = None
    if kinds or len(axes) == 4:
        volume = int(rng.integers(max(1, min(axes)))) if not chance(rng, 4) else None
    return _common.named(_common.packed(rng, path, header(rng, fields + tail, itk) + files), volume)


def kinds_of(rng, n):
    kinds = [pick(rng, ["domain", "space", "none", "???", "time"]) for _ in range(n)]
    if not chance(rng, 3):
        kinds[0 if chance(rng, 2) else int(rng.integers(n))] = pick(rng, LISTS)
    return kinds


def extras(rng, n):
    fields = [
        ("content", "a: b"), ("spacings", "1 " * n), ("units", '"mm" ' * n), ("labels", '"x y" ' * n), ("old min", "0"), ("old max", "9"),
        ("min", "1"), ("thicknesses", "NaN " * n), ("centers", "cell " * n),
    ]
    odd = [("unknown", "1"), ("content", "again"), ("number", "7"), ("block size", "2")]
    return [f for f in fields if chance(rng, 6)] + [f for f in odd if chance(rng, 80)]


def data_of(rng, folder, array, axes, fields, itk):
    """Write the voxels beside the header, or return them as bytes that follow it, with the last fields."""
    data = array.tobytes()
    skip, lines = b"", b""
    if not itk and chance(rng, 5):
        skip = b"#" * int(rng.integers(5))
        fields.append((pick(rng, ["byte skip", "byteskip"]), pick(rng, [len(skip), len(skip), -1])))
    if not itk and chance(rng, 8):
        lines = b"a line\n" * int(rng.integers(3))
        fields.append((pick(rng, ["line skip", "lineskip"]), lines.count(b"\n")))
    encoding = pick(rng, ["raw", "raw", "raw", "gzip", "gz", "bzip2", "bz2", "ascii", "text", "txt"])
    if itk:
        encoding = pick(rng, ["raw", "gzip"])
    if chance(rng, 60):
        encoding = pick(rng, ["hex", "zip", "", "Raw"])
    fields.append(("encoding", encoding))
    if encoding in ("gzip", "gz"):
        data = gzip.compress(skip + data)
        data += pick(rng, [b"", b"", b"\0\0\0", b"x"]) if chance(rng, 4) and not itk else b""
        skip = b""
    elif encoding in ("bzip2", "bz2"):
        data, skip = bz2.compress(skip + data), b""
    elif encoding in ("ascii", "text", "txt"):
        separator = pick(rng, [" ", "\n", "  ", "\t", ", ", ","])
        data = separator.join(f"{v:g}" if v.dtype.kind == "f" else str(v) for v in array.ravel()).encode()
        data += pick(rng, [b"\n", b"\n", b"", b" ", b"\r\n"])
    if chance(rng, 20):
        data = data[: int(rng.integers(len(data) + 1))]
    elif chance(rng, 20):
        MADE.add("longer")
        data += b"\0" * int(rng.integers(1, 9))
    data = lines + skip + data
    place = int(rng.integers(6))
    if place < 4:
        return [], data
    key = pick(rng, ["data file", "datafile", "Data File"])
    if place == 4 or encoding != "raw" or axes[0] < 2 or itk:
        (folder / "image data").write_bytes(data)
        return [(key, "image data")], b""
    parts = np.array_split(np.frombuffer(array.tobytes(), "u1"), axes[0])
    for i, part in enumerate(parts):
        (folder / f"part{i + 1:02d}.raw").write_bytes(skip + part.tobytes())
    if chance(rng, 2):
        return [(key, f"part%02d.raw 1 {axes[0]} 1")], b""
    names = "".join(f"part{i + 1:02d}.raw\n" for i in range(axes[0]))
    return [(key, "LIST")], names.encode()


def header(rng, fields, itk):
    end = pick(rng, ["\n", "\n", "\n", "\r\n"]) if not itk else "\n"
    lines = ["NRRD000" + pick(rng, "12345")]
    for key, value in fields:
        if chance(rng, 12):
            lines.append(pick(rng, ["# a comment: of two", f"key {len(lines)}:=a value", f"type {len(lines)}:=double", "#"]))
        if chance(rng, 200):
            lines.append(pick(rng, ["some text", " "]))
        key = pick(rng, [key.title(), key.upper(), " " + key]) if chance(rng, 30) and not itk else key
        lines.append(f"{key}:{pick(rng, [' ', ' ', ' ', '', '  ']) if not itk else ' '}{value}")
    detached = any(value == "LIST" for _, value in fields)
    return (end.join(lines) + end + ("" if detached else end)).encode()


def reference(opened):
    path, volume = _common.volume_of(opened)
    inner = _common.unpacked(path)
    if inner.name.removeprefix("unpacked-").startswith("itk"):
        with _common.no_words():
            try:
                return _common.image(SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(inner))), volume, space=False)
            except RuntimeError as e:
                raise Rejected(str(e).strip().splitlines()[-1]) from None
    try:
        array, head = nrrd.read(str(inner), index_order="C")
    except (nrrd.NRRDError, ValueError, OSError, EOFError, KeyError, zlib.error, IndexError, TypeError, AssertionError, OverflowError) as e:
        raise Rejected(f"{type(e).__name__} {e}") from None
    return of_kinds(array, head.get("kinds"), volume)


def of_kinds(array, kinds, volume):
    """The image of an array by the kinds of its axes, as doc/formats/nrrd.md says. kinds are the fastest axis first."""
    kinds = [str(kind).lower() for kind in kinds or []][::-1]
    unknown = [i for i, kind in enumerate(kinds) if kind in ("none", "???")]
    if len(kinds) != array.ndim or len(unknown) == array.ndim:
        return _common.image(array, volume, space=False)
    space = [i for i, kind in enumerate(kinds) if kind in ("space", "domain")]
    if not space and len(unknown) != 2:
        raise Rejected("axes of space are not known")
    space = space or unknown
    between = [i for i in range(space[0], space[-1]) if i not in space]
    if any(array.shape[i] > 1 for i in between):
        raise Rejected("an axis of numbers among those of space")
    if array.ndim - 1 - space[-1] > 1:
        raise Rejected("several axes of numbers")
    if array.size == 0:
        raise Rejected("no voxels")
    values = array.shape[space[-1] + 1] if space[-1] + 1 < array.ndim else 1
    shape = [array.shape[i] for i in space[-3:]]
    volumes = np.moveaxis(array.reshape([-1, *shape, values]), -1, 1).reshape([-1, *shape])
    return _common.image(_common.one_of(volumes, volume))


LIST = rb"^ *data ?file: *(LIST|part%)"

# What eccbench rejects and pynrrd reads: the message, what the header has then, and why.
REASONS = [
    ("occurs twice", rb"^ *([a-z ]+):[\s\S]*^ *\1:", "a field that stands twice is rejected"),
    ("no white space ends", rb"^ *encoding: *(ascii|te?xt)", "text without white space at its end may be cut off"),
    ("have no checksum at their end", rb"^ *encoding: *(gz|bz)", "compressed data that are cut in their checksum are rejected"),
    ("NRRD endian is", rb"^ *endian:(?! *(little|big) *\r?$)", "an endian that is neither little nor big is rejected"),
    ("neither a field nor a comment", rb"^(some text| +\r?$)", "a line that is no field is rejected"),
    ("want files of one length", LIST, "data files of one image have one length"),
    ("bad magic value in continuation file", rb"^ *encoding: *bz", "bytes behind the bzip2 data are rejected"),
    ("other data follow the gzip data", rb"^ *encoding: *gz", "bytes behind the gzip data, other than zeros, are rejected"),
    ("data files of encoding", LIST, "several data files are raw, without lines or a negative number of bytes to skip"),
    ("truncated: .* bytes of voxels", rb"^ *byte ?skip: *-1", "a byte skip of -1 begins behind the header"),
    ("data; want 0 or more", rb"^ *byte ?skip: *-1", "a byte skip of -1 has no meaning in compressed data or text"),
    ("no blank line ends the header", rb"", "a blank line ends the header of attached data"),
]


def explain(opened, ours, theirs):
    head = _common.unpacked(_common.volume_of(opened)[0]).read_bytes()
    if not isinstance(ours, Rejected) or re.search("choose one of 0|NRRD kinds", str(ours)):
        if re.search(rb"(?im)^ *encoding: *(gz|bz)", head) and re.search(rb"(?im)^ *byte ?skip: *[1-9]", head):
            return "the byte skip of compressed data counts bytes behind their decompression, as the format says"
        if re.search(rb"(?m)^( +[a-zA-Z ]+|[a-z ]*[A-Z][a-zA-Z ]*):", head):
            return "names of fields and their words are read in any capitals, with any spaces, as teem reads them"
    if isinstance(theirs, Rejected) and not isinstance(ours, Rejected):
        if re.search("_nrrdFieldCheck|failed to parse .unknown", str(theirs)):
            return "fields that do not bear on the voxels are not checked"
        if "unmatched data" in str(theirs):
            return "commas may stand between numbers of text, as teem reads them"
        if "%02d" in str(theirs):
            return "patterns of names are read, which pynrrd does not know"
        if "values to unpack" in str(theirs):
            return "names of fields and their words are read in any capitals, with any spaces, as teem reads them"
        if "don't yet have a valid dimension" in str(theirs):
            return "the order of fields does not matter"
        if re.search("KeyError 'FLOAT'|Unsupported encoding|missing required field|Invalid endian|Invalid header", str(theirs)):
            return "names of fields and their words are read in any capitals, with any spaces, as teem reads them"
    smaller = [("trailing data", "type", "bytes behind the voxels are rejected")]
    reason = _common.by_cause(ours, head, REASONS) or _common.by_made(ours, smaller)
    return reason or _common.explain(opened, ours, theirs)
