# SPDX-License-Identifier: MIT
"""Groups of some of the ranks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from autocalc._tensor.checks import as_int, sequence
from autocalc.distributed import _mpi
from autocalc.distributed._agreement import compare
from autocalc.distributed._group import (
    GroupMember,
    add_group,
    check_rank,
    current_group,
    group_of,
)
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import seconds
from autocalc.errors import ArgumentError


class _Groups:
    """The namespace that holds the group of all ranks."""

    @property
    def WORLD(self) -> ProcessGroup | None:
        """The group of all ranks, or None before `init_process_group`."""
        return current_group()


group = _Groups()


def new_group(
    ranks: Iterable[int] | None = None,
    timeout: timedelta | float | None = None,
    backend: str | None = None,
    **words: Any,
) -> Any:
    """Make a group of some ranks; all ranks must make this call, in the same order.

    Parameters
    ----------
    ranks
        The global ranks of the members, by default all ranks.  In the group, the
        members are numbered from 0 in this order.
    timeout
        How long the group's calls wait; by default the timeout of the group of all
        ranks.
    backend
        Accepted so that programs for PyTorch run; it has no effect.
    **words
        Further arguments of PyTorch's function; they have no effect.

    Returns
    -------
    The group.  Ranks outside of the group get ``GroupMember.NON_GROUP_MEMBER``; calls
    with it warn and do nothing.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If there is no group of all ranks, or if `ranks` is empty, contains a rank
        twice, or contains a rank that does not exist.
    DistributedError
        If the processes pass different `ranks`, or if one of them does not make the
        call in time.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> first = dist.new_group([0])
    >>> x = ac.ones(2)
    >>> dist.all_reduce(x, group=first)
    >>> dist.get_process_group_ranks(first)
    [0]
    >>> dist.destroy_process_group()
    """
    del backend, words
    where = "new_group"
    world = group_of(where, None)
    chosen = world.ranks if ranks is None else _checked(where, ranks, world)
    limit = world.timeout if timeout is None else seconds(where, timeout)
    if world.size() == 1:
        return add_group(ProcessGroup(world.backend, None, limit, chosen, world))
    advice = "All ranks must call it with the same `ranks`, members or not."
    compare(where, world, f"{where}({chosen})", advice)
    inside = world.rank() in chosen
    color = 0 if inside else _mpi.module(None).UNDEFINED
    comm = world.control.Split(color, world.rank())
    if not inside:
        return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(world.backend, comm, limit, chosen, world)
    made.local_rank, made.local_size = world.local_rank, world.local_size
    comm.Free()
    return add_group(made)


def _checked(where: str, ranks: Any, world: ProcessGroup) -> list[int]:
    """Return the global ranks of the members, in order."""
    found = [
        check_rank(where, "ranks", r, world) for r in sequence(where, "ranks", ranks)
    ]
    if not found or len(set(found)) < len(found):
        raise ArgumentError(
            f"{where}: `ranks` is {found}; give the rank of each member once, and at "
            "least one rank."
        )
    return sorted(found)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the global ranks of a group's members.

    Raises
    ------
    ArgumentError
        If the group does not exist, or this rank is not in it.
    """
    return [*group_of("get_process_group_ranks", group).ranks]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in a group of the process that has rank `global_rank`.

    Raises
    ------
    ArgumentError
        If the group does not exist, or if the calling process or the process
        `global_rank` is not in it.
    """
    where = "get_group_rank"
    return check_rank(where, "global_rank", global_rank, group_of(where, group))


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the global rank of the process that has rank `group_rank` in a group.

    Raises
    ------
    ArgumentError
        If the group does not exist, if the calling rank is not in it, or if
        `group_rank` is not smaller than the size of the group.
    """
    where = "get_global_rank"
    ranks = group_of(where, group).ranks
    number = as_int(where, "group_rank", group_rank)
    if not 0 <= number < len(ranks):
        raise ArgumentError(
            f"{where}: `group_rank` is {number}; the group has {len(ranks)} ranks, "
            "numbered from 0."
        )
    return ranks[number]
