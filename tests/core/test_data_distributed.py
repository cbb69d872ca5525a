# SPDX-License-Identifier: MIT
"""`DistributedSampler`: what each of several processes gets of an epoch's order."""

from __future__ import annotations

import pytest

import autocalc as ac
import autocalc.distributed as dist
from autocalc.data import DataLoader, DistributedSampler
from autocalc.errors import ArgumentError, DTypeError


def parts(count, n, **words):
    return [
        DistributedSampler(range(count), num_replicas=n, rank=r, **words)
        for r in range(n)
    ]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(
    ("count", "n"), [(0, 1), (5, 1), (8, 2), (5, 2), (2, 7), (9, 4)]
)
def test_parts_are_equally_long_and_cover_the_data(count, n, drop_last, shuffle):
    samplers = parts(count, n, shuffle=shuffle, drop_last=drop_last)
    orders = [list(s) for s in samplers]
    assert {len(order) for order in orders} == {len(samplers[0])}
    together = [i for order in orders for i in order]
    assert set(together) <= set(range(count))
    if drop_last:
        assert len(together) == len(set(together)) == count // n * n
    else:
        assert set(together) == set(range(count))
        assert len(together) == -(-count // n) * n


def test_an_order_stays_until_the_epoch_is_set():
    (sampler,) = parts(50, 1, seed=3)
    first = list(sampler)
    assert first == list(sampler)
    assert first != list(range(50))
    sampler.set_epoch(1)
    assert sorted(first) == sorted(sampler) == list(range(50))
    assert first != list(sampler)
    sampler.set_epoch(0)
    assert first == list(sampler)
    assert first != list(parts(50, 1, seed=4)[0])
    assert list(parts(4, 1, shuffle=False)[0]) == [0, 1, 2, 3]


def test_a_loader_of_one_process():
    data = ac.data.TensorDataset(ac.arange(6))
    with pytest.raises(ArgumentError, match="get_world_size: there is no group"):
        DistributedSampler(data)
    dist.init_process_group()
    try:
        sampler = ac.utils.data.distributed.DistributedSampler(data, shuffle=False)
    finally:
        dist.destroy_process_group()
    assert (sampler.num_replicas, sampler.rank, sampler.total_size) == (1, 0, 6)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    assert [batch.tolist() for (batch,) in loader] == [[0, 1, 2, 3], [4, 5]]
    assert len(loader) == 2


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        (
            {"rank": 2},
            ArgumentError,
            "Invalid rank 2 of `num_replicas`=2 processes; it mu",
        ),
        ({"rank": -1}, ArgumentError, "Invalid rank -1 of `num_replicas`=2 processes"),
        ({"num_replicas": 0}, ArgumentError, "Invalid rank 0 of `num_replicas`=0 proc"),
        ({"num_replicas": "x"}, DTypeError, "`num_replicas` is 'x'; it must be an int"),
        ({"rank": 0.5}, DTypeError, "`rank` is 0.5; it must be an integer"),
        ({"seed": None}, DTypeError, "`seed` is None; it must be an integer"),
        ({"shuffle": "x"}, ArgumentError, "`shuffle` is 'x'; it must be True or"),
        ({"drop_last": 2}, ArgumentError, "`drop_last` is 2; it must be True or"),
    ],
)
def test_what_is_refused(words, error, text):
    with pytest.raises(error, match=f"DistributedSampler: {text}"):
        DistributedSampler(range(4), **{"num_replicas": 2, "rank": 0, **words})
    (sampler,) = parts(4, 1)
    with pytest.raises(ArgumentError, match="set_epoch: `epoch` is -1; it must be 0"):
        sampler.set_epoch(-1)
    assert sampler.epoch == 0


@pytest.mark.torch
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(("count", "n"), [(5, 1), (8, 2), (5, 2), (2, 7), (9, 4)])
def test_parts_are_those_of_pytorch(count, n, drop_last):
    torch = pytest.importorskip("torch")
    kind = torch.utils.data.distributed.DistributedSampler
    for r, mine in enumerate(parts(count, n, shuffle=False, drop_last=drop_last)):
        theirs = kind(
            range(count), num_replicas=n, rank=r, shuffle=False, drop_last=drop_last
        )
        assert list(mine) == list(theirs)
        assert len(mine) == len(theirs)
        assert mine.total_size == theirs.total_size
