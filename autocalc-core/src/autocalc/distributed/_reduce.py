# SPDX-License-Identifier: MIT
"""Collectives that combine the tensors of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import sequence
from autocalc.distributed import _mpi, _ordered
from autocalc.distributed._agreement import check_same
from autocalc.distributed._buffers import (
    check_op,
    check_tensor,
    check_written,
    memory,
    messages,
    staged,
    summed_in,
    unstage,
)
from autocalc.distributed._group import group_of, is_outside, member
from autocalc.distributed._process_group import Channel, ProcessGroup
from autocalc.distributed._reduce_op import ReduceOp
from autocalc.distributed._run import is_recorded, record, run
from autocalc.distributed._work import Steps, Work
from autocalc.errors import ShapeError


def all_reduce(
    tensor: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the tensors of all ranks elementwise; each rank gets the result.

    Parameters
    ----------
    tensor
        The tensor of this rank; it is overwritten with the result.  Its shape and dtype
        must be equal on all ranks.  float16 and bfloat16 are combined in float32 and
        rounded once.
    op
        The operation that combines the elements.
    group
        A group as returned by `new_group`; None is all ranks. A rank outside of the
        group does nothing and warns.
    async_op
        True to return at once, with a `Work` object whose method `wait` waits for the
        end.

    Notes
    -----
    After `use_deterministic_algorithms`, sums and products are computed in the order of
    the ranks.  Otherwise the MPI library chooses the order.

    Raises
    ------
    DTypeError
        If `tensor` or `op` has the wrong type.
    ArgumentError
        If the group does not exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> total = ac.tensor([1.0, 2.0])
    >>> dist.all_reduce(total, op=dist.ReduceOp.SUM)
    >>> total /= dist.get_world_size()
    >>> total
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    where = "all_reduce"
    if is_outside(where, group):
        return None
    check_op(where, op, check_written(where, "tensor", tensor))
    ranks = group_of(where, group)
    if is_recorded(where, async_op):
        record(all_reduce, [tensor], [tensor], op=op, group=group)
        return None
    check_same(where, ranks, op.name, tensor=tensor)
    return run(
        where, ranks, all_reduce_steps(ranks, ranks.channel, tensor, op), async_op
    )


def all_reduce_steps(
    group: ProcessGroup, channel: Channel, tensor: Tensor, op: ReduceOp
) -> Steps:
    """Combine the tensors of all ranks over a channel of the group."""
    if group.size() == 1:
        return
    buffer = staged(tensor, summed_in(tensor.dtype))
    if _ordered.order_matters(op, buffer) or _ordered.pays(group, op, buffer):
        yield from _ordered.all_reduce(group, channel, buffer.reshape(-1), op)
    else:
        place, how = _mpi.in_place(), _mpi.op_of(op)
        sent = channel.comm.Iallreduce
        yield [sent(place, part, how) for part in messages(memory(buffer))]
    _finish(group, op, tensor, buffer)


def _finish(group: ProcessGroup, op: ReduceOp, tensor: Tensor, buffer: Tensor) -> None:
    if op is ReduceOp.AVG:
        buffer.div_(group.size())
    unstage(tensor, buffer)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all ranks into the tensor of rank `dst`; see `all_reduce`.

    The tensors of the other ranks do not change.

    Parameters
    ----------
    tensor, op, group, async_op
        The same as for `all_reduce`.
    dst, group_dst
        The rank that gets the result: its global rank, or its rank in the group.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, or if it has no rank `dst`.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "reduce"
    if is_outside(where, group):
        return None
    check_op(where, op, check_written(where, "tensor", tensor))
    ranks = group_of(where, group)
    to = member(where, "dst", dst, group_dst, ranks)
    if is_recorded(where, async_op):
        record(reduce, [tensor], [tensor], op=op, group=group, group_dst=to)
        return None
    check_same(where, ranks, f"{op.name}, dst={ranks.ranks[to]}", tensor=tensor)
    return run(where, ranks, _reduce_steps(ranks, tensor, to, op), async_op)


def _reduce_steps(group: ProcessGroup, tensor: Tensor, dst: int, op: ReduceOp) -> Steps:
    if group.size() == 1:
        return
    buffer = staged(tensor, summed_in(tensor.dtype))
    here = group.rank() == dst
    if _ordered.order_matters(op, buffer):
        copy = buffer if here else buffer.clone()
        yield from _ordered.all_reduce(group, group.channel, copy.reshape(-1), op)
    else:
        place, how = _mpi.in_place(), _mpi.op_of(op)
        yield [
            group.comm.Ireduce(*((place, m) if here else (m, None)), how, dst)
            for m in messages(memory(buffer))
        ]
    if here:
        _finish(group, op, tensor, buffer)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the r-th tensors of all ranks' lists and give the result to rank r.

    Parameters
    ----------
    output
        The tensor that receives this rank's part.
    input_list
        One tensor for each rank, with the shape and dtype of `output`.
    op, group, async_op
        The same as for `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ShapeError
        If the list does not have one tensor, of the shape of `output`, for each rank.
    ArgumentError
        If the group does not exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "reduce_scatter"
    if is_outside(where, group):
        return None
    check_written(where, "output", output)
    ranks = group_of(where, group)
    check_list(where, "input_list", input_list, output, ranks)
    joined = cat([x.detach().reshape(1, *x.shape) for x in input_list])
    return _reduce_scatter(where, output, joined, op, ranks, async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the tensors of all ranks; each rank gets its part of the result.

    Parameters
    ----------
    output
        The tensor that receives this rank's part.
    input
        The parts of all ranks, joined or stacked along the first dimension.
    op, group, async_op
        The same as for `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument has the wrong type, or if the dtypes differ.
    ShapeError
        If `input` does not have as many elements as all parts together.
    ArgumentError
        If the group does not exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "reduce_scatter_tensor"
    if is_outside(where, group):
        return None
    check_written(where, "output", output)
    check_tensor(where, "input", input)
    ranks = group_of(where, group)
    if (input.numel(), input.dtype) != (ranks.size() * output.numel(), output.dtype):
        raise ShapeError(
            f"{where}: `input` has shape {input.shape} and dtype {input.dtype.name}, "
            f"and `output` has shape {output.shape} and dtype {output.dtype.name}. For "
            f"{ranks.size()} ranks, `input` must have {ranks.size()} times as many "
            "elements as `output`, of the same dtype."
        )
    return _reduce_scatter(where, output, input, op, ranks, async_op)


def _reduce_scatter(
    where: str,
    output: Tensor,
    joined: Tensor,
    op: ReduceOp,
    ranks: ProcessGroup,
    async_op: bool,
) -> Work | None:
    check_op(where, op, output)
    if is_recorded(where, async_op):
        record(_scatter_now, [output, joined], [output], op=op, group=ranks)
        return None
    check_same(where, ranks, op.name, output=output)
    return run(where, ranks, _scatter_steps(ranks, output, joined, op), async_op)


def _scatter_now(
    output: Tensor, joined: Tensor, op: ReduceOp, group: ProcessGroup
) -> None:
    reduce_scatter_tensor(output, joined, op, group)


def _scatter_steps(
    group: ProcessGroup, output: Tensor, joined: Tensor, op: ReduceOp
) -> Steps:
    dtype = summed_in(output.dtype)
    source = staged(joined, dtype).reshape(group.size(), -1)
    if group.size() == 1:
        output.detach().copy_(source.reshape(output.shape))
        return
    buffer = empty(output.shape, dtype=dtype)
    if _ordered.order_matters(op, buffer):
        parts = [source[r] for r in range(group.size())]
        parts[group.rank()] = parts[group.rank()].clone()  # it is overwritten
        tag = group.channel.next_tags()[0]
        yield from _ordered.reduce_own(group, group.channel, parts, op, tag)
        buffer.copy_(parts[group.rank()].reshape(output.shape))
    else:
        how = _mpi.op_of(op)
        inputs, outputs = memory(source), memory(buffer)
        yield [group.comm.Ireduce_scatter_block(inputs, outputs, how)]
    _finish(group, op, output, buffer)


def check_list(
    where: str, name: str, values: Any, like: Tensor, group: ProcessGroup
) -> list[Tensor]:
    """Return the list; raise unless it has one tensor like `like` for each rank."""
    found = sequence(where, name, values)
    for one in found:
        check_tensor(where, name, one)
    shapes = [(tuple(x.shape), x.dtype.name) for x in found]
    if shapes != [(tuple(like.shape), like.dtype.name)] * group.size():
        raise ShapeError(
            f"{where}: `{name}` has tensors of shapes {shapes}; it must have "
            f"{'one' if group.size() == 1 else group.size()} tensors of shape "
            f"{like.shape} and dtype {like.dtype.name}, one for each rank."
        )
    return found
