# SPDX-License-Identifier: MIT
"""Groups of one process, for programs that are written for several."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn.parallel import DistributedDataParallel


@pytest.fixture
def group():
    dist.init_process_group(backend="nccl", init_method="env://")
    yield
    dist.destroy_process_group()


def test_there_is_no_group_at_first():
    assert dist.is_available()
    assert not dist.is_initialized()
    with pytest.raises(ArgumentError, match="get_rank: there is no group"):
        dist.get_rank()


@pytest.mark.usefixtures("group")
def test_a_group_has_one_process():
    assert ac.distributed.is_initialized()
    assert dist.get_rank() == 0
    assert dist.get_world_size() == 1
    assert dist.get_backend() == "nccl"
    dist.barrier()
    with pytest.raises(ArgumentError, match="init_process_group: there is a group"):
        dist.init_process_group()


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("op", dist.ReduceOp)
def test_of_one_tensor_all_is_the_tensor(op):
    x = ac.tensor([1.0, 2.0])
    dist.all_reduce(x, op)
    dist.reduce(x, 0, op)
    dist.broadcast(x, src=0)
    parts = [ac.zeros(2)]
    dist.all_gather(parts, x.requires_grad_())
    np.testing.assert_array_equal(x.detach(), [1.0, 2.0])
    np.testing.assert_array_equal(parts[0], [1.0, 2.0])
    assert not parts[0].requires_grad


def test_more_processes_are_refused(monkeypatch):
    for words in ({"world_size": 2}, {"rank": 1}):
        with pytest.raises(ArgumentError, match="AutoCalc trains in one process"):
            dist.init_process_group("gloo", **words)
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ArgumentError, match="`world_size` is 4"):
        dist.init_process_group()
    with pytest.raises(DTypeError, match="init_process_group: `backend` is 5"):
        dist.init_process_group(5)
    assert not dist.is_initialized()


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dist.barrier(async_op=True), ArgumentError, "`async_op` is True"),
        (lambda: dist.get_rank(3), ArgumentError, "get_rank: `group` is 3"),
        (lambda: dist.all_reduce(3), DTypeError, "all_reduce: `tensor` is 3"),
        (lambda: dist.all_reduce(ac.ones(1), 3), DTypeError, "`op` is 3; .*ReduceOp"),
        (lambda: dist.reduce(ac.ones(1), 1), ArgumentError, "`dst` is 1; the one"),
        (lambda: dist.broadcast(ac.ones(1), 2), ArgumentError, "`src` is 2; the one"),
        (lambda: dist.all_gather([], ac.ones(1)), ShapeError, "one of shape"),
        (lambda: dist.all_gather([1], ac.ones(1)), DTypeError, "`tensor_list` is 1"),
    ],
)
def test_what_a_group_of_one_does_not_take(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_model_is_wrapped():
    linear = nn.Linear(3, 2)
    model = DistributedDataParallel(linear, device_ids=[0], find_unused_parameters=True)
    x = ac.randn(4, 3)
    with model.no_sync():
        np.testing.assert_array_equal(model(x).detach(), linear(x).detach())
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(DTypeError, match="DistributedDataParallel: `module` is 3"):
        DistributedDataParallel(3)
    with pytest.raises(DTypeError, match="DistributedDataParallel: `device_ids`"):
        DistributedDataParallel(linear, device_ids=5)


@pytest.mark.torch
def test_the_names_are_pytorchs():
    torch = pytest.importorskip("torch")
    assert [n for n in dist.__all__ if not hasattr(torch.distributed, n)] == []
    assert [
        n
        for n in dist.ReduceOp.__members__
        if not hasattr(torch.distributed.ReduceOp, n)
    ] == []
