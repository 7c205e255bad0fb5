"""Zarr v2 and v3 arrays and OME-NGFF images against zarr-python 3.

Metadata and chunks are written by hand, which is some hundred times as fast as zarr-python: all
types, byte orders, chunk shapes, key encodings, codecs, shards, fill values, missing chunks, and odd,
damaged and unknown metadata.
"""

import asyncio
import gzip
import itertools
import json
import re
import struct
import warnings
from pathlib import Path

import numcodecs
import numpy as np
import zarr
from zarr import AsyncGroup
from zarr.api import asynchronous

from . import Rejected, _common
from ._common import MADE  # "NAME:FLAG" for the odd fields and the damage of an array

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b1"]
NAMES = {"b1": "bool", **{f"{k}{n}": f"{word}{8 * n}" for k, word in (("u", "uint"), ("i", "int"), ("f", "float")) for n in (1, 2, 4, 8)}}
FILLS = ["NaN", "Infinity", "-Infinity"]

warnings.filterwarnings("ignore", ".* chunks missing", UserWarning)
zarr.config.set({"async.concurrency": 1})
numcodecs.blosc.use_threads = False


async def at_once(call, /, *args, **kwargs):
    """asyncio.to_thread without a thread, which takes longer to start than these calls."""
    return call(*args, **kwargs)


LOOP = asyncio.new_event_loop()
asyncio.to_thread = at_once


def chance(rng, one_in):
    return int(rng.integers(one_in)) == 0


def choose(rng, *choices):
    return choices[int(rng.integers(len(choices)))]


def generate(rng, folder):
    path = folder / "image.zarr"
    if chance(rng, 5):
        return ome(rng, path)
    ndim = choose(rng, 0, 1, 2, 2, 3, 3, 3, 4) if chance(rng, 3) else choose(rng, 2, 3)
    array(rng, path, [int(n) for n in rng.integers(0 if chance(rng, 30) else 1, 7, ndim)])
    return str(path)


def array(rng, path, shape):
    """One array, and now and then a fault in its metadata or in one of its chunks."""
    (version2 if chance(rng, 2) else version3)(rng, path, shape)
    files = [p for p in path.rglob("*") if p.is_file()]
    if chance(rng, 12):
        file = files[int(rng.integers(len(files)))]
        what = damage(rng, file)
        MADE.add(f"{path.name}:{what} {'metadata' if file.parent == path and file.name in ('.zarray', 'zarr.json') else 'chunk'}")


def damage(rng, path):
    """Damage a file. Return how."""
    data = bytearray(path.read_bytes())
    at = int(rng.integers(len(data)))
    match what := choose(rng, "cut", "changed", "longer", "lost"):
        case "cut":
            data = data[:at]
        case "changed":
            data[at] ^= 1 << int(rng.integers(8))
        case "longer":
            data += bytes(int(rng.integers(1, 9)))
        case "lost":
            path.unlink()
            return what
    path.write_bytes(data)
    return what


def voxels(rng, shape, kind):
    values = rng.integers(0, 2 if kind == "b1" else 100, shape)
    return values.astype(kind)


def chunks(shape, chunk):
    return itertools.product(*(range(-(-n // c)) for n, c in zip(shape, chunk)))


def cut(whole, at, chunk, fill):
    """A chunk, filled up beyond the array's end."""
    out = np.full(chunk, fill, whole.dtype)
    part = whole[tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunk))]
    out[tuple(slice(n) for n in part.shape)] = part
    return out


def blosc(rng):
    return numcodecs.Blosc(choose(rng, "lz4", "lz4hc", "zlib", "zstd"), int(rng.integers(0, 10)), int(rng.integers(0, 3)), int(choose(rng, 0, 0, 64)))


def fill_of(rng, kind):
    """A fill value as JSON has it, and as a number."""
    if kind == "b1":
        value = bool(rng.integers(2))
        return value, value
    if kind[0] == "f" and chance(rng, 4):
        word = choose(rng, *FILLS)
        return word, float(word.replace("Infinity", "inf"))
    value = int(rng.integers(0, 100))
    return (float(value) if kind[0] == "f" and chance(rng, 2) else value), value


def version2(rng, path, shape):
    kind = choose(rng, *TYPES)
    dtype = np.dtype(choose(rng, "<", ">") + kind)
    chunk = [int(n) for n in rng.integers(1, 7, len(shape))]
    order, separator = choose(rng, "C", "C", "F"), choose(rng, ".", ".", "/")
    fill, number = (None, 0) if chance(rng, 5) else fill_of(rng, kind)
    name = choose(rng, None, "gzip", "zlib", "bz2", "zstd", "lz4", "blosc", "blosc")
    compressor = {
        None: None, "gzip": numcodecs.GZip(1), "zlib": numcodecs.Zlib(1), "bz2": numcodecs.BZ2(1), "zstd": numcodecs.Zstd(1),
        "lz4": numcodecs.LZ4(), "blosc": blosc(rng) if name == "blosc" else None,
    }[name]
    meta = {
        "zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": dtype.str, "order": order, "fill_value": fill, "filters": choose(rng, None, None, []),
        "compressor": compressor and compressor.get_config(), "dimension_separator": separator,
    }
    if separator == "." and chance(rng, 2):
        del meta["dimension_separator"]
    if chance(rng, 15):
        odd = {
            "filters": [{"id": "delta", "dtype": dtype.str}], "zarr_format": 3, "order": "K", "dtype": "<c8", "dimension_separator": "-", "shape": [-1] * len(shape),
            "chunks": [0] * len(shape), "compressor": {"id": "lzma"}, "fill_value": "many", "extra": 1,
        }
        key = choose(rng, *odd)
        MADE.add(f"{path.name}:{key}")
        meta[key] = odd[key]
    path.mkdir()
    (path / ".zarray").write_text(json.dumps(meta))
    whole = voxels(rng, shape, kind).astype(dtype)
    for at in chunks(shape, chunk):
        if not chance(rng, 6):
            data = cut(whole, at, chunk, number).tobytes(order)
            file = path / separator.join(map(str, at)) if at else path / "0"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(compressor.encode(data) if compressor else data)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def codecs(rng, ndim, kind, plain=False):
    """A list of codecs, and the function that encodes a chunk by them."""
    order, big = None, bool(rng.integers(2))
    listed = []
    if chance(rng, 4) and ndim > 0 and not plain:
        order = [int(n) for n in rng.permutation(ndim)]
        listed.append({"name": "transpose", "configuration": {"order": order}})
    endian = {"configuration": {"endian": "big" if big else "little"}}
    single = kind in ("u1", "i1", "b1")
    listed.append({"name": "bytes", **({} if single and chance(rng, 2) else endian)})
    steps = []
    if not plain:
        match choose(rng, None, "gzip", "zstd", "blosc"):
            case "gzip":
                steps.append(lambda b: gzip.compress(b, 1))
                listed.append({"name": "gzip", "configuration": {"level": 1}})
            case "zstd":
                steps.append(numcodecs.Zstd(1).encode)
                listed.append({"name": "zstd", "configuration": {"level": 1, "checksum": False}})
            case "blosc":
                codec = blosc(rng)
                steps.append(codec.encode)
                listed.append({"name": "blosc", "configuration": {
                    "cname": codec.cname, "clevel": codec.clevel, "shuffle": ["noshuffle", "shuffle", "bitshuffle"][codec.shuffle],
                    "typesize": np.dtype(kind).itemsize, "blocksize": codec.blocksize}})
    if chance(rng, 4) or plain and chance(rng, 2):
        steps.append(lambda b: bytes(b) + crc32c(bytes(b)))
        listed.append({"name": "crc32c"})

    def encode(data):
        data = np.asarray(data).astype(np.dtype((">" if big else "<") + kind))
        out = (data if order is None else data.transpose(order)).tobytes("C")
        for step in steps:
            out = bytes(step(out))
        return out

    return listed, encode


def sharded(rng, chunk, kind, fill):
    """The codec of shards of some chunks, and the function that encodes a shard by it."""
    each = [choose(rng, *[d for d in range(1, n + 1) if n % d == 0]) for n in chunk]
    inner, encode = codecs(rng, len(chunk), kind)
    index, encode_index = codecs(rng, len(chunk) + 1, "u8", plain=True)
    location = choose(rng, "end", "start")
    listed = [{"name": "sharding_indexed", "configuration": {"chunk_shape": each, "codecs": inner, "index_codecs": index, "index_location": location}}]
    gaps = rng.random() < 0.5

    def encode_shard(shard):
        count = [n // e for n, e in zip(chunk, each)]
        table, body = np.full([*count, 2], 2**64 - 1, "u8"), b""
        size = len(encode_index(table)) if location == "start" else 0
        for at in itertools.product(*map(range, count)):
            if gaps and chance(rng, 4):
                continue
            data = encode(shard[tuple(slice(i * e, (i + 1) * e) for i, e in zip(at, each))])
            table[at] = size + len(body), len(data)
            body += data
        return encode_index(table) + body if location == "start" else body + encode_index(table)

    return listed, encode_shard


def version3(rng, path, shape):
    kind = choose(rng, *TYPES)
    chunk = [int(n) for n in rng.integers(1, 7, len(shape))]
    fill, number = fill_of(rng, kind)
    if kind[0] == "f" and chance(rng, 4):
        bits = np.array([number], kind).view("u" + kind[1])[0]
        fill = f"0x{int(bits):0{2 * int(kind[1])}x}"
    if shape and chance(rng, 3):
        listed, encode = sharded(rng, chunk, kind, number)
    else:
        listed, encode = codecs(rng, len(shape), kind)
    v2, separator = chance(rng, 3), choose(rng, ".", "/")
    encoding = {"name": "v2" if v2 else "default", "configuration": {"separator": separator}}
    if separator == (".", "/")[not v2] and chance(rng, 2):
        del encoding["configuration"]
    meta = {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": NAMES[kind], "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}}, "chunk_key_encoding": encoding, "codecs": listed, "attributes": {},
    }
    if chance(rng, 8):
        meta["storage_transformers"] = []
        meta["dimension_names"] = [None] * len(shape)
    if chance(rng, 10):
        odd = {
            "zarr_format": 2, "node_type": "thing", "shape": [-1] * len(shape), "data_type": "complex64", "fill_value": "many",
            "chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shape": chunk}}, "chunk_key_encoding": {"name": "hash"}, "codecs": [],
            "storage_transformers": [{"name": "x"}], "unknown": {"must_understand": True}, "unknown2": 5, "unknown3": {"must_understand": False},
            "dimension_names": ["a"],
        }
        key = choose(rng, *odd)
        MADE.add(f"{path.name}:{key}")
        meta[key] = odd[key]
        if key == "codecs":
            meta[key] = choose(rng, [], [{"name": "bytes"}], [{"name": "gzip"}, *listed], [*listed, {"name": "lzma"}], [*listed, *listed], [{"name": "bytes", "configuration": {"endian": "middle"}}])
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(meta))
    whole = voxels(rng, shape, kind)
    for at in chunks(shape, chunk):
        if not chance(rng, 6):
            words = [] if v2 else ["c"]
            key = separator.join([*words, *map(str, at)]) or "0"
            file = path / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(encode(cut(whole, at, chunk, number)))


def ome(rng, path):
    """An OME-NGFF image with a chosen channel or volume."""
    five = chance(rng, 2)
    axes = choose(rng, "yx", "zyx", "cyx", "czyx", "tzyx", "tczyx", "tcyx")
    shape = [int(n) for n in rng.integers(1, 4, len(axes))]
    kinds = {"t": "time", "c": "channel"}
    count = dict(zip(axes, shape)).get("c", 0)
    labels = [{"label": str(choose(rng, "a", "b", "c", "1", "0"))} for _ in range(count)]
    scales = [{"axes": [{"name": a, "type": kinds.get(a, "space")} for a in axes], "datasets": [{"path": "0"}, {"path": "1"}]}]
    metadata = {"multiscales": scales} | ({"omero": {"channels": labels}} if labels and chance(rng, 2) else {})
    path.mkdir()
    if five:
        (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", **metadata}}}))
    else:
        (path / ".zgroup").write_text('{"zarr_format": 2}')
        (path / ".zattrs").write_text(json.dumps(metadata))
    make = version3 if five else version2
    make(rng, path / "0", shape)
    make(rng, path / "1", [1] * len(shape))
    keys = ""
    if chance(rng, 4):
        keys += "/array=" + choose(rng, "0", "1", "none")
    if chance(rng, 2):
        keys += "/channel=" + choose(rng, "a", "b", "0", "1", "2")
    if chance(rng, 2):
        keys += f"/volume={int(rng.integers(0, 4))}"
    return f"file{keys}/path={path}" if keys else str(path)


def keys_of(opened):
    if not opened.startswith("file/"):
        return {}, opened
    head, path = opened.removeprefix("file/").split("path=", 1)
    return dict(pair.split("=") for pair in head.strip("/").split("/") if pair), path


def reference(opened):
    keys, path = keys_of(opened)
    try:
        return LOOP.run_until_complete(refer(path, keys))
    except Rejected:
        raise
    except Exception as e:  # of any kind: zarr-python and its codecs have no common one
        raise Rejected(f"{type(e).__name__}: {e}") from None


async def refer(path, keys):
    node = await asynchronous.open(store=path, mode="r")
    if isinstance(node, AsyncGroup):
        return await chosen(node, keys)
    return _common.image(await whole(node), int(keys["volume"]) if "volume" in keys else None, space=False)


async def whole(node):
    data = np.asarray(await node.getitem(... if node.ndim else ()))
    return data.view("u1") != 0 if data.dtype == bool else data


async def chosen(group, keys):
    """The image of an OME-NGFF group that the keys mean."""
    attributes = dict(group.attrs)
    attributes = attributes.get("ome", attributes)
    axes = [a["name"] for a in attributes["multiscales"][0]["axes"]]
    labels = [c["label"] for c in attributes.get("omero", {}).get("channels", [])]
    return image(await whole(await group.getitem(keys.get("array", "0"))), keys, axes, labels)


def image(data, keys, axes, labels):
    """The volume of an array that the keys mean."""
    volume = int(keys["volume"]) if "volume" in keys else None
    channel = keys.get("channel")
    if channel is not None and "c" not in axes:
        raise Rejected("no channels")
    space = len([a for a in axes if a in "zyx"])
    if "c" in axes:
        count = data.shape[axes.index("c")]
        if channel is not None:
            same = [i for i, label in enumerate(labels) if label == channel]
            number = int(channel) if channel.isdigit() and int(channel) < count else None
            if len(same) > 1 or same and number is not None and number != same[0]:
                raise Rejected("several channels")
            at = same[0] if same else number
            if at is None:
                raise Rejected("no such channel")
            data = data.take(at, axes.index("c"))
        elif len(labels) > 1 and count > 1 and volume is None:
            raise Rejected("which channel?")
    data = data.reshape(-1, *data.shape[data.ndim - space :])
    if volume is None and len(data) > 1:
        raise Rejected("which volume?")
    if not 0 <= (volume or 0) < len(data):
        raise Rejected("no such volume")
    return data[volume or 0]


def explain(opened, ours, theirs):
    keys, path = keys_of(opened)
    array = Path(path, keys.get("array", "0"))
    if not any((array / meta).exists() for meta in (".zarray", "zarr.json")):
        array = Path(path)
    flags = {flag.removeprefix(array.name + ":") for flag in MADE if flag.startswith(array.name + ":")}
    if isinstance(ours, Rejected) == isinstance(theirs, Rejected):
        return None
    if isinstance(ours, Rejected) and _common.unordered(opened, ours, theirs):
        return _common.UNORDERED
    said, reasons = (ours, REASONS) if isinstance(ours, Rejected) else (theirs, STRICTER)
    version3 = array / "zarr.json"
    if "longer chunk" in flags and version3.exists() and '"index_location": "end"' in version3.read_text():
        flags.add("shifted index")
    if isinstance(ours, Rejected) and "changed chunk" in flags:
        if found := re.search("chunk (.*): lz4: lz4", str(ours)):
            flags |= lz4_faults((array / found[1]).read_bytes()[4:])
    return _common.by_made(said, reasons, flags)


def lz4_faults(block):
    """What of an LZ4 block the format does not allow, and the reference reads."""
    at, faults = 0, set()

    def length(n, at):
        more = n == 15
        while more:
            byte = block[at] if at < len(block) else 0
            n, at, more = n + byte, at + 1, byte == 255
        return n, at

    while at < len(block):
        token = block[at]
        literals, at = length(token >> 4, at + 1)
        at += literals
        if at >= len(block):
            return faults | ({"last match"} if token & 15 else set())
        if block[at : at + 2] == bytes(2):
            faults.add("offset 0")
        at = length(token & 15, at + 2)[1]
    return faults


# What eccbench rejects and zarr-python reads: the message, the field or the damage that causes it,
# and why.
REASONS = [
    ("filter .* is not read", "filters", "filters are not read"),
    ("its codec is .lzma", "compressor, codecs", "codecs other than those of doc/formats/zarr.md are not read"),
    ("dtype .* is not bool", "dtype, data_type", "complex, structured and text types are not read"),
    ("unknown field", "unknown, unknown2, changed metadata", "a field that the format does not know is rejected, as it demands"),
    ("it has storage transformers", "storage_transformers", "storage transformers are rejected, as the format demands"),
    ("not in lower case|no fill_value|has no endian", "changed metadata, codecs", "a required field that is misspelled or missing"),
    ("fill value .many", "fill_value", "a fill value that is no number"),
    ("Blosc container is damaged", "cut chunk", "a Blosc container of another length than it says"),
    (r"Blosc container has \d+ bytes, and its header", "cut chunk, longer chunk, changed chunk",
     "a Blosc container of another length than it says"),
    ("lz4: lz4: invalid", "last match, offset 0",
     "an LZ4 block with a match at its end or at offset 0, which the format does not allow"),
    ("equal symbols in Huffman tree", "changed chunk",
     "bzip2 data whose codes are no Huffman tree, which the reference decodes to the bytes of their checksums"),
    (r"its index states|truncated: \d+ bytes at \d+ of \d+$", "shifted index",
     "a shard with bytes behind its index, so that other places are read as the index"),
    ("its index states", "cut chunk, changed chunk", "a shard whose index names bytes that it lacks"),
    ("truncated: .* of which the last", "cut chunk", "a shard that is shorter than its index"),
    ("continuation file|no checksum at their end", "longer chunk", "bytes after a bzip2 stream"),
    ("checksum", "cut chunk, changed chunk", "a chunk whose checksum is cut off or is another"),
    ("bytes, where a chunk has", "longer chunk", "a chunk that is longer than its shape says"),
    (r"chunk .*: truncated: \d+ bytes at \d+ of \d+$", "cut chunk, changed chunk", "a chunk that goes on beyond its shard's end, where the reference decodes the bytes that are there"),
]

# What zarr-python rejects and eccbench reads.
STRICTER = [
    ("unexpected keyword argument|does not have a .configuration. key|Value must be one of|Expected one of", "changed metadata", "parameters of a codec that bear on writing alone are not looked at"),
    ("Invalid data stream", "changed chunk", "bzip2 data with a changed bit that still decode to the bytes of their checksums"),
]
