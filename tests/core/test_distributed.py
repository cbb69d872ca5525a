# SPDX-License-Identifier: MIT
"""Groups of one process, for programs that are written for several."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.distributed import _mpi, _placement
from autocalc.errors import (
    ArgumentError,
    ConfigError,
    DistributedError,
    DTypeError,
    ShapeError,
)
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
    with pytest.raises(ArgumentError, match="init_process_group: a group already"):
        dist.init_process_group()


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("op", dist.ReduceOp)
def test_of_one_tensor_all_is_the_tensor(op):
    bits = op in {dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR}
    given = ac.tensor([1, 2]) if bits else ac.tensor([1.0, 2.0])
    dist.all_reduce(given, op)
    dist.reduce(given, 0, op)
    x = given.float()
    dist.broadcast(x, src=0)
    parts = [ac.zeros(2)]
    dist.all_gather(parts, x.requires_grad_())
    np.testing.assert_array_equal(x.detach(), [1.0, 2.0])
    np.testing.assert_array_equal(parts[0], [1.0, 2.0])
    assert not parts[0].requires_grad


def test_more_processes_are_refused(monkeypatch):
    for words in ({"world_size": 2}, {"rank": 1}):
        with pytest.raises(ArgumentError, match="was started alone, a group of size"):
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
        (lambda: dist.barrier(async_op=3), ArgumentError, "`async_op` is 3; it must"),
        (lambda: dist.send(ac.ones(1), 0), DistributedError, "send: this process is"),
        (lambda: dist.irecv(ac.ones(1)), DistributedError, ": this process is the"),
        (lambda: dist.get_rank(3), ArgumentError, "get_rank: `group` is 3"),
        (lambda: dist.all_reduce(3), DTypeError, "all_reduce: `tensor` is 3"),
        (lambda: dist.all_reduce(ac.ones(1), 3), DTypeError, "`op` is 3; .*ReduceOp"),
        (
            lambda: dist.all_reduce(ac.ones(1), dist.ReduceOp.BAND),
            DTypeError,
            ": `op` is BAND, which combines bits, but `tensor` is float32; use an",
        ),
        (lambda: dist.reduce(ac.ones(1), 1), ArgumentError, "`dst` is 1; the one"),
        (lambda: dist.broadcast(ac.ones(1), 2), ArgumentError, "`src` is 2; the one"),
        (lambda: dist.all_gather([], ac.ones(1)), ShapeError, "one tensors of shape"),
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


@pytest.mark.usefixtures("group")
def test_a_call_that_has_ended_is_work_all_the_same():
    x = ac.tensor([1.0, 2.0])
    work = dist.all_reduce(x, async_op=True)
    assert isinstance(work, dist.Work)
    assert work.is_completed()
    assert work.wait(timeout=timedelta(seconds=1))
    with pytest.raises(DistributedError, match="source_rank: all_reduce has received"):
        work.source_rank()
    with pytest.raises(ArgumentError, match="wait: `timeout` is 0 s; it must be above"):
        work.wait(0)
    dist.reduce_scatter_tensor(x, ac.tensor([3.0, 4.0]))
    whole = ac.zeros(1, 2)
    dist.all_gather_into_tensor(whole, x)
    np.testing.assert_array_equal(whole, [[3.0, 4.0]])
    dist.reduce_scatter(x, [ac.ones(2)])
    np.testing.assert_array_equal(x, [1.0, 1.0])
    assert dist.get_node_local_rank() == 0


def test_without_a_group_the_local_rank_is_what_one_says():
    assert dist.get_node_local_rank(fallback_rank=3) == 3
    with pytest.raises(ArgumentError, match="get_node_local_rank: there is no group"):
        dist.get_node_local_rank()


def test_several_ranks_without_mpi4py_are_told_how_to_get_it(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setattr(_mpi, "is_installed", lambda: False)
    text = r"started 3 ranks, and .* mpi4py.* is not installed. Get it with: pip instal"
    with pytest.raises(DistributedError, match=text):
        dist.init_process_group()
    assert not dist.is_initialized()
    assert not dist.is_mpi_available()
    monkeypatch.setattr(_mpi, "is_installed", lambda: True)

    def without_library(name):
        raise RuntimeError("cannot load MPI library")

    monkeypatch.setattr(_mpi, "import_module", without_library)
    text = r"mpi4py does not find an MPI library \(cannot load MPI library\)\."
    with pytest.raises(DistributedError, match=text):
        dist.init_process_group()
    with pytest.raises(ArgumentError, match="`rank` is 2; the launcher's is 1"):
        dist.init_process_group(rank=2)
    with pytest.raises(DTypeError, match="init_process_group: `timeout` is 'soon'; it"):
        dist.init_process_group(timeout="soon")


def test_one_rank_under_mpirun_needs_no_mpi(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "1")
    monkeypatch.setenv("PMI_RANK", "0")
    dist.init_process_group()
    assert (dist.get_world_size(), dist.get_backend()) == (1, "gloo")
    dist.destroy_process_group()


def test_how_much_is_compared(environment):
    environment()
    assert dist.get_debug_level() is dist.DebugLevel.OFF
    environment(AUTOCALC_DISTRIBUTED_DEBUG="DETAIL")
    assert dist.get_debug_level() is dist.DebugLevel.DETAIL
    environment(AUTOCALC_DISTRIBUTED_DEBUG="all")
    with pytest.raises(ConfigError, match="'all' is unknown: use off, info, detail"):
        dist.get_debug_level()
    with pytest.raises(DTypeError, match="set_debug_level: `level` is 'detail'; give"):
        dist.set_debug_level("detail")


@pytest.mark.parametrize(
    ("cores", "n", "parts"),
    [
        ([0, 1, 2, 3], 2, [[0, 1], [2, 3]]),
        ([2, 5, 7], 2, [[2], [5, 7]]),
        ([4], 3, [[4], [4], [4]]),
    ],
)
def test_cores_are_shared_out_among_the_ranks_of_a_host(cores, n, parts):
    assert [_placement.share(cores, rank, n) for rank in range(n)] == parts


@pytest.mark.torch
def test_the_names_are_pytorchs():
    torch = pytest.importorskip("torch")
    assert [n for n in dist.__all__ if not hasattr(torch.distributed, n)] == []
    assert [
        n
        for n in dist.ReduceOp.__members__
        if not hasattr(torch.distributed.ReduceOp, n)
    ] == []
