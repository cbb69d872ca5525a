# SPDX-License-Identifier: MIT
"""Normalisation within an example, by channel or by group of channels."""

from __future__ import annotations

import math
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.norms import layer_norm
from autocalc._ops.norms.batch_norm import (
    batch_norm_op,
    by_running,
    check_channels,
    move,
    with_statistics,
)
from autocalc._ops.views import broadcasting, view
from autocalc._ops.views.conversion import laid_as
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, plain
from autocalc._tensor.dtypes import float32
from autocalc.errors import ArgumentError, ShapeError


@traced
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each channel.

    The mean and the variance are computed for each channel of each example.  Ulyanov,
    Vedaldi, Lempitsky: Instance normalization (2016).

    Parameters
    ----------
    input
        The input x, a tensor of float32 or float64 of shape (N, C, ...).
    running_mean, running_var
        The running statistics, tensors of shape (C,).  If `use_input_stats` is False,
        they are used for the normalisation.  If `use_input_stats` is True, the
        statistics are updated in place, with the means over the examples.
    weight, bias
        The scale and shift of each channel, of shape (C,); None leaves them out.
    use_input_stats
        True to normalise with the mean and the variance of each channel of each
        example.
    momentum
        The weight of the new values in the running statistics, between 0 and 1.
    eps
        The constant that is added to the variance, so that it is not 0.

    Raises
    ------
    ShapeError
        If there are no spatial positions, or another tensor does not have one number
        for each channel.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[0.0, 2.0]], [[3.0, 9.0]]])
    >>> ac.nn.functional.instance_norm(x, eps=0.0)
    tensor([[[-1.,  1.]],
    <BLANKLINE>
            [[-1.,  1.]]])
    """
    where = "instance_norm"
    statistics = running_mean, running_var
    check_channels(where, input, 3, statistics, weight, bias)
    eps = number(where, "eps", eps)
    momentum = number(where, "momentum", momentum)
    if not use_input_stats:
        return by_running(where, input, statistics, (weight, bias), eps)
    batch, channels, *positions = input.shape
    n = math.prod(positions)
    if n == 1:
        raise ShapeError(
            f"{where}: `input` of shape {input.shape} has one position; it needs two "
            f"or more."
        )
    x = view.reshape_op(input, (1, batch * channels, n))
    if x.dtype.is_half:  # rounds their summed gradients once
        weight, bias = (None if a is None else cast(a, float32) for a in (weight, bias))
    out, mean, var = with_statistics(_of_examples, (x, weight, bias), (batch, eps))
    if batch and (running_mean is not None or running_var is not None):
        with no_grad():
            each = (view.reshape_op(a, (batch, channels)).mean(0) for a in (mean, var))
            move(statistics, tuple(each), n, momentum)
    return view.detach_from_base(view.reshape_op(out, input.shape))


@traced
@rounded_once
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each group of channels.

    The mean and the variance are computed for each group of each example.  Wu, He:
    Group normalization (ECCV 2018).

    Parameters
    ----------
    input
        The input x, a floating-point tensor of shape (N, C, ...).
    num_groups
        The number of groups of neighbouring channels; it must divide C.  The variance
        is computed with the divisor n, the number of elements of a group.
    weight, bias
        Tensors of shape (C,) and of the dtype of `input`; if that is float16 or
        bfloat16, they may be of float32.
    eps
        The constant that is added to the variance, so that it is not 0.

    Raises
    ------
    ShapeError
        If `num_groups` does not divide the number of channels, or another tensor does
        not have one number for each channel.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 2.0, 3.0, 9.0]])
    >>> ac.nn.functional.group_norm(x, 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    where = "group_norm"
    check_channels(where, input, 2, (None, None), weight, bias)
    eps = number(where, "eps", eps)
    num_groups = check_groups(where, num_groups, input.shape[1])
    if layer_norm.has_wide_parameters(input, weight, bias):
        wide = group_norm(astype(input, float32), num_groups, weight, bias, eps)
        return astype(wide, input.dtype)
    for parameter in (weight, bias):
        if parameter is not None:
            same_dtype(where, input, parameter)
    batch, channels, *positions = input.shape
    n = channels // num_groups * math.prod(positions)
    if n == 1 and batch == 1:
        raise ShapeError(
            f"{where}: `input` of shape {input.shape} has one value in each of "
            f"{num_groups} groups; a group needs two or more values."
        )
    rows = view.reshape_op(input, (batch * num_groups, n))
    out = layer_norm.layer_norm_op(rows, None, None, float(eps))
    out = view.detach_from_base(view.reshape_op(out, input.shape))
    column = (channels, *(1 for _ in positions))
    if weight is not None:
        out = arithmetic.mul(out, view.reshape_op(weight, column))
    if bias is not None:
        out = arithmetic.add_op(out, view.reshape_op(bias, column))
    return laid_as(input, out)


def check_groups(where: str, groups: Any, channels: int) -> int:
    """Return `groups` as an integer; raise unless it divides the channels."""
    groups = plain(groups)
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        raise ArgumentError(
            f"{where}: `num_groups` is {groups!r}; it must be an integer, 1 or more."
        )
    if channels % groups:
        raise ShapeError(
            f"{where}: num_channels ({channels}) must be divisible by num_groups "
            f"({groups})."
        )
    return groups


def _of_examples(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int, eps: float
) -> tuple[Tensor, ...]:
    """Normalise each channel of each example; x is [1, batch * channels, positions]."""
    parameters = (_repeated(a, batch) for a in (weight, bias))
    found: tuple[Tensor, ...] = batch_norm_op(x, *parameters, float(eps))
    return found


def _repeated(a: Tensor | None, times: int) -> Tensor | None:
    """Repeat a parameter of the channels `times` over, once for each example."""
    if a is None or times == 1:
        return a
    (n,) = a.shape
    return view.reshape_op(broadcasting.expand_op(a, (times, n)), (times * n,))
