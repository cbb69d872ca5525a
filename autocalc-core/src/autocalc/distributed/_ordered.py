# SPDX-License-Identifier: MIT
"""Sums over ranks in the order of the ranks, by messages between all pairs.

MPI libraries choose the order of additions by size, load and placement of the ranks, so
the last bits of floating-point sums vary.  Here each rank owns a part of the elements.
The other ranks send it their values of this part; it adds them in the order of the
ranks and sends the sums to all.  Each rank sends ``2 (n - 1) / n`` of the tensor's
bytes, which is the optimum.  Two ranks instead send each other their whole tensors and
both add them: these are as many bytes, in one step.

A call makes progress only when it is tested, and a sum in few steps needs fewer tests.
For that reason, large sums of few ranks are computed here as well.  Open MPI's own
algorithm sends in one direction at a time and takes twice as long on a network.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.choice import are_deterministic_algorithms_enabled
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc.distributed import _buffers, _mpi
from autocalc.distributed._process_group import Channel, ProcessGroup
from autocalc.distributed._reduce_op import ReduceOp
from autocalc.distributed._work import Steps
from autocalc.errors import DistributedError

#: The operations whose result depends on the order.
_ROUNDED = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)

#: The bytes of one message.  MPI libraries send up to 64 KiB without asking the
#: receiver first.  For larger messages, the receiver answers only when it tests its
#: requests, between two of its kernels.
_PIECE = 60 * 2**10

#: The most ranks that may all send to each other at once, and the least bytes that are
#: worth a message.
_FEW, _LARGE = 16, 4096


def order_matters(op: ReduceOp, tensor: Tensor) -> bool:
    """Return whether a fixed order is requested and affects the result."""
    return (
        op in _ROUNDED
        and tensor.is_floating_point()
        and are_deterministic_algorithms_enabled()
    )


def pays(group: ProcessGroup, op: ReduceOp, tensor: Tensor) -> bool:
    """Return whether messages between all pairs of ranks are a fast way to add."""
    if op not in (ReduceOp.SUM, ReduceOp.AVG) or group.size() > _FEW:
        return False
    return int(tensor._array.nbytes) >= _LARGE * group.size()


def reduce_own(
    group: ProcessGroup, channel: Channel, parts: list[Tensor], op: ReduceOp, tag: int
) -> Steps:
    """Send part r to rank r, and sum the parts that arrive into this rank's part.

    The tensors in `parts` are flat and contiguous.
    """
    own = parts[group.rank()]
    arrived = [own if r == group.rank() else _like(own) for r in range(group.size())]
    others = [r for r in range(group.size()) if r != group.rank()]
    receiving = _each(channel.comm.Irecv, arrived, others, tag)
    statuses = yield [*receiving, *_each(channel.comm.Isend, parts, others, tag)]
    _check_size(group, statuses[: len(receiving)], [arrived[r] for r in others])
    total = arrived[0].clone()
    for part in arrived[1:]:
        _combine(total, part, op)
    own.copy_(total)


def _combine(total: Tensor, part: Tensor, op: ReduceOp) -> None:
    if op is ReduceOp.PRODUCT:
        total.mul_(part)
    else:
        total.add_(part)


def all_reduce(
    group: ProcessGroup, channel: Channel, buffer: Tensor, op: ReduceOp
) -> Steps:
    """Combine the flat, contiguous `buffer` of all ranks in place."""
    tags = channel.next_tags()
    if group.size() == 2:
        yield from _exchange(group, channel, buffer, op, tags[0])
        return
    n, size = group.size(), buffer.numel()
    bounds = [size * r // n for r in range(n + 1)]
    parts = [buffer[bounds[r] : bounds[r + 1]] for r in range(n)]
    yield from reduce_own(group, channel, parts, op, tags[0])
    others = [r for r in range(n) if r != group.rank()]
    own = [parts[group.rank()]] * n
    yield [
        *_each(channel.comm.Irecv, parts, others, tags[1]),
        *_each(channel.comm.Isend, own, others, tags[1]),
    ]


def _exchange(
    group: ProcessGroup, channel: Channel, buffer: Tensor, op: ReduceOp, tag: int
) -> Steps:
    """Combine the tensors of two ranks; a + b and b + a have the same bits."""
    other, arrived = 1 - group.rank(), _like(buffer)
    receiving = _each(channel.comm.Irecv, [arrived] * 2, [other], tag)
    sending = _each(channel.comm.Isend, [buffer] * 2, [other], tag)
    statuses = yield [*receiving, *sending]
    _check_size(group, statuses[: len(receiving)], [arrived])
    _combine(buffer, arrived, op)


def _check_size(
    group: ProcessGroup, statuses: list[Any], arrived: list[Tensor]
) -> None:
    """Raise if less data came than expected: then the ranks' tensors differ in size.

    MPI itself raises an error if more data come.
    """
    byte = _mpi.module(None).BYTE
    got = sum(status.Get_count(byte) for status in statuses)
    needed = sum(x._array.nbytes for x in arrived)
    if got != needed:
        raise DistributedError(
            f"{group}: the other ranks have sent {got} bytes of their tensors, but "
            f"{needed} are needed. All ranks must give tensors of the same shape and "
            "dtype; AUTOCALC_DISTRIBUTED_DEBUG=detail shows which ranks do not."
        )


def _like(x: Tensor) -> Tensor:
    return empty(x.shape, dtype=x.dtype)


def _each(send: Any, parts: list[Tensor], ranks: list[int], tag: int) -> list[Any]:
    """Start one message to or from each rank."""
    return [
        send(message, rank, tag)
        for rank in ranks
        for message in _buffers.messages(_buffers.memory(parts[rank]), _PIECE)
    ]
