"""Makes zarr.zip, the fixtures of the Zarr reader; see README.md."""
import os, shutil, tempfile, zipfile
import numpy as np, zarr, numcodecs
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

out = tempfile.mkdtemp()


def at(name):
    return os.path.join(out, name)


def seq(shape, dt, a, b):
    n = int(np.prod(shape))
    return (a + b * np.arange(n)).astype(dt).reshape(shape)


def v2(name, data, chunks, compressor=None, missing=None, **k):
    a = zarr.create_array(at(name), shape=data.shape, chunks=chunks, dtype=data.dtype, zarr_format=2, compressors=compressor, filters=None, **k)
    write(a, data, missing)


def v3(name, data, chunks, missing=None, **k):
    k.setdefault("compressors", None)
    a = zarr.create_array(at(name), shape=data.shape, chunks=chunks, dtype=data.dtype, zarr_format=3, **k)
    write(a, data, missing)


def write(a, data, missing):
    """Writes all slices but those of the first chunk where some are to be missing."""
    if missing:
        a[missing:] = data[missing:]
    else:
        a[...] = data


Blosc = numcodecs.Blosc
u8, i16, u16, f32 = seq((5, 6, 7), "u1", 10, 7), seq((5, 6, 7), "i2", -3000, 251), seq((5, 6, 7), "u2", 40000, 1001), seq((5, 6, 7), "f4", -1.5, 0.75)
v2("u8_raw_v2.zarr", u8, (2, 4, 3))
v2("i16_zlib_be_v2.zarr", i16.astype(">i2"), (2, 4, 3), numcodecs.Zlib(5))
v2("u16_gzip_slash_v2.zarr", u16, (2, 4, 3), numcodecs.GZip(5), chunk_key_encoding={"name": "v2", "separator": "/"})
v2("f32_zstd_fortran_v2.zarr", f32, (2, 4, 3), numcodecs.Zstd(3), order="F")
v2("f32_bz2_v2.zarr", f32, (5, 6, 7), numcodecs.BZ2(5))
v2("i16_lz4_v2.zarr", i16, (2, 4, 3), numcodecs.LZ4())
for cname in ("lz4", "lz4hc", "zstd", "zlib"):
    for shuffle, what in ((Blosc.NOSHUFFLE, "plain"), (Blosc.SHUFFLE, "shuffle"), (Blosc.BITSHUFFLE, "bits")):
        v2(f"u16_blosc_{cname}_{what}_v2.zarr", u16, (4, 4, 8), Blosc(cname, 5, shuffle))
v2("u16_blosc_blosclz_v2.zarr", u16 // 9000, (5, 6, 7), Blosc("blosclz", 9, Blosc.NOSHUFFLE))
# Several blocks with several streams; the last one is shorter.
for cname in ("lz4", "zstd"):
    long = (np.arange(40 * 41 * 43) // 97).astype("u4").reshape(40, 41, 43)
    v2(f"u32_blosc_{cname}_long_v2.zarr", long, (40, 41, 43), Blosc(cname, 5, Blosc.SHUFFLE, 1 << 12))
v2("u16_missing_v2.zarr", seq((5, 6, 7), "u2", 500, 100), (2, 4, 3), missing=2, fill_value=77)
v2("f32_missing_be_v2.zarr", f32.astype(">f4"), (2, 4, 3), missing=2, fill_value=2.5)
v2("b1_v2.zarr", np.arange(210).reshape(5, 6, 7) % 2 == 1, (2, 4, 3))
v2("f8_ranked_v2.zarr", seq((5, 6, 7), "f8", -1, 0.1), (2, 4, 3), numcodecs.Zstd(1))
v2("i8_2d_v2.zarr", seq((6, 7), "i1", -100, 5), (4, 3))
v2("delta_v2.zarr", i16, (2, 4, 3))
a = zarr.create_array(at("delta_filter_v2.zarr"), shape=(4, 4), chunks=(2, 2), dtype="i2", zarr_format=2, filters=[numcodecs.Delta("i2")], compressors=None)
a[...] = 3
shutil.rmtree(at("delta_v2.zarr"))

v3("u8_v3.zarr", u8, (2, 4, 3))
v3("i16_be_gzip_v3.zarr", i16, (2, 4, 3), serializer=BytesCodec(endian="big"), compressors=GzipCodec(level=5))
v3("u16_zstd_crc_v3.zarr", u16, (2, 4, 3), compressors=[ZstdCodec(level=3, checksum=True), Crc32cCodec()])
v3("f32_blosc_v3.zarr", f32, (2, 4, 3), compressors=BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"))
v3("f32_transpose_v3.zarr", f32, (2, 4, 3), filters=TransposeCodec(order=(1, 2, 0)), compressors=ZstdCodec())
v3("u16_dot_v3.zarr", u16, (2, 4, 3), chunk_key_encoding={"name": "default", "separator": "."})
v3("u16_v2keys_v3.zarr", u16, (2, 4, 3), chunk_key_encoding={"name": "v2", "separator": "/"})
v3("u16_shards_v3.zarr", u16, (2, 2, 4), shards=(4, 4, 8), compressors=ZstdCodec())
v3("u16_shards_missing_v3.zarr", seq((5, 6, 7), "u2", 500, 100), (2, 2, 4), shards=(4, 4, 8), compressors=ZstdCodec(), fill_value=77, missing=2)
v3("i16_shards_start_v3.zarr", i16, (2, 2, 4), shards={"shape": (4, 4, 8), "index_location": "start"}, compressors=GzipCodec())
v3("f32_missing_v3.zarr", f32, (2, 4, 3), fill_value=2.5, missing=2)
v3("f32_nan_v3.zarr", f32, (2, 4, 3), fill_value=float("nan"), missing=2)
v3("u64_ranked_v3.zarr", seq((5, 6, 7), "u8", 2**53 - 40, 7), (2, 4, 3))
v3("f16_v3.zarr", seq((5, 6, 7), "f2", -1.5, 0.75), (2, 4, 3), fill_value=-2.5)
v3("bool_v3.zarr", np.arange(210).reshape(5, 6, 7) % 2 == 1, (2, 4, 3))
v3("u8_volumes_v3.zarr", seq((3, 2, 3, 4), "u1", 0, 3), (2, 2, 2, 3), compressors=ZstdCodec())
v3("c8_v3.zarr", np.zeros((2, 2, 2), "c8"), (2, 2, 2))


def ngff(name, fmt, axes, levels, labels=None):
    g = zarr.open_group(at(name), mode="w", zarr_format=fmt)
    scales = [{"version": "0.5" if fmt == 3 else "0.4", "name": "image", "axes": axes, "datasets": []}]
    for path, data, chunks in levels:
        k = {"chunk_key_encoding": {"name": "v2", "separator": "/"}} if fmt == 2 else {}
        a = g.create_array(path, shape=data.shape, chunks=chunks, dtype=data.dtype, compressors=numcodecs.Blosc("lz4") if fmt == 2 else ZstdCodec(), **k)
        a[...] = data
        scales[0]["datasets"].append({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [1.0] * data.ndim}]})
    channels = {"channels": [{"label": x} for x in labels]} if labels else None
    if fmt == 3:
        g.attrs["ome"] = {"version": "0.5", "multiscales": scales} | ({"omero": channels} if labels else {})
    else:
        g.attrs["multiscales"] = scales
        if labels:
            g.attrs["omero"] = channels
    return g


def axes(names):
    kinds = {"t": "time", "c": "channel"}
    return [{"name": x, "type": kinds.get(x, "space")} for x in names]


ngff("channels_04.zarr", 2, axes("tczyx"), [
    ("0", seq((3, 2, 5, 6, 7), "u2", 0, 13), (1, 1, 2, 4, 3)), ("1", seq((3, 2, 3, 3, 4), "u2", 7, 13), (1, 1, 2, 4, 3))], ["DAPI", "GFP"])
g = ngff("channels_05.zarr", 3, axes("tczyx"), [
    ("full", seq((3, 2, 5, 6, 7), "u2", 0, 13), (1, 2, 2, 4, 3)), ("half", seq((3, 2, 3, 3, 4), "u2", 7, 13), (1, 1, 2, 4, 3))], ["DAPI", "GFP"])
labels = g.create_group("labels")
a = labels.create_array("cells", shape=(5, 6, 7), chunks=(2, 4, 3), dtype="u1")
a[...] = u8
nuclei = ngff("channels_05.zarr/labels/nuclei", 3, axes("zyx"), [("0", u8, (2, 4, 3))])
ngff("flat_05.zarr", 3, axes("cyx"), [("0", seq((2, 6, 7), "u2", 0, 13), (1, 4, 3))], ["DAPI", "GFP"])
ngff("last_05.zarr", 3, axes("zyxc"), [("0", seq((2, 6, 7, 2), "u2", 0, 13), (1, 4, 3, 2))])
ngff("volume_05.zarr", 3, axes("zyx"), [("0", u8, (2, 4, 3)), ("1", seq((3, 3, 4), "u1", 1, 1), (2, 4, 3))])
g = zarr.open_group(at("series_04.zarr"), mode="w", zarr_format=2)
g.attrs["bioformats2raw.layout"] = 3
os.rename(at("volume_05.zarr"), at("volume.tmp"))
ngff("volume_04.zarr", 2, axes("zyx"), [("0", u8, (2, 4, 3))])
os.rename(at("volume_04.zarr"), at("series_04.zarr/0"))
os.rename(at("volume.tmp"), at("volume_05.zarr"))
g = zarr.open_group(at("xarray.zarr"), mode="w", zarr_format=2)
a = g.create_array("signal", shape=(2, 5, 6, 7), chunks=(1, 2, 4, 3), dtype="u2", compressors=None)
a[...] = seq((2, 5, 6, 7), "u2", 0, 13)
a.attrs["_ARRAY_DIMENSIONS"] = ["c", "z", "y", "x"]
g = zarr.open_group(at("two_arrays.zarr"), mode="w", zarr_format=3)
for name in ("first", "second"):
    a = g.create_array(name, shape=(5, 6, 7), chunks=(2, 4, 3), dtype="u1", compressors=None)
    a[...] = u8

with zipfile.ZipFile("zarr.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(out) for f in names)
    for f in files:
        info = zipfile.ZipInfo(os.path.relpath(f, out), (2026, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        with open(f, "rb") as data:
            z.writestr(info, data.read(), compresslevel=9)
shutil.rmtree(out)
