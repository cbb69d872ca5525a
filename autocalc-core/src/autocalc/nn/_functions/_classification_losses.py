# SPDX-License-Identifier: MIT
"""Losses of classes: of logits or probabilities against labels or distributions."""

from __future__ import annotations

from autocalc._ops import activations, elementwise, functional
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import check_tensor
from autocalc._ops.functional.losses import class_rows
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, number
from autocalc.errors import ArgumentError, GradError, ShapeError
from autocalc.nn._checks import check_float, check_reduction
from autocalc.nn._functions._reduce import reduced, same_shape


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return -sum_c q_c log(softmax(input)_c), q the target's distribution.

    Parameters
    ----------
    input
        Logits, (N, C), (C,), or (N, C, d1, ...).
    target
        Labels 0 to C - 1, integers, (N,), (), or (N, d1, ...); or q itself, of the
        shape and dtype of `input`.
    weight
        A factor for each class, (C,).
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
    """
    check_tensor("cross_entropy", input)
    if (
        check_tensor("cross_entropy", target).is_floating_point()
        and target.shape == input.shape
    ):
        return _of_distributions(
            input, target, weight, ignore_index, reduction, label_smoothing
        )
    return functional.cross_entropy(
        input, target, weight, ignore_index, reduction, label_smoothing
    )


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
        q = q * functional.reshape(weight, (classes, *[1] * (input.ndim - 1 - axis)))
    log_p = functional.log_softmax(input, axis)
    loss = elementwise.neg(functional.sum(q * log_p, axis))
    return reduced(loss, reduction)


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


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Return -weight[target] * input[target] of log-probabilities.

    Parameters
    ----------
    input
        Log-probabilities, (N, C), (C,), or (N, C, d1, ...).
    target
        Labels 0 to C - 1, integers, (N,), (), or (N, d1, ...).
    weight
        A factor for each class, (C,).
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
    check_float(where, input)
    check_reduction(where, reduction)
    rows, labels = class_rows(where, input, target)
    ignored = elementwise.eq(labels, ignore_index)
    labels = functional.where(ignored, 0, labels)
    picked = shapes.gather(rows, functional.reshape(labels, (-1, 1)), 1)
    loss = elementwise.neg(functional.reshape(picked, (-1,)))
    shares: Tensor | None = None
    if weight is not None:
        _check_weight(where, weight, rows.shape[1])
        shares = shapes.index_select(weight, labels, 0)
        loss = elementwise.mul(loss, shares)
    loss = functional.where(ignored, 0.0, loss)
    if reduction == "none":
        return functional.reshape(loss, target.shape)
    total = functional.sum(loss)
    if reduction == "sum":
        return total
    one = 1.0 if shares is None else shares
    counted = functional.where(ignored, 0.0, one)
    return elementwise.div(total, functional.sum(counted).to(total.dtype))


# ---- of two classes ------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
) -> Tensor:
    """Return -(t log(p) + (1 - t) log(1 - p)), p the input; logarithms stop at -100.

    Parameters
    ----------
    input
        Probabilities from 0 to 1, of any shape.
    target
        t, of the same shape, often 0 and 1.
    weight
        A factor for each element, broadcast.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If an element of `input` is outside 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> p, t = ac.tensor([0.5, 0.0]), ac.tensor([1.0, 0.0])
    >>> ac.nn.functional.binary_cross_entropy(p, t, reduction="sum").item()
    0.6931471824645996
    """
    where = "binary_cross_entropy"
    check_float(where, input, target)
    check_reduction(where, reduction)
    same_shape(where, input, target)
    _check_probabilities(where, input)
    not_t = elementwise.sub(1.0, target)
    both = elementwise.add(
        elementwise.mul(target, _limited_log(input)),
        elementwise.mul(not_t, _limited_log(elementwise.sub(1.0, input))),
    )
    loss = elementwise.neg(both)
    return reduced(loss if weight is None else loss * weight, reduction)


def _check_probabilities(where: str, p: Tensor) -> None:
    if p.numel() == 0:
        return
    low, high = functional.amin(p.detach()).item(), functional.amax(p.detach()).item()
    if low < 0 or high > 1:
        message = (
            f"{where}: `input` has elements from {low} to {high}; probabilities lie "
            f"from 0 to 1. For logits use binary_cross_entropy_with_logits."
        )
        raise ArgumentError(message)


def _limited_log(p: Tensor) -> Tensor:
    """Return max(log(p), -100), whose slope is 1 / p and 1e12 at most.

    Below 1e-12 it is continued as a line, so that the gradient of a probability of 0
    leads away from it, where that of a clamp would be 0.
    """
    still = p.detach()
    value = elementwise.maximum(elementwise.log(still), -100.0)
    line = elementwise.add(value, elementwise.mul(elementwise.sub(p, still), 1e12))
    small = elementwise.lt(p, 1e-12)
    inside = elementwise.log(functional.where(small, 1.0, p))
    return functional.where(small, line, inside)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return -(w t log(s) + (1 - t) log(1 - s)), s = sigmoid(input), w = pos_weight.

    Computed as (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)), which neither overflows
    nor cancels.

    Parameters
    ----------
    input
        x, of any shape.
    target
        t, of the same shape, often 0 and 1.
    weight
        A factor for each element, broadcast.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    pos_weight
        A factor for the positive class, broadcast.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, t = ac.tensor([0.0, 1000.0]), ac.tensor([1.0, 1.0])
    >>> ac.nn.functional.binary_cross_entropy_with_logits(x, t, reduction="none")
    tensor([0.6931, 0.    ])
    """
    where = "binary_cross_entropy_with_logits"
    check_float(where, input, target)
    check_reduction(where, reduction)
    same_shape(where, input, target)
    rest = activations.softplus(elementwise.neg(input), 1.0, 1e30)
    if pos_weight is not None:
        factor = elementwise.mul(elementwise.sub(pos_weight, 1.0), target)
        rest = elementwise.mul(rest, elementwise.add(factor, 1.0))
    loss = elementwise.mul(elementwise.sub(1.0, target), input) + rest
    return reduced(loss if weight is None else loss * weight, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return t (log(t) - x): the divergence of exp(x) from the distribution t.

    Parameters
    ----------
    input
        x, log-probabilities, of any shape.
    target
        t, probabilities; with `log_target` their logarithms.
    reduction
        ``"batchmean"``, the divergence itself; ``"mean"`` over all elements,
        ``"sum"`` or ``"none"``.
    log_target
        As above.
    """
    where = "kl_div"
    check_float(where, input, target)
    if reduction != "batchmean":
        check_reduction(where, reduction)
    if log_target:
        loss = elementwise.exp(target) * elementwise.sub(target, input)
    else:
        empty = elementwise.eq(target, 0.0)  # 0 log 0 is 0
        log_t = elementwise.log(functional.where(empty, 1.0, target))
        loss = target * log_t - target * input
    if reduction != "batchmean":
        return reduced(loss, reduction)
    total = functional.sum(loss)
    return total / input.shape[0] if input.ndim else total
