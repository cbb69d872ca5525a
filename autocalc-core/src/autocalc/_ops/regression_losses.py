# SPDX-License-Identifier: MIT
"""Losses of values against targets."""

from __future__ import annotations

from autocalc._ops import (
    _loss_reduction,
    arithmetic,
    clamping,
    comparison,
    exponential,
    masking,
)
from autocalc._ops import distance as distance_ops
from autocalc._ops import reduction as reduction_ops
from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import check_float, check_reduction
from autocalc._ops._coerce import coerce
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag, number
from autocalc.errors import ArgumentError, ShapeError


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
    tensor(0.5)
    """
    reduction = _loss_reduction.chosen("mse_loss", size_average, reduce, reduction)
    check_reduction("mse_loss", reduction)
    _loss_reduction.broadcast_with_warning("mse_loss", input, target)
    difference = arithmetic.sub_op(*coerce("mse_loss", input, target))
    return _loss_reduction.reduced(arithmetic.mul(difference, difference), reduction)


def _difference(where: str, input: Tensor, target: Tensor, reduction: str) -> Tensor:
    check_reduction(where, reduction)
    check_float(where, input, target)
    return arithmetic.sub_op(input, target)


def _square_or_line(difference: Tensor, seam: float) -> Tensor:
    """Return d^2 / (2 seam) where d = abs(difference) < seam, else d - seam / 2.

    The square is not that of d, whose kink at 0 would take the second derivative there.
    """
    known = difference.detach()
    far = comparison.ge(arithmetic.abs(known), seam)
    near = comparison.where_op(far, clamping.clamp(known, -seam, seam), difference)
    return near * near * (0.5 / seam) + arithmetic.abs(difference - near)


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
    tensor(0.5)
    """
    reduction = _loss_reduction.chosen("l1_loss", size_average, reduce, reduction)
    _loss_reduction.broadcast_with_warning("l1_loss", input, target)
    difference = _difference("l1_loss", input, target, reduction)
    return _loss_reduction.reduced(arithmetic.abs(difference), reduction)


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
    reduction = _loss_reduction.chosen(
        "smooth_l1_loss", size_average, reduce, reduction
    )
    where = "smooth_l1_loss"
    _loss_reduction.broadcast_with_warning(where, input, target)
    difference = _difference(where, input, target, reduction)
    if number(where, "beta", beta) < 0:
        message = f"{where}: `beta` is {beta}; it must be 0 or more."
        raise ArgumentError(message)
    if beta == 0:
        return _loss_reduction.reduced(arithmetic.abs(difference), reduction)
    return _loss_reduction.reduced(_square_or_line(difference, beta), reduction)


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
    _loss_reduction.broadcast_with_warning(where, input, target)
    difference = _difference(where, input, target, reduction)
    if number(where, "delta", delta) <= 0:
        message = f"{where}: `delta` is {delta}; it must be above 0."
        raise ArgumentError(message)
    return _loss_reduction.reduced(
        _square_or_line(difference, delta) * delta, reduction
    )


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return 1 - cos where the target is 1, max(cos - margin, 0) where it is -1.

    Parameters
    ----------
    input1, input2
        (N, D) or (D,); cos is that of their angle.
    target
        1 for vectors that belong together, -1 for others, (N,) or ().
    margin
        Angles beyond this cosine count for nothing.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shapes are not (N, D), (N, D), (N,) or (D,), (D,), ().

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.tensor([[1.0, 0.0]]), ac.tensor([[0.0, 1.0]])
    >>> ac.nn.functional.cosine_embedding_loss(a, b, ac.tensor([1]))
    tensor(1.)
    """
    reduction = _loss_reduction.chosen(
        "cosine_embedding_loss", size_average, reduce, reduction
    )
    where = "cosine_embedding_loss"
    check_float(where, input1, input2)
    check_reduction(where, reduction)
    check_tensor(where, target)
    if input1.shape != input2.shape or input1.shape[:-1] != target.shape:
        message = (
            f"{where}: the inputs have shapes {input1.shape} and {input2.shape}, "
            f"`target` {target.shape}; they must be (N, D), (N, D), (N,) or (D,), "
            f"(D,), ()."
        )
        raise ShapeError(message)
    cosine = _cosine(input1, input2)
    apart = clamping.clamp(cosine - margin, min=0.0)
    apart = masking.where(comparison.eq(target, -1), apart, 0.0)
    loss = masking.where(comparison.eq(target, 1), 1.0 - cosine, apart)
    return _loss_reduction.reduced(loss, reduction)


def _cosine(a: Tensor, b: Tensor) -> Tensor:
    """Return a.b / sqrt((a.a + e) (b.b + e)); e = 1e-12 lets vectors of 0 pass."""
    dot = reduction_ops.sum(a * b, -1)
    sizes = [reduction_ops.sum(x * x, -1) + 1e-12 for x in (a, b)]
    return dot / exponential.sqrt(sizes[0] * sizes[1])


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(d(anchor, positive) - d(anchor, negative) + margin, 0).

    Balntas and others: Learning local feature descriptors with triplets (BMVC 2016).

    Parameters
    ----------
    anchor, positive, negative
        (N, D) or (D,).
    margin
        How much further away the negative one has to be, above 0.
    p, eps
        Of the distance, see `pairwise_distance`.
    swap
        Whether d(positive, negative) counts where it is smaller than d(anchor,
        negative).
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `margin` is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, p, n = ac.tensor([[0.0]]), ac.tensor([[1.0]]), ac.tensor([[1.5]])
    >>> ac.nn.functional.triplet_margin_loss(a, p, n)
    tensor(0.5)
    """
    reduction = _loss_reduction.chosen(
        "triplet_margin_loss", size_average, reduce, reduction
    )
    if swap.__class__ is not FLAG:
        swap = check_flag("triplet_margin_loss", "swap", swap)
    where = "triplet_margin_loss"
    check_reduction(where, reduction)
    if number(where, "margin", margin) <= 0:
        message = f"{where}: `margin` is {margin}; it must be above 0."
        raise ArgumentError(message)
    near = distance_ops.pairwise_distance(anchor, positive, p, eps)
    far = distance_ops.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = clamping.minimum(
            far, distance_ops.pairwise_distance(positive, negative, p, eps)
        )
    return _loss_reduction.reduced(
        clamping.clamp(near - far + margin, min=0.0), reduction
    )
