# SPDX-License-Identifier: MIT
"""Messages from one rank to another."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int
from autocalc.distributed import _buffers, _mpi
from autocalc.distributed._buffers import check_tensor, check_written
from autocalc.distributed._group import group_of, is_outside, member, refuse_alone
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import Steps, Work
from autocalc.errors import ArgumentError, DistributedError


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Start to send a tensor to rank `dst`, which receives it with `recv` or `irecv`.

    Parameters
    ----------
    tensor
        The tensor to send.  Do not change it before the returned `Work` is complete.
    dst, group_dst
        The rank that receives: its global rank, or its rank in the group.
    group
        A group as returned by `new_group`; None is all ranks.
    tag
        A number from 0 to 32767; the receiver must use the same tag.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, if it has no rank `dst`, or if `dst` is this rank.
    DistributedError
        If the group has only one process.
    """
    if is_outside("isend", group):
        return None
    return _isend("isend", tensor, (dst, group_dst), group, tag)


def _isend(where: str, tensor: Any, dst: Any, group: Any, tag: Any) -> Work:
    check_tensor(where, "tensor", tensor)
    ranks = group_of(where, group)
    refuse_alone(where, ranks)
    refuse_reading(where)
    to = _other(where, "dst", dst, ranks)
    return Work(where, ranks, _send_steps(ranks, tensor, to, _tag(where, tag)))


def _send_steps(group: ProcessGroup, tensor: Tensor, dst: int, tag: int) -> Steps:
    parts = _buffers.messages(_buffers.raw(_buffers.staged(tensor)))
    yield [group.messages.Isend(part, dst, tag) for part in parts]


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Start to receive a tensor that rank `src` sends with `send` or `isend`.

    Parameters
    ----------
    tensor
        The tensor that receives the values.  It has the shape and dtype of the sent
        tensor.
    src, group_src
        The rank that sends: its global rank, or its rank in the group.  By default, the
        call receives from the rank whose message comes first; in this case, the tensor
        has at most 1 GiB.
    group
        A group as returned by `new_group`; None is all ranks.
    tag
        The tag that the sender used, from 0 to 32767.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, if it has no rank `src`, or if `src` is this rank.
    DistributedError
        If the group has only one process.
    """
    if is_outside("irecv", group):
        return None
    return _irecv("irecv", tensor, (src, group_src), group, tag)


def _irecv(where: str, tensor: Any, src: Any, group: Any, tag: Any) -> Work:
    check_written(where, "tensor", tensor)
    ranks = group_of(where, group)
    refuse_alone(where, ranks)
    refuse_reading(where)
    source = None if src == (None, None) else _other(where, "src", src, ranks)
    size = tensor._array.nbytes
    if source is None and size > _mpi.MESSAGE_BYTES:
        raise ArgumentError(
            f"{where}: `tensor` of shape {tensor.shape} has {size} bytes, more than "
            "one message can hold; give `src`, the rank that sends it."
        )
    steps = _receive_steps(where, ranks, tensor, source, _tag(where, tag))
    return Work(where, ranks, steps)


def _receive_steps(
    where: str, group: ProcessGroup, tensor: Tensor, src: int | None, tag: int
) -> Steps:
    """Receive, check that all data came, and return the sender."""
    mpi = _mpi.module(None)
    buffer = _buffers.staged(tensor)
    source = mpi.ANY_SOURCE if src is None else src
    parts = _buffers.messages(_buffers.raw(buffer))
    statuses = yield [group.messages.Irecv(part, source, tag) for part in parts]
    got = sum(status.Get_count(mpi.BYTE) for status in statuses or ())
    if got != tensor._array.nbytes:
        raise DistributedError(
            f"{where}: {group} expects `tensor` of shape {tensor.shape} and dtype "
            f"{tensor.dtype.name}, {tensor._array.nbytes} bytes, but {got} bytes were "
            "received. Both ranks must give tensors of the same shape and dtype."
        )
    _buffers.unstage(tensor, buffer)
    found = statuses[0].Get_source() if statuses else src
    return None if found is None else group.ranks[found]


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to rank `dst`; see `isend`.

    The call returns as soon as the tensor may be changed.  For a large tensor, `send`
    waits until the receiver has made its call.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, if it has no rank `dst`, or if `dst` is this rank.
    DistributedError
        If the group has only one process, or if the receiver does not make its call in
        time.
    """
    if not is_outside("send", group):
        _isend("send", tensor, (dst, group_dst), group, tag).wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from rank `src`; return the rank of the sender; see `irecv`.

    A rank that is not in the group receives nothing and returns -1.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, if it has no rank `src`, or if `src` is this rank.
    DistributedError
        If the group has only one process, if no message comes in time, or if the sent
        tensor has a different size.
    """
    if is_outside("recv", group):
        return -1
    work = _irecv("recv", tensor, (src, group_src), group, tag)
    work.wait()
    return work.source_rank()


def _other(where: str, name: str, numbers: tuple[Any, Any], group: ProcessGroup) -> int:
    """Return another rank's number in the group; raise if it is this rank."""
    found = member(where, name, *numbers, group)
    if found == group.rank():
        number = group.ranks[found]
        message = (
            f"{where}: `{name}` is {number}, which is this rank itself; give another "
            "rank."
        )
        raise ArgumentError(message)
    return found


def _tag(where: str, tag: Any) -> int:
    found = as_int(where, "tag", tag)
    if not 0 <= found <= _mpi.LAST_TAG:
        message = (
            f"{where}: `tag` is {found}; it must be between 0 and {_mpi.LAST_TAG}."
        )
        raise ArgumentError(message)
    return found
