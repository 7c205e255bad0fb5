"""FITS against Astropy: types, scaling, BLANK, extensions, headers with odd cards, files cut or longer."""

import re

import numpy as np
from astropy.io import fits

from . import Rejected, _common
from ._common import chance, pick

BITS = {8: "u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
BLOCK = 2880


def block(data, fill):
    return data + fill * (-len(data) % BLOCK)


def card(rng, key, value):
    text = f"{key:8}= {value:>20}"
    if chance(rng, 12):
        text = f"{key:8}= {value}"
    if chance(rng, 12):
        text += " / a comment = 'x'"
    return text.ljust(80).encode()


def unit(rng, first, image=True):
    """The bytes of a header and its data, of an image or of a table."""
    bits = pick(rng, list(BITS)) if image else 8
    axes = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5)))]  # slowest first
    if chance(rng, 15) and first:
        axes = []
    if chance(rng, 60) and axes:
        axes[0] = 0
    array = _common.voxels(rng, BITS[bits], axes if axes else [0])
    cards = [card(rng, "SIMPLE", "T") if first else card(rng, "XTENSION", "'IMAGE   '" if image else "'OTHER   '")]
    cards += [card(rng, "BITPIX", bits), card(rng, "NAXIS", len(axes))]
    cards += [card(rng, f"NAXIS{i + 1}", n) for i, n in enumerate(axes[::-1])]
    if not first:
        cards += [card(rng, "PCOUNT", 0 if not chance(rng, 60) or image else 4), card(rng, "GCOUNT", 1)]
    more = [card(rng, "EXTEND", "T")] if first and chance(rng, 2) else []
    if chance(rng, 3):
        zero = {8: "-128", 16: "32768", 32: "2147483648", 64: "9223372036854775808"}.get(bits, "0.5")
        more += [card(rng, "BZERO", pick(rng, [zero, zero + ".0", "0", "1.5D1", "-2.0e0", "1.5d1"]))]
    if chance(rng, 5):
        more += [card(rng, "BSCALE", pick(rng, ["1", "1.0", "2", "0.5", "-1", "2.5E-1"]))]
    if chance(rng, 5):
        more += [card(rng, "BLANK", pick(rng, [-1, 3, array.ravel()[0] if array.size and bits > 0 else 0, -99999, 255]))]
    if chance(rng, 4):
        more += [b"COMMENT  BZERO = 3".ljust(80), b"HISTORY BSCALE  = 2".ljust(80), card(rng, "OBJECT", "'NAXIS = 3'")]
    if chance(rng, 4):
        rng.shuffle(more)
    if bits < 0 and array.size and chance(rng, 12):
        array.ravel()[0] = np.nan
    return block(b"".join(cards + [bytes(c) for c in more] + [b"END".ljust(80)]), b" "), array.tobytes()


def generate(rng, folder):
    parts = []
    for i in range(int(rng.integers(1, 4)) if chance(rng, 3) else 1):
        head, data = unit(rng, i == 0, image=not chance(rng, 4) or i == 0)
        parts.append(head + block(data, b"\0"))
        last = head + data
    whole = b"".join(parts)
    odd = rng.integers(8)
    if odd == 0:
        whole = b"".join(parts[:-1]) + last  # not filled up
    elif odd == 1:
        whole += bytes(int(rng.integers(1, 4000)))
    elif odd == 2:
        whole = whole[: int(rng.integers(1, len(whole)))]
    volume = int(rng.integers(4)) if chance(rng, 4) else None
    return _common.named(_common.packed(rng, folder / "image.fits", whole), volume)


def reference(opened):
    path, volume = _common.volume_of(opened)
    inner = _common.unpacked(path)
    try:
        with fits.open(inner, memmap=False) as units:
            one = first(units)
            if one is None or one.data is None:
                raise Rejected("no image, or no voxels")
            return _common.image(one.data, volume)
    except (OSError, ValueError, TypeError, KeyError, IndexError, fits.VerifyError, OverflowError) as e:
        raise Rejected(f"{type(e).__name__} {e}") from None


def first(units):
    """The first unit that is an image, or None."""
    return next((u for u in units if isinstance(u, (fits.PrimaryHDU, fits.ImageHDU)) and u.header["NAXIS"] > 0), None)


def explain(opened, ours, theirs):
    inner = _common.unpacked(_common.volume_of(opened)[0])
    if "Empty or corrupt" in str(theirs) and not isinstance(ours, Rejected):
        head = inner.read_bytes()[:BLOCK]
        if re.search(rb"NAXIS *= +0 ", head) and re.search(rb"BZERO *= *0\.5\.0 ", head):
            return "a BZERO that is no number is not looked at in a unit without voxels"
        return None
    with fits.open(inner, memmap=False, do_not_scale_image_data=True) as units:
        one = first(units)
        if one is None:
            return None
        head, stored = one.header, one.data
    failed = re.search("UFuncTypeError|NaN to integer", str(theirs))
    if failed and head["BITPIX"] == 8 and {"BZERO", "BLANK"} & set(head):
        return "int8 is read with a BZERO or BLANK of any spelling, which Astropy fails on"
    if "voxels have the value of FITS keyword BLANK" in str(ours) and np.any(stored == head["BLANK"]):
        return "voxels without a value are rejected"
    return _common.explain(opened, ours, theirs) or _common.rounded(ours, theirs)
