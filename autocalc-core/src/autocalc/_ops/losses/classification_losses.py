# SPDX-License-Identifier: MIT
"""Losses of classes: logits or probabilities, and labels or distributions."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.indexing.ranges import or_skipped, with_range
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_reduction
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.losses.low_precision_logits import cross_entropy_of_halves
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.reductions import softmax
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, number
from autocalc.errors import (
    ArgumentError,
    DTypeError,
    GradError,
    KernelIndexError,
    ShapeError,
)

_LABELS = {dtypes.int64.numpy, dtypes.uint8.numpy}

cross_entropy_op = nary("cross_entropy", saves="grad:logits logits target weight")


@cross_entropy_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Multiply d loss / d logits, which the forward pass saved, by the cotangent.

    The saved array has no history, so a recorded pass uses the decomposition.
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
    """Put the share of g of each loss at the place of its label."""
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
        The label of the rows that are ignored.
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
        raise ArgumentError(
            f"cross_entropy: `label_smoothing`={label_smoothing}; it must be between 0 "
            "and 1."
        )
    if weight is not None and check_tensor("cross_entropy", weight).requires_grad:
        raise GradError(
            "cross_entropy: `weight` requires a gradient, which this loss does not "
            "compute; pass weight.detach()."
        )
    half = logits.dtype is dtypes.bfloat16
    run = cross_entropy_of_halves if half else cross_entropy_op
    skipped = as_int("cross_entropy", "ignore_index", ignore_index)
    try:
        out: Tensor = run(logits, labels, weight, reduction, skipped, label_smoothing)
    except KernelIndexError as error:
        raise _not_a_class(error, logits, skipped) from None
    if reduction != "none":
        return out
    return view.detach_from_base(view.reshape_op(out, target.shape))


def _remedy(
    given: tuple[int, ...], labels: tuple[int, ...], expected: tuple[int, ...]
) -> str:
    """Return the hint for labels whose shape does not match the logits."""
    if labels == given:
        return (
            "Expected floating point type for target with class probabilities, got "
            "integers: convert them with target.float(); of one-hot rows take "
            "target.argmax(1)."
        )
    if given and labels and labels[0] != given[0]:
        return (
            f"Expected input batch_size ({given[0]}) to match target batch_size "
            f"({labels[0]}): give labels of shape {expected}."
        )
    if len(labels) == len(expected) + 1 and labels == (*expected, 1):
        return "Drop the last dimension: target.squeeze(-1)."
    if len(labels) > len(given):
        return "The logits come first, then the labels."
    return f"Give labels of shape {expected}."


def _not_a_class(
    error: KernelIndexError, logits: Tensor, skipped: int
) -> KernelIndexError:
    """Return an error about an invalid label that names the valid labels."""
    return with_range(error, logits.shape[1], also=or_skipped(skipped))


def class_rows(where: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Reshape logits to [N, C] and labels to [N]."""
    ndim = check_tensor(where, input)._array.ndim
    check_tensor(where, target)
    shape, class_dim = input._array.shape, 0 if ndim == 1 else 1
    expected = shape[:class_dim] + shape[class_dim + 1 :]
    if ndim == 0 or target._array.shape != expected:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape} and `target` has shape "
            f"{target.shape}; for an input [N, C, ...] the labels must be [N, ...]. "
            f"{_remedy(input.shape, target.shape, expected)}"
        )
    if host_dtype(target._array.dtype) not in _LABELS:
        raise DTypeError(
            f"{where}: `target` has dtype {target.dtype.name}; labels must be int64 or "
            "uint8: expected target dtype to be Long or Byte. Convert it with .long()."
        )
    if ndim == 1:
        input = view.reshape_op(input, (1, *input.shape))
    elif ndim > 2:
        order = (0, *range(2, ndim), 1)
        input = view.permute_op(input, order)
        input = view.reshape_op(input, (-1, input.shape[-1]))
    labels = cast(target, dtypes.int64)
    return input, labels if labels.ndim == 1 else view.reshape_op(labels, (-1,))


def _cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the loss like `cross_entropy`; use float32 for bfloat16 with labels."""
    reduction = _loss_reduction.chosen("cross_entropy", size_average, reduce, reduction)
    check_tensor("cross_entropy", input)
    check_tensor("cross_entropy", target)
    if not _has_labels(input, target):
        return _of_distributions(
            input, target, weight, ignore_index, reduction, label_smoothing
        )
    return _of_labels(input, target, weight, ignore_index, reduction, label_smoothing)


def _has_labels(input: Tensor, target: Tensor) -> bool:
    """Return whether a target holds labels and not probabilities."""
    return target._array.dtype.kind not in FLOAT_KINDS or target.shape != input.shape


def _precision(input: Any, target: Any, *_: Any, **__: Any) -> str:
    """Return the policy under `autocast`; with labels, logits of bfloat16 stay.

    Their loss is computed and returned in float32 in either case.
    """
    are_tensors = isinstance(input, Tensor) and isinstance(target, Tensor)
    half = are_tensors and input.dtype is dtypes.bfloat16
    return "as given" if half and _has_labels(input, target) else "float32"


@autocasts(_precision, inside=_cross_entropy)
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
    """Return -sum_c q_c log(softmax(input)_c), where q is the target distribution.

    Parameters
    ----------
    input
        The logits, of shape (N, C), (C,) or (N, C, d1, ...).
    target
        Class labels from 0 to C - 1, of int64 or uint8 and of shape (N,), () or
        (N, d1, ...); or the distribution q itself, with the shape and dtype of `input`.
    weight
        A factor for each class, a tensor of shape (C,).
    size_average, reduce
        Deprecated: use `reduction`.
    ignore_index
        The label of rows that do not count.
    reduction
        ``"mean"``, which is weighted if `weight` is given, ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target distribution that is spread evenly over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside the range from 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.cross_entropy(ac.tensor([[2.0, 0.0]]), ac.tensor([0]))
    tensor(0.1269)
    """
    return _cross_entropy(
        input,
        target,
        weight,
        size_average,
        ignore_index,
        reduce,
        reduction,
        label_smoothing,
    )


def _of_distributions(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    """Return the cross-entropy for targets that are probabilities."""
    where = "cross_entropy"
    check_float(where, input)
    check_reduction(where, reduction)
    label_smoothing = number(where, "label_smoothing", label_smoothing)
    if as_int(where, "ignore_index", ignore_index) >= 0:
        raise ArgumentError(
            f"{where}: `ignore_index`={ignore_index} was given with a `target` of "
            "probabilities, which has no labels to ignore; do not give it."
        )
    if input.ndim == 0:
        raise ShapeError(
            f"{where}: `input` is 0-d; it needs a dimension for the classes."
        )
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
        raise GradError(
            f"{where}: `weight` requires a gradient, which this loss does not compute; "
            "pass weight.detach()."
        )
    if weight.shape != (classes,):
        raise ShapeError(
            f"{where}: weight tensor should be defined either for all {classes} "
            f"classes or no classes: `weight` has shape {weight.shape}, not "
            f"({classes},)."
        )


@autocasts("float32")
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
    """Return -weight[target] * input[target], the negative log-likelihood.

    Parameters
    ----------
    input
        The log-probabilities, of shape (N, C), (C,) or (N, C, d1, ...).
    target
        Class labels from 0 to C - 1, of int64 or uint8 and of shape (N,), () or
        (N, d1, ...).
    weight
        A factor for each class, a tensor of shape (C,).
    size_average, reduce
        Deprecated: use `reduction`.
    ignore_index
        The label of rows that are left out.
    reduction
        ``"mean"``, which is weighted if `weight` is given, ``"sum"`` or ``"none"``.

    Raises
    ------
    KernelDataError
        If a label is outside the range from 0 to C - 1.

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
        try:
            loss = nll_op(rows, labels, reduction, skipped)
        except KernelIndexError as error:
            raise _not_a_class(error, rows, skipped) from None
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
