"""The handling of arguments by eccbench.cuda, with a stand-in for CuPy whose device is the host. As on
a device, the library makes plans and counts by addresses."""

import ctypes
import sys
import threading
import types

import numpy as np
import pytest

import eccbench
import eccbench.cuda
from eccbench import _library


class Memory:
    def __init__(self, ptr):
        self.ptr = ptr


class Device:
    id = 3

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def synchronize(self):
        pass


class Stream:
    ptr = 77
    capturing = False

    def is_capturing(self):
        return self.capturing


class Array(np.ndarray):
    device = property(lambda self: Device())
    data = property(lambda self: Memory(self.ctypes.data if self.size else 0))  # like the addresses of a device


def put(a):
    return np.asarray(a).view(Array)


class Plan:
    """A plan that answers by eccbench.curve and eccbench.gvf."""

    made: list = []

    def __init__(self, request):
        assert not {"flow", "betti", "matching"}.isdisjoint(request) or request["align"] in (1, 2, 4, 8, 16)
        self.request = request
        self.made.append(request)
        self.calls = []
        self.closed = False
        if "flow" in request:
            assert request["flow"]["align"] in (4, 8, 16)
            self.rows, self.memory = len(request["shape"]) - (len(request["shape"]) == 3 and request["shape"][0] == 1), 1024
            self.most = 1
            return
        self.rows = 1 << (8 * np.dtype(request["type"]).itemsize) if request.get("at") is None else len(request["at"])
        if "matching" in request:
            self.rows = 1
        self.memory, self.most = 64 + 8 * self.rows, 2**16 - 1

    def close(self):
        self.closed = True

    def add(self, images, image, chi, memory, stream):
        assert not self.closed
        self.calls.append((image, stream))
        shape, dtype = tuple(self.request["shape"]), np.dtype(self.request["type"])
        if "flow" in self.request:
            flow = dict(self.request["flow"])
            assert chi % flow.pop("align") == 0 and flow.pop("tol") == 0
            # The kernels compute no component along z for a volume of one slice.
            n = 2 if len(shape) == 3 and shape[0] == 1 else len(shape)
            fields = [eccbench.gvf(voxels, **flow, verify=False)[-n:] for voxels in seen(image, (images, *shape), dtype)]
            seen(chi, (images, *fields[0].shape), np.dtype(np.float32))[:] = fields
            return
        assert image % self.request.get("align", 1) == 0 and memory
        if "matching" in self.request:
            out = seen(chi, (images, 3), np.dtype(np.int64))
            for i, pair in enumerate(seen(image, (images, 2, *shape), dtype)):
                row = eccbench.assess(*pair, labels=[1])[1, {"T": 8, "V": 4}[self.request["matching"]]]
                out[i] = row["matched0_min"], row["matched1_min"], (pair[0] != pair[1]).sum()
            return
        voxels = seen(image, (images, *shape), dtype)
        if "betti" in self.request:
            out = seen(chi, (images, self.rows, 3), np.dtype(np.int64))
            at = range(256) if self.request.get("at") is None else self.request["at"]
            if self.request["betti"].get("above") and self.request["betti"].get("every"):
                at = at[::-1]  # the greatest value first
            for i, k in np.ndindex(images, self.rows):
                outside = voxels[i] <= at[k] if self.request["betti"].get("above") else voxels[i] > at[k]
                out[i, k] = eccbench.betti(outside.astype(np.uint8), 0, verify=False)
            return
        out = seen(chi, (images, self.rows), np.dtype(np.int64))
        at = self.request["at"]
        if at is None:
            at = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
        for i in range(images):
            out[i] = eccbench.curve(voxels[i], at=at, verify=False).chi


    def verify(self, images, image, chi, stream):
        assert not self.closed and stream == 77
        of_three = not {"betti", "matching"}.isdisjoint(self.request)
        assert of_three or image % 16 == 0
        again = np.zeros((images, self.rows, 3 if of_three else 1), np.int64)
        Plan.add(self, images, image, again.ctypes.data, 1, stream)
        if (again != seen(chi, again.shape, again.dtype)).any():
            raise _library.Error("internal", "the curve of image 0 is WRONG")


def seen(address, shape, dtype):
    n = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * n).from_address(address), dtype).reshape(shape)


@pytest.fixture
def cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.ndarray = Array
    module.stream = Stream()
    module.empty = lambda shape, dtype: np.full(shape, -7, dtype).view(Array)
    module.asarray = put
    module.ascontiguousarray = lambda a: np.ascontiguousarray(a).view(Array)
    module.take = lambda a, rows, axis, out: np.take(a, rows, axis=axis, out=out)
    module.asnumpy = np.asarray
    module.isfinite = np.isfinite
    module.cuda = types.SimpleNamespace(get_current_stream=lambda device: module.stream, Device=lambda device: Device(), runtime=types.SimpleNamespace(getDevice=lambda: 0))
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(eccbench.cuda, "_adapters", {})
    monkeypatch.setattr(eccbench.cuda, "_kinds", {})
    monkeypatch.setattr(eccbench.cuda, "_known", eccbench.cuda._Known())
    monkeypatch.setattr(_library, "Plan", Plan)
    monkeypatch.setattr(Plan, "made", [])
    return module


def noise(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 200, shape).astype(dtype)


def chi(image, at):
    return eccbench.curve(np.ascontiguousarray(image), at=at, verify=False).chi


def test_all_values(cupy):
    for dtype in (np.uint8, bool, np.int16, np.uint16, np.int8):
        image = put(noise((5, 6, 7), dtype))
        got = eccbench.cuda.curve(image)
        bounds = np.iinfo({"bool": np.uint8, "int8": np.int16}.get(image.dtype.name, image.dtype))
        assert isinstance(got, Array) and (got == chi(image, np.arange(bounds.min, bounds.max + 1))).all()
    assert Plan.made[0] == {"device": 3, "shape": (5, 6, 7), "type": "uint8", "at": None, "align": 16, "on_levels": False}
    assert [r["type"] for r in Plan.made] == ["uint8", "int16", "uint16"]  # bool as uint8, int8 as int16


def test_some_values(cupy):
    for dtype in (np.uint8, np.int16, np.uint16, np.float32, np.float16):
        image = put(noise((9, 30), dtype))
        for at in ([3], [9, 3, 9.5, 100], (1, 2, 3), np.arange(4, 9), [250.5, 1e4]):
            assert (eccbench.cuda.curve(image, at=at) == chi(image, at)).all(), (dtype, at)
    image = put(np.array([[0.1, 0.2]], np.float32))
    at = [0.1, np.float32(0.1), 0.2, float(np.float32(0.2))]  # float32 rounds both up
    assert list(eccbench.cuda.curve(image, at=at)) == [0, 1, 1, 1]


def test_verified(cupy, monkeypatch):
    """Curves are compared with fingerprints on the device, of images with the alignment of its kernels."""
    memory = put(np.zeros(4 * 100, np.uint8))
    for first in (0, 1, 4, 16):
        first += -memory.ctypes.data % 16
        image = memory[first : first + 35].reshape(5, 7)
        image[:] = noise((5, 7), np.uint8)
        for at in (None, [9, 3, 9]):
            assert (eccbench.cuda.curve(image, at=at, verify=True) == chi(image, np.arange(256) if at is None else at)).all()
        assert (eccbench.cuda.curve(put(noise((2, 5, 7), np.uint8)), dims=2, verify=True) == eccbench.cuda.curve(put(noise((2, 5, 7), np.uint8)), dims=2)).all()
    floats = put(noise((5, 7), np.float32))
    assert (eccbench.cuda.curve(floats, at=[3, 90], verify=True) == chi(floats, [3, 90])).all()
    floats[2, 3] = np.inf
    with pytest.raises(ValueError, match="NaN or infinite"):
        eccbench.cuda.curve(floats, at=[3], verify=True)
    add = Plan.add
    monkeypatch.setattr(Plan, "add", lambda self, images, image, to, memory, stream: (add(self, images, image, to, memory, stream), memory == 1 or seen(to, (1,), np.dtype(np.int64)).__setitem__(0, 77)))
    with pytest.raises(RuntimeError, match="WRONG"):
        eccbench.cuda.curve(image, verify=True)
    monkeypatch.setattr(Stream, "capturing", True)
    with pytest.raises(RuntimeError, match="nothing can be waited for"):
        eccbench.cuda.curve(image, verify=True)


def test_betti(cupy):
    """Sets at values of any shape and below and above them; those of bool images by themselves."""
    for dtype in (np.uint8, np.int16, np.float32):
        images = put(noise((2, 5, 7), dtype))
        for at, superlevel in [(50, False), ([50.5, 3, 500], False), ([[50, 51.5]], True), (-3, False), (1e9, True)]:
            got = eccbench.cuda.betti(images, at, superlevel=superlevel, dims=2, verify=True)
            assert got.shape == (2, *np.shape(at), 3)
            for i, k in np.ndindex(2, np.size(at)):
                want = eccbench.betti(images[i], float(np.ravel(at)[k]), superlevel=superlevel)
                assert tuple(got[i].reshape(-1, 3)[k]) == tuple(want), (dtype, at)
    mask = put(noise((4, 6, 7), np.uint8) > 70)
    assert tuple(eccbench.cuda.betti(mask)) == tuple(eccbench.betti(np.asarray(mask)))
    near = put(np.array([[0.1, 0.2]], np.float32))  # float32 rounds both up
    assert [int(eccbench.cuda.betti(near, v)[0]) for v in (0.1, float(np.float32(0.1)))] == [0, 1]
    values = 0.2, float(np.float32(0.2)), 0.21
    assert [int(eccbench.cuda.betti(near, v, superlevel=True)[0]) for v in values] == [1, 1, 0]


def test_betti_curves(cupy):
    images = put(noise((2, 5, 7), np.uint8))
    got = eccbench.cuda.betti_curves(images, dims=2, verify=True)
    assert (got == eccbench.cuda.betti(images, np.arange(256), dims=2)).all()
    at = [90, 3, 90, 40.5]
    out = put(np.zeros((2, 4, 3), np.int64))
    assert eccbench.cuda.betti_curves(images, at=at, dims=2, out=out) is out
    assert (out == eccbench.cuda.betti(images, at, dims=2)).all()
    for at in (at, None):
        of = np.arange(256) if at is None else at
        together = eccbench.cuda.betti_curves(images, at=at, superlevel=True, dims=2)
        assert (together == eccbench.cuda.betti(images, of, superlevel=True, dims=2)).all()
    odd = put(noise((300,), np.uint8))[3:38].reshape(5, 7)  # is copied for the kernels that read its bytes as levels
    assert (eccbench.cuda.betti_curves(odd, at=[70]) == eccbench.cuda.betti(odd, [70])).all()
    assert (eccbench.cuda.betti_curves(odd) == eccbench.cuda.betti(odd, np.arange(256))).all()
    kept, = (p for key, p in eccbench.cuda._known.plans.items() if key[-1] == "betti_curves")
    assert kept.plan.calls[-1][0] != odd.ctypes.data
    for call, said in [
        (lambda: eccbench.cuda.betti(images), "at is missing"),
        (lambda: eccbench.cuda.betti_curves(put(noise((5, 7), np.int16))), "at is missing"),
        (lambda: eccbench.cuda.betti(images, []), "want one number or more"),
        (lambda: eccbench.cuda.betti(images, np.nan), "NaN or infinite"),
        (lambda: eccbench.cuda.betti(images, np.ma.masked_equal([1, 2], 2)), "at: the array is masked"),
        (lambda: eccbench.cuda.curve(images, at=np.ma.masked_equal([1, 2], 2), dims=2), "at: the array is masked"),
        (lambda: eccbench.cuda.betti(images, 3, out=out), "out: want a packed array"),
    ]:
        with pytest.raises(ValueError, match=said):
            call()


def test_matched(cupy, monkeypatch):
    """The matched features of each pair of masks, and the voxels that differ."""
    masks = put((noise((3, 4, 2, 9, 8), np.uint8) > 90).astype(np.uint8))
    for of in masks, masks.swapaxes(-1, -2), masks[:0]:
        for construction, connectivity in ("T", 8), ("V", 4):
            got = eccbench.cuda.matched(of, construction, 2, True)
            assert got.shape == (*of.shape[:2], 3) and got.dtype == np.int64
            for i in np.ndindex(of.shape[:2]):
                row = eccbench.assess(*np.ascontiguousarray(of[i]), labels=[1])[1, connectivity]
                assert tuple(got[i]) == (row["matched0_min"], row["matched1_min"], (of[i][0] != of[i][1]).sum())
    assert len(Plan.made) == 4 and Plan.made[0] == {"device": 3, "shape": (9, 8), "type": "uint8", "matching": "T"}
    monkeypatch.setattr(Stream, "capturing", True)
    with pytest.raises(RuntimeError, match="nothing can be waited for"):
        eccbench.cuda.matched(masks, "T", 2, True)


def test_layouts(cupy):
    """Packed arrays are read in place, and all others are copied."""
    image = put(noise((5, 6, 7), np.uint8))
    at = range(0, 200, 10)
    for x, shape, where in [
        (image, (5, 6, 7), 0), (image.transpose(2, 0, 1), (5, 6, 7), 0), (image.T, (5, 6, 7), 0), (image[2:4], (2, 6, 7), 84), (image[1], (6, 7), 42),
        (image[None], (1, 5, 6, 7), None), (image[:, :, ::2], (5, 6, 4), None), (image[::-1], (5, 6, 7), None), (image[:, 1:], (5, 5, 7), None),
    ]:
        if x.ndim > 3:
            x, shape = x[0], shape[1:]
            where = 0
        Plan.made.clear()
        eccbench.cuda._known.__init__()
        assert (eccbench.cuda.curve(x, at=at) == chi(x, at)).all()
        kept, = eccbench.cuda._known.plans.values()
        assert sorted(kept.plan.request["shape"]) == sorted(shape)
        address, stream = kept.plan.calls[0]
        assert stream == 77
        assert (address - image.ctypes.data == where) if where is not None else not (0 <= address - image.ctypes.data < image.nbytes)


def test_batches(cupy):
    images = put(noise((2, 3, 5, 7), np.uint8))
    got = eccbench.cuda.curve(images, dims=2)
    assert got.shape == (2, 3, 256)
    for i in np.ndindex(2, 3):
        assert (got[i] == chi(images[i], np.arange(256))).all()
    assert len(Plan.made) == 1 and Plan.made[0]["align"] == 1  # 35 bytes from one to the next
    eccbench.cuda.curve(images.transpose(0, 1, 3, 2), dims=2)
    assert eccbench.cuda.curve(images[:0], dims=2).shape == (0, 3, 256)


def test_plans_are_kept(cupy):
    image = put(noise((5, 7), np.uint8))
    for _ in range(3):
        for at in ([1, 2], (1, 2), np.array([1, 2]), range(3), None):
            eccbench.cuda.curve(image, at=at)
    assert len(Plan.made) == 3  # equal numbers are the same values
    for n in range(1, 200):
        eccbench.cuda.curve(image[:, :1], at=[n])
    plans = eccbench.cuda._known.plans
    assert len(plans) == eccbench.cuda._MOST_PLANS and {p.plan.request["at"] for p in plans.values()} == {(float(n),) for n in range(72, 200)}
    assert (eccbench.cuda.curve(image, at=(1, 2)) == chi(image, (1, 2))).all()  # again, after it was closed


def test_values_that_change(cupy):
    """Values are compared in each call, even if they are in the array of the previous call."""
    image = put(noise((9, 30), np.uint8))
    at = np.array([10, 20, 30])
    for change in (lambda: None, lambda: at.__setitem__(1, 25), lambda: setattr(at, "dtype", np.float64), lambda: at.__setitem__(0, 3), lambda: setattr(at, "dtype", np.int64)):
        change()
        assert (eccbench.cuda.curve(image, at=at) == chi(image, at.copy())).all()
    scalar = np.array(5)
    values = scalar, 150
    for n in (5, 100):
        scalar[...] = n
        assert (eccbench.cuda.curve(image, at=values) == chi(image, [n, 150])).all()
    at.shape = (1, 3)
    with pytest.raises(ValueError, match="want one number or one axis"):
        eccbench.cuda.curve(image, at=at)
    # The float32 of 0.1 is greater than 0.1.
    image = put(np.array([[0.1, 0.2]], np.float32))
    for _ in range(2):
        assert [int(eccbench.cuda.curve(image, at=(v,))[0]) for v in (0.1, np.float32(0.1))] == [0, 1]


def test_layouts_are_remembered(cupy, monkeypatch):
    """A cached layout distinguishes other types, places and questions."""
    monkeypatch.setattr(eccbench.cuda, "_MOST_LOOKED", 5)
    images = [put(noise((6, 8), t, seed)) for seed in range(3) for t in (np.uint8, np.int16, np.float32)]
    images += [images[0]] + [put(noise((6, 17), np.uint8))[:, s] for s in (slice(None, 8), slice(1, 9), slice(None, 16, 2))] + [images[0].T, put(noise((49,), np.uint8))[1:].reshape(6, 8)]
    for _ in range(2):
        for x in images:
            for at in ((50.0,), (20.0, 90.0)):
                assert (eccbench.cuda.curve(x, at=at) == chi(x, at)).all()
            assert (eccbench.cuda.curve(x, at=(50.0,), dims=1) == [chi(row, (50.0,)) for row in x]).all()
    known = eccbench.cuda._known
    assert len(known.layouts) <= 5 and len(known.values) <= 5 and all(len(how.plans) <= 5 for how in known.layouts.values())


def test_plans_that_others_close(cupy, monkeypatch):
    """With more plans in several threads than the cache has room for, no thread uses a closed plan, and
    no plan is closed before its work on the device is over."""
    monkeypatch.setattr(eccbench.cuda, "_MOST_PLANS", 3)
    waited = []
    monkeypatch.setattr(Device, "synchronize", lambda self: waited.append(1))
    image = put(noise((5, 7), np.uint8))
    wants, wrong, closed = {n: chi(image, [n]) for n in range(0, 200, 20)}, [], []
    monkeypatch.setattr(Plan, "close", lambda self: (closed.append(len(waited)), setattr(self, "closed", True)))

    def count(seed):
        for n in np.random.default_rng(seed).choice(list(wants), 150):
            if not (eccbench.cuda.curve(image, at=(float(n),)) == wants[n]).all():
                wrong.append(n)
        wrong.append(None)

    threads = [threading.Thread(target=count, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == [None] * 4 and len(eccbench.cuda._known.plans) == 3
    assert len(closed) > 20 and closed == list(range(1, len(closed) + 1))


def test_captured_plans_stay(cupy, monkeypatch):
    monkeypatch.setattr(eccbench.cuda, "_MOST_PLANS", 2)
    image = put(noise((5, 7), np.uint8))
    eccbench.cuda.curve(image)
    captured, = eccbench.cuda._known.plans.values()
    monkeypatch.setattr(Stream, "capturing", True)
    eccbench.cuda.curve(image)
    monkeypatch.setattr(Stream, "capturing", False)
    eccbench.cuda.curve(image, at=[0])
    other = list(eccbench.cuda._known.plans.values())[1]
    for n in range(1, 9):
        eccbench.cuda.curve(image, at=[n])
    assert not captured.plan.closed and other.plan.closed and eccbench.cuda._known.captured == [captured]


def test_graphs(cupy, monkeypatch):
    """During the capture of a graph nothing is loaded, and its plans are kept."""
    image = put(noise((5, 7), np.uint8))
    eccbench.cuda.curve(image)
    monkeypatch.setattr(Stream, "capturing", True)
    eccbench.cuda.curve(image)
    assert len(eccbench.cuda._known.captured) == 1
    with pytest.raises(RuntimeError, match="a graph is being captured"):
        eccbench.cuda.curve(image, at=[1])
    assert len(Plan.made) == 1


def test_out(cupy):
    image = put(noise((5, 7), np.uint8))
    out = put(np.zeros(256, np.int64))
    assert eccbench.cuda.curve(image, out=out) is out and (out == chi(image, np.arange(256))).all()
    few = put(np.zeros(3, np.int64))
    assert eccbench.cuda.curve(image, at=[9, 3, 9], out=few) is few and (few == chi(image, [9, 3, 9])).all()
    for wrong in (put(np.zeros(3, np.int64)), put(np.zeros(256, np.int32)), put(np.zeros(512, np.int64))[::2], np.zeros(256, np.int64), None.__class__):
        with pytest.raises(ValueError, match="^out: want a packed array of int64 of shape .256,."):
            eccbench.cuda.curve(image, out=wrong)


def test_refusals(cupy):
    image = put(noise((5, 7), np.float32))
    for wrong, arguments, kind, said in [
        (image, {}, ValueError, "^at is missing"),
        (image, {"at": []}, ValueError, "want one number or one axis"),
        (image, {"at": ["a"]}, ValueError, "want one number or one axis"),
        (image, {"at": [np.inf]}, ValueError, "NaN or infinite"),
        (image, {"at": [-1e300]}, ValueError, "below all of float32, where χ is 0"),
        (image, {"at": [1], "dims": 3}, ValueError, "dims says"),
        (image[:0], {"at": [1]}, ValueError, "has no voxels"),
        (image.astype(np.float64), {"at": [1]}, TypeError, "an array of float64 on a device"),
        (image.astype(np.uint8), {"at": [-0.5]}, ValueError, "below all of uint8"),
        (np.zeros((3, 3)), {}, TypeError, "^an array of numpy.ndarray: want a tensor of torch or an array of cupy"),
    ]:
        with pytest.raises(kind, match=said):
            eccbench.cuda.curve(wrong, **arguments)


def test_curves_are_verified_on_the_host(cupy, monkeypatch):
    """eccbench.curve waits for an array on a device, and verifies the curve of a copy with a fingerprint."""
    copied = []

    def asnumpy(a):
        copied.append(a)
        return np.array(a, subok=False)

    monkeypatch.setattr(cupy, "asnumpy", asnumpy)
    for dtype in (np.uint8, np.float32, np.float64):
        image = put(noise((5, 6, 7), dtype))
        copied.clear()
        curve, want = eccbench.curve(image), eccbench.curve(np.array(image, subok=False))
        assert len(copied) == 1 and copied[0] is image
        assert curve.verdict == "VERIFIED" and "fingerprint" in curve.witness and isinstance(curve.chi, np.ndarray) and not isinstance(curve.chi, Array)
        assert (curve.levels == want.levels).all() and (curve.chi == want.chi).all()
    curves = eccbench.curve(put(noise((4, 9, 9), np.uint8)), batch_axis=0, at=[3, 50], construction="V", superlevel=True)
    assert [c.verdict for c in curves] == ["VERIFIED"] * 4 and curves[0].convention == "V, superlevel"
    assert eccbench.curve(put(noise((5, 7), np.uint8)), verify=False).verdict == "UNVERIFIED"
    image, labels = put(noise((5, 6, 7), np.float32)), put((noise((5, 6, 7), np.uint8) > 9).astype(np.uint8))
    on_host, labels_on_host = (np.array(a, subok=False) for a in (image, labels))
    for ask in (
        lambda i, m: eccbench.betti(i, [1, 2]), lambda i, m: eccbench.betti(m > 0), lambda i, m: eccbench.betti(i, 5, mask=m), lambda i, m: eccbench.betti_curves(i),
        lambda i, m: eccbench.assess(m, 1 - m), lambda i, m: eccbench.eigenmap(i, 2).eigenvalues_, lambda i, m: np.asarray(eccbench.gvf(i, steps=2, mask=m)),
    ):
        copied.clear()
        assert np.all(ask(image, labels) == ask(on_host, labels_on_host)) and 1 <= len(copied) <= 2
    assert Plan.made == []  # nothing is counted on the device


def bits(field):
    return np.asarray(field).view(np.uint32)


def test_flows(cupy):
    for dtype in (bool, np.uint8, np.int8, np.int16, np.uint16, np.float16, np.float32):
        for shape in [(9,), (5, 7), (1, 7), (1, 6, 5), (4, 1, 5), (3, 6, 5)]:
            image = put(noise(shape, dtype))
            for steps, mu, boundary in [(0, 0.05, "replicate"), (5, 0.1, "third")]:
                field = eccbench.cuda.gvf(image, steps=steps, mu=mu, boundary=boundary)
                want = eccbench.gvf(np.array(image, subok=False), steps=steps, mu=mu, boundary=boundary)
                assert isinstance(field, Array) and field.shape == want.shape and (bits(field) == bits(want)).all(), (dtype, shape)
    assert Plan.made[0] == {"device": 3, "shape": (9,), "type": "uint8", "flow": {"steps": 0, "tol": 0.0, "mu": 0.05, "boundary": "replicate", "align": 16}}
    assert len(Plan.made) == 4 * 6 * 2  # bool as uint8, int8 as int16, float16 as float32, and no other


def test_flows_of_any_layout(cupy):
    """The order of a sum's terms is the order of the axes, so other orders are copied; batches are not."""
    image = put(noise((4, 6, 8), np.uint8))
    for x, copied in [(image, False), (image[1:3], False), (image.transpose(2, 0, 1), True), (image.T, True), (image[:, :, ::2], True), (image[::-1], True)]:
        eccbench.cuda._known.__init__()
        field = eccbench.cuda.gvf(x, steps=3)
        assert (bits(field) == bits(eccbench.gvf(np.array(x, subok=False), steps=3))).all()
        kept, = eccbench.cuda._known.plans.values()
        assert (0 <= kept.plan.calls[0][0] - image.ctypes.data < image.nbytes) != copied
        eccbench.cuda.curve(x)  # with other layouts
    batch = eccbench.cuda.gvf(image, steps=3, dims=2)
    assert batch.shape == (4, 2, 6, 8)
    for got, one in zip(batch, image):
        assert (bits(got) == bits(eccbench.gvf(np.array(one, subok=False), steps=3))).all()
    assert eccbench.cuda.gvf(image[:0], steps=3, dims=2).shape == (0, 2, 6, 8)
    slices = eccbench.cuda.gvf(image[:, None], steps=3, dims=3)
    assert slices.shape == (4, 3, 1, 6, 8) and not slices[:, 0].any() and (bits(slices[:, 1:, 0]) == bits(batch)).all()


def test_where_flows_go(cupy):
    image = put(noise((5, 7), np.uint8))
    want = bits(eccbench.gvf(np.array(image, subok=False), steps=2))
    memory = put(np.zeros(4 * 80, np.uint8))
    for first in (0, 4, 8):
        first += -memory.ctypes.data % 16
        out = memory[first : first + 280].view(np.float32).reshape(2, 5, 7)
        assert eccbench.cuda.gvf(image, steps=2, out=out) is out and (bits(out) == want).all()
    assert [r["flow"]["align"] for r in Plan.made] == [16, 4, 8]
    # With images of 280 bytes, every other field has an alignment of only 8.
    assert eccbench.cuda.gvf(put(noise((2, 5, 7), np.uint8)), steps=2, dims=2).shape == (2, 2, 5, 7) and Plan.made[-1]["flow"]["align"] == 8
    for wrong in (put(np.zeros((2, 5, 7))), put(np.zeros((5, 7, 2), np.float32)), np.zeros((2, 5, 7), np.float32), put(np.zeros((2, 7, 5), np.float32)).transpose(0, 2, 1)[:, ::-1]):
        with pytest.raises(ValueError, match="^out: want a packed array of float32 of shape .2, 5, 7.,"):
            eccbench.cuda.gvf(image, steps=2, out=wrong)


def test_flows_that_are_refused(cupy):
    image = put(noise((5, 7), np.uint8))
    for arguments, said in [({"steps": -1}, "^steps"), ({"steps": 1.5}, "^steps"), ({"steps": 1, "mu": 0}, "^mu"), ({"steps": 1, "boundary": "wrap"}, "^boundary"), ({"steps": 1, "dims": 3}, "dims says")]:
        with pytest.raises(ValueError, match=said):
            eccbench.cuda.gvf(image, **arguments)
    with pytest.raises(TypeError, match="want a tensor of torch or an array of cupy"):
        eccbench.cuda.gvf(np.zeros((3, 3)), steps=1)
    with pytest.raises(TypeError, match="an array of float64 on a device"):
        eccbench.cuda.gvf(image.astype(np.float64), steps=1)
    assert Plan.made == []


def test_what_a_device_counts_is_compared(cupy):
    """The documented way to verify a curve of a device works."""
    image = put(noise((5, 6, 7), np.uint8))
    assert (cupy.asnumpy(eccbench.cuda.curve(image)) == eccbench.curve(image)(np.arange(256))).all()


def test_library_is_asked(cupy, monkeypatch):
    """Without a device, the library reports it."""
    monkeypatch.undo()
    with pytest.raises(_library.Error) as e:
        _library.Plan({"device": 99, "shape": (3, 3), "type": "uint8", "at": None, "align": 16, "on_levels": False})
    assert e.value.kind in ("device", "value") and "\n" not in str(e.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only the library for Linux has kernels")
def test_program(monkeypatch):
    """A pass is launched as its program says. If a launch fails, or another context is current, Go does it again."""
    word, number = ctypes.c_uint64, ctypes.c_uint32
    launched, repeated, context, failing = [], [], [5], [None]

    @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(word))
    def current(to):
        to[0] = context[0]
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int32, word, *[number] * 7, word, ctypes.POINTER(ctypes.POINTER(word)), ctypes.c_void_p)
    def launch(kernel, *rest):
        *shape, stream, arguments, extra = rest
        assert extra is None and stream == 77
        launched.append((kernel, shape, [arguments[k][0] for k in range(3 if kernel == 11 else 1)]))
        return 700 if kernel == failing[0] else 0

    program = [
        *(ctypes.cast(f, ctypes.c_void_p).value for f in (launch, current)), 5, 2,
        11, 1, 2, 3, 4, 5, 6, 7, 3, 0, 42, 1, 3, 12, 0,
        12, 7, 6, 5, 4, 3, 2, 1, 1, 2, 1 << 40,
    ]
    plan = _library.Plan.__new__(_library.Plan)
    plan._state, plan._library = _library._state, _library._library()
    plan._launch = plan._library.eccbench_device_launch
    plan.passes = [(word * len(program))(*program)] * 3
    monkeypatch.setattr(_library.Plan, "_call", lambda self, function, *given: repeated.append(given[0]))
    first = (11, [1, 2, 3, 4, 5, 6, 7], [42, 1003, 1011]), (12, [7, 6, 5, 4, 3, 2, 1], [1001 + (1 << 40)])
    for there, bad, calls, again in [(5, None, 2, []), (5, 11, 1, [True]), (5, 12, 2, [True]), (6, None, 0, [True])]:
        launched.clear(), repeated.clear()
        context[0], failing[0] = there, bad
        plan.soft(2, range(1000, 1012), 77)
        assert launched == [*first[:calls]] and repeated == again


def test_plan_without_programs(monkeypatch):
    """Passes that have no program are launched by the library."""
    called = []

    def plan(request, length, said, size):
        said.value = b'{"plan": 1, "memory": 2, "most": 3, "rows": 4, "kept": 5, "passes": [null, null, null]}'
        return len(said.value)

    library = types.SimpleNamespace(
        eccbench_device_plan=plan, eccbench_device_add=None, eccbench_device_close=called.append,
        eccbench_device_launch=lambda *_: 0, eccbench_device_soft=lambda *given: called.append(given[:2]) or -1)
    monkeypatch.setattr(_library, "_library", lambda: library)
    plan = _library.Plan({})
    plan.soft(2, range(12), 77)
    plan.close()
    assert called == [(1, True), 1]
