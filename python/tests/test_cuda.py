"""Arrays on a device, from PyTorch and CuPy. The tests need both and an NVIDIA device. Without them
they are skipped, or fail under ECCBENCH_REQUIRE_DEVICE=1."""

import os
import threading

import numpy as np
import pytest

import eccbench
import eccbench.cuda

REQUIRED = os.environ.get("ECCBENCH_REQUIRE_DEVICE") == "1"


def library(name):
    def missing(why):
        (pytest.fail if REQUIRED else pytest.skip)(why)

    if REQUIRED:
        module = __import__(name)
    else:
        module = pytest.importorskip(name)
    try:
        there = module.cuda.is_available()
    except Exception as e:  # of a driver that is broken
        missing(f"{name} finds no device: {e}")
    if not there:
        missing(f"{name} finds no device")
    return module


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = library("torch")

    def put(self, a):
        return self.torch.from_numpy(np.ascontiguousarray(a)).cuda()

    def get(self, x):
        return x.cpu().numpy()

    def transposed(self, x, axes):
        return x.permute(*axes)

    def empty(self, shape):
        return self.torch.empty(shape, dtype=self.torch.int64, device="cuda")


class CuPy:
    name = "cupy"

    def __init__(self):
        self.cupy = library("cupy")

    def put(self, a):
        return self.cupy.asarray(a)

    def get(self, x):
        return self.cupy.asnumpy(x)

    def transposed(self, x, axes):
        return x.transpose(axes)

    def empty(self, shape):
        return self.cupy.empty(shape, np.int64)


@pytest.fixture(scope="module", params=[Torch, CuPy], ids=lambda of: of.name)
def on(request):
    return request.param()


@pytest.fixture(scope="module")
def torch():
    return library("torch")


@pytest.fixture(scope="module")
def cupy():
    return library("cupy")


def noise(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max, shape, dtype, endpoint=True)


def everywhere(image):
    """Return χ at all values of an integer type, from the host."""
    curve = eccbench.curve(image, verify=False)
    if image.dtype == bool:
        return curve(np.arange(256))
    bounds = np.iinfo(image.dtype)
    return curve(np.arange(bounds.min, bounds.max + 1))


SHAPES = [(1,), (7,), (4096,), (1, 1), (64, 64), (33, 257), (1000, 128), (5, 1000), (1, 3, 1), (64, 64, 64), (9, 20, 41), (130, 16, 128), (3, 2, 1000), (700, 2, 3),
          (257, 257, 257), (272, 256, 256)]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.uint16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers(on, shape, dtype):
    if on.name == "torch" and dtype == np.uint16 and not hasattr(on.torch, "uint16"):
        pytest.skip("this PyTorch has no uint16")
    image = noise(shape, dtype)
    x = on.put(image)
    chi = eccbench.cuda.curve(x)
    assert type(chi) is type(x) and chi.shape == ((256,) if np.dtype(dtype).itemsize == 1 and dtype != np.int8 else (65536,))
    want = everywhere(image.astype(np.int16) if dtype == np.int8 else image)
    assert (on.get(chi) == want).all()
    assert (on.get(x) == image).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats(on, shape, dtype):
    image = noise(shape, dtype)
    for at in ([0.5], [-1.0, 0.0, 1.5], np.linspace(-2, 2, 64), np.linspace(-2, 2, 64) ** 3, [2.0, -1.0, 2.0, 0.3]):
        chi = on.get(eccbench.cuda.curve(on.put(image), at=at))
        assert (chi == eccbench.curve(image, at=at, verify=False).chi).all(), at


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats_on_levels(on, shape):
    levels = (np.arange(1024) / 1024).astype(np.float32)
    image = levels[noise(shape, np.uint16) % 1024]
    chi = eccbench.cuda.curve(on.put(image), at=levels, on_levels=True)
    assert (on.get(chi) == eccbench.curve(image, at=levels, verify=False).chi).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16])
def test_some_values_of_integers(on, dtype):
    image = noise((20, 30, 40), dtype)
    bounds = np.iinfo(dtype)
    for at in ([bounds.max], [bounds.min, 3], [100.5, 7, 7, bounds.max + 1e6], np.arange(50)):
        chi = on.get(eccbench.cuda.curve(on.put(image), at=at))
        assert (chi == eccbench.curve(image, at=at, verify=False).chi).all(), at


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_any_address(on, dtype):
    """Views with any offset, in memory that ends with them."""
    for shape in [(40, 128), (10, 30, 64), (257, 256, 256)]:
        n = int(np.prod(shape))
        for first in (1, 2, 3, 4, 8):
            flat = noise((n + first,), dtype)
            image = flat[first:].reshape(shape)
            x = on.put(flat)[first:].reshape(shape)
            at = [-1.0, 0.0, 0.7] if dtype == np.float32 else [0, 3, 100]
            assert (on.get(eccbench.cuda.curve(x, at=at)) == eccbench.curve(image, at=at, verify=False).chi).all(), (shape, first)


def test_order_of_axes_and_gaps(on):
    image = noise((12, 20, 33), np.uint8)
    want, x = everywhere(image), on.put(image)
    for axes in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:
        view = on.transposed(x, axes)
        assert (on.get(eccbench.cuda.curve(view)) == want).all()
    halves = image.astype(np.float16)
    for axes in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:  # which are converted
        view = on.transposed(on.put(halves), axes)
        assert (on.get(eccbench.cuda.curve(view, at=range(256))) == want).all()
    gaps = x[::2, 3:, ::3]
    assert (on.get(eccbench.cuda.curve(gaps)) == everywhere(np.ascontiguousarray(image[::2, 3:, ::3]))).all()


def test_batches(on):
    for shape, dims in [((5, 28, 28), 2), ((2, 3, 9, 31), 2), ((4, 8, 8, 9), 3), ((0, 9, 9), 2)]:
        images = noise(shape, np.uint8)
        chi = on.get(eccbench.cuda.curve(on.put(images), dims=dims))
        batch = shape[: len(shape) - dims]
        assert chi.shape == (*batch, 256)
        for i in np.ndindex(batch):
            assert (chi[i] == everywhere(images[i])).all()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32, np.float16])
@pytest.mark.parametrize("shape", SHAPES[:-2] + [(131, 67, 66)], ids=str)
def test_betti(on, shape, dtype):
    image = noise(shape, dtype)
    x, at = on.put(image), [0.2] if dtype == bool else [-1.0, 0.0, 0.7] if np.dtype(dtype).kind == "f" else [-1, 3, 100]
    for superlevel in (False, True):
        got = on.get(eccbench.cuda.betti(x, at, superlevel=superlevel, verify=True))
        assert (got == eccbench.betti(image, at, superlevel=superlevel, verify=False)).all(), superlevel
        curves = eccbench.cuda.betti_curves(x, at=at, superlevel=superlevel, verify=True)
        assert (on.get(curves) == got).all(), superlevel
    assert (on.get(x) == image).all()


def test_betti_of_batches(on):
    shapes = [((500, 28, 28), 2), ((2, 3, 9, 31), 2), ((4, 8, 8, 9), 3), ((3, 65, 33, 97), 3), ((0, 9, 9), 2)]
    for shape, dims in shapes:
        images = noise(shape, np.uint8)
        x, at = on.put(images), [60, 128, 200]
        batch = shape[: len(shape) - dims]
        got = on.get(eccbench.cuda.betti(x, at, dims=dims, verify=True))
        assert got.shape == (*batch, 3, 3)
        for i in list(np.ndindex(batch))[:12]:
            assert (got[i] == eccbench.betti(images[i], at, verify=False)).all(), (shape, i)
        assert (on.get(eccbench.cuda.betti_curves(x, at=at, dims=dims)) == got).all()
        masks = images > 128
        of_masks = on.get(eccbench.cuda.betti(on.put(masks), dims=dims, verify=True))
        assert (of_masks == on.get(eccbench.cuda.betti(x, 129, superlevel=True, dims=dims))).all()


def test_betti_of_every_level(on):
    """All values of uint8, at addresses that are no multiples of 16, and in more launches than one."""
    flat = noise((3 * 20 * 30 * 40 + 5,), np.uint8)
    images, x = flat[5:].reshape(3, 20, 30, 40), on.put(flat)[5:].reshape(3, 20, 30, 40)
    got = on.get(eccbench.cuda.betti_curves(x, dims=3, verify=True))
    assert (got == on.get(eccbench.cuda.betti(x, np.arange(256), dims=3, verify=True))).all()
    assert (got[1] == eccbench.betti_curves(images[1], verify=False)(np.arange(256))).all()


def test_out(on):
    image = noise((30, 40), np.uint8)
    x, out = on.put(image), on.empty((256,))
    assert eccbench.cuda.curve(x, out=out) is out and (on.get(out) == everywhere(image)).all()
    few = on.empty((3,))
    eccbench.cuda.curve(x, at=[9, 3, 9], out=few)
    assert (on.get(few) == everywhere(image)[[9, 3, 9]]).all()
    for wrong in (on.empty((255,)), on.empty((2, 128)), on.empty((512,))[::2], on.put(np.zeros(256, np.float32)), np.zeros(256, np.int64)):
        with pytest.raises(ValueError, match="^out: want a packed array of int64 of shape"):
            eccbench.cuda.curve(x, out=wrong)


def test_refusals(on):
    x = on.put(noise((9, 9), np.float32))
    with pytest.raises(ValueError, match="^at is missing"):
        eccbench.cuda.curve(x)
    with pytest.raises(ValueError, match="NaN"):
        eccbench.cuda.curve(x, at=[np.nan])
    with pytest.raises(ValueError, match="levels of float32"):
        eccbench.cuda.curve(x, at=np.arange(8000), on_levels=True)
    with pytest.raises(TypeError, match="float64 on a device"):
        eccbench.cuda.curve(on.put(noise((9, 9), np.float64)), at=[0])
    with pytest.raises(ValueError, match="below all of uint8"):
        eccbench.cuda.curve(on.put(noise((9, 9), np.uint8)), at=[-1])
    with pytest.raises(ValueError, match="has no voxels"):
        eccbench.cuda.curve(on.put(np.zeros((0, 3), np.uint8)))
    with pytest.raises(ValueError, match="dims says"):
        eccbench.cuda.curve(on.put(np.zeros((1, 2, 3, 4), np.uint8)))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32, np.float64])
def test_curves_are_verified_on_the_host(on, dtype):
    image = noise((20, 30, 40), dtype)
    curve, want = eccbench.curve(on.put(image)), eccbench.curve(image)
    assert curve.verdict == "VERIFIED" and (curve.levels == want.levels).all() and (curve.chi == want.chi).all()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.uint16, np.float32, np.float16])
def test_verified(on, dtype):
    if on.name == "torch" and dtype == np.uint16 and not hasattr(on.torch, "uint16"):
        pytest.skip("this PyTorch has no uint16")
    for shape in [(4096,), (64, 64), (33, 257), (9, 20, 41), (130, 16, 128)]:
        image = noise(shape, dtype)
        at = [-1.0, 0.0, 1.5] if np.dtype(dtype).kind == "f" else None
        x = on.put(image)
        assert (on.get(eccbench.cuda.curve(x, at=at, verify=True)) == on.get(eccbench.cuda.curve(x, at=at))).all()
    flat = on.put(noise((1 + 40 * 128,), dtype))[1:].reshape(40, 128)
    assert (on.get(eccbench.cuda.curve(flat, at=at, verify=True)) == on.get(eccbench.cuda.curve(flat, at=at))).all()
    assert (on.get(eccbench.cuda.curve(flat, at=at, dims=1, verify=True)) == on.get(eccbench.cuda.curve(flat, at=at, dims=1))).all()


def test_verification_fails(on):
    """Verification detects NaN, which is not checked otherwise. It ignores on_levels."""
    levels = (np.arange(64) / 64).astype(np.float32)
    image = levels[noise((20, 30, 40), np.uint16) % 64]
    assert (on.get(eccbench.cuda.curve(on.put(image), at=levels, on_levels=True, verify=True)) == eccbench.curve(image, at=levels).chi).all()
    off = image.copy()
    off[3:9] += 0.4 / 64
    assert (on.get(eccbench.cuda.curve(on.put(off), at=levels, on_levels=True, verify=True)) == eccbench.curve(off, at=levels).chi).all()
    off[1, 2, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite"):
        eccbench.cuda.curve(on.put(off), at=levels, verify=True)


def bits(field):
    return np.ascontiguousarray(field).view(np.uint32)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.uint16, np.float16, np.float32])
def test_flows(on, dtype):
    if on.name == "torch" and dtype == np.uint16 and not hasattr(on.torch, "uint16"):
        pytest.skip("this PyTorch has no uint16")
    for k, shape in enumerate([(9,), (5, 7), (64, 64), (300, 131), (1, 60, 41), (20, 30, 40), (33, 45, 70), (130, 48, 68)]):
        image = noise(shape, dtype)
        x = on.put(image)
        for steps, mu, boundary in [(0, 0.05, "replicate"), (7 + k, 0.1, "third"), (16, 0.08, "replicate")]:
            field = eccbench.cuda.gvf(x, steps=steps, mu=mu, boundary=boundary)
            assert type(field) is type(x)
            assert (bits(on.get(field)) == bits(eccbench.gvf(image, steps=steps, mu=mu, boundary=boundary, verify=False))).all(), (shape, steps)
        assert (on.get(x) == image).all()


def test_flows_of_any_layout(on):
    image = noise((12, 20, 33), np.float32)
    x = on.put(image)
    for axes in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:
        view = on.transposed(x, axes)
        assert (bits(on.get(eccbench.cuda.gvf(view, steps=9))) == bits(eccbench.gvf(image.transpose(axes), steps=9, verify=False))).all()
    assert (bits(on.get(eccbench.cuda.gvf(x[::2, 3:], steps=9))) == bits(eccbench.gvf(image[::2, 3:], steps=9, verify=False))).all()
    batch = on.get(eccbench.cuda.gvf(x, steps=9, dims=2))
    for got, one in zip(batch, image):
        assert (bits(got) == bits(eccbench.gvf(one, steps=9, verify=False))).all()


def test_flows_that_are_refused(on):
    x = on.put(noise((8, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="the image is not checked; want μ of at most 0.1042"):
        eccbench.cuda.gvf(x, steps=1, mu=0.11)
    out = on.put(np.zeros((3, 8, 8, 8), np.float32))
    assert eccbench.cuda.gvf(x, steps=3, out=out) is out
    assert (bits(on.get(out)) == bits(eccbench.gvf(on.get(x), steps=3))).all()
    flat = on.put(np.zeros(3 * 512 + 1, np.float32))
    eccbench.cuda.gvf(x, steps=3, out=flat[1:].reshape(3, 8, 8, 8))
    assert (bits(on.get(flat[1:])) == bits(on.get(out)).ravel()).all() and float(flat[0]) == 0


def test_torch_flows_at_once_and_in_a_graph(torch):
    image = noise((64, 96, 100), np.uint8)
    x = torch.from_numpy(image).cuda()
    want = torch.from_numpy(eccbench.gvf(image, steps=25, verify=False).copy()).cuda()
    streams, got = [torch.cuda.Stream() for _ in range(4)], []
    eccbench.cuda.gvf(x, steps=25)
    torch.cuda.synchronize()
    for k in range(20):
        with torch.cuda.stream(streams[k % 4]):
            got.append(eccbench.cuda.gvf(x, steps=25))
    torch.cuda.synchronize()
    assert all(torch.equal(field, want) for field in got)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        field = eccbench.cuda.gvf(x, steps=25)
    graph.replay()
    assert torch.equal(field, want)
    x.copy_(torch.from_numpy(image[::-1].copy()))
    graph.replay()
    assert (bits(field.cpu().numpy()) == bits(eccbench.gvf(image[::-1], steps=25, verify=False))).all()


def test_torch_bfloat16(torch):
    x = torch.from_numpy(noise((20, 30), np.float32)).cuda().bfloat16()
    at = [-1.0, 0.0, 0.7]
    want = eccbench.curve(x.float().cpu().numpy(), at=at).chi
    curve = eccbench.curve(x.requires_grad_(), at=at)
    assert curve.verdict == "VERIFIED" and (curve.chi == want).all()
    assert (eccbench.cuda.curve(x, at=at).cpu().numpy() == want).all()


def test_only_arrays_on_a_device():
    for image in (np.zeros((3, 3), np.uint8), [[1, 2]]):
        assert not eccbench.cuda.is_device_array(image)
        with pytest.raises(TypeError, match="want a tensor of torch or an array of cupy"):
            eccbench.cuda.curve(image)


def test_torch_stream_that_is_current(torch):
    """Work is enqueued after the kernels of the image, without a wait."""
    images = [noise((200, 200, 200), np.uint8, seed) for seed in range(3)]
    wants = [everywhere(a) for a in images]
    staged = [torch.from_numpy(a).pin_memory() for a in images]
    x, side = torch.zeros(images[0].shape, dtype=torch.uint8, device="cuda"), torch.cuda.Stream()
    eccbench.cuda.curve(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        got, events = [], []
        for a in staged:
            torch.cuda._sleep(200_000_000)  # about 0.1 s
            x.copy_(a, non_blocking=True)
            got.append(eccbench.cuda.curve(x))
        done = side.query()
    assert not done
    side.synchronize()
    for chi, want in zip(got, wants):
        assert (chi.cpu().numpy() == want).all()


def test_torch_many_streams_at_once(torch):
    image = noise((260, 260, 260), np.uint8)
    want, x = torch.from_numpy(everywhere(image)).cuda(), torch.from_numpy(image).cuda()
    streams, wrong = [torch.cuda.Stream() for _ in range(4)], []

    def count(stream):
        with torch.cuda.stream(stream):
            for _ in range(50):
                wrong.append((eccbench.cuda.curve(x) != want).sum())

    torch.cuda.synchronize()
    threads = [threading.Thread(target=count, args=(s,)) for s in streams]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    torch.cuda.synchronize()
    assert len(wrong) == 200 and not any(int(n) for n in wrong)


def test_torch_graph(torch):
    images = [noise((100, 110, 120), np.uint8, seed) for seed in range(3)]
    x, out = torch.zeros(images[0].shape, dtype=torch.uint8, device="cuda"), torch.empty(256, dtype=torch.int64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    other = torch.zeros((3, 5, 7), dtype=torch.uint8, device="cuda")
    eccbench.cuda.curve(x, out=out)
    with torch.cuda.graph(graph):
        eccbench.cuda.curve(x, out=out)
        alone = eccbench.cuda.curve(x)
        with pytest.raises(RuntimeError, match="a graph is being captured"):
            eccbench.cuda.curve(other)
    for a in images:
        x.copy_(torch.from_numpy(a))
        graph.replay()
        torch.cuda.synchronize()
        assert (out.cpu().numpy() == everywhere(a)).all() and (alone == out).all()


def test_torch_memory_is_of_its_allocator(torch):
    x = torch.zeros((64, 64, 64), dtype=torch.uint8, device="cuda")
    eccbench.cuda.curve(x)
    torch.cuda.synchronize()
    before, free = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    chi = [eccbench.cuda.curve(x) for _ in range(100)]
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - before <= 100 * 4096 and free - torch.cuda.mem_get_info()[0] <= 4 << 20
    assert all((c == chi[0]).all() for c in chi)


def test_torch_parameters_and_gradients(torch):
    x = torch.rand(20, 20, device="cuda", requires_grad=True)
    chi = eccbench.cuda.curve(torch.nn.Parameter(x), at=[0.5])
    assert not chi.requires_grad and chi.dtype == torch.int64


def test_cupy_stream_and_graph(cupy):
    image = noise((64, 70, 80), np.uint8)
    x, out = cupy.asarray(image), cupy.empty(256, np.int64)
    eccbench.cuda.curve(x, out=out)
    out[...] = 0
    cupy.cuda.Device().synchronize()  # the stream does not wait for the default one
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        eccbench.cuda.curve(x, out=out)
        graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
    assert (cupy.asnumpy(out) == everywhere(image)).all()


def test_many_plans_come_and_go(on):
    for n in range(1, 150):
        image = noise((3, n), np.uint8, n)
        assert (on.get(eccbench.cuda.curve(on.put(image))) == everywhere(image)).all()
    assert len(eccbench.cuda._known.plans) <= eccbench.cuda._MOST_PLANS
