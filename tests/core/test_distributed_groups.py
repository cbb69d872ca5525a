# SPDX-License-Identifier: MIT
"""Groups of some ranks, and objects, where there is one process."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.distributed._group import TIMEOUT
from autocalc.errors import ArgumentError, ConfigError, DistributedWarning, DTypeError


@pytest.fixture
def world():
    dist.init_process_group()
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_before_there_are_ranks_there_is_no_group_of_them():
    assert dist.group.WORLD is None
    with pytest.raises(ArgumentError, match="new_group: there is no group"):
        dist.new_group()


def test_a_group_of_the_one_rank(world):
    group = dist.new_group([0], timeout=5)
    assert group is not world
    assert (dist.get_rank(group), dist.get_world_size(group)) == (0, 1)
    assert dist.get_process_group_ranks(group) == [0]
    assert (dist.get_group_rank(group, 0), dist.get_global_rank(group, 0)) == (0, 0)
    x = ac.tensor([1.0, 2.0])
    dist.all_reduce(x, group=group)
    dist.broadcast(x, group=group, group_src=0)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    model = nn.SyncBatchNorm(2, process_group=group)
    assert copy.deepcopy(model).process_group is group
    assert model(ac.randn(3, 2)).shape == (3, 2)
    dist.destroy_process_group(group)
    with pytest.raises(ArgumentError, match="; it must be an active group that"):
        dist.barrier(group)
    dist.barrier()


@pytest.mark.usefixtures("world")
def test_calls_of_somebody_elses_group_do_nothing():
    outside = dist.GroupMember.NON_GROUP_MEMBER
    assert (dist.get_rank(outside), dist.get_world_size(outside)) == (-1, -1)
    with pytest.warns(DistributedWarning, match="all_reduce: this rank, 0, is not in"):
        assert dist.all_reduce(ac.ones(1), group=outside) is None
    with pytest.raises(ArgumentError, match="get_backend: this rank, 0, is not in the"):
        dist.get_backend(outside)
    dist.destroy_process_group(outside)
    assert dist.is_initialized()


@pytest.mark.usefixtures("world")
def test_objects_of_the_one_rank():
    found, places, scattered = [{"a": 1}, None], [None], [None]
    dist.broadcast_object_list(found)
    dist.all_gather_object(places, "own")
    dist.scatter_object_list(scattered, [("for", 0)])
    assert (found, places, scattered) == ([{"a": 1}, None], ["own"], [("for", 0)])
    dist.gather_object(3, places)
    assert places == [3]


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dist.new_group([]), ArgumentError, r"`ranks` is \[\]; give the rank"),
        (lambda: dist.new_group([1]), ArgumentError, "`ranks` is 1; the one process"),
        (lambda: dist.new_group(3), DTypeError, "new_group: `ranks` is 3"),
        (lambda: dist.broadcast(ac.ones(1)), ArgumentError, "`src` is None and `group"),
        (
            lambda: dist.reduce(ac.ones(1), group_dst=1),
            ArgumentError,
            "`group_dst` is 1; the group has 1 ranks, numbered from",
        ),
        (
            lambda: dist.get_global_rank(None, 1),
            ArgumentError,
            "`group_rank` is 1; the group has 1 ranks",
        ),
        (lambda: dist.all_gather_object([], 1), ArgumentError, "has 0 elements, but"),
        (lambda: dist.all_gather_object(1, 1), DTypeError, "`object_list` is 1; it mu"),
        (lambda: dist.gather_object(1), DTypeError, "`object_gather_list` is None"),
        (
            lambda: dist.scatter_object_list([], [1]),
            ArgumentError,
            "is empty; give a list",
        ),
    ],
)
def test_what_groups_and_objects_do_not_take(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_how_long_ranks_wait_is_the_environments(environment):
    for text, seconds in (("", TIMEOUT), ("12.5", 12.5)):
        environment(AUTOCALC_DISTRIBUTED_TIMEOUT=text)
        dist.init_process_group()
        assert dist.group.WORLD.timeout == seconds
        dist.destroy_process_group()
    for text in ("soon", "0", "inf", "nan"):
        environment(AUTOCALC_DISTRIBUTED_TIMEOUT=text)
        with pytest.raises(
            ConfigError, match=f"='{text}' is not a time: use seconds, ab"
        ):
            dist.init_process_group()
    assert not dist.is_initialized()
