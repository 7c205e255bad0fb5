"""NumPy's .npz against numpy.load: archives of one array or several, stored or deflated, damaged."""

import io
import re
import struct
import zipfile
import zlib

import numpy as np

from . import Rejected, _common, npy
from ._common import MADE, chance, pick


def generate(rng, folder):
    archive, wanted = io.BytesIO(), None
    names = ["image", "a/b", "arr_0", "ünï"][: int(rng.integers(1, 4)) if chance(rng, 3) else 1]
    with zipfile.ZipFile(archive, "w") as z:
        for name in names:
            MADE.clear()  # the last is opened
            data, volume = npy.array_file(rng)
            method = pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]) if not chance(rng, 30) else zipfile.ZIP_BZIP2
            with z.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=chance(rng, 3)) if method == zipfile.ZIP_STORED else nothing() as f:
                f.write(data)
            if method == zipfile.ZIP_BZIP2:
                MADE.add("bzip2")
            if method != zipfile.ZIP_STORED:
                z.writestr(name + ".npy", data, method)
            wanted = (name, volume)
        if chance(rng, 9):
            z.writestr("notes.txt", b"no array")
        if chance(rng, 9):
            z.comment = b"a comment"
    data = archive.getvalue()
    odd = rng.integers(8)
    if odd < 3:
        MADE.add(("cut archive", "longer archive", "changed archive")[odd])
    if odd == 0:
        data = data[: int(rng.integers(1, len(data)))]
    elif odd == 1:
        data += bytes(int(rng.integers(1, 20)))
    elif odd == 2:
        at = int(rng.integers(len(data)))
        if len(data) - len(z.comment) - 2 <= at < len(data) - len(z.comment):
            MADE.add("changed length of the comment")
        data = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
    path = folder / "image.npz"
    path.write_bytes(data)
    keys = "" if wanted[1] is None else f"/volume={wanted[1]}"
    if len(names) > 1 and not chance(rng, 9):
        keys += "/array=" + wanted[0].replace("/", "%2F")
    return f"file{keys}/path={path}" if keys else str(path)


class nothing:
    """A member that is written elsewhere."""

    def __enter__(self):
        return io.BytesIO()

    def __exit__(self, *_):
        pass


def reference(opened):
    found = re.fullmatch(r"file(?:/volume=(\d+))?(?:/array=([^/]*))?/path=(.*)", opened)
    volume, name, path = found.groups() if found else (None, None, opened)
    try:
        with zipfile.ZipFile(path) as z:
            arrays = [n for n in z.namelist() if n.endswith(".npy")]
            if len(set(arrays)) < len(arrays):
                raise Rejected("two arrays of one name")
            wanted = name.replace("%2F", "/") + ".npy" if name else arrays[0] if len(arrays) == 1 else None
            if wanted not in arrays:
                raise Rejected("no such array, or several")
            with z.open(wanted) as f:
                array = npy.stored(f)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, KeyError, ValueError, struct.error, UnicodeDecodeError) as e:
        raise Rejected(str(e)) from None
    return _common.image(array, None if volume is None else int(volume), space=False)


# Files that eccbench rejects and NumPy reads: the message, the features that cause it, and the reason.
REASONS = [
    ("compressed bytes can hold|checksum error|the compressed voxels (end after|have no checksum)", "changed archive",
     "a compressed array ends where the archive says, with the end of its stream"),
    ("trailing data after the archive", "longer archive, changed length of the comment",
     "bytes behind the archive are rejected"),
    ("unsupported compression algorithm", "bzip2, changed archive",
     "members are stored or deflated, as NumPy writes them"),
    ("not an npz archive|lie beyond the end of the archive|not a valid zip file|there is no array|has no .npy array",
     "cut archive, changed archive", "a damaged directory is rejected, whatever part of it NumPy uses"),
    ("bytes by one header", "changed archive", "lengths that differ between the parts of a directory are rejected"),
]

# Files that NumPy rejects and eccbench reads.
STRICTER = [
    ("zip file version", "changed archive", "the version that an archive asks for does not matter"),
    ("Truncated central directory", "changed archive",
     "a directory has as many entries as the archive says, however long"),
    ("Bad magic number for file header|File name in directory|Overlapped|local header", "changed archive",
     "of a local header only the offset of its data is used, of which the directory says all else"),
]


def explain(opened, ours, theirs):
    return _common.by_made(ours, REASONS) or _common.by_made(theirs, STRICTER) or npy.explain(opened, ours, theirs)
