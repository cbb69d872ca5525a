# SPDX-License-Identifier: MIT
"""Losses of values against targets."""

from __future__ import annotations

from autocalc._ops import (
    _loss_reduction,
    arithmetic,
    clamping,
    comparison,
)
from autocalc._ops._checks import check_float, check_reduction
from autocalc._ops._coerce import cast, coerce
from autocalc._ops._remembered import replayed
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc.errors import ArgumentError


@replayed
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return (input - target)^2, averaged, summed, or (``"none"``) as it is.

    Shapes that differ are broadcast with a warning.

    Parameters
    ----------
    input
        The tensor.
    target
        What `input` should be, of its shape.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.

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


def _square_or_line(difference: Tensor, seam: float) -> Tensor:
    """Return d^2 / (2 seam) where d = abs(difference) < seam, else d - seam / 2.

    The square is not that of d, whose kink at 0 would take the second derivative there.
    """
    known = difference.detach()
    far = comparison.ge(arithmetic.abs(known), seam)
    near = comparison.where_op(far, clamping.clamp(known, -seam, seam), difference)
    return near * near * (0.5 / seam) + arithmetic.abs(difference - near)


@replayed
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return abs(input - target), averaged, summed, or (``"none"``) as it is.

    Shapes that differ are broadcast with a warning.

    Parameters
    ----------
    input
        The tensor.
    target
        What `input` should be, of its shape.
    size_average, reduce
        Deprecated: say the same by `reduction`.
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


@replayed
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return d^2 / (2 beta) where d = abs(input - target) < beta, else d - beta / 2.

    Girshick: Fast R-CNN (ICCV 2015).  Shapes that differ are broadcast with a warning.

    Parameters
    ----------
    input
        The tensor.
    target
        What `input` should be, of its shape.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.
    beta
        Where the square goes over into the line.

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
    if number(where, "beta", beta) < 0:
        message = f"{where}: `beta` is {beta}; it must be 0 or more."
        raise ArgumentError(message)
    a, b = coerce(where, *pair)
    check_float(where, a, b)
    difference = arithmetic.sub_op(a, b)
    if beta == 0:
        return _loss_reduction.reduced(arithmetic.abs(difference), reduction)
    return _loss_reduction.reduced(_square_or_line(difference, beta), reduction)


@replayed
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Return d^2 / 2 where d <= delta, else delta (d - delta / 2).

    d = abs(input - target).  Huber: Robust estimation of a location parameter (1964).
    Shapes that differ are broadcast with a warning.

    Parameters
    ----------
    input
        The tensor.
    target
        What `input` should be, of its shape.
    reduction
        "mean", "sum" or "none", which gives every element its own loss.
    delta
        Where the square goes over into the line.

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
    if number(where, "delta", delta) <= 0:
        message = f"{where}: `delta` is {delta}; it must be above 0."
        raise ArgumentError(message)
    return _loss_reduction.reduced(
        _square_or_line(difference, delta) * delta, reduction
    )
