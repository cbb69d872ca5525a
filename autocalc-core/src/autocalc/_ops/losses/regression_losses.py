# SPDX-License-Identifier: MIT
"""Losses of values against targets."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_reduction
from autocalc._ops._operator.coerce import cast, coerce
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, clamping
from autocalc._ops.losses import _loss_reduction
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, require


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the squared error (input - target)^2, reduced to its mean by default.

    If the shapes differ, they are broadcast, with a warning.

    Parameters
    ----------
    input
        The input tensor.
    target
        The values that `input` should have, of the same shape.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"``, or ``"none"`` for one loss for each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.mse_loss(ac.tensor([1.0, 3.0]), ac.tensor([0.0, 3.0]))
    tensor(0.5000)
    """
    reduction = _loss_reduction.chosen("mse_loss", size_average, reduce, reduction)
    pair = _loss_reduction.broadcast_with_warning("mse_loss", input, target)
    a, b = coerce("mse_loss", *pair)
    check_float("mse_loss", a)
    difference = arithmetic.sub_op(a, b)
    return _loss_reduction.reduced(arithmetic.mul(difference, difference), reduction)


def _square_or_line(
    difference: Tensor, seam: float, factor: float, reduction: str
) -> Tensor:
    """Return factor d^2 / (2 seam) where d = abs(difference) < seam, else a line.

    The result is reduced and recorded as one node, so its short program also runs where
    a gradient is needed.
    """
    return _squares_or_lines(difference, float(seam), float(factor), reduction)


@one_node("square_or_line", "a", like="abs")
@traced
def _squares_or_lines(x: Tensor, seam: float, factor: float, reduction: str) -> Tensor:
    """With n = min(d, seam), return factor n (d - n / 2) / seam for both cases."""
    size = arithmetic.abs(x)
    near = clamping.clamp_max(size, seam)
    height = arithmetic.sub_op(size, arithmetic.mul(near, 0.5))
    slope = near if factor == seam else arithmetic.mul(near, factor / seam)
    return _loss_reduction.reduced(arithmetic.mul(slope, height), reduction)


@_squares_or_lines.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (x,) = n.saved
    seam, factor, reduction = n.attributes
    share = max(math.prod(k.shape(x)), 1) if reduction == "mean" else 1
    scaled = k.mul(g, k.constant(factor / seam / share, g))
    return k.mul(k.hardtanh(x, -seam, seam), scaled)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the absolute error abs(input - target), reduced to its mean by default.

    If the shapes differ, they are broadcast, with a warning.

    Parameters
    ----------
    input
        The input tensor.
    target
        The values that `input` should have, of the same shape.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.l1_loss(ac.tensor([1.0, 3.0]), ac.tensor([0.0, 3.0]))
    tensor(0.5000)
    """
    reduction = _loss_reduction.chosen("l1_loss", size_average, reduce, reduction)
    pair = _loss_reduction.broadcast_with_warning("l1_loss", input, target)
    difference = arithmetic.sub_op(*pair)
    return _loss_reduction.reduced(arithmetic.abs(difference), reduction)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return d^2 / (2 beta) where d < beta, else d - beta / 2.

    Here d = abs(input - target).  Girshick: Fast R-CNN (ICCV 2015).  If the shapes
    differ, they are broadcast, with a warning.

    Parameters
    ----------
    input
        The input tensor.
    target
        The values that `input` should have, of the same shape.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.
    beta
        The error, 0 or more, above which the loss grows linearly.

    Raises
    ------
    ArgumentError
        If `beta` is below 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.smooth_l1_loss(ac.tensor([1.0, 5.0]), ac.tensor([0.0, 3.0]))
    tensor(1.)
    """
    where = "smooth_l1_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    pair = _loss_reduction.broadcast_with_warning(where, input, target)
    require(where, "beta", beta, number(where, "beta", beta) >= 0, "0 or more")
    a, b = coerce(where, *pair)
    check_float(where, a, b)
    difference = arithmetic.sub_op(a, b)
    if beta == 0:
        return _loss_reduction.reduced(arithmetic.abs(difference), reduction)
    return _square_or_line(difference, beta, 1.0, reduction)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Return d^2 / 2 where d <= delta, else delta * (d - delta / 2).

    Here d = abs(input - target).  Huber: Robust estimation of a location parameter
    (1964).  If the shapes differ, they are broadcast, with a warning.

    Parameters
    ----------
    input
        The input tensor.
    target
        The values that `input` should have, of the same shape.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.
    delta
        The error, above 0, above which the loss grows linearly.

    Raises
    ------
    ArgumentError
        If `delta` is not above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.huber_loss(ac.tensor([1.0, 5.0]), ac.tensor([0.0, 3.0]))
    tensor(1.)
    """
    where = "huber_loss"
    check_reduction(where, reduction)
    a, b = _loss_reduction.broadcast_with_warning(where, input, target)
    check_float(where, a)
    difference = arithmetic.sub_op(a, cast(b, a.dtype))
    require(where, "delta", delta, number(where, "delta", delta) > 0, "above 0")
    return _square_or_line(difference, delta, delta, reduction)
