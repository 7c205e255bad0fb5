"""MetaImage against SimpleITK (MetaIO): spellings, byte orders, text, zlib, data in the file, beside it and in lists."""

import gzip
import re
import zlib
from pathlib import Path

import numpy as np
import SimpleITK

from . import Rejected, _common
from ._common import MADE, chance, pick

SimpleITK.ProcessObject.SetGlobalWarningDisplay(False)
TYPES = {
    "MET_UCHAR": "u1", "MET_CHAR": "i1", "MET_USHORT": "u2", "MET_SHORT": "i2", "MET_UINT": "u4", "MET_INT": "i4",
    "MET_LONG": "i4", "MET_ULONG": "u4", "MET_LONG_LONG": "i8", "MET_ULONG_LONG": "u8", "MET_FLOAT": "f4", "MET_DOUBLE": "f8",
}
TRUE = ["True", "true", "TRUE", "T", "t", "1", " True ", "tRUE"]
FALSE = ["False", "false", "FALSE", "F", "f", "0"]
NEITHER = ["yes", "no", "2", "", "Tr", "on"]


def truth(rng, value):
    return pick(rng, NEITHER) if chance(rng, 50) else pick(rng, TRUE if value else FALSE)


def generate(rng, folder):
    axes = [int(n) for n in rng.integers(1, 5, 4 if chance(rng, 6) else rng.integers(2, 4))]  # slowest first
    name = pick(rng, list(TYPES))
    channels = int(rng.integers(1, 4)) if chance(rng, 6) else None
    shape = axes + ([channels] if channels else [])
    array = _common.voxels(rng, TYPES[name], shape)
    if array.dtype.kind == "f" and chance(rng, 40):
        MADE.add("nan")
        array.ravel()[-1] = np.nan
    big = bool(rng.integers(2))
    fields = [("ObjectType", "Image"), ("NDims", len(axes)), ("DimSize", " ".join(map(str, axes[::-1])))]
    if chance(rng, 30):
        fields[0] = ("ObjectType", pick(rng, ["image", "IMAGE", "Tube", "Imag"]))
    more = [("ElementType", name)]
    key = pick(rng, ["BinaryDataByteOrderMSB", "ElementByteOrderMSB"])
    if big or chance(rng, 2):
        more.append((key, truth(rng, big)))
    if chance(rng, 20):
        more.append((pick(rng, ["BinaryDataByteOrderMSB", "ElementByteOrderMSB"]), truth(rng, big != chance(rng, 3))))
    if channels:
        more.append(("ElementNumberOfChannels", channels))
    more += extras(rng, len(axes))
    lines, files = data_of(rng, folder, array.astype(array.dtype.newbyteorder(">" if big else "<")), axes, more)
    rng.shuffle(more)
    if chance(rng, 40):
        rng.shuffle(fields)
    path = folder / pick(rng, ["image.mha", "image.mhd"])
    head = header(rng, fields + more + lines) + files
    volume = None
    if channels and channels > 1 or len(axes) == 4 and axes[0] > 1:
        volume = int(rng.integers(channels or axes[0])) if not chance(rng, 9) else None
    return _common.named(_common.packed(rng, path, head), volume)


def extras(rng, n):
    """Fields that bear on the voxels or not, and odd ones."""
    fields = [
        ("Comment", "a = b: c"), ("ElementSpacing", "1 " * n), ("Offset", "0 " * n), ("Name", ""), ("Other", "x"),
        ("CenterOfRotation", "0 " * n), ("AnatomicalOrientation", "RAI"), ("ElementMin", "0"), ("Modality", "MET_MOD_CT"),
    ]
    chosen = [f for f in fields if chance(rng, 4)]
    odd = [
        ("ElementToIntensityFunctionSlope", pick(rng, ["1", "2"])), ("ElementToIntensityFunctionOffset", pick(rng, ["0", "-5"])),
        ("binarydatabyteordermsb", "True"), ("Comment", "again"), ("ElementType", "MET_UCHAR"), ("compressedData", "True"),
    ]
    return chosen + [f for f in odd if chance(rng, 60)]


def data_of(rng, folder, array, axes, fields):
    """Write the voxels beside the header or return them as bytes that follow it, with the last fields."""
    data = array.tobytes()
    kind = int(rng.integers(12))
    text = kind == 0
    if text:
        end = pick(rng, ["\n", "\n", " ", "", "\n1\n"])
        if end == "\n1\n":
            MADE.add("longer")
        data = (pick(rng, [" ", "\n", "  "]).join(f"{v:g}" if v.dtype.kind == "f" else str(v) for v in array.ravel()) + end).encode()
        fields.append(("BinaryData", truth(rng, False)))
    elif chance(rng, 3):
        fields.append(("BinaryData", truth(rng, True)))
    compressed = kind in (1, 2, 3)
    if compressed:
        data = zlib.compress(data) if kind < 3 else gzip.compress(data)
        size = len(data) + (pick(rng, [-1, 1, 3]) if chance(rng, 20) else 0)
        if not chance(rng, 8):
            fields.append(("CompressedDataSize", pick(rng, [size, size, f"{size}.0"])))
        fields.append(("CompressedData", truth(rng, True)))
    elif chance(rng, 4):
        fields.append(("CompressedData", truth(rng, False)))
    if chance(rng, 20):
        data = data[: int(rng.integers(len(data) + 1))]
    elif chance(rng, 20):
        MADE.add("longer")
        data += bytes(int(rng.integers(1, 9)))
    place = int(rng.integers(10))
    if place < 4:
        return [("ElementDataFile", pick(rng, ["LOCAL", "LOCAL", "Local", "local"]))], data
    skip = b""
    if chance(rng, 3):
        skip = b"#" * int(rng.integers(6))
        fields.append(("HeaderSize", pick(rng, [len(skip), len(skip), -1])))
    if place < 7 or axes[0] == 1 or compressed or text:
        name = pick(rng, ["image.raw", "an image.raw"])
        (folder / name).write_bytes(skip + data)
        return [("ElementDataFile", name)], b""
    parts = np.array_split(np.frombuffer(data, "u1"), axes[0])
    for i, part in enumerate(parts):
        (folder / f"part{i + 1:02d}.raw").write_bytes(skip + part.tobytes())
    if place == 7:
        return [("ElementDataFile", f"part%02d.raw 1 {axes[0]} 1")], b""
    names = "".join(f"part{i + 1:02d}.raw\n" for i in range(axes[0]))
    return [("ElementDataFile", pick(rng, ["LIST", f"LIST {len(axes) - 1}D"]))], names.encode()


def header(rng, fields):
    lines = []
    separator = pick(rng, [" = ", " = ", "=", ": ", " : ", " == "])
    end = pick(rng, ["\n", "\n", "\n", "\r\n"])
    for key, value in fields:
        if chance(rng, 25):
            lines.append(pick(rng, ["", "  "]))
        if chance(rng, 200):
            lines.append(pick(rng, ["some text", "# text"]))
        lines.append(f"{' ' * int(rng.integers(3)) if chance(rng, 20) else ''}{key}{separator}{value}")
    return (end.join(lines) + end).encode()


def reference(opened):
    path, volume = _common.volume_of(opened)
    inner = _common.unpacked(path)
    with _common.no_words():
        try:
            read = SimpleITK.ReadImage(str(inner))
        except RuntimeError as e:
            raise Rejected(str(e).strip().splitlines()[-1]) from None
    array = SimpleITK.GetArrayFromImage(read)
    channels = read.GetNumberOfComponentsPerPixel()
    if channels == 1:
        return _common.image(array, volume)
    images = array if array.ndim == 5 else array[None]  # the channels of the first of an axis of volumes come first
    images = np.moveaxis(images, -1, 1).reshape((-1,) + images.shape[1:-1])
    return _common.image(_common.one_of(images, volume))


BINARY = rb"BinaryData\W+[f0]"  # of text, which is not
COMPRESSED = rb"^ *CompressedData\W+[t1]"
LIST = rb"ElementDataFile\W+(LIST|part%)"

# What eccbench rejects and MetaIO reads: the message, what the header has then, and why.
REASONS = [
    ("want True or False", rb"(MSB|BinaryData|CompressedData)[ =:]+(yes|no|2|Tr|on|) *\r?$", "a truth value that is neither true nor false is rejected"),
    ("occurs twice", rb"^ *(Element\w+|\w+MSB|BinaryData|CompressedData)\W[\s\S]*^ *\1\W", "a field of the voxels that stands twice is rejected"),
    ("which other programs ignore", rb"(?-i:binarydatabyteordermsb|compressedData)", "a field of the voxels in other capitals is rejected"),
    ("ObjectType is", rb"ObjectType[ =:]+(?-i:image|IMAGE|Tube|Imag)\s", "an object that is no image is rejected"),
    ("which programs apply or ignore", rb"Function(Slope\W+2|Offset[ =:]+-5)", "a slope or offset of intensity is rejected"),
    ("BinaryDataByteOrderMSB and ElementByteOrderMSB differ", rb"BinaryDataByteOrderMSB[\s\S]*ElementByteOrderMSB|ElementByteOrderMSB[\s\S]*BinaryDataByteOrderMSB", "two byte orders that differ are rejected"),
    ("is no field", rb"^(some text|# text)", "a line that is no field is rejected"),
    ("truncated: .* numbers where", rb"ElementNumberOfChannels\W+[2-9]", "of text with several channels MetaIO reads as many values as there are voxels"),
    ("where the header states|other data follow", COMPRESSED, "compressed data of another length than the header says are rejected"),
    ("no (zlib|gzip) data follow|the compressed voxels (end after|have no checksum)", COMPRESSED,
     "compressed data that end early are rejected"),
    ("HeaderSize is", rb"HeaderSize", "a HeaderSize that data in the file or compressed data cannot have is rejected"),
    ("no white space ends", BINARY, "text without white space at its end may be cut off"),
    ("text that is compressed, or has a header", BINARY, "text with a HeaderSize is rejected"),
    ("data files that are text", LIST, "several data files are binary, of one HeaderSize that is not -1"),
    ("want files of one length", LIST, "data files of one image have one length"),
    ("NDims is", rb"NDims", "sizes are as many as NDims says"),
]


def explain(opened, ours, theirs):
    head = _common.unpacked(_common.volume_of(opened)[0]).read_bytes()
    if isinstance(theirs, Rejected) and not isinstance(ours, Rejected):
        if re.search(rb"DimSize.*NDims", head, re.S) or re.search(rb"(ElementSpacing|Offset|CenterOfRotation).*NDims", head, re.S):
            return "the order of fields does not matter"
        if b"CompressedData" in head and b"CompressedDataSize" not in head:
            return "compressed data need no CompressedDataSize"
        if "nan" in MADE and re.search(BINARY, head, re.I):
            return "the other volumes are not looked at; MetaIO reads no NaN in text"
    text = re.search(rb"BinaryData\W+[Ff0]", head) and not isinstance(theirs, Rejected)
    if text and re.search(rb"MSB\W+[Tt1]", head) and not isinstance(ours, Rejected):
        return "text has no byte order, which MetaIO swaps"
    if text and not isinstance(ours, Rejected) and ours.size == theirs.size:
        channels = int((re.search(rb"ElementNumberOfChannels\W+(\d+)", head) or [b"", b"1"])[1])
        read = -(-(ours.size - _common.volume_of(opened)[1]) // channels) if channels > 1 else 0
        if channels > 1 and np.array_equal(ours.ravel()[:read], theirs.ravel()[:read]):
            return "of text with several channels MetaIO reads as many values as there are voxels"
    return _common.by_cause(ours, head, REASONS) or _common.explain(opened, ours, theirs)
