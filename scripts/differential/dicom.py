"""DICOM against pydicom: single files, multi-frame files with functional groups, and series.

The reference is pydicom's pixel_array, each slice with its own rescale slope and intercept, the
slices of a series in the order of their places along the normal. An opened series is
'stack/path=FOLDER'.
"""

import re
import warnings

import numpy as np
import pydicom
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sequence import Sequence

from . import Rejected

SYNTAXES = [uid.ExplicitVRLittleEndian] * 4 + [
    uid.ImplicitVRLittleEndian, uid.ImplicitVRLittleEndian, uid.ExplicitVRBigEndian, uid.DeflatedExplicitVRLittleEndian, uid.RLELossless, uid.JPEG2000Lossless]
CLASSES = {
    "1.2.840.10008.5.1.4.1.1.481.5": "RT plan", "1.2.840.10008.5.1.4.1.1.88.22": "structured report",
    "1.2.840.10008.5.1.4.1.1.9.1.1": "waveform", "1.2.840.10008.5.1.4.1.1.104.1": "document"}
TOLERANCE = 0.25  # of the step between slices


def generate(rng, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = rng.integers(10)
        if kind < 5:
            return single(rng, folder)
        return multiframe(rng, folder) if kind < 7 else series(rng, folder)


def header(rng, rows, columns):
    """A data set without pixels, of a random transfer syntax and type."""
    d = Dataset()
    d.file_meta = FileMetaDataset()
    d.file_meta.TransferSyntaxUID = SYNTAXES[rng.integers(len(SYNTAXES))]
    d.SOPClassUID = d.file_meta.MediaStorageSOPClassUID = uid.CTImageStorage
    d.SOPInstanceUID = d.file_meta.MediaStorageSOPInstanceUID = "1.2.3.4"
    d.SeriesInstanceUID = "1.2.3"
    d.SamplesPerPixel, d.PhotometricInterpretation = 1, "MONOCHROME2"
    d.Rows, d.Columns = rows, columns
    d.BitsAllocated = int(rng.choice([8, 8, 16, 16, 16, 32]))
    d.BitsStored = d.BitsAllocated if rng.integers(3) else int(rng.integers(1, d.BitsAllocated + 1))
    d.HighBit, d.PixelRepresentation = d.BitsStored - 1, int(rng.integers(2))
    if rng.integers(4) == 0:  # what is for display, or of no matter
        d.WindowCenter, d.WindowWidth, d.PixelPaddingValue = 40, 400, 0
        d.SmallestImagePixelValue, d.RescaleType, d.PixelSpacing = 0, "HU", [0.5, 0.5]
    if rng.integers(4) == 0:
        icon = Dataset()
        icon.Rows, icon.Columns, icon.BitsAllocated, icon.PixelData = 99, 98, 8, b"\1\2"
        icon.RescaleSlope = 7
        d.IconImageSequence = Sequence([icon])
        d["IconImageSequence"].is_undefined_length = bool(rng.integers(2))
        d.OverlayRows = 3  # the element of group 6000
    return d


def pixels(rng, d, frames=1):
    """Random pixels: small values, or any with bits above those stored."""
    n = frames * d.Rows * d.Columns
    order = ">" if d.file_meta.TransferSyntaxUID == uid.ExplicitVRBigEndian else "<"
    dtype = np.dtype(f"{order}u{d.BitsAllocated // 8}")
    high = 2 ** d.BitsAllocated if rng.integers(3) == 0 else min(100, 2**d.BitsStored)
    return rng.integers(0, high, n, dtype="u8").astype(dtype).tobytes()


def scaled(rng, d):
    d.RescaleSlope = str(rng.choice(["1", "2", "0.5", "0.1", "-1", "1.5e-3", "12345.6"]))
    d.RescaleIntercept = str(rng.choice(["0", "-1024", "0.3", "1e6"]))


def save(rng, d, path, data, frames=1):
    """Write the data set with its pixels, which may be too long or too short."""
    syntax = d.file_meta.TransferSyntaxUID
    d["PixelData"] = pydicom.DataElement(0x7FE00010, "OB" if d.BitsAllocated == 8 and rng.integers(2) else "OW", data)
    if syntax == uid.RLELossless:
        d.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
        d.compress(uid.RLELossless, generate_instance_uid=False)
    elif syntax == uid.JPEG2000Lossless:
        d.PixelData = pydicom.encaps.encapsulate([data] * frames)
        d["PixelData"].is_undefined_length = True
    elif rng.integers(8) == 0:
        extra = int(rng.integers(1, 12))
        d["PixelData"].value = data + bytes(extra) if rng.integers(4) else data[: -min(extra, len(data))]
    elif len(data) % 2 and rng.integers(4):
        d["PixelData"].value = data + b"\0"
    d.save_as(path, enforce_file_format=True, implicit_vr=syntax == uid.ImplicitVRLittleEndian, little_endian=syntax != uid.ExplicitVRBigEndian)
    return str(path)


def single(rng, folder):
    d = header(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    if rng.integers(3) == 0:
        scaled(rng, d)
    odd = rng.integers(16)
    data = pixels(rng, d)
    path = folder / "image.dcm"
    if odd == 0:
        d.PhotometricInterpretation = str(rng.choice(["MONOCHROME1", "PALETTE COLOR", "RGB", "YBR_FULL"]))
        if d.PhotometricInterpretation in ("RGB", "YBR_FULL"):
            d.SamplesPerPixel, d.PlanarConfiguration, data = 3, 0, data * 3
    elif odd == 1:
        d.SOPClassUID = d.file_meta.MediaStorageSOPClassUID = str(rng.choice(list(CLASSES)))
        d.save_as(path, enforce_file_format=True, implicit_vr=d.file_meta.TransferSyntaxUID == uid.ImplicitVRLittleEndian,
                  little_endian=d.file_meta.TransferSyntaxUID != uid.ExplicitVRBigEndian)
        return str(path)
    elif odd == 2 and d.file_meta.TransferSyntaxUID in SYNTAXES[:6]:
        return floats(rng, d, path)
    elif odd == 3:
        lut = Dataset()
        lut.LUTDescriptor, lut.ModalityLUTType = [256, 0, 16], "US"
        lut["LUTData"] = pydicom.DataElement(0x00283006, "OW", np.arange(256, dtype="<u2").tobytes() * int(rng.choice([1, 5])))
        d.ModalityLUTSequence = Sequence([lut])
        for name in ("RescaleSlope", "RescaleIntercept"):
            d.pop(name, None)
    elif odd == 4:
        d.pop(str(rng.choice(["PixelRepresentation", "BitsStored", "HighBit", "PhotometricInterpretation", "SamplesPerPixel", "Rows"])), None)
        if d.file_meta.TransferSyntaxUID == uid.RLELossless:
            d.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    elif odd == 5:
        d.HighBit = int(rng.integers(0, d.BitsAllocated))
        if d.file_meta.TransferSyntaxUID == uid.RLELossless:
            d.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    save(rng, d, path, data)
    damage(rng, path)
    return str(path)


def damage(rng, path):
    odd = rng.integers(24)
    data = path.read_bytes()
    if odd == 0:
        data = data[: int(rng.integers(1, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 30)))
    else:
        return
    path.write_bytes(data)


def floats(rng, d, path):
    width = int(rng.choice([4, 8]))
    values = (rng.integers(-1000, 1000, d.Rows * d.Columns) / 8).astype(f"<f{width}")
    for name in ("BitsStored", "HighBit", "PixelRepresentation"):
        d.pop(name)
    d.BitsAllocated = 8 * width
    if width == 4:
        d.FloatPixelData = values.tobytes()
    else:
        d.DoubleFloatPixelData = values.tobytes()
    d.save_as(path, enforce_file_format=True, implicit_vr=d.file_meta.TransferSyntaxUID == uid.ImplicitVRLittleEndian, little_endian=True)
    return str(path)


def positions(rng, n):
    """The places of n slices, in their order, with gaps, steps that differ a little, and doubles."""
    orientation, direction = [
        ([1, 0, 0, 0, 1, 0], [0, 0, 1]), ([0, 1, 0, 0, 0, -1], [-1, 0, 0]), ([1, 0, 0, 0, 0.8, 0.6], [0, -0.6, 0.8]), ([1, 0, 0, 0, 1, 0], [0, 0.3, 1]),
    ][rng.integers(4)]
    along = np.arange(n) * float(rng.choice([1, 2.5, 0.7]))
    odd = rng.integers(8)
    if odd == 0 and n > 2:
        along[int(rng.integers(1, n)) :] += float(rng.choice([0.05, 0.1, 0.5, 1, 7])) * along[1]
    elif odd == 1 and n > 1:
        along[1] = along[0]
    elif odd == 2:
        along += rng.uniform(-0.02, 0.02, n) * (along[1] if n > 1 else 0)
    if rng.integers(2):
        along += float(rng.choice([-100, 17.123]))
    return orientation, [[f"{v:.8g}" for v in np.array(direction, float) * a + [1, 2, 3]] for a in along]


def multiframe(rng, folder):
    n = int(rng.integers(1, 6))
    d = header(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    d.NumberOfFrames = n
    kind = rng.integers(6)
    if kind == 0:
        scaled(rng, d)
    elif kind == 1:
        d.FrameIncrementPointer, d.FrameTime = 0x00181063, 20
    elif kind == 2:
        d.FrameIncrementPointer, d.NumberOfSlices = 0x00540080, n
        d.SliceVector = [int(v) for v in rng.permutation(n) + 1]
    elif kind == 3:
        d.GridFrameOffsetVector, d.DoseGridScaling = [str(2.5 * i) for i in range(n)], "0.01"
    else:
        functional(rng, d, n)
    path = folder / "image.dcm"
    save(rng, d, path, pixels(rng, d, n), n)
    damage(rng, path)
    if (kind == 1 or times(d) > 1) and n > 1:
        return f"file/volume={rng.integers(n if kind == 1 else times(d))}/path={path}"
    return str(path)


def functional(rng, d, n):
    """Functional groups: places, several times, and scales of the file or of each frame."""
    times = int(rng.choice([1, 1, 2]))
    orientation, places = positions(rng, max(1, n // times))
    order = rng.permutation(n) if rng.integers(2) else np.arange(n)
    shared, frames = Dataset(), []
    plane = Dataset()
    plane.ImageOrientationPatient = orientation
    shared.PlaneOrientationSequence = Sequence([plane])
    for k in range(n):
        position, content, value, frame = Dataset(), Dataset(), Dataset(), Dataset()
        position.ImagePositionPatient = places[int(order[k]) % len(places)]
        content.TemporalPositionIndex = int(order[k]) // len(places) + 1
        frame.PlanePositionSequence, frame.FrameContentSequence = Sequence([position]), Sequence([content])
        scaled(rng, value)
        if len(d.SOPInstanceUID) and rng.integers(2):
            frame.PixelValueTransformationSequence = Sequence([value])
        frames.append(frame)
    if rng.integers(2):
        value = Dataset()
        scaled(rng, value)
        shared.PixelValueTransformationSequence = Sequence([value])
    d.SharedFunctionalGroupsSequence, d.PerFrameFunctionalGroupsSequence = Sequence([shared]), Sequence(frames)
    d["PerFrameFunctionalGroupsSequence"].is_undefined_length = bool(rng.integers(2))


def times(d):
    """How many temporal positions the frames of a file have."""
    groups = d.get("PerFrameFunctionalGroupsSequence") or []
    return len({g.FrameContentSequence[0].get("TemporalPositionIndex") for g in groups if "FrameContentSequence" in g})


def series(rng, folder):
    n = int(rng.integers(1, 7))
    orientation, places = positions(rng, n)
    base = header(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    odd, mixed = rng.integers(10), bool(rng.integers(3) == 0)
    scaled(rng, base)
    names = rng.permutation(n)
    for k in range(n):
        d = pydicom.Dataset(base)
        d.file_meta = FileMetaDataset(base.file_meta)
        if mixed:
            scaled(rng, d)
        d.ImagePositionPatient, d.ImageOrientationPatient, d.InstanceNumber = places[k], orientation, int(k + 1)
        if odd == 0:
            del d["ImagePositionPatient"]
        elif odd == 1 and k == 1:
            d.SeriesInstanceUID = "1.2.9"
        elif odd == 2:
            d.ImageOrientationPatient = [f"{v + rng.uniform(-1e-7, 1e-7):.10f}" for v in orientation]
        elif odd == 3 and k == 1:
            d.Rows += 1
        save(rng, d, folder / f"IM{names[k]:03}.dcm", pixels(rng, d))
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
    return array * slope + float(transformation.get("RescaleIntercept", 0))


def grey(d):
    if d.PhotometricInterpretation not in ("MONOCHROME2",):
        raise Rejected(d.PhotometricInterpretation)
    if "ModalityLUTSequence" in d:
        raise Rejected("Modality LUT")
    return d.pixel_array


def volume_of_series(folder):
    from pathlib import Path

    slices = [pydicom.dcmread(p) for p in sorted(Path(folder).iterdir())]
    if len({s.SeriesInstanceUID for s in slices}) > 1:
        raise Rejected("several series")
    placed = "ImagePositionPatient" in slices[0]
    order = sort_slices(slices[0].ImageOrientationPatient, [s.ImagePositionPatient for s in slices]) if placed else np.argsort([s.InstanceNumber for s in slices])
    planes = [values(slices[i], grey(slices[i]), slices[i]) for i in order]
    if len({p.shape for p in planes}) > 1:
        raise Rejected("shapes differ")
    return np.stack(planes) if len(planes) > 1 else planes[0]


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
        usual = np.argsort(steps, kind="stable")[(len(steps) - 1) // 2]
        moves = np.diff(places[order], axis=0)
        if (np.linalg.norm(moves - moves[usual], axis=1) > TOLERANCE * steps[usual]).any():
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
            raise Rejected("as many groups as frames")
        index = [g.FrameContentSequence[0].TemporalPositionIndex for g in groups]
        places = [g.PlanePositionSequence[0].ImagePositionPatient for g in groups]
        orientation = shared[0].PlaneOrientationSequence[0].ImageOrientationPatient
        chosen = choose(orientation, places, index, volume)
    elif "SliceVector" in d:
        chosen = np.argsort(d.SliceVector) if len(array) > 1 else chosen
    elif d.get("FrameIncrementPointer") == 0x00181063 and len(array) > 1:
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


def explain(opened, ours, theirs):
    if isinstance(ours, Rejected):
        text = str(ours)
        for words, reason in {
            "transfer syntax": "JPEG and other compressions than RLE and deflate are not read",
            "MONOCHROME": "MONOCHROME1 and colours are rejected",
        }.items():
            if words in text:
                return reason
        return None
    if isinstance(theirs, Rejected):
        return None
    if ours.shape == theirs.shape and np.array_equal(ours, theirs.astype(np.float32)):
        return "scaled values are rounded to float32, where no two become one"
    return None
