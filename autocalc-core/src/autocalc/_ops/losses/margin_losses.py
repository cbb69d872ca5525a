# SPDX-License-Identifier: MIT
"""Losses that are 0 beyond a margin, and smooth variants of them."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.activations import rectifiers, smooth
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.indexing import indexing, masking, scattering
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.losses.classification_losses import class_rows
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.views import view
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import number, require
from autocalc.errors import ShapeError


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(-target * (input1 - input2) + margin, 0).

    Parameters
    ----------
    input1, input2
        The scores to compare; shapes are broadcast.
    target
        1 where `input1` should rank higher, -1 where `input2` should.
    margin
        The margin between the two scores.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the three tensors differ in their number of dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.tensor([1.0, 2.0]), ac.tensor([3.0, 0.0])
    >>> ac.nn.functional.margin_ranking_loss(a, b, ac.tensor([1, 1]))
    tensor(1.)
    """
    where = "margin_ranking_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_tensor(where, input1), check_tensor(where, input2)
    refuse_booleans(where, check_tensor(where, target))
    if not input1.ndim == input2.ndim == target.ndim:
        raise ShapeError(
            f"{where}: `input1` has shape {input1.shape}, `input2` has shape "
            f"{input2.shape} and `target` has shape {target.shape}; they must have the "
            "same number of dimensions."
        )
    lead = arithmetic.mul(arithmetic.sub_op(input1, input2), target)
    short = arithmetic.sub_op(number(where, "margin", margin), lead)
    return _loss_reduction.reduced(clamping.clamp(short, min=0.0), reduction)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return input where the target is 1, and max(margin - input, 0) where it is -1.

    Parameters
    ----------
    input
        Distances, of any shape.
    target
        1 for pairs that belong together, -1 for other pairs; shapes are broadcast.
    margin
        A pair with target -1 has the loss 0 if its distance is at least this number.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> distances, target = ac.tensor([0.5, 0.25]), ac.tensor([1, -1])
    >>> ac.nn.functional.hinge_embedding_loss(distances, target, reduction="none")
    tensor([0.5000, 0.7500])
    """
    where = "hinge_embedding_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input)
    target = cast(check_tensor(where, target), input.dtype)
    short = arithmetic.sub_op(number(where, "margin", margin), input)
    apart = clamping.clamp(short, min=0.0)
    apart = masking.where(comparison.ne(target, 1), apart, 0.0)
    together = masking.where(comparison.ne(target, -1), input, 0.0)
    return _loss_reduction.reduced(arithmetic.add_op(apart, together), reduction)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return log(1 + exp(-target * input)), computed without overflow.

    Parameters
    ----------
    input
        The scores, of any shape.
    target
        1 or -1; it broadcasts to the shape of `input`.
    size_average, reduce
        Deprecated: use `reduction`.
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
    check_float(where, input)
    _loss_reduction.fits(where, input, target=target)
    lead = arithmetic.mul(input, cast(target, input.dtype))
    loss = smooth.softplus_op(arithmetic.neg(lead), 1.0, 1e30)
    return _loss_reduction.reduced(loss, reduction)


@autocasts("float32")
@traced
@rounded_once
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
    """Return the multi-class hinge loss.

    The loss of an example is ``sum_j w_y max(margin - x_y + x_j, 0)^p / C``, where y is
    the label and j runs over all other classes.

    Parameters
    ----------
    input
        The scores x, of shape (N, C) or (C,).
    target
        The labels y from 0 to C - 1, a tensor of int64 of shape (N,) or ().
    p
        The exponent, 1 or 2.
    margin
        The amount by which the score of the label should be larger than the others.
    weight
        A factor w for each class, a tensor of shape (C,).
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `p` is neither 1 nor 2.
    ShapeError
        If the shapes of the tensors do not fit together.
    KernelDataError
        If a label is outside the range from 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[0.1, 0.2, 0.4, 0.8]]), ac.tensor([3])
    >>> ac.nn.functional.multi_margin_loss(x, y)
    tensor(0.3250)
    """
    where = "multi_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input)
    require(where, "p", p, number(where, "p", p) in (1, 2), "1 or 2")
    check_rows(where, input)
    shape = input.shape[:-1]
    if input.ndim < 2:
        input, target = view.reshape(input, (1, -1)), _one_label(where, target)
    indexing.long_positions(where, target, name="`target`")
    if target.shape != input.shape[:1]:
        raise ShapeError(
            f"{where}: target tensor should be 1-D with size equal to the number of "
            f"rows of `input`. Expected target size [{input.shape[0]}], but got "
            f"{list(target.shape)}."
        )
    rows, labels = class_rows(where, input, target)
    margin = number(where, "margin", margin)
    if weight is not None:
        _check_weight(where, weight, rows.shape[1])
        same_dtype(where, rows, weight)
    wants = current().grad and rows._edge is not None
    if wants and p == 1 and (weight is None or weight._edge is None):
        bare = make(rows._array, None), make(labels._array, None)
        loss, slopes = _margins_and_slopes(*bare, margin, weight, reduction)
        loss = _with_slopes(rows, slopes, loss)
    else:
        short = _shortfalls(rows, labels, p, margin, weight)
        loss = _averaged(short, reduction)
    return view.reshape(loss, shape) if reduction == "none" else loss


def _shortfalls(
    rows: Tensor, labels: Tensor, p: int, margin: float, weight: Tensor | None
) -> Tensor:
    """Return w_y max(margin - x_y + x_j, 0)^p, and 0 at the labels."""
    column = view.reshape(labels, (-1, 1))
    lead = arithmetic.sub_op(indexing.gather_op(rows, column, 1), rows)
    short = rectifiers.relu_op(arithmetic.sub_op(margin, lead))
    if p == 2:
        short = arithmetic.mul(short, short)
    if weight is not None:
        shares = indexing.index_select_op(weight, labels, 0)
        short = arithmetic.mul(short, view.reshape(shares, (-1, 1)))
    return _with_labels(short, column, arrays.zeros(column.shape, short._array.dtype))


def _with_labels(scores: Tensor, column: Tensor, values: Any) -> Tensor:
    """Return scores with one value for each row written at its label."""
    return scattering.scatter_op(scores, column, make(values, None), 1)


def _averaged(short: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":  # rows have one length: one step
        return reduction_ops.mean(short)
    return _loss_reduction.reduced(reduction_ops.mean(short, 1), reduction)


@traced
def _margins_and_slopes(
    rows: Tensor, labels: Tensor, margin: float, weight: Tensor | None, reduction: str
) -> tuple[Tensor, Tensor]:
    """Return the loss for p = 1 and its derivatives by the scores."""
    short = _shortfalls(rows, labels, 1, margin, weight)
    count, classes = rows.shape
    each = 1.0 / (classes * (max(count, 1) if reduction == "mean" else 1))
    if weight is None:
        slopes = arithmetic.mul(cast(comparison.ne(short, 0), rows.dtype), each)
    else:
        shares = indexing.index_select_op(weight, labels, 0)
        shares = arithmetic.mul(view.reshape(shares, (-1, 1)), each)
        slopes = masking.where(comparison.ne(short, 0), shares, 0.0)
    of_label = arithmetic.neg(reduction_ops.sum(slopes, 1, keepdim=True))
    column = view.reshape(labels, (-1, 1))
    return _averaged(short, reduction), _with_labels(slopes, column, of_label._array)


@one_node("multi_margin_loss", "b", like="mul")
def _with_slopes(rows: Tensor, slopes: Tensor, loss: Tensor) -> Tensor:
    """Return the loss, whose derivatives by the scores are already computed."""
    return loss


@_with_slopes.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (slopes,) = n.saved
    g = k.reshape(g, (*k.shape(g), 1)) if k.shape(g) else g
    return k.mul(slopes, g), None, None


def check_rows(where: str, input: Tensor) -> None:
    if input.ndim > 2:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; it must be (N, C) or (C,)."
        )


def _one_label(where: str, target: Tensor) -> Tensor:
    """Return the label of a single row as a vector of one element."""
    if check_tensor(where, target).shape not in ((), (1,)):
        raise ShapeError(
            f"{where}: Expected a target of shape () for one row of scores, but got "
            f"{target.shape}."
        )
    return view.reshape(target, (1,))


def _check_weight(where: str, weight: Tensor, classes: int) -> None:
    if check_tensor(where, weight).shape != (classes,):
        raise ShapeError(
            f"{where}: `weight` has shape {weight.shape} for {classes} classes; it "
            f"must be ({classes},)."
        )
