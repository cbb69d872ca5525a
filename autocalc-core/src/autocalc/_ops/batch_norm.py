# SPDX-License-Identifier: MIT
"""Normalisation by batch, instance or group: (x - mean) / sqrt(var + eps)."""

from __future__ import annotations

import math
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.norm._channels import count, over
from autocalc._ops import arithmetic, broadcasting, layer_norm, view
from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import check_float
from autocalc._ops._coerce import cast, same_dtype
from autocalc._ops._halves import rounded_once
from autocalc._ops._op import multi
from autocalc._ops._traced import traced
from autocalc._ops.batch_norm_running import Statistics, by_running
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.dtypes import float32
from autocalc.errors import ArgumentError, ShapeError

# The results are (out, mean, var); the statistics are for those who keep running ones.
batch_norm_op = multi("batch_norm", saves="mean var x weight:x")


@batch_norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, *statistics = g
    assert statistics == [None, None], "statistics are detached: they have no gradient"
    mean, var, x, weight = n.saved
    if k.records:
        mean, var = batch_statistics(k, x, n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.batch_norm_backward(out, x, mean, var, weight, *n.attributes, want=want)


def batch_statistics(k: Any, x: Any, shape: Any) -> tuple[Any, Any]:
    axes = over(shape)
    if not count(shape):
        none = k.sum(x, axes, False)
        return none, k.add(none, k.constant(1, none))
    var, _ = k.var(x, axes, False, 0.0)
    return k.mean(x, axes, False), var


@traced
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each channel.

    Ioffe, Szegedy: Batch normalization (ICML 2015).  An empty batch gives an empty
    result and gradients of 0, and leaves the running statistics as they are.

    Parameters
    ----------
    input
        x, (N, C, ...), float32 or float64.
    running_mean, running_var
        (C,); used unless `training`, which moves them towards the batch's mean and its
        variance, divided by n - 1, by `momentum` of the way.
    weight, bias
        (C,).
    training
        Whether mean and variance, divided by n, are those of this batch.
    momentum
        From 0 to 1.
    eps
        Keeps channels of equal values from a division by 0.

    Raises
    ------
    ShapeError
        If there are no channels, another tensor has not one number for each, or there
        is one value in a channel only.
    ArgumentError
        If running statistics are needed and not there.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 1.0], [2.0, 5.0]])
    >>> ac.nn.functional.batch_norm(x, None, None, training=True, eps=0.0)
    tensor([[-1., -1.],
            [ 1.,  1.]])
    """
    where = "batch_norm"
    if check_tensor(where, input).shape == (
        0,
    ):  # no example: PyTorch asks for no channels
        return view.clone_op(input)
    statistics = running_mean, running_var
    eps, momentum = checked(where, input, statistics, weight, bias, eps, momentum)
    if not training:
        return by_running(where, input, statistics, weight, bias, eps)
    n = values(where, input)
    out, mean, var = _normalised(input, weight, bias, eps)
    move(statistics, (mean, var), n, momentum)
    return out


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
    """Return (x - mean) / sqrt(var + eps) * weight + bias, by channel and example.

    Ulyanov, Vedaldi, Lempitsky: Instance normalization (2016).

    Parameters
    ----------
    input
        x, (N, C, ...), float32 or float64.
    running_mean, running_var
        (C,); moved towards the mean over examples of means and of variances, and used
        in their place unless `use_input_stats`.
    weight, bias
        (C,).
    use_input_stats
        Whether mean and variance are those of each channel of each example.
    momentum
        How far running statistics are moved, from 0 to 1.
    eps
        Keeps channels of equal values from a division by 0.

    Raises
    ------
    ShapeError
        If there are no positions, or a tensor has not one number for each channel.

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
    _check(where, input, 3, statistics, weight, bias)
    eps = number(where, "eps", eps)
    momentum = number(where, "momentum", momentum)
    if not use_input_stats:
        return by_running(where, input, statistics, weight, bias, eps)
    batch, channels, *positions = input.shape
    n = math.prod(positions)
    if n == 1:
        message = (
            f"{where}: `input` of shape {input.shape} has one position; it needs two "
            f"or more."
        )
        raise ShapeError(message)
    x = view.reshape_op(input, (1, batch * channels, n))
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
    """Return (x - mean) / sqrt(var + eps) * weight + bias, by example and group.

    Wu, He: Group normalization (ECCV 2018).

    Parameters
    ----------
    input
        x, (N, C, ...), float32 or float64.
    num_groups
        Into how many groups of neighbours the channels fall; each has a mean and a
        variance, divided by n.
    weight, bias
        (C,).
    eps
        Keeps groups of equal values from a division by 0.

    Raises
    ------
    ShapeError
        If channels do not fall into groups, or a tensor has not one number for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 2.0, 3.0, 9.0]])
    >>> ac.nn.functional.group_norm(x, 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    where = "group_norm"
    _check(where, input, 2, (None, None), weight, bias)
    eps = number(where, "eps", eps)
    check_groups(where, num_groups, input.shape[1])
    for parameter in (weight, bias):
        if parameter is not None:
            same_dtype(where, input, parameter)
    batch, channels, *positions = input.shape
    n = channels // num_groups * math.prod(positions)
    if n == 1 and batch == 1:
        message = (
            f"{where}: `input` of shape {input.shape} has one value in each of "
            f"{num_groups} groups; it needs two or more."
        )
        raise ShapeError(message)
    rows = view.reshape_op(input, (batch * num_groups, n))
    out = layer_norm.layer_norm_op(rows, None, None, float(eps))
    out = view.detach_from_base(view.reshape_op(out, input.shape))
    column = (channels, *(1 for _ in positions))
    if weight is not None:
        out = arithmetic.mul(out, view.reshape_op(weight, column))
    if bias is not None:
        out = arithmetic.add_op(out, view.reshape_op(bias, column))
    return out


def checked(
    where: str,
    input: Tensor,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: Any,
    momentum: Any,
) -> tuple[float, float]:
    """Raise unless the operands fit; return both numbers."""
    _check(where, input, 2, statistics, weight, bias)
    return float(number(where, "eps", eps)), number(where, "momentum", momentum)


def values(where: str, input: Tensor) -> int:
    """Return how many values there are in a channel, if they have a variance."""
    shape: tuple[int, ...] = input._array.shape
    n = shape[0] * math.prod(shape[2:])
    if n == 1:
        message = (
            f"{where}: `input` of shape {input.shape} has one value in each channel; "
            f"training needs two or more, or eval()."
        )
        raise ShapeError(message)
    return n


def check_groups(where: str, groups: Any, channels: int) -> None:
    """Raise unless `groups` is an integer that divides the channels."""
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        message = (
            f"{where}: `num_groups` is {groups!r}; it must be an integer, 1 or more."
        )
        raise ArgumentError(message)
    if channels % groups:
        message = (
            f"{where}: {channels} channels do not fall into {groups} groups; "
            f"`num_groups` must divide them."
        )
        raise ShapeError(message)


def _check(
    where: str,
    input: Tensor,
    least: int,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
) -> None:
    x = check_tensor(where, input)
    check_float(where, x)
    if x.ndim < least:
        behind = ", ..." if least == 2 else ", L, ..."
        message = f"{where}: `input` has shape {x.shape}; it must be (N, C{behind})."
        raise ShapeError(message)
    names = ("running_mean", "running_var", "weight", "bias")
    channels = x._array.shape[1:2]
    for name, tensor in zip(names, (*statistics, weight, bias), strict=True):
        if tensor is not None and check_tensor(where, tensor)._array.shape != channels:
            message = (
                f"{where}: `{name}` has shape {tensor.shape}; it must be "
                f"({x.shape[1]},), a number for each channel of {x.shape}."
            )
            raise ShapeError(message)


def _normalised(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the result, and mean and variance without a history."""
    return with_statistics(batch_norm_op, (x, weight, bias), (float(eps),))


def with_statistics(
    op: Any, tensors: tuple[Tensor | None, ...], attributes: tuple[Any, ...]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the result of an operator, and mean and variance without a history.

    Those of halves stay float32: rounded, they would overflow where running statistics
    do not.
    """
    x: Any = tensors[0]
    half = x.dtype if x.dtype.is_half else None
    if half is not None:
        tensors = tuple([None if a is None else cast(a, float32) for a in tensors])
    out, mean, var = op(*tensors, *attributes)
    return out if half is None else cast(out, half), mean.detach(), var.detach()


def move(
    statistics: Statistics, now: tuple[Tensor, ...], n: int, momentum: float
) -> None:
    """Move running statistics towards those of `n` values in a channel, if any."""
    if n == 0:
        return
    with no_grad():
        mean, var = statistics
        if mean is not None:
            _move(mean, now[0], momentum, momentum)
        if var is not None:
            _move(var, now[1], momentum, momentum * n / max(n - 1, 1))


def _move(kept: Tensor, now: Tensor, momentum: float, share: float) -> None:
    """Write (1 - momentum) * kept + share * now, of halves rounded once."""
    if kept.dtype.is_half:
        kept.copy_(kept.float().mul_(1 - momentum).add_(now, alpha=share))
    else:
        kept.mul_(1 - momentum).add_(now, alpha=share)


def _of_examples(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int, eps: float
) -> tuple[Tensor, ...]:
    """Normalise each channel of each example, of x [1, batch * channels, positions]."""
    found: tuple[Tensor, ...] = batch_norm_op(
        x, _repeated(weight, batch), _repeated(bias, batch), float(eps)
    )
    return found


def _repeated(a: Tensor | None, times: int) -> Tensor | None:
    """Return a number for each channel `times` over: once for each example."""
    if a is None or times == 1:
        return a
    (n,) = a.shape
    return view.reshape_op(broadcasting.expand_op(a, (times, n)), (times * n,))
