# SPDX-License-Identifier: MIT
"""What `DistributedDataParallel` promises in addition to equal losses, part by part."""

from __future__ import annotations

import numpy as np
from collectives import refuses
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.errors import CompileError, DistributedError
from autocalc.nn.parallel import DistributedDataParallel as DDP
from autocalc.utils.checkpoint import checkpoint

TINY = 1e-5  # megabytes: a bucket for each parameter


def same_everywhere(tensor):
    """Assert that all ranks have the same bits."""
    parts = [ac.zeros_like(tensor.detach()) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor.detach())
    for part in parts:
        np.testing.assert_array_equal(part, parts[0])


def mean_of_all(tensor):
    total = tensor.detach().clone()
    dist.all_reduce(total, dist.ReduceOp.AVG)
    return total


def mlp(seed=None):
    ac.manual_seed(dist.get_rank() if seed is None else seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def inputs():
    return ac.randn(5, 4, generator=ac.Generator().manual_seed(50 + dist.get_rank()))


def local_gradients(net):
    """Return the gradients of this rank alone."""
    loss = net(inputs()).pow(2).mean()
    return ac.autograd.grad(loss, list(net.parameters()))


def start(rank, n):
    model = DDP(mlp())
    for p in model.parameters():
        same_everywhere(p)
    ac.manual_seed(0)
    ac.testing.assert_close(model.module[0].weight.detach(), mlp(0)[0].weight.detach())


def gradients(rank, n):
    for views in (False, True):
        for bucket in (TINY, None):
            net = mlp(3)
            model = DDP(net, bucket_cap_mb=bucket, gradient_as_bucket_view=views)
            expected = [mean_of_all(g) for g in local_gradients(net)]
            for again in (1, 2):  # what is there is added to
                model(inputs()).pow(2).mean().backward()
                for p, g in zip(net.parameters(), expected, strict=True):
                    ac.testing.assert_close(p.grad, again * g)
                    same_everywhere(p.grad)


def views_lie_in_buckets(rank, n):
    net = mlp(3)
    model = DDP(net, gradient_as_bucket_view=True)
    model(inputs()).sum().backward()
    (bucket,) = model._reducer.buckets
    spans = [
        np.shares_memory(p.grad._array, bucket.flat._array) for p in net.parameters()
    ]
    assert all(spans)
    kept = [p.grad for p in net.parameters()]
    net.zero_grad(set_to_none=False)
    model(inputs()).sum().backward()
    assert all(p.grad is g for p, g in zip(net.parameters(), kept, strict=True))


def no_sync(rank, n):
    net = mlp(3)
    model = DDP(net)
    own = local_gradients(net)
    with model.no_sync():
        for _ in range(2):
            model(inputs()).pow(2).mean().backward()
    for p, g in zip(net.parameters(), own, strict=True):
        ac.testing.assert_close(p.grad, 2 * g)
    model(inputs()).pow(2).mean().backward()
    for p, g in zip(net.parameters(), own, strict=True):
        ac.testing.assert_close(p.grad, 3 * mean_of_all(g))


def sums_start_while_backward_runs(rank, n):
    """A bucket's sum is under way before the first layer's rule runs."""
    seen = []
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)
    reducer = model._reducer
    hidden = net[0].register_full_backward_pre_hook(
        lambda *_: seen.append(reducer._started)
    )
    model(inputs()).sum().backward()
    hidden.remove()
    assert seen == [2], seen  # weight and bias of the last layer
    for p in net.parameters():
        same_everywhere(p.grad)


def hooks_run(rank, n):
    seen = []
    net = mlp(3)
    model = DDP(net)
    net[2].bias.register_hook(lambda g: seen.append("tensor") or 10 * g)
    net[0].bias.register_post_accumulate_grad_hook(lambda p: seen.append("leaf"))
    model(inputs()).sum().backward()
    assert sorted(seen) == ["leaf", "tensor"]
    ac.testing.assert_close(net[2].bias.grad, ac.full((3,), 50.0))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(2, 1) for _ in range(3))

    def forward(self, x, which):
        return {"out": [getattr(self, which)(x)]}


def unused(rank, n):
    net = Branches()
    model = DDP(net, find_unused_parameters=True, bucket_cap_mb=TINY)
    x = ac.ones(1, 2)
    which = "a" if rank == 0 else "b"
    for again in (1, 2):
        model(x, which)["out"][0].sum().backward()
        share = again / n
        np.testing.assert_allclose(net.a.weight.grad, [[share, share]])
        if n > 1:
            np.testing.assert_allclose(net.b.bias.grad, [again - share])
        assert net.c.weight.grad is None
    strict = DDP(Branches())
    out = strict(x, "a")["out"][0].sum()
    if n > 1:
        text = "the loss does not depend on b.weight, b.bias, c.weight, c.bias. Use all"
        refuses(out.backward, DistributedError, text)


def parameters_outside_of_forward(rank, n):
    """Tied weights that the loss uses again are averaged as a whole."""
    net = nn.Linear(3, 3, bias=False)
    model = DDP(net)
    x = ac.full((1, 3), float(rank + 1))
    (model(x) @ net.weight).sum().backward()
    found = net.weight.grad.clone()
    net.zero_grad()
    expected = ac.autograd.grad(((x @ net.weight.t()) @ net.weight).sum(), net.weight)
    ac.testing.assert_close(found, mean_of_all(expected[0]))


def two_forwards(rank, n):
    """Both are passed before anything is sent."""
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)
    (model(inputs()).sum() + model(2 * inputs()).sum()).backward()
    found = [p.grad.clone() for p in net.parameters()]
    loss = net(inputs()).sum() + net(2 * inputs()).sum()
    own = ac.autograd.grad(loss, list(net.parameters()))
    for g, o in zip(found, own, strict=True):
        ac.testing.assert_close(g, mean_of_all(o))


def same_graph_twice(rank, n):
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)
    out = model(inputs()).sum()
    out.backward(retain_graph=True)
    once = [p.grad.clone() for p in net.parameters()]
    out.backward()
    for p, g in zip(net.parameters(), once, strict=True):
        ac.testing.assert_close(p.grad, 2 * g)


def gradients_of_inputs(rank, n):
    """`autograd.grad` sends nothing; a penalty on what it gives is averaged."""
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)
    x = inputs().requires_grad_()
    (slope,) = ac.autograd.grad(model(x).sum(), x, create_graph=True)
    (model(x).sum() + slope.pow(2).sum()).backward()
    found = [p.grad.clone() for p in net.parameters()]
    (slope,) = ac.autograd.grad(net(x).sum(), x, create_graph=True)
    loss = net(x).sum() + slope.pow(2).sum()
    own = ac.autograd.grad(loss, list(net.parameters()))
    for g, o in zip(found, own, strict=True):
        ac.testing.assert_close(g, mean_of_all(o))


def recomputed(rank, n):
    """Layers that backward runs again are averaged as others."""
    net = mlp(3)

    class Recomputing(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return checkpoint(self.net, x, use_reentrant=False)

    model = DDP(Recomputing(), bucket_cap_mb=TINY)
    expected = [mean_of_all(g) for g in local_gradients(net)]
    model(inputs()).pow(2).mean().backward()
    for p, g in zip(net.parameters(), expected, strict=True):
        ac.testing.assert_close(p.grad, g)


def halves(rank, n):
    """bfloat16 gradients are summed in float32 and rounded once."""
    net = nn.Linear(64, 1, bias=False).bfloat16()
    model = DDP(net)
    x = ac.randn(1, 64, generator=ac.Generator().manual_seed(rank)).bfloat16()
    model(x).sum().backward()
    total = x.float()
    dist.all_reduce(total)
    expected = (total / n).bfloat16()
    difference = (net.weight.grad.float() - expected.float()).abs().max().item()
    assert difference <= 2**-7 * expected.float().abs().max().item()


def buffers(rank, n):
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    model = DDP(net)
    for _ in range(3):
        model(inputs()).sum().backward()
    model(inputs())
    # Each rank has moved the statistics of rank 0 by its own batch.
    before = net[1].running_mean.clone()
    model._sync_buffers(0)
    same_everywhere(net[1].running_mean)
    assert n == 1 or rank == 0 or not ac.equal(before, net[1].running_mean)
    model.eval()
    if rank == 0:
        model(inputs())  # one rank alone may evaluate


def uneven(rank, n):
    """Rank r has r + 1 batches; a batch counts for the share of all ranks."""
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)
    sgd = ac.optim.SGD(net.parameters(), lr=0.1)
    with model.join():
        for _ in range(rank + 1):
            sgd.zero_grad()
            model(inputs()).pow(2).mean().backward()
            sgd.step()
    for p in net.parameters():
        same_everywhere(p)
    counts = []
    model = DDP(nn.Linear(1, 1, bias=False))
    with model.join(divide_by_initial_world_size=False):
        for _ in range(rank + 1):
            model.zero_grad()
            model(ac.ones(1, 1)).sum().backward()
            counts.append(model.module.weight.grad.item())
    np.testing.assert_allclose(counts, 1.0, rtol=1e-6)
    # Buffers and unused parameters go with it.
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    model = DDP(net, find_unused_parameters=True)
    with model.join():
        for _ in range(rank + 1):
            with model.no_sync():
                model(inputs()).sum().backward()
            model(inputs()).sum().backward()
    for x in (*net.parameters(), *net.buffers()):
        same_everywhere(x)
    if n == 1:
        return

    def throwing():
        with model.join(throw_on_early_termination=True):
            for _ in range(rank + 1):
                model(inputs()).sum().backward()

    refuses(throwing, DistributedError, "has no more data, and throw_on_early_term")


def other_models(rank, n):
    if n == 1:
        return
    sizes = 3 + (rank == 1)
    text = ": parameter 0 of rank 1 differs from that of rank"
    refuses(lambda: DDP(nn.Linear(2, sizes)), DistributedError, text)
    net = nn.Sequential(*(nn.Linear(2, 2) for _ in range(1 + rank)))
    text = "different numbers of parameters: 2 on rank 0, 4 on rank 1"
    refuses(lambda: DDP(net), DistributedError, text)


def compiled(rank, n):
    """Replays average too; what they cannot do is an error."""
    net = mlp(3)
    model = DDP(net, bucket_cap_mb=TINY)

    def step(x):
        net.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return [p.grad for p in net.parameters()], loss.detach()

    replayed = ac.compile(step)
    for i in range(6):
        found, _ = replayed(inputs() + i)
        expected = [mean_of_all(g) for g in ac.autograd.grad(
            net(inputs() + i).pow(2).mean(), list(net.parameters()))]  # fmt: skip
        for g, e in zip(found, expected, strict=True):
            ac.testing.assert_close(g, e)
    searching = DDP(Branches(), find_unused_parameters=True)
    if n > 1:
        refused = ac.compile(lambda x: searching(x, "a")["out"][0].sum().backward())
        text = ": find_unused_parameters=True inspects each backward pass, which a"

        def several():
            for _ in range(4):
                refused(ac.ones(1, 2))

        refuses(several, CompileError, text)

    @ac.compile
    def summed(x):
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    for i in range(5):
        got = summed(ac.full((3,), float(rank + i)))
        np.testing.assert_allclose(got, 1 + n * (n - 1) + 2 * n * i)


def main():
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    parts = (start, gradients, views_lie_in_buckets, no_sync,
             sums_start_while_backward_runs, hooks_run, unused,
             parameters_outside_of_forward, two_forwards, same_graph_twice,
             gradients_of_inputs, recomputed, halves,
             buffers, uneven, other_models, compiled)  # fmt: skip
    for part in parts:
        part(rank, n)
        dist.barrier()
    tell(n)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
