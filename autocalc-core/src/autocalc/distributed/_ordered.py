# SPDX-License-Identifier: MIT
"""Sums whose order is that of the ranks, whatever the network does.

MPI libraries choose how they add by size, load and place; floating-point sums differ in
their last bits then.  Here each rank owns a part of the elements: the others send it
theirs, it adds them in the order of the ranks, and sends the sums to all.  Each rank
sends ``2 (n - 1) / n`` of the tensor's bytes, as by the best algorithm.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._choice import are_deterministic_algorithms_enabled
from autocalc._ops.filled import empty
from autocalc._tensor import Tensor
from autocalc.distributed import _buffers
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._reduce_op import ReduceOp
from autocalc.distributed._work import Steps

#: Those whose result depends on the order.
_ROUNDED = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)


def order_matters(op: ReduceOp, tensor: Tensor) -> bool:
    """Return whether a fixed order is asked for and makes a difference."""
    return (
        op in _ROUNDED
        and tensor.is_floating_point()
        and are_deterministic_algorithms_enabled()
    )


def reduce_own(
    group: ProcessGroup, parts: list[Tensor], op: ReduceOp, tag: int
) -> Steps:
    """Send part r to rank r; let this rank's part be the sum of all that arrive.

    `parts` are flat and contiguous.
    """
    own = parts[group.rank()]
    arrived = [own if r == group.rank() else _like(own) for r in range(group.size())]
    others = [r for r in range(group.size()) if r != group.rank()]
    yield [
        *_each(group.ordered.Irecv, arrived, others, tag),
        *_each(group.ordered.Isend, parts, others, tag),
    ]
    total = arrived[0].clone()
    for part in arrived[1:]:
        if op is ReduceOp.PRODUCT:
            total.mul_(part)
        else:
            total.add_(part)
    own.copy_(total)


def all_reduce(group: ProcessGroup, buffer: Tensor, op: ReduceOp) -> Steps:
    """Combine the flat, contiguous `buffer` of all ranks in place."""
    n, size = group.size(), buffer.numel()
    bounds = [size * r // n for r in range(n + 1)]
    parts = [buffer[bounds[r] : bounds[r + 1]] for r in range(n)]
    tags = group.next_tags()
    yield from reduce_own(group, parts, op, tags[0])
    others = [r for r in range(n) if r != group.rank()]
    own = [parts[group.rank()]] * n
    yield [
        *_each(group.ordered.Irecv, parts, others, tags[1]),
        *_each(group.ordered.Isend, own, others, tags[1]),
    ]


def _like(x: Tensor) -> Tensor:
    return empty(x.shape, dtype=x.dtype)


def _each(send: Any, parts: list[Tensor], ranks: list[int], tag: int) -> list[Any]:
    """Start a message with each rank, in parts that MPI can count."""
    return [
        send(message, rank, tag)
        for rank in ranks
        for message in _buffers.messages(_buffers.memory(parts[rank]))
    ]
