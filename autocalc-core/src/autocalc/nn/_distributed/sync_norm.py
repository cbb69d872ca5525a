# SPDX-License-Identifier: MIT
"""Normalising by the mean and variance of the batches of all ranks."""

from __future__ import annotations

from typing import Any

from autocalc import distributed
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.constants import full
from autocalc._ops.norms.batch_norm import batch_norm
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc.autograd._function import Function
from autocalc.distributed import ProcessGroup
from autocalc.errors import ShapeError


class SumOverRanks(Function):
    """The sum of a tensor over all ranks; its cotangents are summed, too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: ProcessGroup) -> Tensor:
        """Return the sum."""
        ctx.group = group
        return _sum(x, group)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        """Return the sum of the cotangents of all ranks."""
        return _sum(g, ctx.group), None


def _sum(x: Tensor, group: ProcessGroup) -> Tensor:
    total = x.detach().clone()
    distributed.all_reduce(total, group=group)
    return total


def sync_batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    eps: float,
    group: ProcessGroup,
) -> Tensor:
    """Normalise each channel by the batches of all ranks; see `nn.SyncBatchNorm`.

    The variance is the mean squared distance from the mean.  It takes two passes: two
    sums over the ranks in forward and two in backward.  The mean of the distances
    corrects the mean.
    """
    x = input.float() if input.dtype.is_half else input
    channels = x.shape[1]
    others = [d for d in range(x.ndim) if d != 1]
    shape = [1, channels] + [1] * (x.ndim - 2)
    elements = full(
        (1,), x.numel() // max(channels, 1), dtype=x.dtype, device=place_of_tensor(x)
    )
    sums = SumOverRanks.apply(cat([x.sum(others), elements]), group)
    count = sums[channels].detach()
    if not input.numel() and count.item() == 0:  # no rank has any values
        return batch_norm(input, None, None, weight, bias, True, momentum, eps)
    _check_count(input, count, group)
    mean = sums[:channels] / count
    centered = x - mean.reshape(shape)
    parts = cat([(centered * centered).sum(others), centered.sum(others)])
    moments = SumOverRanks.apply(parts, group) / count
    shift = moments[channels:]
    var = moments[:channels] - shift * shift
    _move(running_mean, mean + shift, momentum)
    _move(running_var, var * (count / (count - 1)), momentum)
    y = (centered - shift.reshape(shape)) * (var + eps).rsqrt().reshape(shape)
    if weight is not None:
        y = y * weight.reshape(shape)
    if bias is not None:
        y = y + bias.reshape(shape)
    result: Tensor = y.to(input.dtype)
    return result


def _check_count(input: Tensor, count: Tensor, group: ProcessGroup) -> None:
    """Raise on all ranks if each channel has only one value on all ranks together."""
    if group.size() > 1 and input.numel() > input.shape[1]:
        return  # this rank has enough: read nothing
    if count.item() < 2:
        raise ShapeError(
            f"SyncBatchNorm: all ranks together have {count.item():g} value in each "
            f"channel, and the input of rank {group.world.rank()} has shape "
            f"{input.shape}; training needs 2 values or more."
        )


def _move(running: Tensor | None, value: Tensor, share: float) -> None:
    """Move a running statistic towards that of the batch."""
    if running is None:
        return
    with no_grad():
        value = value.detach().to(running.dtype)
        running.mul_(1 - share).add_(value * share)
