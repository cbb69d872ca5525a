# SPDX-License-Identifier: MIT
"""Groups of some ranks, and objects: on 4 ranks, what PyTorch's programs do."""

from __future__ import annotations

import copy
import functools
import warnings

import numpy as np
import pytest
from collectives import refuses, same
from ddp import inputs, mlp, same_everywhere
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.errors import ArgumentError, DistributedWarning, DTypeError
from autocalc.nn.parallel import DistributedDataParallel as DDP
from autocalc.optim import ZeroRedundancyOptimizer as Zero

PAIRS = [[0, 2], [1, 3]]


def pairs():
    """Return this rank's group of two, and its ranks."""
    made = [dist.new_group(ranks) for ranks in PAIRS]
    mine = dist.get_rank() % 2
    assert made[1 - mine] is dist.GroupMember.NON_GROUP_MEMBER
    return made[mine], PAIRS[mine]


def numbers(rank):
    group, ranks = pairs()
    assert isinstance(group, dist.ProcessGroup)
    assert dist.get_process_group_ranks(group) == ranks
    assert dist.get_process_group_ranks(None) == [0, 1, 2, 3]
    assert dist.get_world_size(group) == 2
    assert dist.get_rank(group) == rank // 2
    assert dist.get_group_rank(group, rank) == rank // 2
    assert dist.get_global_rank(group, 1) == ranks[1]
    assert dist.get_backend(group) == "mpi"
    assert dist.get_rank(dist.group.WORLD) == rank
    assert copy.deepcopy(group) is group
    other = PAIRS[1 - rank % 2][0]
    text = f"`global_rank` is {other}; ranks of the group are {ranks[0]}, {ranks[1]}."
    refuses(lambda: dist.get_group_rank(group, other), ArgumentError, text)
    text = "`group_rank` is 2; the group has 2 ranks"
    refuses(lambda: dist.get_global_rank(group, 2), ArgumentError, text)
    dist.destroy_process_group(group)
    text = "; it must be an active group that new_group returned, or None for all"
    refuses(lambda: dist.barrier(group), ArgumentError, text)


def collectives(rank):
    """Members have the results of their group alone; roots may be named both ways."""
    group, ranks = pairs()
    for size in (3, 100_000):  # by MPI's own sum, and by messages
        x = ac.full((size,), float(rank))
        dist.all_reduce(x, group=group)
        same(x, np.full(size, sum(ranks)))
    for how in ({"src": ranks[1]}, {"group_src": 1}):
        x = ac.tensor(float(rank))
        dist.broadcast(x, group=group, **how)
        same(x, ranks[1])
    for how in ({"dst": ranks[1]}, {"group_dst": 1}):
        x = ac.tensor(float(rank))
        dist.reduce(x, group=group, **how)
        same(x, sum(ranks) if rank == ranks[1] else rank)
    parts = [ac.zeros(2) for _ in ranks]
    dist.all_gather(parts, ac.full((2,), float(rank)), group)
    same(ac.stack(parts), [[r, r] for r in ranks])
    whole = ac.zeros(2)
    dist.all_gather_into_tensor(whole, ac.tensor([float(rank)]), group)
    same(whole, ranks)
    part = ac.zeros(1)
    dist.reduce_scatter_tensor(part, ac.tensor([float(rank), 10.0 * rank]), group=group)
    same(part, [sum(ranks) * (10 if rank == ranks[1] else 1)])
    dist.barrier(group)
    got, other = ac.zeros(1), ranks[1 - rank // 2]
    sending = dist.isend(ac.tensor([float(rank)]), group=group, group_dst=1 - rank // 2)
    assert dist.recv(got, other, group) == other
    assert sending.wait()
    same(got, [other])
    dist.destroy_process_group(group)


def outsiders(rank):
    """Calls of a group that a rank is not in warn and do nothing."""
    group = dist.new_group([3, 1])  # in the order of their numbers
    x = ac.tensor([float(rank)])
    calls = [
        lambda: dist.all_reduce(x, group=group),
        lambda: dist.broadcast(x, 1, group),
        lambda: dist.reduce(x, 1, group=group),
        lambda: dist.all_gather([x], x, group),
        lambda: dist.all_gather_into_tensor(x, x, group),
        lambda: dist.reduce_scatter(x, [x], group=group),
        lambda: dist.reduce_scatter_tensor(x, x, group=group),
        lambda: dist.barrier(group),
        lambda: dist.isend(x, 1, group),
        lambda: dist.irecv(x, 1, group),
        lambda: dist.send(x, 1, group),
        lambda: dist.broadcast_object_list([1], 1, group),
        lambda: dist.all_gather_object([1], 1, group),
        lambda: dist.gather_object(1, None, 1, group),
        lambda: dist.scatter_object_list([1], None, 1, group),
    ]
    if rank in (1, 3):
        assert dist.get_rank(group) == rank // 2
    else:
        assert group is dist.GroupMember.NON_GROUP_MEMBER
        assert (dist.get_rank(group), dist.get_world_size(group)) == (-1, -1)
        for call in calls:
            text = f"this rank, {rank}, is not in the group; nothing is done"
            with pytest.warns(DistributedWarning, match=text):
                assert call() is None
        with pytest.warns(DistributedWarning, match="recv: this rank"):
            assert dist.recv(x, 1, group) == -1
        same(x, [rank])
        text = f"DistributedDataParallel: this rank, {rank}, is not in the group"
        refuses(lambda: DDP(mlp(), process_group=group), ArgumentError, text)
    dist.destroy_process_group(group)


def refusals(rank):
    for ranks, text in (
        ([], "`ranks` is []; give the rank of each member once"),
        ([1, 1], "`ranks` is [1, 1]; give the rank of each member once"),
        ([4], "`ranks` is 4; ranks are 0 to 3"),
    ):
        refuses(functools.partial(dist.new_group, ranks), ArgumentError, text)
    x = ac.ones(1)
    text = "`src` is None and `group_src` is None; give exactly one of them"
    refuses(lambda: dist.broadcast(x), ArgumentError, text)
    text = "give exactly one of them"
    refuses(lambda: dist.broadcast(x, 0, group_src=0), ArgumentError, text)
    text = "`group_src` is 4; the group has 4 ranks, numbered from 0."
    refuses(lambda: dist.broadcast(x, group_src=4), ArgumentError, text)
    text = "`object_list` is 3; it must be a list."
    refuses(lambda: dist.broadcast_object_list(3), DTypeError, text)
    text = "`object_list` has 1 elements, but the group has 4 ranks; give one element"
    refuses(lambda: dist.all_gather_object([0], 0), ArgumentError, text)
    text = "`scatter_object_output_list` is empty; give a list of one element"
    refuses(lambda: dist.scatter_object_list([], None), ArgumentError, text)
    if rank == 1 and dist.get_debug_level() is not dist.DebugLevel.DETAIL:
        text = "` is given on rank 1, but rank 0 receives the objects; give it only"
        refuses(lambda: dist.gather_object(1, [0] * 4), ArgumentError, text)
    dist.barrier()


def recorded(rank):
    """A compiled step makes its calls with its group."""
    group, ranks = pairs()

    @ac.compile
    def step(x):
        y = x * 2
        dist.all_reduce(y, group=group)
        dist.broadcast(y, ranks[0], group)
        parts = [ac.zeros(1) for _ in ranks]
        dist.all_gather(parts, y, group)
        dist.barrier(group)
        return y + parts[0]

    for i in range(4):
        found = step(ac.tensor([float(rank + i)]))
        same(found, [4.0 * (sum(ranks) + 2 * i)])
    dist.destroy_process_group(group)


def training(rank):
    """Each pair averages among itself and shares the optimizer's state."""
    group, ranks = pairs()
    net = mlp(3)
    norm = nn.SyncBatchNorm(4, process_group=group)
    model = DDP(nn.Sequential(norm, net), process_group=group)
    optimizer = Zero(model.parameters(), ac.optim.AdamW, process_group=group, lr=0.1)
    whole = ac.optim.AdamW(copy.deepcopy(list(model.parameters())), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(inputs()).pow(2).mean().backward()
        for p, q in zip(
            model.parameters(), whole.param_groups[0]["params"], strict=True
        ):
            q.grad = p.grad.clone()
        optimizer.step()
        whole.step()
    for p, q in zip(model.parameters(), whole.param_groups[0]["params"], strict=True):
        ac.testing.assert_close(p.detach(), q.detach())
        parts = [ac.zeros_like(p.detach()) for _ in range(4)]
        dist.all_gather(parts, p.detach())
        for r in ranks:
            np.testing.assert_array_equal(parts[r], p.detach())
    gathered = [ac.zeros(4) for _ in range(4)]
    dist.all_gather(gathered, norm.running_mean)
    assert (gathered[0] == gathered[2]).all()
    assert not (gathered[0] == gathered[1]).all()
    kept = norm.running_var.clone()
    assert norm(ac.zeros(0, 4)).shape == (0, 4)  # of no rank
    assert (norm.running_var == kept).all()
    optimizer.consolidate_state_dict(to=1)
    if rank == ranks[1]:
        assert len(optimizer.state_dict()["state"]) == len(list(model.parameters()))
    model = DDP(mlp(4), process_group=group)
    with model.join():
        for _ in range(1 + rank // 2):
            model(inputs()).sum().backward()
    dist.destroy_process_group(group)


def objects(rank):
    for group, ranks in ((None, [0, 1, 2, 3]), pairs()):
        for how in ({}, {"src": ranks[-1]}, {"group_src": 1}):
            source = ranks[{"src": -1, "group_src": 1}.get(next(iter(how), ""), 0)]
            if not how and 0 not in ranks:
                continue  # rank 0 is not there
            found = [{"rank": rank}, ac.full((2,), float(rank)), None]
            dist.broadcast_object_list(found, group=group, **how)
            assert found[0] == {"rank": source}
            same(found[1], [source] * 2)
        places = [None] * len(ranks)
        own = "x" * 1000 * rank  # of different lengths
        dist.all_gather_object(places, own, group)
        assert places == ["x" * 1000 * r for r in ranks]
        to, places = ranks[1], [None] * len(ranks)
        dist.gather_object(own, places if rank == to else None, to, group)
        assert places == ["x" * 1000 * r if rank == to else None for r in ranks]
        given = [("for", r, "y" * r) for r in ranks] if rank == to else None
        got = [None, "stays"]
        dist.scatter_object_list(got, given, to, group)
        assert got == [("for", rank, "y" * rank), "stays"]
    dist.destroy_process_group(group)


def main():
    warnings.simplefilter("error")
    dist.init_process_group()
    rank = dist.get_rank()
    parts = (numbers, collectives, outsiders, refusals, recorded, training, objects)
    for part in parts:
        part(rank)
    left = dist.new_group([0, 3])  # ends with the group of all
    if rank in (0, 3):
        dist.all_reduce(ac.ones(5), group=left, async_op=True)
    same_everywhere(ac.ones(1))
    tell(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
