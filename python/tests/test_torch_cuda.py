"""The layers of PyTorch on a device. The tests need PyTorch and an NVIDIA device. Without them they are
skipped, or fail under ECCBENCH_REQUIRE_DEVICE=1."""

import contextlib
import itertools
import os
import shutil
import warnings

import pytest

REQUIRED = os.environ.get("ECCBENCH_REQUIRE_DEVICE") == "1"
if not REQUIRED:
    pytest.importorskip("torch", reason="PyTorch is not installed")

import torch  # noqa: E402

if not torch.cuda.is_available():
    if REQUIRED:
        raise RuntimeError("ECCBENCH_REQUIRE_DEVICE=1: PyTorch finds no device")
    pytest.skip("PyTorch finds no device", allow_module_level=True)

import eccbench.torch as layers  # noqa: E402
from eccbench import cuda  # noqa: E402
import parallel  # noqa: E402
from eccbench.torch import ECC, SoftECC, ecc, soft_ecc  # noqa: E402

CONVENTIONS = list(itertools.product("TV", (False, True)))
MANY = 65  # thresholds, for which a device counts small images in bins, too


def drawn(*shape, dtype=torch.float64, seed=0):
    return torch.rand(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


class NoWaiting:
    """A context in which an operation of PyTorch that waits for the device is an error."""

    def __enter__(self):
        torch.cuda.synchronize()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is a prototype
            torch.cuda.set_sync_debug_mode("error")

    def __exit__(self, *_):
        torch.cuda.set_sync_debug_mode("default")


def answered(x, tau, lam, v, alpha, upstream, device, **conventions):
    """Return χ and all gradients on the host."""
    of = [t.detach().clone().to(device).requires_grad_() for t in (x, tau, lam, v, alpha)]
    upstream = upstream.to(device)
    chi = soft_ecc(of[0], of[1], of[2], direction=of[3], alpha=of[4], dims=len(v), **conventions)
    chi.backward(upstream)
    return [t.detach().cpu() for t in (chi, *[t.grad for t in of])]


@pytest.mark.parametrize("shape", [
    (2, 9), (6, 7), (3, 64, 32), (4, 5, 6), (1, 8), (8, 1, 3), (1, 1, 5, 4), (2, 3, 17, 40, 36), (130, 5),
])
@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
@pytest.mark.parametrize("dtype, near, thresholds", [
    (torch.float64, 1e-11, 3), *((torch.float32, 1e-5, thresholds) for thresholds in (3, 33, 64, MANY)),
])
def test_same_as_the_host(shape, construction, superlevel, dtype, near, thresholds):
    dims = min(3, len(shape)) if shape != (2, 9) and shape != (3, 64, 32) else len(shape) - 1
    x, v = drawn(*shape, seed=3).to(dtype), torch.tensor([0.6, -1.5, 2.0][:dims], dtype=dtype)
    tau = torch.cat([torch.tensor([0.7, 0.2, 0.45], dtype=dtype), drawn(thresholds - 3, seed=5).to(dtype)])
    upstream = drawn(*shape[: len(shape) - dims], thresholds, seed=4).to(dtype) - 0.5
    given = x, tau, torch.tensor(20.0, dtype=dtype), v, torch.tensor(0.01, dtype=dtype), upstream
    for got, want in zip(*(answered(*given, on, construction=construction, superlevel=superlevel) for on in ("cuda", "cpu"))):
        assert got.dtype == want.dtype and got.shape == want.shape
        scale = max(1.0, want.abs().max().item())
        assert (got - want).abs().max() <= 20 * near * scale, (got, want)


def test_large():
    """The results are within the limits of the definition, and reproducible."""
    x = drawn(2, 96, 100, 98, dtype=torch.float32)
    tau = torch.linspace(0.05, 0.95, 16)
    results = []
    for device in ("cuda", "cuda", "cpu"):
        y = x.to(device).requires_grad_()
        chi = soft_ecc(y, tau, 100.0, dims=3)
        chi.square().sum().backward()
        results.append((chi.detach().cpu(), y.grad.cpu()))
    for got, again, want in zip(*results):
        assert torch.equal(got, again) and (got - want).abs().max() <= 2e-5 * want.abs().max()


@pytest.mark.parametrize("construction", ["T", "V"])
@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 4, 3)])
def test_gradcheck(shape, construction):
    def of(x, tau, lam, v, alpha):
        return soft_ecc(x, tau, lam, dims=len(shape), direction=v, alpha=alpha, construction=construction)

    inputs = drawn(2, *shape), torch.tensor([0.3, 0.8]), torch.tensor(11.0), torch.tensor([0.3, -2.0, 1.0][: len(shape)]), torch.tensor(0.02)
    assert torch.autograd.gradcheck(of, [t.double().cuda().requires_grad_() for t in inputs])


@pytest.mark.filterwarnings("ignore")
def test_opcheck():
    x = drawn(3, 5, 4).cuda()
    tau, lam, alpha, v = torch.tensor([0.2, 0.7]).cuda(), torch.tensor(5.0).cuda(), torch.tensor(0.1).cuda(), torch.tensor([1.0, 2.0]).cuda()
    learned = [t.detach().clone().requires_grad_() for t in (x, tau, lam, alpha, v)]
    kept = layers._soft(x, tau, lam, alpha, v, "V", True)[2]
    for op, arguments in [
        (layers._soft, (*learned, "T", True)),
        (layers._soft, (x.float(), tau, lam, alpha, v, "V", False)),
        (layers._soft_backward, (torch.ones(3, 2, dtype=torch.float64, device="cuda"), x, kept, tau, lam, alpha, v, "V", True)),
        (layers._exact, (x.float(), tau.cpu(), "T", False, False)),
    ]:
        assert set(torch.library.opcheck(op, arguments).values()) == {"SUCCESS"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend, mode", [("aot_eager", None), ("inductor", None), ("inductor", "reduce-overhead")])
def test_compile(backend, mode):
    if backend == "inductor" and not shutil.which("gcc"):
        pytest.skip("inductor compiles with gcc, which is not installed")
    layer = SoftECC(torch.linspace(0, 1, 5), 20.0, dims=2, direction=[1.0, 2.0], alpha=0.01, learn=["thresholds", "lam", "direction", "alpha"]).cuda()
    exact = ECC(torch.linspace(0, 1, 5), dims=2, verify=False).cuda()

    def loss(x):
        return (layer(torch.sigmoid(x)) - exact(torch.sigmoid(x))).square().mean()

    compiled = torch.compile(loss, fullgraph=True, backend=backend, mode=mode)
    results = []
    for f in (loss, compiled):
        x = drawn(2, 1, 9, 8, dtype=torch.float32).cuda().requires_grad_()
        layer.zero_grad()
        value = f(x)
        value.backward()
        results.append([value.detach(), x.grad, *[p.grad.clone() for p in layer.parameters()]])
    for plain, fast in zip(*results):
        torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_export():
    """A model with both layers is exported for any number of images, and answers and learns as before."""
    layer = SoftECC(torch.linspace(0, 1, 5), 20.0, dims=2, direction=[1.0, 2.0], alpha=0.01, learn=["thresholds", "lam"])
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.Sigmoid(), layer).cuda()
    exact = torch.nn.Sequential(torch.nn.Sigmoid(), ECC(torch.linspace(0, 1, 5), dims=2, verify=False)).cuda()
    example, images = ({0: torch.export.Dim("images", min=2)},), drawn(3, 1, 9, 8, dtype=torch.float32).cuda()
    for of in (model, exact):
        exported = torch.export.export(of, (images,), dynamic_shapes=example)
        calls = [str(node.target) for node in exported.graph.nodes]
        assert any(call.startswith("eccbench.") for call in calls), calls
        again = exported.module()
        for x in (images, drawn(7, 1, 9, 8, dtype=torch.float32, seed=2).cuda()):
            torch.testing.assert_close(again(x), of(x))
    again = torch.export.export(model, (images,), dynamic_shapes=example).module()
    for of in (model, again):
        of(images).square().mean().backward()
    for (name, plain), (other, exported) in zip(sorted(model.named_parameters()), sorted(again.named_parameters())):
        assert name == other
        torch.testing.assert_close(exported.grad, plain.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.uint8, torch.int16])
def test_types(dtype):
    x = (drawn(2, 6, 7) * (1 if dtype.is_floating_point else 9)).to(dtype).cuda()
    if dtype.is_floating_point:
        x.requires_grad_()
    chi = soft_ecc(x, [0.2, 0.6], 10.0, dims=2)
    assert chi.dtype == torch.float32 and chi.is_cuda
    torch.testing.assert_close(chi.cpu(), soft_ecc(x.detach().cpu(), [0.2, 0.6], 10.0, dims=2), rtol=1e-5, atol=1e-5)
    if dtype.is_floating_point:
        chi.sum().backward()
        assert x.grad.dtype == dtype and x.grad.abs().max() > 0


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
@pytest.mark.parametrize("verify", [True, False])
def test_exact(dtype, construction, superlevel, verify):
    x = (drawn(2, 3, 9, 8) * 9 - (2 if dtype not in (torch.bool, torch.uint8) else 0)).to(dtype)
    for at in ([0.0, 1.0, 4.5], [3.0, -5.0, 0.5]):
        got = ecc(x.cuda(), at, dims=2, construction=construction, superlevel=superlevel, verify=verify)
        assert got.is_cuda and torch.equal(got.cpu(), ecc(x, at, dims=2, construction=construction, superlevel=superlevel))


def test_exact_images_stay_on_the_device(monkeypatch):
    x = drawn(3, 9, 8, dtype=torch.float32).cuda()
    want = ecc(x.cpu(), [0.2, 0.7], dims=2)
    monkeypatch.setattr(layers, "_exact_on_host", None)
    for verify in (True, False):
        assert torch.equal(ecc(x, [0.2, 0.7], dims=2, verify=verify).cpu(), want)
    with pytest.raises(ValueError, match="NaN or infinite"):
        ecc(x / 0, [0.2], dims=2)


@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
@pytest.mark.parametrize("direction", [None, [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("thresholds", [4, 33, 64, MANY])
def test_list(construction, superlevel, direction, thresholds, monkeypatch):
    """A list of images of different shapes has the curves and all gradients of the host, in one batch forward and one
    backward without a wait."""
    shapes = [(9, 8, 7), (5, 6, 3), (9, 8, 7), (1, 12, 5)]
    images = [drawn(*shape, dtype=torch.float32, seed=k) for k, shape in enumerate(shapes)]
    answers, passes = [], []
    for name in ("forward", "backward"):
        def counted(*of, name=name, add=getattr(layers._Layout, name)):
            passes.append(name)
            return add(*of)

        monkeypatch.setattr(layers._Layout, name, counted)
    for device in ("cpu", "cuda"):
        layer = SoftECC(torch.linspace(0.2, 0.8, thresholds), 9.0, dims=3, direction=direction,
                        alpha=0.02 if direction else 0.0,
                        learn=["thresholds", "lam", "direction", "alpha"] if direction else ["thresholds", "lam"],
                        construction=construction, superlevel=superlevel)
        layer, mine = layer.to(device), [x.detach().to(device).requires_grad_() for x in images]
        weights = drawn(4, thresholds, dtype=torch.float32, seed=9).to(device) * (4 / thresholds)
        learned = [*layer.parameters(), *mine]
        torch.autograd.grad((layer(mine) * weights).sum(), learned)  # the first call loads kernels
        passes.clear()
        with NoWaiting() if device == "cuda" else contextlib.nullcontext():
            chi = layer(mine)
            found = torch.autograd.grad((chi * weights).sum(), learned)
        answers.append([chi.detach().cpu(), *(one.cpu() for one in found)])
    assert passes == ["forward", "backward"]
    for host, ours in zip(*answers):
        # λ and α have sums over all cells.
        torch.testing.assert_close(ours, host, rtol=1e-4, atol=1e-4 if host.ndim else 1e-3)


def test_list_of_kinds(monkeypatch):
    """Images whose middles differ share no frame if there is a direction."""
    images = [drawn(*shape, dtype=torch.float32, seed=shape[0]).cuda() for shape in [(9, 8), (8, 9), (5, 6), (6, 5)]]
    framed, forward = [], layers._Framed.forward

    def counted(ctx, outside, *of):
        framed.append(len(of))
        return forward(ctx, outside, *of)

    monkeypatch.setattr(layers._Framed, "forward", staticmethod(counted))
    for direction, numbers in [(None, [4]), ([1.0, 2.0], [2, 2])]:
        layer = SoftECC([0.2, 0.7], 9.0, dims=2, direction=direction, alpha=0.02 if direction else 0.0).cuda()
        torch.testing.assert_close(layer(images), torch.stack([layer(one) for one in images]), rtol=1e-5, atol=1e-5)
        assert framed == numbers
        assert torch.equal(layer([x.bfloat16() for x in images]), layer([x.bfloat16().float() for x in images]))
        framed.clear()


def test_layouts():
    """A layout that is known is used for equal tensors alone."""
    memory = drawn(1 + 2 * 8 * 8, dtype=torch.float32).cuda()
    tau, lam = torch.tensor([0.2, 0.7]).cuda(), torch.tensor(9.0).cuda()
    images = memory[:-1].view(2, 8, 8), memory[1:].view(2, 8, 8), memory[1:].view(2, 8, 8).transpose(1, 2)
    for x, t in itertools.product(images, (tau, tau.double(), tau.half(), tau.half()[:1], tau.flip(0))):
        for superlevel in (False, True):
            got = soft_ecc(x, t, lam, dims=2, superlevel=superlevel)
            want = soft_ecc(x.cpu(), t.cpu(), 9.0, dims=2, superlevel=superlevel)
            torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-4)
    for wrong in (
        {"lam": torch.ones(2).cuda()}, {"thresholds": tau[None]}, {"dims": 4}, {"dims": [2]}, {"construction": "U"},
        {"construction": ["T"]}, {"alpha": 1.0},
        {"direction": torch.empty(0).double().cuda(), "alpha": torch.zeros(()).double().cuda()},
    ):
        with pytest.raises(ValueError, match="want|missing"):
            soft_ecc(images[0], **{"thresholds": tau, "lam": lam, "dims": 2, **wrong})


def test_autocast():
    layer = SoftECC([0.2, 0.6], 10.0, dims=2, learn=["thresholds"]).cuda()
    body = torch.nn.Conv2d(1, 2, 3, padding=1).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        hidden = body(drawn(3, 1, 8, 8, dtype=torch.float32).cuda())
        chi = layer(hidden)
        chi.square().mean().backward()
    assert hidden.dtype == torch.bfloat16 and chi.dtype == torch.float32 and chi.shape == (3, 2, 2)
    assert body.weight.grad.abs().max() > 0 and layer.thresholds.grad.shape == (2,)


def test_state():
    layer = SoftECC([0.2, 0.6], 10.0, dims=3, direction=[1.0, 0.0, 2.0], alpha=0.5, learn=["thresholds", "lam"]).cuda()
    other = SoftECC([0.0, 0.0], 1.0, dims=3, direction=[1.0, 1.0, 1.0], learn=["thresholds", "lam"]).cuda()
    other.load_state_dict(layer.state_dict())
    x = drawn(4, 5, 6, dtype=torch.float32).cuda()
    assert torch.equal(other(x), layer(x))
    exact = ECC([0.1, 0.2], dims=2).cuda()
    assert exact.thresholds.device.type == "cpu" and exact.state_dict()["thresholds"].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("construction", ["T", "V"])
def test_nothing_waits(construction):
    layer = SoftECC(torch.linspace(0, 1, 7), 30.0, dims=3, direction=[1.0, 2.0, 0.5], alpha=0.01, learn=["thresholds", "lam", "direction", "alpha"], construction=construction).cuda()
    exact = ECC(torch.linspace(0, 1, 7), dims=3, verify=False).cuda()
    x = drawn(2, 20, 30, 40, dtype=torch.float32).cuda().requires_grad_()
    layer(x).sum().backward()
    exact(x)
    want = layer(x).detach().clone(), exact(x)
    with NoWaiting():
        got = layer(x)
        got.sum().backward()
        counted = exact(x)
        torch.cuda._sleep(20_000_000)
        soft_ecc(x, torch.linspace(0, 1, 7), 30.0, dims=3)
    assert torch.equal(got, want[0]) and torch.equal(counted, want[1])


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")  # of leaves that are made on another stream
@pytest.mark.parametrize("thresholds", [7, MANY])
def test_graph(thresholds):
    """A whole step is captured, and replayed with other images."""
    layer = SoftECC(torch.linspace(0, 1, thresholds), 30.0, dims=2, direction=[1.0, 2.0], alpha=0.01,
                    learn=["thresholds", "lam"]).cuda()
    x = drawn(3, 40, 52, dtype=torch.float32).cuda().requires_grad_()

    def step():
        chi = layer(x)
        return chi, *torch.autograd.grad(chi.square().sum(), [x, *layer.parameters()])

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    for seed in range(2):
        with torch.no_grad():
            x.copy_(drawn(3, 40, 52, dtype=torch.float32, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        for got, want in zip(captured, step()):
            torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="PyTorch finds one device")
def test_distributed(tmp_path):
    """Two devices with half a batch each have the gradients of the batch."""
    parallel.check(tmp_path, "nccl", drawn(4, 1, 9, 8, dtype=torch.float32))


def test_what_has_no_answer():
    x = drawn(2, 6, 7, dtype=torch.float32).cuda().requires_grad_()
    for tau, lam in [
        (torch.linspace(0.2, 0.8, MANY), 1e5), ([0.5], -1.0), ([float("nan")], 9.0), ([0.5], float("inf")), ([0.5], 3e38),
        (torch.tensor([0.5, 1e39], dtype=torch.float64), 9.0),
    ]:
        assert soft_ecc(x, tau, lam, dims=2).isnan().all()
    torch.testing.assert_close(soft_ecc(x, [0.2], 1e5, dims=2), ecc(x, [0.2], dims=2).float())
    soft_ecc(x, [0.3], 9.0, dims=2).backward(torch.full((2, 1), float("inf"), device="cuda"))
    assert x.grad.isnan().any()
    with pytest.raises(ValueError, match="want T or V"):
        soft_ecc(x, [0.5], 1.0, dims=2, construction="U")
    assert soft_ecc(x[:0], [0.5, 0.6], 1.0, dims=2).shape == (0, 2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # by PyTorch itself
def test_derivatives_forward():
    x, tau, lam = drawn(2, 6, 7).float().cuda(), torch.tensor([0.2, 0.6]).cuda(), torch.tensor(9.0).cuda()
    soft_ecc(x, tau, lam, dims=2)
    with torch.autograd.forward_ad.dual_level():
        for number in range(3):
            given = [x, tau, lam]
            given[number] = torch.autograd.forward_ad.make_dual(given[number], torch.ones_like(given[number]))
            with pytest.raises(RuntimeError, match="forward"):
                soft_ecc(*given, dims=2)


@pytest.mark.parametrize("shape", [
    (3, 2, 40, 33), (2, 3, 12, 20, 17), (2, 1, 9, 8, 130), (3, 2, 1, 30, 70), (2, 2, 30, 20, 1),
])
def test_metrics(shape):
    """The numbers of CUDA tensors equal those of the host: of dense and sparse masks, one-hot and as labels."""
    metrics = pytest.importorskip("eccbench.metrics")
    random = torch.Generator().manual_seed(len(shape) + shape[-1])

    def drawn(share):
        return torch.rand(shape, generator=random) < share

    for share, changed in itertools.product((0.2, 0.6, 0.9), (0.0, 0.1, 1.0)):
        truth = drawn(share)
        pred = torch.where(drawn(changed), drawn(share), truth)
        truth[0, 0] = False
        labels = [torch.where(masks[:, :1], 1 + masks[:, -1:].int(), 0) for masks in (pred, truth)]
        for connectivity, metric, (given, options) in itertools.product(
            (26, 6) if len(shape) == 5 else (8, 4),
            (metrics.BettiError, metrics.BettiMatching, metrics.EulerError),
            [((pred, truth), {}), ((pred.float(), truth), {"ignore_empty": True, "get_not_nans": True}),
             (labels, {"num_classes": 3, "ignore_empty": True, "include_background": False})],
        ):
            found = []
            for device in ("cpu", "cuda"):
                of = metric(connectivity=connectivity, **options).to(device)
                numbers = of(*(masks.to(device) for masks in given))
                assert numbers.device.type == device
                found.append([numbers, *(of.aggregate(r) for r in ("none", "mean", "sum_batch"))])
            torch.testing.assert_close(found[1], found[0], check_device=False, equal_nan=True)


def test_matching_is_verified(monkeypatch):
    """Wrong matched features are an error, unless `verify` is False."""
    cuda = pytest.importorskip("eccbench.cuda")
    masks = (torch.rand((3, 2, 20, 30, 70)) > 0.6).to(torch.uint8).cuda()
    others, add = torch.zeros_like(masks), cuda._library.Plan.add
    want = cuda.matched(masks, "T", 3, True)
    monkeypatch.setattr(
        cuda._library.Plan, "add", lambda self, images, image, *rest: add(self, images, others.data_ptr(), *rest)
    )
    with pytest.raises(RuntimeError, match="the matched features of pair 0 are WRONG"):
        cuda.matched(masks, "T", 3, True)
    assert not cuda.matched(masks, "T", 3, False).any() and want.any()


@pytest.mark.parametrize("dims", [2, 3])
def test_matching_waits_for_nothing(dims):
    """Matched features are enqueued without waiting, in batches of one launch of each kernel."""
    cuda = pytest.importorskip("eccbench.cuda")
    masks = (torch.rand((4, 2, *(30, 40, 70)[:dims])) > 0.5).to(torch.uint8).cuda()
    want = cuda.matched(masks, "T", dims, True)
    with NoWaiting():
        got = cuda.matched(masks, "T", dims, False)
    assert torch.equal(got, want)


@pytest.mark.parametrize("of, by", list(itertools.product(range(5), range(5))))
def test_no_second_order_of_any_input(of, by):
    tensors = [t.cuda() for t in (
        drawn(3, 4, dtype=torch.float32), torch.tensor([0.3, 0.6]), torch.tensor(9.0), torch.tensor([0.5, -1.0]), torch.tensor(0.7))]
    for one in {of, by}:
        tensors[one].requires_grad_()
    x, tau, lam, v, alpha = tensors
    (g,) = torch.autograd.grad(soft_ecc(x, tau, lam, dims=2, direction=v, alpha=alpha).sum(), tensors[of], create_graph=True)
    with pytest.raises(RuntimeError, match="no derivatives of the second order"):
        torch.autograd.grad((g**2).sum(), tensors[by])


def test_negative_bit():
    """The sign of x.conj().imag is not in its memory."""
    x = torch.view_as_complex(drawn(2, 5, 6, 2, dtype=torch.float32).cuda()).conj().imag
    assert x.is_neg()
    want = x.clone()
    for ask in (
        lambda x: ecc(x, [-0.5, 0.0], dims=2), lambda x: soft_ecc(x, [-0.5], 9.0, dims=2),
        lambda x: soft_ecc(want, x[0, 0], 9.0, dims=2), lambda x: soft_ecc(want, [-0.5], -x[0, 0, 0], dims=2),
        lambda x: cuda.curve(x, at=[-0.5], dims=2), lambda x: cuda.betti(x, -0.5, dims=2), lambda x: cuda.gvf(x, steps=2, dims=2),
    ):
        assert torch.equal(ask(x), ask(want))
