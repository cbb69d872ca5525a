# SPDX-License-Identifier: MIT
"""Losses of classes: logits or probabilities against labels or distributions."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float, check_reduction
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.reductions import softmax
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, number
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

_LABELS = {dtypes.int64.numpy, dtypes.uint8.numpy}

cross_entropy_op = nary("cross_entropy", saves="grad:logits logits target weight")


@cross_entropy_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The forward pass kept d loss / d logits; only the cotangent's factor is missing.

    That array has no history, so a recorded pass uses the decomposition.
    """
    slope, logits, target, weight = n.saved
    if k.records:
        inputs = (logits, target, weight)
        return k.through_decomposition("cross_entropy", inputs, n.attributes, g)
    rows = k.reshape(g, (*k.shape(g), 1)) if k.shape(g) else g
    return k.mul(slope, rows), None, None


nll_op = nary("nll_loss", saves="slopes:log_p target:log_p")


@nll_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Put each loss's share of g at the place of its label."""
    slopes, target = n.saved
    zero, nowhere = k.constant(0, g), k.constant(0, target)
    places = k.where(
        k.compare(target, k.constant(n.attributes[1], target), "eq"), nowhere, target
    )
    shares = k.where(k.compare(slopes, zero, "eq"), zero, k.mul(g, slopes))
    none, column = k.zeros(n.shapes[0], k.dtype(g)), (*k.shape(slopes), 1)
    places, shares = k.reshape(places, column), k.reshape(shares, column)
    return k.scatter_add(none, places, shares, 1), None


def _of_labels(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Return the cross-entropy of logits and class labels.

    loss_i = -log(softmax(input_i)[target_i]), averaged over the rows.

    Parameters
    ----------
    input
        Logits [N, C], [C], or [N, C, d1, ...].
    target
        Labels 0 to C - 1, int64, [N], [], or [N, d1, ...].
    weight
        A factor for each class, [C].
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.
    """
    logits, labels = class_rows("cross_entropy", input, target)
    check_reduction("cross_entropy", reduction)
    label_smoothing = number("cross_entropy", "label_smoothing", label_smoothing)
    if not 0.0 <= label_smoothing <= 1.0:
        message = (
            f"cross_entropy: `label_smoothing`={label_smoothing}; it must be in 0 to 1."
        )
        raise ArgumentError(message)
    if weight is not None and check_tensor("cross_entropy", weight).requires_grad:
        message = (
            "cross_entropy: `weight` requires a gradient, which this loss does not "
            "give; pass weight.detach()."
        )
        raise GradError(message)
    out = cross_entropy_op(
        logits,
        labels,
        weight,
        reduction,
        as_int("cross_entropy", "ignore_index", ignore_index),
        label_smoothing,
    )
    if reduction != "none":
        return out
    return view.detach_from_base(view.reshape_op(out, target.shape))


def class_rows(where: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Bring logits to [N, C] and labels to [N]."""
    ndim = check_tensor(where, input)._array.ndim
    check_tensor(where, target)
    shape, class_dim = input._array.shape, 0 if ndim == 1 else 1
    expected = shape[:class_dim] + shape[class_dim + 1 :]
    if ndim == 0 or target._array.shape != expected:
        message = (
            f"{where}: `input` has shape {input.shape}, `target` {target.shape}; "
            f"for an input [N, C, ...] the labels must be [N, ...]."
        )
        raise ShapeError(message)
    if host_dtype(target._array.dtype) not in _LABELS:
        message = (
            f"{where}: `target` has dtype {target.dtype.name}; labels must be int64 or "
            f"uint8. Convert them with .long()."
        )
        raise DTypeError(message)
    if ndim == 1:
        input = view.reshape_op(input, (1, *input.shape))
    elif ndim > 2:
        order = (0, *range(2, ndim), 1)
        input = view.permute_op(input, order)
        input = view.reshape_op(input, (-1, input.shape[-1]))
    labels = cast(target, dtypes.int64)
    return input, labels if labels.ndim == 1 else view.reshape_op(labels, (-1,))


@traced
@rounded_once
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return -sum_c q_c log(softmax(input)_c), q the target's distribution.

    Parameters
    ----------
    input
        Logits, (N, C), (C,), or (N, C, d1, ...).
    target
        Labels 0 to C - 1, int64 or uint8, (N,), (), or (N, d1, ...); or q itself, of
        the shape and dtype of `input`.
    weight
        A factor for each class, (C,).
    size_average, reduce
        Deprecated: say the same by `reduction`.
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (with labels weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.cross_entropy(ac.tensor([[2.0, 0.0]]), ac.tensor([0]))
    tensor(0.1269)
    """
    reduction = _loss_reduction.chosen("cross_entropy", size_average, reduce, reduction)
    check_tensor("cross_entropy", input)
    kind = check_tensor("cross_entropy", target)._array.dtype.kind
    if kind in FLOAT_KINDS and target.shape == input.shape:
        return _of_distributions(
            input, target, weight, ignore_index, reduction, label_smoothing
        )
    return _of_labels(input, target, weight, ignore_index, reduction, label_smoothing)


def _of_distributions(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    """Return the cross-entropy against probabilities."""
    where = "cross_entropy"
    check_float(where, input)
    check_reduction(where, reduction)
    label_smoothing = number(where, "label_smoothing", label_smoothing)
    if as_int(where, "ignore_index", ignore_index) >= 0:
        message = (
            f"{where}: `ignore_index`={ignore_index} with a `target` of "
            f"probabilities, which has no labels to ignore; leave it out."
        )
        raise ArgumentError(message)
    if input.ndim == 0:
        message = f"{where}: `input` is 0-d; it needs a dimension of classes."
        raise ShapeError(message)
    axis = 0 if input.ndim == 1 else 1
    classes = input.shape[axis]
    q = target
    if label_smoothing:
        q = q * (1 - label_smoothing) + label_smoothing / classes
    if weight is not None:
        _check_weight(where, weight, classes)
        q = q * view.reshape(weight, (classes, *[1] * (input.ndim - 1 - axis)))
    log_p = softmax.log_softmax(input, axis)
    loss = arithmetic.neg(reduction_ops.sum(weigh_op(q, log_p), axis))
    return _loss_reduction.reduced(loss, reduction)


def _check_weight(where: str, weight: Tensor, classes: int) -> None:
    if weight.requires_grad:
        message = (
            f"{where}: `weight` requires a gradient, which this loss does not give; "
            f"pass weight.detach()."
        )
        raise GradError(message)
    if weight.shape != (classes,):
        message = (
            f"{where}: `weight` has shape {weight.shape} for {classes} classes; it "
            f"must be ({classes},)."
        )
        raise ShapeError(message)


@traced
@rounded_once
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return -weight[target] * input[target] of log-probabilities.

    Parameters
    ----------
    input
        Log-probabilities, (N, C), (C,), or (N, C, d1, ...).
    target
        Labels 0 to C - 1, int64 or uint8, (N,), (), or (N, d1, ...).
    weight
        A factor for each class, (C,).
    size_average, reduce
        Deprecated: say the same by `reduction`.
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> log_p = ac.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    >>> ac.nn.functional.nll_loss(log_p, ac.tensor([0, 1])).item()
    0.4904146194458008
    """
    where = "nll_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input)
    rows, labels = class_rows(where, input, target)
    if weight is None:
        check_reduction(where, reduction)
        skipped = as_int(where, "ignore_index", ignore_index)
        loss = nll_op(rows, labels, reduction, skipped)
        if reduction != "none" or target._array.ndim == 1:
            return loss
        return view.reshape(loss, target.shape)
    _check_weight(where, weight, rows.shape[1])
    same_dtype(where, rows, weight)
    ignored = comparison.eq(labels, ignore_index)
    labels = masking.where(ignored, 0, labels)
    picked = indexing.gather_op(rows, view.reshape(labels, (-1, 1)), 1)
    shares = indexing.index_select_op(weight, labels, 0)
    loss = weigh_op(shares, arithmetic.neg(view.reshape(picked, (-1,))))
    loss = masking.where(ignored, 0.0, loss)
    if reduction == "none":
        return view.reshape(loss, target.shape)
    total = reduction_ops.sum(loss)
    if reduction == "sum":
        return total
    counted = masking.where(ignored, 0.0, shares)
    return arithmetic.div_op(total, reduction_ops.sum(counted).to(total.dtype))
