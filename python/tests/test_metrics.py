"""Topological metrics, compared with torchmetrics and MONAI."""

import datetime
import itertools
import pickle
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

import eccbench  # noqa: E402
import eccbench.cuda  # noqa: E402
import parallel  # noqa: E402
from eccbench.metrics import BettiError, BettiMatching, EulerError  # noqa: E402

rng = np.random.default_rng(3)


def labels(*shape):
    return torch.from_numpy(rng.integers(0, 3, shape))


def one_hot(masks, classes=3):
    return torch.stack([masks[:, 0] == c for c in range(classes)], 1).float()


def numbers(pred, truth, column, connectivity):
    """Return a metric of labels by its definition."""
    dims = range(pred.ndim - 2)
    rows = []
    for p, t in zip(pred, truth):
        found = [eccbench.assess((p[0] == c).numpy(), (t[0] == c).numpy(), labels=[1])[1, connectivity] for c in range(3)]
        rows.append([row[column] if "{}" not in column else sum(row[column.format(d)] for d in dims) for row in found])
    return np.array(rows)


@pytest.mark.parametrize("shape, connectivity", [((2, 1, 9, 8), 8), ((2, 1, 9, 8), 4), ((3, 1, 5, 6, 7), 26), ((3, 1, 5, 6, 7), 6)])
@pytest.mark.parametrize("metric, column", [(BettiError, "b{}_error"), (BettiMatching, "matching_error{}_max"), (EulerError, "chi_error")])
def test_numbers(metric, column, shape, connectivity):
    """One-hot masks and labels give the numbers of assess, a row for each image and a column for each class."""
    pred, truth = labels(*shape), labels(*shape)
    want = numbers(pred, truth, column, connectivity)
    made = metric(connectivity=connectivity, reduction="none", num_classes=3)
    for p, t in ((pred, truth), (one_hot(pred), truth), (one_hot(pred), one_hot(truth)), (one_hot(pred) > 0.5, one_hot(truth).double())):
        assert made(p, t).tolist() == want.tolist()
    assert made.get_buffer().tolist() == np.tile(want, (4, 1)).tolist() == made.compute().tolist()
    assert metric(connectivity=connectivity, include_background=False)(one_hot(pred), one_hot(truth)).tolist() == want[:, 1:].tolist()


@pytest.mark.parametrize("shape, connectivity", [
    *itertools.product([(2, 1, 9, 8)], (8, 4)),
    *itertools.product([(3, 1, 5, 6, 7), (3, 1, 1, 9, 8), (2, 1, 6, 7, 1)], (26, 6)),
])
@pytest.mark.parametrize("metric", [BettiError, BettiMatching, EulerError])
def test_on_a_device(metric, shape, connectivity, monkeypatch):
    """The numbers of a batch that is counted at once, with a stand-in for the device that counts on the host."""

    def betti(masks, at, *, superlevel=False, dims, verify):
        flat = masks.reshape(-1, *masks.shape[-dims:]).numpy()
        found = [tuple(eccbench.betti(m, at, superlevel=superlevel)) for m in flat]
        return torch.tensor(found).reshape(*masks.shape[:-dims], 3)

    def matched(masks, construction, dims, verify):
        found = []
        for pair in masks.reshape(-1, *masks.shape[-dims - 1:]).numpy():
            row = eccbench.assess(*pair, labels=[1])[1, {"T": (8, 26), "V": (4, 6)}[construction][dims - 2]]
            top = 1 if dims == 2 or len(pair[0]) == 1 else 2
            found.append((row["matched0_min"], row[f"matched{top}_min"], int((pair[0] != pair[1]).sum())))
        return torch.tensor(found).reshape(*masks.shape[:-dims - 1], 3).long()

    monkeypatch.setattr(eccbench.cuda, "betti", betti)
    monkeypatch.setattr(eccbench.cuda, "matched", matched)
    pred, truth = labels(*shape), labels(*shape)
    pred[0] = truth[0]
    truth[1][truth[1] == 2] = 0
    for options in {}, {"dimensions": (0,)}, {"dimensions": (1,)}, {"include_background": False}:
        if metric is EulerError and "dimensions" in options:
            continue
        made = metric(connectivity=connectivity, num_classes=3, ignore_empty=True, **options)
        host = made(pred, truth)
        with monkeypatch.context() as m:
            m.setattr(metric, "_counts_on_device", lambda self, masks: True)
            device = made(pred, truth)
        assert device.dtype == host.dtype and host[1, -1].isnan() and (metric is EulerError or host[0].sum() == 0)
        assert torch.equal(torch.nan_to_num(device, -1), torch.nan_to_num(host, -1))


def test_where_masks_are_counted():
    """The host counts tensors of the CPU, and masks with too many words for the kernels of matching."""
    class Mask:
        is_cuda = True

        def __init__(self, *shape):
            self.shape = shape

    on_device = sys.platform == "linux"
    for shape, fits in [
        ((1024, 1024, 2048), True), ((1024, 1024, 2049), False), ((2**25, 64), True), ((2**25 + 1, 1), False),
    ]:
        assert BettiMatching()._counts_on_device(Mask(1, 1, *shape)) == (on_device and fits)
        assert BettiError()._counts_on_device(Mask(1, 1, *shape)) == on_device
    assert not BettiMatching()._counts_on_device(torch.zeros(1, 1, 4, 4))


def test_reductions():
    pred, truth = one_hot(labels(4, 1, 9, 8)), one_hot(labels(4, 1, 9, 8))
    truth[1, 2] = 0
    metric = BettiError(ignore_empty=True, get_not_nans=True)
    of = metric(y_pred=pred, y=truth).numpy()
    assert np.isnan(of[1, 2]) and np.isnan(of).sum() == 1
    for reduction, want, count in [
        ("mean", np.nanmean(np.nanmean(of, 1)), 4), ("sum", np.nansum(of), 11), ("mean_batch", np.nanmean(of, 0), [4, 4, 3]), ("sum_batch", np.nansum(of, 0), [4, 4, 3]),
        ("mean_channel", np.nanmean(of, 1), [3, 2, 3, 3]), ("sum_channel", np.nansum(of, 1), [3, 2, 3, 3]),
    ]:
        reduced, not_nans = metric.aggregate(reduction)
        assert np.allclose(reduced, want) and np.array_equal(not_nans, count)
    assert metric.reduction == "mean" and np.allclose(metric.compute()[0], np.nanmean(np.nanmean(of, 1)))
    metric.reset()
    metric.update(pred[:1], truth[:1])
    assert np.allclose(metric.aggregate()[0], of[0].mean())
    assert np.allclose(pickle.loads(pickle.dumps(metric)).compute()[0], of[0].mean())


def test_dimensions():
    pred, truth = one_hot(labels(2, 1, 5, 6, 7)), one_hot(labels(2, 1, 5, 6, 7))
    each = [BettiError(dimensions=[d])(pred, truth) for d in range(3)]
    assert torch.equal(sum(each), BettiError()(pred, truth)) and torch.equal(BettiMatching(dimensions=(0, 2))(pred, pred), torch.zeros(2, 3))
    with pytest.raises(ValueError, match="dimensions \\(2,\\): want some of \\(0, 1\\)"):
        BettiError(dimensions=[2])(pred[..., 0], truth[..., 0])


def test_refused():
    pred = one_hot(labels(2, 1, 9, 8))
    for ask, text in [
        (lambda: BettiError()(pred, pred[:, :1]), "want one shape"),
        (lambda: BettiError()(pred[0], pred[0]), "want \\(B, C, H, W\\)"),
        (lambda: BettiError(reduction="median"), "reduction 'median'"),
        (lambda: BettiError(connectivity=26)(pred, pred), "connectivity 26: want 4 or 8"),
        (lambda: BettiError(connectivity="both")(pred, pred), "connectivity 'both': want 4 or 8"),
        (lambda: BettiError()([*pred], [*pred[:1]]), "y_pred of 2 images, and y of 1"),
        (lambda: BettiError(num_classes=3)(torch.full((1, 1, 4, 4), 3), labels(1, 1, 4, 4)),
         "y_pred: 3 is no label; want 0 to 2"),
        (lambda: BettiError(num_classes=3)(pred, torch.full((2, 1, 9, 8), -1)), "y: -1 is no label"),
        (lambda: BettiError(num_classes=3)(pred, torch.full((2, 1, 9, 8), 0.5)), "y: 0.5 is no label"),
        (lambda: EulerError(num_classes=3)(pred, torch.full((2, 1, 9, 8), torch.nan)), "y: nan is no label"),
        (lambda: BettiError()(pred, pred * torch.nan), "y: 432 of its values are NaN"),
    ]:
        with pytest.raises(ValueError, match=text):
            ask()


def test_torchmetrics():
    """A collection of torchmetrics accepts, moves and clones the metrics."""
    pred, truth = one_hot(labels(2, 1, 9, 8)), one_hot(labels(2, 1, 9, 8))
    collection = torchmetrics.MetricCollection([BettiError(), EulerError()]).clone(prefix="val_")
    collection.update(pred, truth)
    found = collection.compute()
    for metric in (BettiError, EulerError):
        assert torch.isclose(found[f"val_{metric.__name__}"], metric()(pred, truth).mean())


def gather(rank, folder, pred, truth):
    limit = datetime.timedelta(minutes=5)  # the default of half an hour looks like a hang
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=limit
    )
    metric = BettiError(reduction="none")
    metric.update(pred[rank::2], truth[rank::2])
    torch.save(metric.compute(), f"{folder}/{rank}")
    parallel.leave()


def test_distributed(tmp_path):
    """Each of two processes of a run has the numbers of both."""
    pred, truth = one_hot(labels(4, 1, 9, 8)), one_hot(labels(4, 1, 9, 8))
    torch.multiprocessing.spawn(gather, (str(tmp_path), pred, truth), nprocs=2)
    want = sorted(BettiError(reduction="none")(pred, truth).tolist())
    assert all(sorted(torch.load(tmp_path / str(rank)).tolist()) == want for rank in range(2))


def test_monai():
    """Reductions and methods are those of MONAI."""
    metrics = pytest.importorskip("monai.metrics")
    utils = pytest.importorskip("monai.metrics.utils")
    pred, truth = one_hot(labels(4, 1, 9, 8)), one_hot(labels(4, 1, 9, 8))
    truth[1, 2] = 0
    metric = BettiError(ignore_empty=True, get_not_nans=True)
    of = metric(pred, truth)
    for reduction in ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"):
        want, not_nans = utils.do_metric_reduction(of.clone(), reduction)
        reduced, counted = metric.aggregate(reduction)
        want, not_nans = want.reshape(reduced.shape), not_nans.reshape(counted.shape).to(counted.dtype)  # MONAI has means of shape (1,)
        assert torch.allclose(reduced, want, equal_nan=True) and torch.equal(counted, not_nans), reduction
    assert {name for name in dir(metrics.CumulativeIterationMetric) if not name.startswith("_")} <= {*dir(metric), "append", "extend"}


def test_collection():
    """Metrics of one collection have their own numbers, even if those of the first batch agree."""
    disk = torch.zeros(1, 1, 5, 5)
    disk[..., 1:4, 1:4] = 1
    ring = disk.clone()
    ring[..., 2, 2] = 0
    names = {
        "b0": BettiError(dimensions=[0]), "b1": BettiError(dimensions=[1]), "euler": EulerError(),
        "matching": BettiMatching(), "sum": BettiError(reduction="sum"), "mean": BettiError(), "4": BettiError(connectivity=4),
    }
    collection = torchmetrics.MetricCollection(names)
    for pred in disk, ring, ring:
        collection.update(pred, disk)
    want = {"b0": 0, "b1": 2 / 3, "euler": 2 / 3, "matching": 2 / 3, "sum": 2, "mean": 2 / 3, "4": 2 / 3}
    got = collection.compute()
    assert {name: got[name].item() for name in want} == pytest.approx(want)
    assert [sorted(group) for group in collection.compute_groups.values() if len(group) > 1] == [["mean", "sum"]]


def test_collection_called_after_updates():
    batches = [(one_hot(labels(2, 1, 9, 8)), one_hot(labels(2, 1, 9, 8))) for _ in range(4)]
    alone = BettiError(reduction="sum")
    for batch in batches:
        alone.update(*batch)
    for reset in False, True:
        collection = torchmetrics.MetricCollection({"mean": BettiError(), "sum": BettiError(reduction="sum")})
        collection.update(*batches[0])
        if reset:
            collection.reset()
            collection(*batches[0])
        for batch in batches[1:3]:
            collection(*batch)
        collection.update(*batches[3])
        assert collection.compute()["sum"] == alone.compute() and len(collection["sum"].get_buffer()) == 8


def test_lists():
    pred, truth = one_hot(labels(2, 1, 9, 8)), one_hot(labels(2, 1, 9, 8))
    metric = BettiError()
    assert metric.get_buffer().shape == (0, 1)
    for ask in (lambda: metric([pred[0], pred[1] * torch.nan], [*truth]), lambda: metric.update([pred[0], pred[1, :2]], [truth[0], truth[1, :2]])):
        with pytest.raises(ValueError, match="NaN|classes: want as many"):
            ask()
        assert len(metric.get_buffer()) == 0
    assert torch.equal(metric([*pred], truth), BettiError()(pred, truth))
    assert torch.equal(BettiError()([pred[0], pred[1, :, :4]], [truth[0], truth[1, :, :4]])[:1], BettiError()(pred[:1], truth[:1]))


def test_dimensions_given():
    with pytest.raises(TypeError, match="dimensions 0: want a list"):
        BettiError(dimensions=0)
    assert BettiError(dimensions=[1, 0, 1]).dimensions == (0, 1)
