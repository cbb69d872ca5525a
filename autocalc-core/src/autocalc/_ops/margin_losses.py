# SPDX-License-Identifier: MIT
"""Losses that stop where a margin is kept, and their smooth kin."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._ops import (
    _loss_reduction,
    activations,
    arithmetic,
    clamping,
    comparison,
    indexing,
    logical,
    masking,
    rectifiers,
    scans,
    view,
)
from autocalc._ops import distance as distance_ops
from autocalc._ops import reduction as reduction_ops
from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import check_float, check_reduction
from autocalc._ops._coerce import cast
from autocalc._ops.classification_losses import class_rows
from autocalc._ops.filled import arange
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import FLAG, check_flag, number
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(-target (input1 - input2) + margin, 0).

    Parameters
    ----------
    input1, input2
        Scores that are ranked; shapes broadcast.
    target
        1 where `input1` should rank higher, -1 where `input2` should.
    margin
        By how much.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the three differ in their number of dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.tensor([1.0, 2.0]), ac.tensor([3.0, 0.0])
    >>> ac.nn.functional.margin_ranking_loss(a, b, ac.tensor([1, 1]))
    tensor(1.)
    """
    where = "margin_ranking_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input1, input2)
    if not input1.ndim == input2.ndim == check_tensor(where, target).ndim:
        message = (
            f"{where}: `input1` has shape {input1.shape}, `input2` {input2.shape}, "
            f"`target` {target.shape}; they must have the same number of dimensions."
        )
        raise ShapeError(message)
    lead = arithmetic.mul(arithmetic.sub_op(input1, input2), target)
    short = arithmetic.sub_op(number(where, "margin", margin), lead)
    return _loss_reduction.reduced(clamping.clamp(short, min=0.0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return input where the target is 1, max(margin - input, 0) where it is -1.

    Parameters
    ----------
    input
        Distances.
    target
        1 for pairs that belong together, -1 for others; shapes broadcast.
    margin
        Distances beyond it count for nothing.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> distances, target = ac.tensor([0.5, 0.25]), ac.tensor([1, -1])
    >>> ac.nn.functional.hinge_embedding_loss(distances, target, reduction="none")
    tensor([0.5 , 0.75])
    """
    where = "hinge_embedding_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input)
    check_tensor(where, target)
    short = arithmetic.sub_op(number(where, "margin", margin), input)
    apart = clamping.clamp(short, min=0.0)
    apart = masking.where(comparison.ne(target, 1), apart, 0.0)
    together = masking.where(comparison.ne(target, -1), input, 0.0)
    return _loss_reduction.reduced(arithmetic.add_op(apart, together), reduction)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return log(1 + exp(-target input)), which does not overflow.

    Parameters
    ----------
    input
        Scores, of any shape.
    target
        1 or -1; shapes broadcast.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.soft_margin_loss(ac.tensor([0.0]), ac.tensor([1.0]))
    tensor(0.6931)
    """
    where = "soft_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input)
    lead = arithmetic.mul(input, check_tensor(where, target))
    loss = activations.softplus_op(arithmetic.neg(lead), 1.0, 1e30)
    return _loss_reduction.reduced(loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of -(t log(s) + (1 - t) log(1 - s)).

    s = sigmoid(input), the logarithms from the logits.

    Parameters
    ----------
    input
        Logits, (..., C).
    target
        t, 0 or 1 for each class, of the same shape.
    weight
        A factor for each class, (C,).
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shapes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, t = ac.tensor([[0.0, 1000.0]]), ac.tensor([[1.0, 1.0]])
    >>> ac.nn.functional.multilabel_soft_margin_loss(x, t)
    tensor(0.3466)
    """
    where = "multilabel_soft_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input)
    _loss_reduction.same_shape(where, input, target)
    if input.ndim == 0:
        message = f"{where}: `input` is 0-d; it needs a dimension of classes."
        raise ShapeError(message)
    rest = activations.softplus_op(arithmetic.neg(input), 1.0, 1e30)
    loss = arithmetic.add_op(
        arithmetic.mul(arithmetic.sub_op(1.0, target), input), rest
    )
    if weight is not None:
        loss = arithmetic.mul(loss, check_tensor(where, weight))
    return _loss_reduction.reduced(reduction_ops.mean(loss, -1), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return sum_j w_y max(margin - x_y + x_j, 0)^p / C over j other than the label y.

    Parameters
    ----------
    input
        Scores x, (N, C) or (C,).
    target
        Labels y, 0 to C - 1, (N,) or ().
    p
        1 or 2.
    margin
        By how much the label's score should lead.
    weight
        w, a factor for each class, (C,).
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `p` is neither 1 nor 2.
    ShapeError
        If sizes do not fit.
    KernelDataError
        If a label is outside 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[0.1, 0.2, 0.4, 0.8]]), ac.tensor([3])
    >>> ac.nn.functional.multi_margin_loss(x, y)
    tensor(0.325)
    """
    where = "multi_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input)
    if number(where, "p", p) not in (1, 2):
        message = f"{where}: `p` is {p}; it must be 1 or 2."
        raise ArgumentError(message)
    _check_rows(where, input)
    shape = input.shape[:-1]
    if input.ndim < 2:
        input, target = view.reshape(input, (1, -1)), _one_label(where, target)
    rows, labels = class_rows(where, input, target)
    column = view.reshape(labels, (-1, 1))
    lead = arithmetic.sub_op(indexing.gather_op(rows, column, 1), rows)
    short = rectifiers.relu_op(arithmetic.sub_op(number(where, "margin", margin), lead))
    if p == 2:
        short = arithmetic.mul(short, short)
    if weight is not None:
        _check_weight(where, weight, rows.shape[1])
        shares = indexing.index_select_op(weight, labels, 0)
        short = arithmetic.mul(short, view.reshape(shares, (-1, 1)))
    own = comparison.eq(column, arange(rows.shape[1]))
    loss = reduction_ops.mean(masking.where(own, 0.0, short), 1)
    return _loss_reduction.reduced(view.reshape(loss, shape), reduction)


def _check_rows(where: str, input: Tensor) -> None:
    if input.ndim > 2:
        message = (
            f"{where}: `input` has shape {input.shape}; it must be (N, C) or (C,)."
        )
        raise ShapeError(message)


def _one_label(where: str, target: Tensor) -> Tensor:
    """Return the label of a single row as [1]."""
    if check_tensor(where, target).shape not in ((), (1,)):
        message = (
            f"{where}: `target` has shape {target.shape} for one row of scores; it "
            f"must be ()."
        )
        raise ShapeError(message)
    return view.reshape(target, (1,))


def _check_weight(where: str, weight: Tensor, classes: int) -> None:
    if check_tensor(where, weight).shape != (classes,):
        message = (
            f"{where}: `weight` has shape {weight.shape} for {classes} classes; it "
            f"must be ({classes},)."
        )
        raise ShapeError(message)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return sum_ij max(1 - (x_j - x_i), 0) / C: j the labels, i the other classes.

    Parameters
    ----------
    input
        Scores x, (N, C) or (C,).
    target
        Labels of the same shape, integers: those before the first negative number.
    size_average, reduce
        Deprecated: say the same by `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shapes differ, or are not (N, C) or (C,).
    DTypeError
        If the labels are no integers.
    KernelDataError
        If a label is C or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[0.1, 0.2, 0.4, 0.8]]), ac.tensor([[3, 0, -1, 1]])
    >>> ac.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.85)
    """
    where = "multilabel_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_reduction(where, reduction)
    check_float(where, input)
    _loss_reduction.same_shape(where, input, target)
    _check_rows(where, input)
    shape = input.shape[:-1]
    if target.is_floating_point() or target.dtype is dtypes.bool_:
        message = (
            f"{where}: `target` has dtype {target.dtype.name}; labels must be integers."
        )
        raise DTypeError(message)
    if input.ndim < 2:
        input, target = view.reshape(input, (1, -1)), view.reshape(target, (1, -1))
    loss = _of_label_lists(input, cast(target, dtypes.int64))
    return _loss_reduction.reduced(view.reshape(loss, shape), reduction)


def _of_label_lists(rows: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each row; axis 1 of the differences is j, axis 2 is i."""
    ends = cast(comparison.lt(labels, 0), dtypes.int64)
    given = comparison.eq(scans.cumsum(ends, 1), 0)
    labels = masking.where(given, labels, 0)
    scores = indexing.gather_op(rows, labels, 1)
    lead = arithmetic.sub_op(view.unsqueeze(scores, 2), view.unsqueeze(rows, 1))
    classes = comparison.eq(view.unsqueeze(labels, 2), arange(rows.shape[1]))
    given = view.unsqueeze(given, 2)
    named = reduction_ops.any(logical.logical_and(classes, given), 1, keepdim=True)
    counts = logical.logical_and(given, logical.logical_not(named))
    short = rectifiers.relu_op(arithmetic.sub_op(1.0, lead))
    total = reduction_ops.sum(masking.where(counts, short, 0.0), (1, 2))
    return arithmetic.div_op(total, float(rows.shape[1]))


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return max(d(anchor, positive) - d(anchor, negative) + margin, 0), d as given.

    Parameters
    ----------
    anchor, positive, negative
        What `distance_function` takes.
    distance_function
        d, a function of two tensors; `pairwise_distance` without it.
    margin
        How much further away the negative one has to be, above 0.
    swap
        Whether d(positive, negative) counts where it is smaller than d(anchor,
        negative).
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `margin` is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, p, n = ac.tensor([0.0]), ac.tensor([1.0]), ac.tensor([1.5])
    >>> ac.nn.functional.triplet_margin_with_distance_loss(
    ...     a, p, n, distance_function=lambda x, y: (x - y).abs()
    ... )
    tensor(0.5)
    """
    where = "triplet_margin_with_distance_loss"
    if swap.__class__ is not FLAG:
        swap = check_flag(where, "swap", swap)
    check_reduction(where, reduction)
    check_float(where, anchor, positive, negative)
    if number(where, "margin", margin) <= 0:
        message = f"{where}: `margin` is {margin}; it must be above 0."
        raise ArgumentError(message)
    distance = distance_function or distance_ops.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = clamping.minimum(far, distance(positive, negative))
    return _loss_reduction.reduced(
        clamping.clamp(near - far + margin, min=0.0), reduction
    )
