# SPDX-License-Identifier: MIT
"""Collectives for Python objects, which are sent as pickles.

Reading a pickle can run code; for that reason AutoCalc's files do not contain pickles.
Here pickles are safe: all ranks of a job run the same program with the rights of the
same user, so they can trust each other's data.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._tensor.checks import check_type
from autocalc.distributed import _buffers
from autocalc.distributed._agreement import check_same
from autocalc.distributed._group import group_of, is_outside, member
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import Steps, Work
from autocalc.errors import ArgumentError


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Send the objects in the list of rank `src` to all ranks.

    Parameters
    ----------
    object_list
        The list of objects.  Rank `src` sends its list; the other ranks' lists are
        overwritten.  The lists have the same length on all ranks.
    src, group_src
        The rank that sends: its global rank, or its rank in the group; rank 0 by
        default.
    group
        A group as returned by `new_group`; None is all ranks.
    device
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    DTypeError
        If `object_list` is not a list.
    ArgumentError
        If the group does not exist, if it has no rank `src`, or if the lengths of the
        lists differ.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> settings = [{"lr": 0.1}, "adamw"]
    >>> dist.broadcast_object_list(settings, src=0)
    >>> settings
    [{'lr': 0.1}, 'adamw']
    >>> dist.destroy_process_group()
    """
    del device
    where = "broadcast_object_list"
    if is_outside(where, group):
        return
    _check_list(where, "object_list", object_list)
    ranks = _require(where, group)
    source = _source(where, "src", src, group_src, ranks)
    if ranks.size() == 1:
        return
    own = _pickled(list(object_list)) if ranks.rank() == source else b""
    found = pickle.loads(_broadcast(where, ranks, own, source))
    if len(found) != len(object_list):
        raise ArgumentError(
            f"{where}: `object_list` has {len(object_list)} objects, but that of rank "
            f"{ranks.ranks[source]} has {len(found)}; give lists of the same length."
        )
    if ranks.rank() != source:
        object_list[:] = found


def all_gather_object(
    object_list: list[Any], obj: Any, group: ProcessGroup | None = None
) -> None:
    """Write the objects of all ranks into a list, in the order of ranks.

    Parameters
    ----------
    object_list
        A list with one element for each rank; its elements are overwritten.
    obj
        The object of this rank: anything that `pickle` can write.
    group
        A group as returned by `new_group`; None is all ranks.

    Raises
    ------
    DTypeError
        If `object_list` is not a list.
    ArgumentError
        If the list does not have one element for each rank, or if the group does not
        exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> names = [None] * dist.get_world_size()
    >>> dist.all_gather_object(names, f"rank {dist.get_rank()}")
    >>> names
    ['rank 0']
    >>> dist.destroy_process_group()
    """
    where = "all_gather_object"
    if is_outside(where, group):
        return
    ranks = _require(where, group)
    _check_places(where, "object_list", object_list, ranks)
    if ranks.size() == 1:
        object_list[0] = obj
        return
    own = _pickled(obj)
    sizes = _sizes(where, ranks, len(own))
    parts = [_room(size) for size in sizes]
    parts[ranks.rank()] = np.frombuffer(own, np.uint8)

    def exchange() -> Steps:
        yield [
            ranks.checks.Ibcast(message, r)
            for r, part in enumerate(parts)
            for message in _buffers.messages(part)
        ]

    Work(where, ranks, exchange()).wait()
    object_list[:] = [pickle.loads(part) for part in parts]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Write the objects of all ranks into a list on rank `dst`.

    Parameters
    ----------
    obj
        The object of this rank: anything that `pickle` can write.
    object_gather_list
        On rank `dst`, a list with one element for each rank; None on other ranks.
    dst, group_dst
        The rank that receives: its global rank, or its rank in the group; rank 0 by
        default.
    group
        A group as returned by `new_group`; None is all ranks.

    Raises
    ------
    DTypeError
        If `object_gather_list` is not a list on rank `dst`.
    ArgumentError
        If the list on rank `dst` does not have one element for each rank, if another
        rank gives a list, if the group does not exist, or if it has no rank `dst`.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "gather_object"
    if is_outside(where, group):
        return
    ranks = _require(where, group)
    to = _source(where, "dst", dst, group_dst, ranks)
    here = ranks.rank() == to
    if not here:
        _refuse_list(where, "object_gather_list", object_gather_list, ranks, to)
    else:
        _check_places(where, "object_gather_list", object_gather_list, ranks)
    own = _pickled(obj)
    sizes = _sizes(where, ranks, len(own))
    others = [r for r in range(ranks.size()) if r != to]
    parts = [_room(size) for size in sizes]
    outgoing = [] if here else [(to, np.frombuffer(own, np.uint8))]
    incoming = [(r, parts[r]) for r in others] if here else []
    Work(where, ranks, _messages(ranks, incoming, outgoing)).wait()
    if here and object_gather_list is not None:
        for r in others:
            object_gather_list[r] = pickle.loads(parts[r])
        object_gather_list[to] = obj


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Send the r-th object of the list of rank `src` to rank r.

    Parameters
    ----------
    scatter_object_output_list
        A list; its first element is overwritten with the received object.
    scatter_object_input_list
        A list with one object for each rank; it has an effect only on rank `src`.
    src, group_src
        The rank that sends: its global rank, or its rank in the group; rank 0 by
        default.
    group
        A group as returned by `new_group`; None is all ranks.

    Raises
    ------
    DTypeError
        If one of the lists is not a list.
    ArgumentError
        If the input list does not have one object for each rank, if the output list is
        empty, if the group does not exist, or if the group has no rank `src`.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "scatter_object_list"
    if is_outside(where, group):
        return
    ranks = _require(where, group)
    source = _source(where, "src", src, group_src, ranks)
    _check_list(where, "scatter_object_output_list", scatter_object_output_list)
    if not scatter_object_output_list:
        message = (
            f"{where}: `scatter_object_output_list` is empty; give a list of one "
            "element, which is overwritten."
        )
        raise ArgumentError(message)
    here = ranks.rank() == source
    given: list[Any] = []
    if here:
        name = "scatter_object_input_list"
        given = _check_places(where, name, scatter_object_input_list, ranks)
    pickles = [np.frombuffer(_pickled(one), np.uint8) for one in given]
    sizes = np.array([len(p) for p in pickles] or [0] * ranks.size(), np.int64)

    def exchange() -> Steps:
        if ranks.size() == 1:
            return
        yield [ranks.checks.Ibcast(sizes, source)]
        others = [r for r in range(ranks.size()) if r != source]
        if here:
            yield from _messages(ranks, [], [(r, pickles[r]) for r in others])
            return
        room = _room(int(sizes[ranks.rank()]))
        yield from _messages(ranks, [(source, room)], [])
        scatter_object_output_list[0] = pickle.loads(room)
        return None

    Work(where, ranks, exchange()).wait()
    if here:
        scatter_object_output_list[0] = given[source]


# ---- helpers -------------------------------------------------------------------------


def _require(where: str, group: ProcessGroup | None) -> ProcessGroup:
    """Return the group whose ranks make this call."""
    refuse_reading(where)
    ranks = group_of(where, group)
    check_same(where, ranks)
    return ranks


def _source(where: str, name: str, rank: Any, number: Any, group: ProcessGroup) -> int:
    """Return the given rank as its rank in the group; 0 by default."""
    if rank is None and number is None:
        rank = 0
    return member(where, name, rank, number, group)


def _check_list(where: str, name: str, value: Any) -> list[Any]:
    return check_type(where, name, value, list, "a list")


def _check_places(where: str, name: str, value: Any, group: ProcessGroup) -> list[Any]:
    """Return the list; raise unless it has one element for each rank."""
    found = _check_list(where, name, value)
    if len(found) != group.size():
        raise ArgumentError(
            f"{where}: `{name}` has {len(found)} elements, but the group has "
            f"{group.size()} ranks; give one element for each rank."
        )
    return found


def _refuse_list(
    where: str, name: str, value: Any, group: ProcessGroup, to: int
) -> None:
    if value is not None:
        raise ArgumentError(
            f"{where}: `{name}` is given on rank {group.world.rank()}, but rank "
            f"{group.ranks[to]} receives the objects; give it only there."
        )


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _room(size: int) -> Any:
    return np.empty(size, np.uint8)


def _sizes(where: str, group: ProcessGroup, own: int) -> list[int]:
    """Return the number of bytes of each rank."""
    sizes = np.zeros(group.size(), np.int64)
    mine = np.array([own], np.int64)

    def exchange() -> Steps:
        if group.size() > 1:
            yield [group.checks.Iallgather(mine, sizes)]

    Work(where, group, exchange()).wait()
    return [int(size) for size in sizes]


def _broadcast(where: str, group: ProcessGroup, own: bytes, source: int) -> Any:
    """Return the bytes of rank `source`."""
    size = np.array([len(own)], np.int64)
    arrived: list[Any] = []

    def exchange() -> Steps:
        yield [group.checks.Ibcast(size, source)]
        here = group.rank() == source
        part = np.frombuffer(own, np.uint8) if here else _room(int(size[0]))
        yield [group.checks.Ibcast(m, source) for m in _buffers.messages(part)]
        arrived.append(part)

    Work(where, group, exchange()).wait()
    return arrived[0]


def _messages(
    group: ProcessGroup,
    incoming: list[tuple[int, Any]],
    outgoing: list[tuple[int, Any]],
) -> Steps:
    """Receive and send flat arrays of known sizes, one from or to each rank."""
    tag = group.channel.next_tags()[0]

    def each(send: Callable[..., Any], parts: list[tuple[int, Any]]) -> list[Any]:
        return [
            send(message, rank, tag)
            for rank, part in parts
            for message in _buffers.messages(part)
        ]

    if group.size() == 1:
        return
    yield [
        *each(group.channel.comm.Irecv, incoming),
        *each(group.channel.comm.Isend, outgoing),
    ]
