"""DICOM against pydicom: single files, multi-frame files with functional groups, and series.

The reference is pydicom's pixel_array, each slice with its own rescale slope and intercept, the
slices of a series in the order of their places along the normal. An opened series is
'stack/path=FOLDER'. Files are written here and not by pydicom, which writes no odd ones.
"""

import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pydicom

from . import Rejected, _common
from ._common import MADE

EXPLICIT, IMPLICIT, BIG = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.2"
DEFLATED, RLE, JPEG = "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.5", "1.2.840.10008.1.2.4.90"
SYNTAXES = [EXPLICIT] * 8 + [IMPLICIT] * 4 + [BIG] * 2 + [DEFLATED] * 2 + [RLE] * 4 + [JPEG]
CT = "1.2.840.10008.5.1.4.1.1.2"
NO_IMAGES = ["1.2.840.10008.5.1.4.1.1.481.5", "1.2.840.10008.5.1.4.1.1.88.22", "1.2.840.10008.5.1.4.1.1.9.1.1", "1.2.840.10008.5.1.4.1.1.104.1"]
TOLERANCE = 0.25  # of the step between slices

# The tag and the value representation of each element that is written.
ELEMENTS = {
    "ImageType": (0x00080008, "CS"), "SOPClassUID": (0x00080016, "UI"), "EchoTime": (0x00180081, "DS"), "FrameTime": (0x00181063, "DS"),
    "SeriesInstanceUID": (0x0020000E, "UI"), "InstanceNumber": (0x00200013, "IS"), "ImagePositionPatient": (0x00200032, "DS"),
    "ImageOrientationPatient": (0x00200037, "DS"), "FrameContentSequence": (0x00209111, "SQ"), "PlanePositionSequence": (0x00209113, "SQ"),
    "PlaneOrientationSequence": (0x00209116, "SQ"), "TemporalPositionIndex": (0x00209128, "UL"), "DimensionIndexValues": (0x00209157, "UL"),
    "DimensionIndexPointer": (0x00209165, "AT"), "DimensionIndexSequence": (0x00209222, "SQ"), "SamplesPerPixel": (0x00280002, "US"),
    "PhotometricInterpretation": (0x00280004, "CS"), "PlanarConfiguration": (0x00280006, "US"), "NumberOfFrames": (0x00280008, "IS"),
    "FrameIncrementPointer": (0x00280009, "AT"), "Rows": (0x00280010, "US"), "Columns": (0x00280011, "US"), "PixelSpacing": (0x00280030, "DS"),
    "BitsAllocated": (0x00280100, "US"), "BitsStored": (0x00280101, "US"), "HighBit": (0x00280102, "US"), "PixelRepresentation": (0x00280103, "US"),
    "SmallestImagePixelValue": (0x00280106, "US"), "PixelPaddingValue": (0x00280120, "US"), "WindowCenter": (0x00281050, "DS"),
    "WindowWidth": (0x00281051, "DS"), "RescaleIntercept": (0x00281052, "DS"), "RescaleSlope": (0x00281053, "DS"), "RescaleType": (0x00281054, "LO"),
    "ModalityLUTSequence": (0x00283000, "SQ"), "LUTDescriptor": (0x00283002, "US"), "ModalityLUTType": (0x00283004, "LO"), "LUTData": (0x00283006, "OW"),
    "PixelValueTransformationSequence": (0x00289145, "SQ"), "SliceVector": (0x00540080, "US"), "IconImageSequence": (0x00880200, "SQ"),
    "GridFrameOffsetVector": (0x3004000C, "DS"), "DoseGridScaling": (0x3004000E, "DS"), "SharedFunctionalGroupsSequence": (0x52009229, "SQ"),
    "PerFrameFunctionalGroupsSequence": (0x52009230, "SQ"), "OverlayRows": (0x60000010, "US"), "FloatPixelData": (0x7FE00008, "OF"),
    "DoubleFloatPixelData": (0x7FE00009, "OD"), "PixelData": (0x7FE00010, "OW"), "DataSetTrailingPadding": (0xFFFCFFFC, "OB"),
}


def generate(rng, folder):
    kind = rng.integers(10)
    if kind < 5:
        return single(rng, folder)
    return multiframe(rng, folder) if kind < 7 else series(rng, folder)


def tagged(order, tag):
    return struct.pack(order + "HH", tag >> 16, tag & 0xFFFF)


def encode(rng, d, order, explicit):
    """The bytes of a data set, a dictionary by keywords. Sequences are lists of data sets."""
    out = b""
    for name in sorted(d, key=lambda k: ELEMENTS[k][0]):
        (tag, kind), value, unknown = ELEMENTS[name], d[name], False
        if name == "PixelData":
            kind, value, unknown = value
        elif kind == "SQ":
            unknown = bool(rng.integers(2))
            value = b"".join(item(rng, encode(rng, v, order, explicit), order) for v in value)
            value += tagged(order, 0xFFFEE0DD) + bytes(4) if unknown else b""
        elif kind in ("US", "UL"):
            value = np.atleast_1d(value).astype(order + ("u2" if kind == "US" else "u4")).tobytes()
        elif kind == "AT":
            value = b"".join(tagged(order, t) for t in value)
        elif not isinstance(value, bytes):
            value = "\\".join(map(str, value if isinstance(value, list) else [value])).encode()
            value += (b"\0" if kind == "UI" else b" ") * (len(value) % 2)
        length = 0xFFFFFFFF if unknown else len(value)
        long = kind in ("SQ", "OB", "OW", "OF", "OD", "UN")
        out += tagged(order, tag) + (kind.encode() + struct.pack(order + ("xxI" if long else "H"), length) if explicit else struct.pack(order + "I", length))
        out += value
    return out


def item(rng, value, order):
    if rng.integers(2):
        return tagged(order, 0xFFFEE000) + struct.pack(order + "I", len(value)) + value
    return tagged(order, 0xFFFEE000) + b"\xff" * 4 + value + tagged(order, 0xFFFEE00D) + bytes(4)


def write(rng, d, syntax, path):
    """Write a file, which now and then is cut, or goes on with zeros."""
    order = ">" if syntax == BIG else "<"
    if rng.integers(16) == 0:
        d = d | {"DataSetTrailingPadding": bytes(2 * int(rng.integers(1, 20)))}
    body = encode(rng, d, order, syntax != IMPLICIT)
    if syntax == DEFLATED:
        z = zlib.compressobj(wbits=-15)
        body = z.compress(body) + z.flush()
    meta = b""
    for tag, value in (0x00020002, d.get("SOPClassUID", CT)), (0x00020010, syntax):
        value = value.encode() + b"\0" * (len(value) % 2)
        meta += tagged("<", tag) + b"UI" + struct.pack("<H", len(value)) + value
    length = tagged("<", 0x00020000) + b"UL" + struct.pack("<HI", 4, len(meta))
    data = bytes(128) + b"DICM" + (length if rng.integers(4) else b"") + meta + body
    odd = rng.integers(40)
    if odd == 0:
        MADE.add("cut")
        data = data[: int(rng.integers(1, len(data)))]
    elif odd == 1 and syntax != DEFLATED:
        MADE.add("longer")
        data += bytes(int(rng.integers(1, 30)))
    path.write_bytes(data)


def header(rng, rows, columns):
    """A data set without pixels, and its transfer syntax."""
    allocated = int(rng.choice([8, 8, 16, 16, 16, 32, 64]))
    stored = allocated if rng.integers(3) else int(rng.integers(1, allocated + 1))
    d = {
        "SOPClassUID": CT, "SeriesInstanceUID": "1.2.3", "SamplesPerPixel": 1, "PhotometricInterpretation": "MONOCHROME2", "Rows": rows, "Columns": columns,
        "BitsAllocated": allocated, "BitsStored": stored, "HighBit": stored - 1, "PixelRepresentation": int(rng.integers(2)),
    }
    if rng.integers(4) == 0:  # only for display, or unused
        d |= {"WindowCenter": 40, "WindowWidth": 400, "RescaleType": "HU", "PixelSpacing": [0.5, 0.5], "PixelPaddingValue": 0, "SmallestImagePixelValue": 0}
    if rng.integers(4) == 0:
        icon = {"Rows": 99, "Columns": 98, "BitsAllocated": 8, "PixelData": ("OW", b"\1\2", False), "RescaleSlope": 7}
        d |= {"IconImageSequence": [icon], "OverlayRows": 3}
    return d, SYNTAXES[rng.integers(len(SYNTAXES))]


def pixels(rng, d, syntax, frames=1):
    """The element of random pixels: small values, or any with bits above those stored. Uncompressed ones may be too many or too few."""
    bits = d["BitsAllocated"]
    high = 2**bits - 1 if rng.integers(3) == 0 else min(100, 2 ** d["BitsStored"])
    values = rng.integers(0, high, (frames, d["Rows"] * d["Columns"]), dtype="u8").astype(f"{'>' if syntax == BIG else '<'}u{bits // 8}")
    if syntax in (RLE, JPEG):
        parts = [b""] + [rle(rng, v.tobytes(), bits // 8) for v in values]
        value = b"".join(tagged("<", 0xFFFEE000) + struct.pack("<I", len(p)) + p for p in parts) + tagged("<", 0xFFFEE0DD) + bytes(4)
        return "OB", value, True
    kind = "OB" if bits == 8 and rng.integers(2) else "OW"
    data = values.tobytes()
    odd = rng.integers(16)
    if odd == 0:
        MADE.add("longer pixels")
        data += bytes(int(rng.integers(1, 12)))
    elif odd == 1:
        data = data[: -int(rng.integers(1, len(data) + 1))]
    elif len(data) % 2 and odd < 12:
        data += b"\0"
    if syntax == BIG and bits == 8 and kind == "OW":
        MADE.add("big-endian words")
        data = data + b"\0" * (len(data) % 2)
        data = np.frombuffer(data, ">u2").astype("<u2").tobytes()
    return kind, data, False


def rle(rng, frame, size):
    """A frame by RLE: segments of the bytes of all pixels, the highest first, in runs and literals."""
    segments = []
    for k in reversed(range(size)):
        plane, out, at = frame[k::size], b"", 0
        while at < len(plane):
            run = 1
            while at + run < len(plane) and plane[at + run] == plane[at] and run < 128:
                run += 1
            if run == 1 or rng.integers(8) == 0:
                run = int(min(len(plane) - at, rng.integers(1, 129)))
                out += bytes([run - 1]) + plane[at : at + run]
            else:
                out += bytes([257 - run, plane[at]])
            at += run
        segments.append(out + b"\0" * (len(out) % 2))
    starts = 64 + np.cumsum([0] + [len(s) for s in segments[:-1]])
    return np.array([size, *starts], "<u4").tobytes().ljust(64, b"\0") + b"".join(segments)


def scales(rng):
    return {"RescaleSlope": rng.choice(["1", "2", "0.5", "0.1", "-1", "1.5e-3", "12345.6"]), "RescaleIntercept": rng.choice(["0", "-1024", "0.3", "1e6"])}


def single(rng, folder):
    d, syntax = header(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    if rng.integers(3) == 0:
        d |= scales(rng)
    d["PixelData"] = pixels(rng, d, syntax)
    odd = rng.integers(20)
    if odd == 0:
        d["PhotometricInterpretation"] = str(rng.choice(["MONOCHROME1", "PALETTE COLOR", "RGB", "YBR_FULL"]))
        if d["PhotometricInterpretation"] in ("RGB", "YBR_FULL"):
            kind, data, unknown = d["PixelData"]
            d |= {"SamplesPerPixel": 3, "PlanarConfiguration": 0, "PixelData": (kind, data * 3, unknown)}
    elif odd == 1:
        d["SOPClassUID"] = str(rng.choice(NO_IMAGES))
        del d["PixelData"]
    elif odd == 2 and syntax in (EXPLICIT, IMPLICIT, BIG, DEFLATED):
        width = int(rng.choice([4, 8]))
        values = (rng.integers(-1000, 1000, d["Rows"] * d["Columns"]) / 8).astype(f"{'>' if syntax == BIG else '<'}f{width}")
        for name in ("BitsStored", "HighBit", "PixelRepresentation", "PixelData"):
            del d[name]
        d |= {"BitsAllocated": 8 * width, "FloatPixelData" if width == 4 else "DoubleFloatPixelData": values.tobytes()}
    elif odd == 3:
        d["ModalityLUTSequence"] = [{"LUTDescriptor": [256, 0, 16], "ModalityLUTType": "US", "LUTData": bytes(512 * int(rng.choice([1, 5])))}]
    elif odd == 4:
        missing = str(rng.choice([
            "PixelRepresentation", "BitsStored", "HighBit", "PhotometricInterpretation", "SamplesPerPixel", "Rows",
        ]))
        MADE.add("no " + missing)
        d.pop(missing)
    elif odd == 5:
        MADE.add("HighBit")
        d["HighBit"] = int(rng.integers(0, d["BitsAllocated"]))
    write(rng, d, syntax, folder / "image.dcm")
    return str(folder / "image.dcm")


def positions(rng, n):
    """The places of n slices, in their order: with gaps, steps that differ a little, or doubles."""
    orientation, direction = [
        ([1, 0, 0, 0, 1, 0], [0, 0, 1]), ([0, 1, 0, 0, 0, -1], [-1, 0, 0]), ([1, 0, 0, 0, 0.8, 0.6], [0, -0.6, 0.8]), ([1, 0, 0, 0, 1, 0], [0, 0.3, 1]),
    ][rng.integers(4)]
    along = np.arange(n) * float(rng.choice([1, 2.5, 0.7]))
    odd = rng.integers(10)
    if odd == 0 and n > 2:
        along[int(rng.integers(1, n)) :] += float(rng.choice([0.05, 0.1, 0.5, 1, 7])) * along[1]
    elif odd == 1 and n > 1:
        along[1] = along[0]
    elif odd == 2:
        along += rng.uniform(-0.02, 0.02, n) * (along[1] if n > 1 else 0)
    if rng.integers(2):
        along += float(rng.choice([-100, 17.123]))
    if rng.integers(3) == 0:
        along = along[::-1]
    return orientation, [[f"{v:.8g}" for v in np.array(direction, float) * a + [1, 2, 3]] for a in along]


def multiframe(rng, folder):
    n = int(rng.integers(1, 6))
    d, syntax = header(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    d["NumberOfFrames"] = n
    path, kind, volumes = folder / "image.dcm", rng.integers(6), 1
    if kind == 0:
        d |= scales(rng)
    elif kind == 1:
        volumes = n
        d["FrameTime"] = 20
        if rng.integers(2):
            d["FrameIncrementPointer"] = [0x00181063]
    elif kind == 2:
        d |= {"FrameIncrementPointer": [0x00540080], "SliceVector": rng.permutation(n) + 1}
    elif kind == 3:
        d |= {"GridFrameOffsetVector": [str(2.5 * i) for i in range(n)], "DoseGridScaling": "0.01"}
    else:
        volumes = functional(rng, d, n)
    d["PixelData"] = pixels(rng, d, syntax, n)
    write(rng, d, syntax, path)
    return f"file/volume={rng.integers(volumes)}/path={path}" if volumes > 1 else str(path)


def functional(rng, d, n):
    """Functional groups: places, several times, and scales of the file or of each frame. Return how many times there are."""
    times = 2 if n % 2 == 0 and rng.integers(3) == 0 else 1
    orientation, places = positions(rng, n // times)
    order = rng.permutation(n) if rng.integers(2) else np.arange(n)
    dimensions, changed = rng.integers(2), rng.integers(3)
    shared, frames = {"PlaneOrientationSequence": [{"ImageOrientationPatient": orientation}]}, []
    for k in order:
        time, place = divmod(int(k), len(places))
        content = {"DimensionIndexValues": [time + 1, place + 1]} if dimensions else {"TemporalPositionIndex": time + 1}
        frames.append({"PlanePositionSequence": [{"ImagePositionPatient": places[place]}], "FrameContentSequence": [content]})
        if changed == 0:
            frames[-1]["PixelValueTransformationSequence"] = [scales(rng)]
    if changed == 1:
        shared["PixelValueTransformationSequence"] = [scales(rng)]
    if dimensions:
        d["DimensionIndexSequence"] = [{"DimensionIndexPointer": [0x00209128]}, {"DimensionIndexPointer": [0x00200032]}]
    d |= {"SharedFunctionalGroupsSequence": [shared], "PerFrameFunctionalGroupsSequence": frames}
    return times


def series(rng, folder):
    n = int(rng.integers(1, 6))
    orientation, places = positions(rng, n)
    base, syntax = header(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    odd, mixed = rng.integers(14), rng.integers(3) == 0
    base |= scales(rng)
    names = rng.permutation(n)
    for k in range(n):
        d = base | {"ImagePositionPatient": places[k], "ImageOrientationPatient": orientation, "InstanceNumber": k + 1}
        if mixed:
            d |= scales(rng)
        if odd == 0:
            del d["ImagePositionPatient"]
        elif odd == 1 and k == 1:
            d["SeriesInstanceUID"] = "1.2.9"
        elif odd == 2:
            d["ImageOrientationPatient"] = [f"{v + rng.uniform(-1e-7, 1e-7):.10f}" for v in orientation]
        elif odd == 3 and k == 1:
            d["Rows"] += 1
        elif odd == 4:
            del d["ImageOrientationPatient"], d["ImagePositionPatient"]
        d["PixelData"] = pixels(rng, d, syntax)
        write(rng, d, syntax, folder / f"IM{names[k]:03}.dcm")
    return f"stack/path={folder}"


def reference(opened):
    path, volume = re.sub(r"^(file/volume=\d+|stack)/path=", "", opened), re.search(r"volume=(\d+)", opened)
    try:
        if opened.startswith("stack/"):
            return volume_of_series(path)
        d = pydicom.dcmread(path)
        return frames_of(d, int(volume[1]) if volume else None)
    except Rejected:
        raise
    except Exception as e:  # pydicom has no common class of its errors
        raise Rejected(f"{type(e).__name__}: {e}") from None


def values(d, array, transformation):
    slope = float(transformation.get("RescaleSlope", d.get("DoseGridScaling", 1)))
    return array.astype(float) * slope + float(transformation.get("RescaleIntercept", 0))


def grey(d):
    if d.get("PhotometricInterpretation", "MONOCHROME2") != "MONOCHROME2":
        raise Rejected(d.PhotometricInterpretation)
    if "ModalityLUTSequence" in d:
        raise Rejected("Modality LUT")
    return d.pixel_array


def volume_of_series(folder):
    slices = [pydicom.dcmread(p) for p in sorted(Path(folder).iterdir())]
    if len({s.SeriesInstanceUID for s in slices}) > 1:
        raise Rejected("several series")
    placed = "ImagePositionPatient" in slices[0]
    order = sort_slices(slices[0].ImageOrientationPatient, [s.ImagePositionPatient for s in slices]) if placed else np.argsort([s.InstanceNumber for s in slices])
    planes = [values(slices[i], grey(slices[i]), slices[i]) for i in order]
    if len({p.shape for p in planes}) > 1:
        raise Rejected("shapes differ")
    return np.stack(planes)


def sort_slices(orientation, places):
    """The order of slices along their normal. Raise Rejected for steps that differ."""
    x, y = np.array(orientation, float).reshape(2, 3)
    places = np.array(places, float)
    along = places @ np.cross(x, y)
    order = np.argsort(along, kind="stable")
    steps = np.diff(along[order])
    if len(steps) and steps.min() <= 0.01 * steps.mean():
        raise Rejected("two slices at one place")
    if len(steps) > 1:
        shifts = np.diff(places[order], axis=0) - np.outer(steps, np.cross(x, y))
        usual, shift = (np.sort(v, axis=0)[(len(steps) - 1) // 2] for v in (steps, shifts))
        if (abs(steps - usual) > TOLERANCE * usual).any() or (np.linalg.norm(shifts - shift, axis=1) > TOLERANCE * usual).any():
            raise Rejected("steps differ")
    return order


def frames_of(d, volume):
    array = grey(d)
    if array.ndim == 2:
        array = array[None]
    groups, shared = d.get("PerFrameFunctionalGroupsSequence"), d.get("SharedFunctionalGroupsSequence")
    chosen = np.arange(len(array))
    if groups:
        if len(groups) != len(array):
            raise Rejected("numbers of groups and of frames differ")
        content = [g.FrameContentSequence[0] for g in groups]
        index = [c.DimensionIndexValues[0] if "DimensionIndexValues" in c else c.TemporalPositionIndex for c in content]
        places = [g.PlanePositionSequence[0].ImagePositionPatient for g in groups]
        orientation = shared[0].PlaneOrientationSequence[0].ImageOrientationPatient
        chosen = choose(orientation, places, index, volume)
    elif "SliceVector" in d:
        chosen = np.argsort(d.SliceVector) if len(array) > 1 else chosen
    elif "FrameTime" in d and len(array) > 1:
        chosen = chosen[volume : volume + 1]
    planes = []
    for i in chosen:
        t = d
        for group in ([shared[0]] if shared else []) + ([groups[i]] if groups else []):
            t = group.PixelValueTransformationSequence[0] if "PixelValueTransformationSequence" in group else t
        planes.append(values(d, array[i], t))
    return np.stack(planes) if len(planes) > 1 else planes[0]


def choose(orientation, places, index, volume):
    """The frames of a volume, in their order. Frames of several times at places of their own are one."""
    if len(index) == 1:
        return np.array([0])
    everything = list(range(len(index)))
    try:
        order = sort_slices(orientation, places)
        if volume is not None:
            raise Rejected("one volume")
        return order
    except Rejected as e:
        if "one place" not in str(e):
            raise
    found = list(dict.fromkeys(index))
    groups = [[i for i in everything if index[i] == t] for t in found]
    if len({len(g) for g in groups}) > 1:
        raise Rejected("volumes of several sizes")
    orders = [np.array(g)[sort_slices(orientation, [places[i] for i in g])] for g in groups]
    if (volume is None) != (len(groups) == 1) or volume is not None and volume >= len(groups):
        raise Rejected("volumes")
    return orders[volume or 0]


# Files that eccbench rejects and pydicom reads: the message, the features that cause it, and the reason.
REASONS = [
    ("in big-endian words", "big-endian words", "8-bit pixels in big-endian words are not read"),
    ("are used up to bit", "HighBit", "HighBit is not BitsStored - 1: pydicom ignores it"),
    ("ends inside an element|truncated: element (7fe00010|7fe[1-9a-f]|[89a-f])", "cut, longer",
     "the file ends inside an element after the pixels: it is truncated, which pydicom does not say"),
    ("bytes of pixels, where the header states", "longer pixels",
     "zeros of a frame or more follow the pixels, which pydicom reads as frames or drops"),
]

# Files that pydicom rejects and eccbench reads.
STRICTER = [
    ("Missing required.*(Samples per Pixel|Photometric)", "no SamplesPerPixel, no PhotometricInterpretation",
     "SamplesPerPixel and PhotometricInterpretation may be missing: the pixels are grey"),
]


def explain(opened, ours, theirs):
    if isinstance(ours, Rejected) or isinstance(theirs, Rejected):
        return _common.by_made(ours, REASONS) or _common.by_made(theirs, STRICTER)
    if ours.shape == theirs.shape and np.array_equal(ours, theirs.astype(np.float32)):
        return "scaled values are rounded to float32, where no two become one"
    return None
