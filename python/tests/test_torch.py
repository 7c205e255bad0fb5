"""The layers of PyTorch, where it is installed."""

import copy
import itertools
import math
import pickle
import shutil

import numpy as np
import pytest

import eccbench

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import eccbench.torch as layers  # noqa: E402
from formula import formula  # noqa: E402
import parallel  # noqa: E402
from eccbench.torch import ECC, SoftECC, ecc, soft_ecc  # noqa: E402

CONVENTIONS = list(itertools.product("TV", (False, True)))


@pytest.fixture(autouse=True)
def no_memory_by_luck():
    """Memory that was not written is NaN, or the greatest number of its type."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    layers._nothing.clear()
    yield
    torch.use_deterministic_algorithms(False)


def drawn(*shape, dtype=torch.float64, seed=0):
    return torch.rand(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(9,), (6, 7), (4, 5, 6), (1, 8), (8, 1, 3), (1, 6, 5)])
@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
@pytest.mark.parametrize("dtype, near", [(torch.float64, 1e-11), (torch.float32, 2e-4)])
def test_formula(shape, construction, superlevel, dtype, near):
    """χ and all gradients equal the definition."""
    x = drawn(*shape, seed=len(shape))
    parameters = [torch.tensor([0.7, 0.2, 0.45], dtype=torch.float64), torch.tensor(9.0, dtype=torch.float64), torch.tensor([0.6, -1.5, 2.0][: len(shape)], dtype=torch.float64), torch.tensor(0.03, dtype=torch.float64)]
    upstream = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    want_of = [t.clone().requires_grad_() for t in (x, *parameters)]
    want = formula(*want_of, construction, superlevel)
    want.backward(upstream)
    of = [t.to(dtype).clone().requires_grad_() for t in (x, *parameters)]
    got = soft_ecc(of[0], of[1], of[2], dims=len(shape), direction=of[3], alpha=of[4], construction=construction, superlevel=superlevel)
    got.backward(upstream.to(dtype))
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), want, rtol=near, atol=near)
    for ours, theirs in zip(of, want_of):
        scale = max(1.0, theirs.grad.abs().max().item())
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=0, atol=near * scale)


@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
def test_direction_across_one_plane(construction, superlevel):
    """Across one plane Y equals X, and the direction still has a gradient."""
    of, want_of = ([t.clone().requires_grad_() for t in (drawn(1, 6, 5), torch.tensor([2.0, 0.0, 0.0], dtype=torch.float64))] for _ in range(2))
    tau, lam, alpha = torch.tensor([0.7, 0.3], dtype=torch.float64), torch.tensor(9.0, dtype=torch.float64), torch.tensor(0.1, dtype=torch.float64)
    got = soft_ecc(of[0], tau, lam, dims=3, direction=of[1], alpha=alpha, construction=construction, superlevel=superlevel)
    want = formula(want_of[0], tau, lam, want_of[1], alpha, construction, superlevel)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)
    got.sum().backward()
    want.sum().backward()
    assert of[1].grad[0] == 0 and of[1].grad.norm() > 0.01
    for ours, theirs in zip(of, want_of):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=1e-11)


def test_large():
    """With bins and several cores, the results are within the limits of the definition, and reproducible."""
    x = drawn(2, 48, 48, 48, dtype=torch.float32)
    tau = torch.linspace(0.05, 0.95, 12)
    grads = []
    for _ in range(2):
        y = x.clone().requires_grad_()
        chi = soft_ecc(y, tau, 50.0, dims=3)
        chi.square().sum().backward()
        grads.append((chi.detach(), y.grad))
    assert torch.equal(grads[0][0], grads[1][0]) and torch.equal(grads[0][1], grads[1][1])
    y = x.double().requires_grad_()
    want = torch.stack([formula(i, tau.double(), 50.0, torch.ones(3, dtype=torch.float64), 0.0) for i in y])
    want.square().sum().backward()
    assert (chi - want).abs().max() < 1e-5 * want.abs().max()
    assert (grads[0][1] - y.grad).abs().max() < 1e-5 * y.grad.abs().max()


def ragged(device="cpu", dtype=torch.float64):
    """Return images of two shapes in turn."""
    shapes = [(2, 5, 6), (2, 4, 3), (2, 5, 6), (2, 1, 7)]
    return [drawn(*shape, dtype=dtype, seed=seed).to(device).requires_grad_() for seed, shape in enumerate(shapes)]


def test_list():
    """A list of images of different shapes has the curves and gradients of each image."""
    images, alone = ragged(), ragged()
    thresholds = [0.3, 0.5, 0.8]
    layer = SoftECC(thresholds, lam=9.0, dims=2, direction=[1.0, 2.0], alpha=0.1, learn=["thresholds"]).double()
    got, want = layer(images), torch.stack([layer(image) for image in alone])
    assert got.shape == (4, 2, 3)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    weights = drawn(4, 2, 3, seed=9)
    (got * weights).sum().backward()
    gradient, layer.thresholds.grad = layer.thresholds.grad, None
    (want * weights).sum().backward()
    torch.testing.assert_close(gradient, layer.thresholds.grad, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(images, alone):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-12)
    assert torch.equal(ECC(thresholds, dims=2)(images), torch.stack([ecc(image, thresholds, dims=2) for image in alone]))


def test_frames():
    """Images in frames that belong to no set have the curves and gradients of the images."""
    tau, v = torch.tensor([0.2, 0.7]).double(), torch.tensor([1.0, -2.0]).double()
    for (construction, superlevel), directed in itertools.product(CONVENTIONS, (False, True)):
        mine = [drawn(2, *shape, dtype=torch.float32).requires_grad_() for shape in [(11, 13), (9, 7), (3, 15)]]
        batch = layers._Framed.apply(-math.inf if superlevel else math.inf, *mine)
        assert batch.shape == (3, 2, 11, 15)
        given = tau, 9.0, v if directed else None, 0.2, construction, superlevel, 2
        got, want = formula(batch.double(), *given), torch.stack([formula(one.double(), *given) for one in mine])
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
        weights = drawn(3, 2, 2, seed=9)
        for ours, theirs in zip(*(torch.autograd.grad((chi * weights).sum(), mine) for chi in (got, want))):
            torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    for dtype in (torch.bfloat16, torch.float32):
        mine = [one.detach().to(dtype).requires_grad_() for one in mine]
        for got in torch.autograd.grad(layers._Framed.apply(math.inf, *mine).clamp(max=2).sum(), mine):
            assert got.dtype == dtype and (got == 1).all() and got.is_contiguous()
            assert got.untyped_storage().nbytes() == got.nbytes  # the frame is freed
    assert layers._worth_frames([(9, 8), (300, 2)], 2)
    assert not layers._worth_frames([(1, 5000), (5000, 1)], 2)


class OnDevice(torch.Tensor):
    """A tensor on the CPU that takes the path of a device."""

    is_cuda = True


def on_device(*tensors):
    return [one.as_subclass(OnDevice) for one in tensors]


@pytest.fixture
def device(monkeypatch):
    """A device of curves by the definition, and the layouts that it made."""
    made = []

    def answer(superlevel, how, images, given):
        x, tau, lam, alpha, v = (None if one is None else one.as_subclass(torch.Tensor).double() for one in (images, *given))
        return formula(x, tau, lam, v, alpha, how[2], superlevel, how[1]).float()

    monkeypatch.setattr(layers, "_PLAIN", (*layers._PLAIN, OnDevice))
    monkeypatch.setattr(layers, "_layouts", {})
    monkeypatch.setattr(layers, "_nothing", {})
    monkeypatch.setattr(layers, "_Layout", lambda *of: made.append(of) or of)
    monkeypatch.setattr(layers, "_by_layout", answer)
    return made


def test_known_layout(device):
    """A layout that is known skips no check."""
    x, tau, lam, alpha, v, none = on_device(drawn(6, 7, dtype=torch.float32), torch.tensor([0.2, 0.7]),
        torch.tensor(9.0), torch.tensor(0.0).double(), torch.tensor([1.0, 2.0]), torch.empty(0).double())
    for _ in range(2):
        for given in ({}, {"direction": v, "alpha": alpha}):
            got = soft_ecc(x, tau, lam, dims=2, **given)
            torch.testing.assert_close(got, soft_ecc(torch.Tensor(x), [0.2, 0.7], 9.0, dims=2).as_subclass(type(got)))
        for what, wrong in [
            ("want one axis", {"direction": none, "alpha": alpha}), ("want 1, 2 or 3", {"dims": [2]}),
            ("want 1, 2 or 3", {"dims": 4}), ("want T or V", {"construction": ["T"]}),
            ("want T or V", {"construction": "U"}),
        ]:
            with pytest.raises(ValueError, match=what):
                soft_ecc(x, tau, lam, **{"dims": 2, **wrong})
    assert len(device) == 2


def test_numbers_of_a_layer():
    """A layer reads its numbers where torch.nn.utils.parametrize and torch.func.functional_call put them."""
    class Twice(torch.nn.Module):
        def forward(self, number):
            return 2 * number

    x, v = drawn(2, 6, 7), torch.tensor([1.0, 2.0])
    for name in ("thresholds", "fixed_lam", "direction", "alpha"):
        at = {"thresholds": torch.tensor([0.2, 0.4]), "fixed_lam": torch.tensor(9.0), "direction": v, "alpha": torch.tensor(0.1)}
        layer = SoftECC(at["thresholds"], 9.0, dims=2, direction=v, alpha=0.1)
        at[name] = 2 * at[name] + torch.arange(at[name].numel()).reshape(at[name].shape)
        swapped = torch.func.functional_call(layer, {name: at[name]}, (x,))
        want = soft_ecc(x, at["thresholds"], at["fixed_lam"], dims=2, direction=at["direction"], alpha=at["alpha"])
        assert torch.equal(swapped, want) and not torch.equal(layer(x), want)
        setattr(layer, name, at[name] / 2)
        torch.nn.utils.parametrize.register_parametrization(layer, name, Twice())
        assert torch.equal(layer(x), want)
        layer.register_buffer("weights", x)  # of a subclass
        assert torch.equal(layer(x), want)
    for learn in ([], *([name] for name in layers._LEARNABLE)):
        layer = SoftECC([0.2, 0.4], 9.0, dims=2, direction=v, alpha=0.1, learn=learn)
        want = layer(x)
        layer.register_buffer("weights", x)
        assert torch.equal(layer(x), want)


def test_list_on_device(device, monkeypatch):
    """Images of similar shapes share frames, those of a direction if the middles are the same."""
    shapes = [(9, 8), (8, 9), (2, 3000), (5, 6), (3000, 2), (6, 5)]
    images, framed = [drawn(*shape, dtype=torch.float32, seed=k) for k, shape in enumerate(shapes)], []
    forward = layers._Framed.forward

    def counted(ctx, outside, *of):
        framed.append([tuple(one.shape) for one in of])
        return forward(ctx, outside, *of)

    monkeypatch.setattr(layers._Framed, "forward", staticmethod(counted))
    for given, together in [
        ({}, [[(9, 8), (5, 6), (6, 5)]]),
        ({"direction": [1.0, 2.0], "alpha": 0.02}, [[(9, 8), (5, 6)], [(8, 9), (6, 5)]]),
    ]:
        framed.clear()
        got = soft_ecc(on_device(*images), [0.2, 0.7], 9.0, dims=2, **given)
        want = torch.stack([soft_ecc(one, [0.2, 0.7], 9.0, dims=2, **given) for one in images])
        torch.testing.assert_close(torch.Tensor(got), want, rtol=1e-5, atol=1e-5)
        assert sorted(framed) == sorted(together)


def test_frames_of_little_memory():
    """One large image among many small ones has no frame with them."""
    shapes = [torch.Size([k % 10 + 4, k // 10 % 10 + 4, k // 100 + 4]) for k in range(1000)]
    shapes.insert(500, torch.Size([160] * 3))
    groups = layers._in_frames([[k] for k in range(len(shapes))], shapes, 3, False)
    assert sorted(itertools.chain(*groups)) == [*range(1001)] and len(groups) < 20
    assert all(numbers == sorted(numbers) for numbers in groups)
    voxels = [len(numbers) * math.prod(map(max, zip(*[shapes[k] for k in numbers]))) for numbers in groups]
    assert sum(voxels) <= 4 * sum(map(math.prod, shapes))


def test_memory_until_backward(monkeypatch):
    """Working memory of the forward pass is not kept for the backward pass."""

    class Plan:
        kept, blocks, memory = 8 * (5 + 2) + 4 * (7 + 6) + 3 * 6 * 8, 3, 30_000

        @staticmethod
        def add(backward, *numbers):
            added.append(numbers)

    added, x = [], drawn(3, 6, 7, dtype=torch.float32)
    numbers = torch.tensor([0.2, 0.7]), torch.tensor(9.0), torch.tensor(0.1), torch.tensor([1.0, 2.0])
    monkeypatch.setattr(layers.cuda, "soft", lambda *_: Plan)
    how = layers._Layout(x, 2, "T", numbers)
    for derivatives in (False, True):
        kept = how.forward(x, *numbers, derivatives)[2]
        assert kept.untyped_storage().nbytes() == how.kept < 1000


@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
def test_limit_is_the_exact_curve(construction, superlevel):
    x = torch.randint(0, 6, (2, 3, 7, 6, 5), generator=torch.Generator().manual_seed(3)).float()
    at = torch.tensor([2.5, 0.5, 4.5, -0.5])
    exact = ecc(x, at, dims=3, construction=construction, superlevel=superlevel)
    soft = soft_ecc(x, at, 200.0, dims=3, construction=construction, superlevel=superlevel)
    assert exact.dtype == torch.int64 and exact.shape == (2, 3, 4) and not exact.requires_grad
    assert torch.equal(soft, exact.float())
    for i in range(2):
        assert exact[i, 1].tolist() == eccbench.curve(x[i, 1].numpy(), construction=construction, superlevel=superlevel)(at.numpy()).tolist()


@pytest.mark.parametrize("construction, superlevel", CONVENTIONS)
@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 4, 3)])
def test_gradcheck(shape, construction, superlevel):
    def of(x, tau, lam, v, alpha):
        return soft_ecc(x, tau, lam, dims=len(shape), direction=v, alpha=alpha, construction=construction, superlevel=superlevel)

    inputs = drawn(2, *shape), torch.tensor([0.3, 0.8]), torch.tensor(11.0), torch.tensor([0.3, -2.0, 1.0][: len(shape)]), torch.tensor(0.02)
    assert torch.autograd.gradcheck(of, [t.double().requires_grad_() for t in inputs])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_opcheck():
    x, changes = drawn(3, 5, 4), torch.zeros(3, 5, 4, dtype=torch.int8)
    tau, lam, alpha, v = torch.tensor([0.2, 0.7]), torch.tensor(5.0), torch.tensor(0.1), torch.tensor([1.0, 2.0])
    learned = [t.requires_grad_() for t in (x, tau, lam, alpha, v)]
    for op, arguments in [
        (layers._soft, (*learned, "T", True)),
        (layers._soft, (x.detach().float(), *[t.detach() for t in learned[1:]], "V", False)),
        (layers._soft_backward, (torch.ones(3, 2, dtype=torch.float64), x.detach(), changes, *[t.detach() for t in learned[1:]], "T", True)),
        (layers._exact, (x.detach(), tau.detach(), "T", False, True)),
    ]:
        assert set(torch.library.opcheck(op, arguments).values()) == {"SUCCESS"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("learn", [[], ["thresholds", "lam", "direction", "alpha"]])
def test_compile(backend, learn):
    """A whole graph compiles, forward and backward, also for another number of images."""
    if backend == "inductor" and not shutil.which("g++"):
        pytest.skip("inductor compiles with g++, which is not installed")
    layer = SoftECC(torch.linspace(0, 1, 5), 20.0, dims=2, direction=[1.0, 2.0], alpha=0.01, learn=learn)
    exact = ECC(torch.linspace(0, 1, 5), dims=2)

    def loss(x):
        return (layer(torch.sigmoid(x)) - exact(torch.sigmoid(x))).square().mean()

    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for n in (2, 3):
        results = []
        for f in (loss, compiled):
            x = drawn(n, 1, 9, 8, dtype=torch.float32).requires_grad_()
            layer.zero_grad()
            value = f(x)
            value.backward()
            results.append([value.detach(), x.grad, *[p.grad.clone() for p in layer.parameters()]])
        for plain, fast in zip(*results):
            torch.testing.assert_close(fast, plain)


@pytest.mark.filterwarnings("ignore")
def test_export():
    """A model with both layers is exported for any number of images, and answers and learns as before."""
    layer = SoftECC(torch.linspace(0, 1, 5), 20.0, dims=2, direction=[1.0, 2.0], alpha=0.01, learn=["thresholds", "lam"])
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.Sigmoid(), layer)
    exact = torch.nn.Sequential(torch.nn.Sigmoid(), ECC(torch.linspace(0, 1, 5), dims=2, verify=True))
    example, images = ({0: torch.export.Dim("images", min=2)},), drawn(3, 1, 9, 8, dtype=torch.float32)
    for of in (model, exact):
        exported = torch.export.export(of, (images,), dynamic_shapes=example)
        calls = [str(node.target) for node in exported.graph.nodes]
        assert any(call.startswith("eccbench.") for call in calls), calls
        again = exported.module()
        for x in (images, drawn(7, 1, 9, 8, dtype=torch.float32, seed=2)):
            torch.testing.assert_close(again(x), of(x))
    again = torch.export.export(model, (images,), dynamic_shapes=example).module()
    for of in (model, again):
        of(images).square().mean().backward()
    for (name, plain), (other, exported) in zip(sorted(model.named_parameters()), sorted(again.named_parameters())):
        assert name == other
        torch.testing.assert_close(exported.grad, plain.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_types(dtype):
    """Half types are converted to float32, and their gradients have the original type."""
    x = drawn(2, 6, 7, dtype=torch.float64).to(dtype).requires_grad_()
    chi = soft_ecc(x, [0.2, 0.6], 10.0, dims=2)
    chi.sum().backward()
    assert chi.dtype == (torch.float64 if dtype == torch.float64 else torch.float32) and x.grad.dtype == dtype
    wide = x.detach().double().requires_grad_()
    want = soft_ecc(wide, [0.2, 0.6], 10.0, dims=2)
    want.sum().backward()
    torch.testing.assert_close(chi.double(), want, rtol=1e-5, atol=1e-5)
    assert torch.equal(x.grad, wide.grad.to(dtype)) or (x.grad - wide.grad).abs().max() < 0.02
    assert torch.equal(ecc(x, [0.2, 0.6], dims=2), ecc(wide, [0.2, 0.6], dims=2))


def test_integers():
    x = torch.randint(0, 9, (3, 6, 7), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    for dtype in (torch.uint8, torch.int8, torch.int16):
        assert torch.equal(soft_ecc(x.to(dtype), [3.5], 90.0, dims=2), ecc(x, [3.5], dims=2).float())
    assert ecc(x > 4, [0.0, 1.0], dims=2)[:, 1].tolist() == [1, 1, 1]


def test_autocast():
    layer = SoftECC([0.2, 0.6], 10.0, dims=2, learn=["thresholds"])
    body = torch.nn.Conv2d(1, 2, 3, padding=1)
    x = drawn(3, 1, 8, 8, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        hidden = body(x)
        chi = layer(hidden)
        chi.square().mean().backward()
    assert hidden.dtype == torch.bfloat16 and chi.dtype == torch.float32 and chi.shape == (3, 2, 2)
    assert body.weight.grad.abs().max() > 0 and layer.thresholds.grad.shape == (2,)


def test_strides():
    """Any memory layout, batches with any number of axes, and empty batches."""
    x = drawn(2, 3, 6, 5)
    want = soft_ecc(x, [0.3], 9.0, dims=2)
    turned = x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    assert not turned.is_contiguous() and torch.equal(soft_ecc(turned, [0.3], 9.0, dims=2), want)
    assert torch.equal(soft_ecc(x[1, 2], [0.3], 9.0, dims=2), want[1, 2])
    assert soft_ecc(x[:0], [0.3, 0.4], 9.0, dims=2).shape == (0, 3, 2)
    leaf = x.clone().requires_grad_()
    soft_ecc(leaf[:, ::2].flip(-1), [0.3], 9.0, dims=2).sum().backward()
    assert leaf.grad[:, 1].abs().max() == 0 and leaf.grad[:, 2].abs().max() > 0


def test_state():
    layer = SoftECC([0.2, 0.6], 10.0, dims=3, direction=[1.0, 0.0, 2.0], alpha=0.5, learn=["thresholds", "lam"], construction="V")
    assert [n for n, _ in layer.named_parameters()] == ["thresholds", "log_lam"]
    assert sorted(layer.state_dict()) == ["alpha", "direction", "log_lam", "thresholds"]
    other = SoftECC([0.0, 0.0], 1.0, dims=3, direction=[1.0, 1.0, 1.0], learn=["thresholds", "lam"], construction="V")
    other.load_state_dict(layer.state_dict())
    x = drawn(4, 5, 6, dtype=torch.float32)
    assert torch.equal(other(x), layer(x))
    fixed = SoftECC([0.0, 0.0], 1.0, dims=3, direction=[1.0, 1.0, 1.0], construction="V")
    assert sorted(fixed.state_dict()) == ["alpha", "direction", "fixed_lam", "thresholds"]
    torch.nn.Sequential(fixed).load_state_dict(torch.nn.Sequential(layer).state_dict())
    torch.testing.assert_close(fixed(x), layer(x))
    other.load_state_dict({**fixed.state_dict(), "fixed_lam": torch.tensor(5.0)})
    torch.testing.assert_close(other.lam, torch.tensor(5.0))
    for one in (layer, fixed):  # pickled by a version that stored any λ as its logarithm
        old, named = copy.deepcopy(one), "log_lam"
        del old.fixed_lam
        if one is fixed:
            old._buffers[named] = one.lam.log()
        again = pickle.loads(pickle.dumps(old))
        torch.testing.assert_close(again(x), layer(x))
        again.load_state_dict(one.state_dict())
        assert sorted(again.state_dict()) == sorted(one.state_dict()) and torch.equal(again(x), one(x))
    assert layer.double()(x.double()).dtype == torch.float64
    exact = ECC([0.1, 0.2], dims=2).half()  # thresholds are not rounded
    assert exact.state_dict()["thresholds"].tolist() == [0.1, 0.2]


def test_learns_a_threshold():
    """The components of 0 and 0.3 are separate until 1 joins them: a threshold converges to that range."""
    row = torch.tensor([[0.0, 1.0, 0.3]])
    layer = SoftECC([0.1], 20.0, dims=2, learn=["thresholds"])
    step = torch.optim.Adam(layer.parameters(), lr=0.02)
    assert layer(row) < 1.1
    for _ in range(60):
        loss = (layer(row) - 2).square().sum()
        step.zero_grad()
        loss.backward()
        step.step()
    assert 0.4 < layer.thresholds.item() < 0.9 and layer(row) > 1.9


def test_inference_mode(monkeypatch):
    """Numbers that are made in an inference mode do not reach later steps of training."""
    monkeypatch.setattr(layers, "_nothing", {})
    x, layer = drawn(4, 5, dtype=torch.float32), SoftECC([0.3], 9.0, dims=2)
    with torch.inference_mode():
        want = layer(x)
        assert torch.equal(SoftECC([0.3], 9.0, dims=2)(x), want)
    y = x.clone().requires_grad_()
    got = layer(y)
    got.sum().backward()
    assert torch.equal(got, want) and y.grad.abs().max() > 0


def test_steepness_without_a_version():
    """λ is read in each call, also if it is changed by ways that PyTorch does not count."""
    x, layer = drawn(4, 5, dtype=torch.float32), SoftECC([0.3], 9.0, dims=2)
    layer(x)
    layer.fixed_lam.data.fill_(1)
    assert torch.equal(layer(x), soft_ecc(x, [0.3], 1.0, dims=2))


def test_upstream_that_is_not_finite():
    x = drawn(3, 4, dtype=torch.float32).requires_grad_()
    soft_ecc(x, [0.3], 9.0, dims=2).backward(torch.tensor([float("inf")]))
    assert x.grad.isnan().all()


def test_no_second_order():
    x = drawn(3, 4).requires_grad_()
    (g,) = torch.autograd.grad(soft_ecc(x, [0.3], 9.0, dims=2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no derivatives of the second order"):
        g.sum().backward()


@pytest.mark.parametrize("of", range(5))
@pytest.mark.parametrize("by", range(5))
def test_no_second_order_of_any_input(of, by):
    tensors = [drawn(3, 4), torch.tensor([0.3, 0.6]), torch.tensor(9.0), torch.tensor([0.5, -1.0]), torch.tensor(0.7)]
    for one in {of, by}:
        tensors[one].requires_grad_()
    x, tau, lam, v, alpha = tensors
    chi = soft_ecc(x, tau, lam, dims=2, direction=v, alpha=alpha)
    (g,) = torch.autograd.grad(chi.sum(), tensors[of], create_graph=True)
    with pytest.raises(RuntimeError, match="no derivatives of the second order"):
        torch.autograd.grad((g**2).sum(), tensors[by])


def test_no_thresholds():
    x = drawn(2, 3, 4).requires_grad_()
    chi = soft_ecc(x, torch.empty(0), 9.0, dims=2)
    assert chi.shape == (2, 0)
    chi.sum().backward()
    assert torch.equal(x.grad, torch.zeros(2, 3, 4, dtype=x.dtype))


def test_meta():
    x = torch.empty(2, 3, 4, device="meta", requires_grad=True)
    chi = soft_ecc(x, [0.3], 9.0, dims=2)
    chi.sum().backward()
    assert chi.is_meta and chi.shape == (2, 1) and x.grad.shape == x.shape


@pytest.mark.parametrize("given, words", [
    ({"dims": 2.0}, "dims 2.0: want a whole number"), ({"dims": True}, "dims True: want a whole number"),
    ({"lam": "5"}, "lam '5': want real numbers"), ({"thresholds": [1j]}, "thresholds .*: want real numbers"),
    ({"thresholds": torch.tensor([1j])}, "thresholds of torch.complex64: want real numbers"),
])
def test_types(given, words):
    with pytest.raises(TypeError, match=words):
        soft_ecc(drawn(3, 4), **{"thresholds": [0.3], "lam": 9.0, "dims": 2, **given})


@pytest.mark.parametrize("make", [
    lambda t: ecc(drawn(3, 4), t, dims=2), lambda t: ECC(t, dims=2), lambda t: SoftECC(t, 9.0, dims=2),
])
def test_complex(make):
    with pytest.raises(TypeError, match="of torch.complex64: want real numbers"):
        make(torch.tensor([1j]))


def test_negative_bit():
    """The sign of x.conj().imag is not in its memory."""
    x = torch.view_as_complex(drawn(2, 5, 6, 2)).conj().imag
    assert x.is_neg()
    want = x.clone()
    for ask in (
        lambda x: ecc(x, [-0.5, 0.0], dims=2), lambda x: soft_ecc(x, [-0.5], 9.0, dims=2),
        lambda x: soft_ecc(want, x[0, 0], 9.0, dims=2), lambda x: soft_ecc(want, [-0.5], -x[0, 0, 0], dims=2),
        lambda x: eccbench.curve(x, at=[-0.5, 0.0]).chi, lambda x: eccbench.betti(x, -0.5), lambda x: eccbench.gvf(x, steps=2),
    ):
        np.testing.assert_array_equal(ask(x), ask(want))
    of = [torch._neg_view(-want).requires_grad_(), want.clone().requires_grad_()]  # contiguous
    for x in of:
        soft_ecc(x, [-0.5], 9.0, dims=2).sum().backward()
    assert of[0].is_neg() and torch.equal(of[0].grad, of[1].grad)


def test_no_option_that_is_not_there():
    x = torch.full((3, 4), float("nan"))
    with pytest.raises(ValueError) as e:
        ecc(x, [0.3], dims=2)
    assert "nan=" not in str(e.value)


def test_no_derivatives_by_func():
    x = drawn(3, 4, 5)

    def loss(y, tau=(0.3,)):
        return soft_ecc(y, torch.as_tensor(tau), 9.0, dims=2).sum()

    grad, vmap = torch.func.grad, torch.func.vmap
    for call in (
        lambda: grad(loss)(x), lambda: vmap(grad(loss))(x), lambda: grad(lambda y: vmap(loss)(y).sum())(x),
        lambda: torch.func.hessian(loss)(x), lambda: torch.func.jvp(loss, (x,), (x,)),
        lambda: grad(lambda tau: loss(x, tau))(torch.tensor([0.3])),
    ):
        with pytest.raises(RuntimeError, match="does not support derivatives by torch.func"):
            call()


def test_verified_on_a_device_or_the_host(monkeypatch):
    """The host answers what a device does not verify."""
    counted = []

    def count(images, *, at, dims, verify):
        counted.append(at)
        return torch.full((len(images), len(at)), -7)

    capability = [9, 0]
    monkeypatch.setattr(layers.cuda, "curve", count)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: tuple(capability))

    def answered(x, at, superlevel=False, verify=True):
        """Return whether the device is asked."""
        counted.clear()
        at = torch.as_tensor(at, dtype=torch.float64)
        chi = layers._exact_on_device(x.as_subclass(OnDevice), at, "T", superlevel, verify)
        if not counted:
            assert torch.equal(chi.as_subclass(torch.Tensor), ecc(x, at, dims=2, superlevel=superlevel))
        return bool(counted)

    most = torch.finfo(torch.float32).max
    for x in (drawn(2, 5, 6, dtype=torch.float32), (200 * drawn(2, 5, 6)).to(torch.uint8)):
        for superlevel in (False, True):
            for at in ([0.5, 7.0], [-most, most]):
                capability[:] = [8, 0]
                assert answered(x, at, superlevel)
                capability[:] = [7, 5]
                assert not answered(x, at, superlevel) and answered(x, at, superlevel, False)
                capability[:] = [12, 0]
                assert answered(x, at, superlevel)
            for at in ([0.5, np.inf], [-np.inf, 0.5], [1e39], [-1e300]):
                assert not answered(x, at, superlevel) and answered(x, at, superlevel, False)
    monkeypatch.setattr(torch.version, "hip", "6.0")
    assert not answered(x, [0.5])


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_constants_of_func(monkeypatch):
    """Numbers that are made within a transform of torch.func have no derivatives."""
    monkeypatch.setattr(layers, "_nothing", {})
    x, w = drawn(4, 5), torch.tensor(2.0)

    def loss(w, of=x):
        return w * soft_ecc(of, [0.3], 9.0, dims=2).sum()

    grad, jvp, vmap = torch.func.grad, torch.func.jvp, torch.func.vmap
    ways = (
        lambda of: grad(loss)(w, of),
        lambda of: jvp(lambda w: loss(w, of), (w,), (torch.tensor(1.0),))[1],
        lambda of: grad(lambda w: vmap(lambda y: loss(w, y))(of[None]).sum())(w),
        lambda of: jvp(lambda w: vmap(lambda y: loss(w, y))(of[None]).sum(), (w,), (torch.tensor(1.0),))[1],
        lambda of: vmap(lambda w: grad(loss)(w, of))(w[None])[0],
    )
    results = [way(x) for way in ways]
    want = soft_ecc(x, [0.3], 9.0, dims=2).sum()
    for way, result in zip(ways, results):
        torch.testing.assert_close(result, want, check_dtype=False)
        for call in (lambda: grad(way)(x), lambda: jvp(way, (x,), (x,)), lambda: vmap(grad(way))(x[None])):
            with pytest.raises(RuntimeError, match="does not support derivatives by torch.func"):
                call()


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap():
    x = drawn(3, 4, 5)
    curves = torch.func.vmap(lambda y: soft_ecc(y, [0.3], 9.0, dims=2))(x)
    torch.testing.assert_close(curves, soft_ecc(x, [0.3], 9.0, dims=2))


class Curves(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return ecc(drawn(9, 9, seed=i), [0.5], dims=2), soft_ecc(drawn(9, 9, seed=i), [0.5], 50.0, dims=2)


@pytest.mark.filterwarnings("ignore")
def test_data_loader():
    """Workers are forked from a process that has called the library."""
    want = [Curves()[i] for i in range(4)]
    for i, (exact, soft) in enumerate(torch.utils.data.DataLoader(Curves(), num_workers=2, multiprocessing_context="fork", timeout=100)):
        assert torch.equal(exact[0], want[i][0]) and torch.equal(soft[0], want[i][1])


def test_distributed(tmp_path):
    """Two processes with half a batch each have the gradients of the batch."""
    parallel.check(tmp_path, "gloo", drawn(4, 1, 9, 8, dtype=torch.float32))


def test_refused():
    x = torch.zeros(3, 4)
    nan = torch.full((2, 3, 4), float("nan"))
    for what, error, ask in [
        ("want at least one", ValueError, lambda: soft_ecc([], [0.0], 1.0, dims=2)),
        ("all of one type", ValueError, lambda: ecc([torch.zeros(3, 4), torch.zeros(3, 4).double()], [0.0], dims=2)),
        ("the same axes before", ValueError, lambda: ecc([torch.zeros(3, 4), torch.zeros(1, 3, 4)], [0.0], dims=2)),
        ("want a tensor", TypeError, lambda: soft_ecc(np.zeros((3, 4)), [0.0], 1.0, dims=2)),
        ("want 1, 2 or 3", ValueError, lambda: soft_ecc(x, [0.0], 1.0, dims=3)),
        ("want 1, 2 or 3", ValueError, lambda: soft_ecc([x[0], x[1]], [0.0], 1.0, dims=2)),
        ("want 1, 2 or 3", ValueError, lambda: ecc([x[0], x[1]], [0.0], dims=2)),
        (r"shape \(0, 4\) has no voxels", ValueError, lambda: soft_ecc(x[:0], [0.0], 1.0, dims=2)),
        (r"shape \(0, 4\) has no voxels", ValueError, lambda: ecc([x, x[:0]], [0.0], dims=2)),
        ("complex64", TypeError, lambda: soft_ecc(x.to(torch.complex64), [0.0], 1.0, dims=2)),
        ("int64", TypeError, lambda: soft_ecc(x.long(), [0.0], 1.0, dims=2)),
        ("construction 'U': want T or V", ValueError, lambda: soft_ecc(x, [0.0], 1.0, dims=2, construction="U")),
        ("λ is -1", ValueError, lambda: soft_ecc(x, [0.0], -1.0, dims=2)),
        ("one of the numbers is NaN", ValueError, lambda: soft_ecc(x, [float("nan")], 1.0, dims=2)),
        ("image 0: 12 values are NaN", ValueError, lambda: soft_ecc(nan, [0.0], 1.0, dims=2)),
        ("the array is masked", ValueError, lambda: soft_ecc(x, np.ma.masked_equal([1, 2], 2), 1.0, dims=2)),
        ("the array is masked", ValueError, lambda: SoftECC(np.ma.masked_equal([1, 2], 2), 1.0, dims=2)),
        ("the array is masked", ValueError, lambda: ecc(x, np.ma.masked_equal([1, 2], 2), dims=2)),
        ("the array is masked", ValueError, lambda: ECC(np.ma.masked_equal([1, 2], 2), dims=2)),
        ("want one axis", ValueError, lambda: soft_ecc(x, 0.5, 1.0, dims=2)),
        ("want one axis", ValueError, lambda: soft_ecc(x, [0.5], 1.0, dims=2, direction=[1.0, 2.0, 3.0], alpha=1.0)),
        ("direction is missing", ValueError, lambda: soft_ecc(x, [0.5], 1.0, dims=2, alpha=1.0)),
        ("direction is missing", ValueError, lambda: SoftECC([0.5], 1.0, dims=2, learn=["alpha"])),
        ("length of the direction not 0", ValueError, lambda: soft_ecc(x, [0.5], 1.0, dims=2, direction=[0.0, 0.0], alpha=1.0)),
        ("want more than 0", ValueError, lambda: SoftECC([0.5], 0.0, dims=2)),
        ("want some of", ValueError, lambda: SoftECC([0.5], 1.0, dims=2, learn=["tau"])),
        ("want one axis", ValueError, lambda: ecc(x, 0.5, dims=2)),
        ("NaN", ValueError, lambda: ecc(nan, [0.5], dims=2)),
    ]:
        with pytest.raises(error, match=what):
            ask()
