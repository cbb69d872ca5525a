# SPDX-License-Identifier: MIT
"""Collectives that copy tensors of any dtype from rank to rank."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._tensor import Tensor
from autocalc.distributed import _buffers
from autocalc.distributed._agreement import check_same
from autocalc.distributed._buffers import check_tensor, check_written
from autocalc.distributed._group import group_of, is_outside, meeting, member
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._reduce import check_list
from autocalc.distributed._run import is_recorded, record, run
from autocalc.distributed._work import Steps, Work
from autocalc.errors import ShapeError


def barrier(group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Wait until all ranks have made this call.

    Raises
    ------
    ArgumentError
        If the group does not exist.
    DistributedError
        If a rank does not make the call in time.
    """
    where = "barrier"
    if is_outside(where, group):
        return None
    ranks = group_of(where, group)
    if is_recorded(where, async_op):
        record(barrier, [], [], group=group)
        return None
    check_same(where, ranks)
    return run(where, ranks, meeting(ranks), async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Send the tensor of rank `src` to all ranks.

    Parameters
    ----------
    tensor
        The tensor.  Rank `src` sends it; the other ranks' tensors are overwritten.  Its
        shape and dtype must be equal on all ranks.
    src, group_src
        The rank that sends: its global rank, or its rank in the group.
    group, async_op
        The same as for `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If the group does not exist, or if it has no rank `src`.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "broadcast"
    if is_outside(where, group):
        return None
    check_written(where, "tensor", tensor)
    ranks = group_of(where, group)
    source = member(where, "src", src, group_src, ranks)
    if is_recorded(where, async_op):
        record(broadcast, [tensor], [tensor], group=group, group_src=source)
        return None
    check_same(where, ranks, f"src={ranks.ranks[source]}", tensor=tensor)
    return run(where, ranks, _broadcast_steps(ranks, tensor, source), async_op)


def _broadcast_steps(group: ProcessGroup, tensor: Tensor, src: int) -> Steps:
    if group.size() == 1:
        return
    buffer = _buffers.staged(tensor)
    parts = _buffers.messages(_buffers.raw(buffer))
    yield [group.comm.Ibcast(part, src) for part in parts]
    if group.rank() != src:
        _buffers.unstage(tensor, buffer)


def all_gather(
    tensor_list: Sequence[Tensor],
    tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Write the tensors of all ranks into a list of tensors, in the order of ranks.

    Parameters
    ----------
    tensor_list
        One tensor for each rank, with the shape and dtype of `tensor`; they are
        overwritten.
    tensor
        The tensor of this rank.
    group, async_op
        The same as for `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ShapeError
        If the list does not have one tensor, of the shape of `tensor`, for each rank.
    ArgumentError
        If the group does not exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> parts = [ac.zeros(2) for _ in range(dist.get_world_size())]
    >>> dist.all_gather(parts, ac.tensor([1.0, 2.0]))
    >>> parts
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    where = "all_gather"
    if is_outside(where, group):
        return None
    check_tensor(where, "tensor", tensor)
    ranks = group_of(where, group)
    parts = check_list(where, "tensor_list", tensor_list, tensor, ranks)
    for part in parts:
        check_written(where, "tensor_list", part)
    if is_recorded(where, async_op):
        record(_gather_now, [*parts, tensor], parts, group=group)
        return None
    check_same(where, ranks, tensor=tensor)
    return run(where, ranks, _gather_steps(ranks, parts, tensor), async_op)


def _gather_now(*tensors: Tensor, group: ProcessGroup | None) -> None:
    all_gather(tensors[:-1], tensors[-1], group)


def _gather_steps(group: ProcessGroup, parts: list[Tensor], tensor: Tensor) -> Steps:
    """Send each rank's tensor to all ranks, without intermediate copies."""
    parts[group.rank()].detach().copy_(tensor.detach())
    if group.size() == 1:
        return
    buffers = [_buffers.staged(part) for part in parts]
    yield [
        group.comm.Ibcast(message, rank)
        for rank, buffer in enumerate(buffers)
        for message in _buffers.messages(_buffers.raw(buffer))
    ]
    for part, buffer in zip(parts, buffers, strict=True):
        _buffers.unstage(part, buffer)


def all_gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Write the tensors of all ranks into one, in the order of ranks.

    Parameters
    ----------
    output_tensor
        The tensor that receives the values of all ranks, joined or stacked along the
        first dimension.
    input_tensor
        The tensor of this rank.
    group, async_op
        The same as for `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ShapeError
        If `output_tensor` does not have as many elements as all ranks' tensors
        together, or has a different dtype.
    ArgumentError
        If the group does not exist.
    DistributedError
        If the ranks' calls do not match, or if a rank does not make the call in time.
    """
    where = "all_gather_into_tensor"
    if is_outside(where, group):
        return None
    output = check_written(where, "output_tensor", output_tensor)
    own = check_tensor(where, "input_tensor", input_tensor)
    ranks = group_of(where, group)
    if (output.numel(), output.dtype) != (ranks.size() * own.numel(), own.dtype):
        raise ShapeError(
            f"{where}: `output_tensor` has shape {output.shape} and dtype "
            f"{output.dtype.name}, and `input_tensor` has shape {own.shape} and dtype "
            f"{own.dtype.name}. For {ranks.size()} ranks, the output must have "
            f"{ranks.size()} times as many elements as the input, of the same dtype."
        )
    if is_recorded(where, async_op):
        record(all_gather_into_tensor, [output, own], [output], group=group)
        return None
    check_same(where, ranks, input_tensor=own)
    return run(where, ranks, _gather_into_steps(ranks, output, own), async_op)


def _gather_into_steps(group: ProcessGroup, output: Tensor, own: Tensor) -> Steps:
    if group.size() == 1:
        output.detach().copy_(own.detach().reshape(output.shape))
        return
    buffer = _buffers.staged(output)
    source = _buffers.staged(own)
    yield [group.comm.Iallgather(_buffers.raw(source), _buffers.raw(buffer))]
    _buffers.unstage(output, buffer)
