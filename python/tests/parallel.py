"""A training step of two processes by DistributedDataParallel, for tests on the CPU and on devices."""

import os

import torch

from eccbench.torch import SoftECC


def network():
    torch.manual_seed(0)
    learn = ["thresholds", "lam", "direction", "alpha"]
    layer = SoftECC([0.2, 0.5, 0.8], 9.0, dims=2, direction=[1.0, 2.0], alpha=0.01, learn=learn)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Sigmoid(), layer)


def gradients(model, x):
    model(x).square().mean().backward()
    return [p.grad.cpu() for p in model.parameters()]


def step(rank, folder, backend, x):
    """Save the gradients of one process, which has half of the batch x."""
    torch.distributed.init_process_group(backend, init_method=f"file://{folder}/store", rank=rank, world_size=2)
    device = torch.device("cuda", rank) if backend == "nccl" else torch.device("cpu")
    devices = [rank] if backend == "nccl" else None
    model = torch.nn.parallel.DistributedDataParallel(network().to(device), device_ids=devices)
    torch.save(gradients(model, x[rank::2].to(device)), f"{folder}/{rank}")
    leave()


def leave():
    """End a process of a group without the destructor of the group: that of PyTorch 2.6 can wait for a thread that
    waits for the interpreter's lock."""
    torch.distributed.barrier()
    os._exit(0)


def check(folder, backend, x):
    """Compare the gradients of both processes with those of one process that has the whole batch."""
    torch.multiprocessing.spawn(step, (str(folder), backend, x), nprocs=2)
    want = gradients(network(), x)
    assert any(g.abs().max() > 0 for g in want)
    for rank in range(2):
        for got, of in zip(torch.load(folder / str(rank)), want):
            torch.testing.assert_close(got, of, rtol=1e-4, atol=1e-5)
