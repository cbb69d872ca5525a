# SPDX-License-Identifier: MIT
"""Cross-entropy of logits against labels, with its gradient in the same pass."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples_training as samples
from autocalc._kernels._legacy.indexing import checked
from autocalc._kernels._legacy.softmax import log_softmax, log_softmax_in_primitives
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    INT64,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element

Pair = tuple[Array, "Array | None"]


def _cross_entropy_rule(
    logits: Meta,
    target: Meta,
    weight: Meta | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Meta, Meta]:
    name = "cross_entropy"
    dtype = float_dtype(name, logits, weight)
    expect_ndim(name, "logits", logits, 2)
    one_of(name, "target", target, (INT64,))
    rows, classes = logits.shape
    expect_shape(name, "target", target, (rows,))
    expect_shape(name, "weight", weight, (classes,))
    return Meta((rows,) if reduction == "none" else (), dtype), logits


# With labels t, class weights w (1 where absent), smoothing s and C classes:
#
#     q[i, c] = w[c] * ((1 - s) * (c == t[i]) + s / C)      0 in ignored rows
#     loss[i] = -sum_c q[i, c] * log_softmax(x)[i, c]
#     dloss[i]/dx[i, c] = softmax(x)[i, c] * sum_c q[i, c] - q[i, c]
#
# "mean" divides by the sum of w[t[i]] over the rows that are not ignored.  The gradient
# of an ignored row is 0 even if all are, where the mean itself is 0 / 0.


def cross_entropy(
    xp: Any,
    logits: Array,
    target: Array,
    weight: Array | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    *,
    want: int = -1,
) -> Pair:
    x = wide(xp, logits)
    classes = x.shape[1]
    kept = target != ignore_index
    label = xp.where(kept, target, 0)
    if classes or xp.any(kept):
        checked(xp, "cross_entropy", "target", label, classes)
    is_label = xp.arange(classes) == label[:, None]
    w = xp.ones((classes,), x.dtype) if weight is None else wide(xp, weight)
    q = w * ((1 - label_smoothing) * is_label + label_smoothing / max(classes, 1))
    q = xp.where(kept[:, None], q, 0)
    log_p = log_softmax(xp, x, 1)
    loss = -xp.sum(xp.where(q == 0, 0, q * log_p), axis=1)
    grad = None
    if want & 0b10:
        grad = xp.exp(log_p) * xp.sum(q, axis=1, keepdims=True) - q
    n = 1
    if reduction != "none":
        loss = xp.sum(loss)
    if reduction == "mean":
        n = xp.sum(xp.where(kept[:, None] & is_label, w, 0))
        loss = xp.true_divide(loss, n)
    if grad is not None:
        grad = narrow(xp.where(kept[:, None], grad / n, 0), logits)
    return narrow(loss, logits), grad


def cross_entropy_in_primitives(
    k: Any,
    logits: Array,
    target: Array,
    weight: Array | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    *,
    want: int = -1,
) -> Pair:
    zero, one = k.constant(0, logits), k.constant(1, logits)
    shape = rows, classes = k.shape(logits)
    labels = k.reshape(target, (rows, 1))
    ignored = k.compare(labels, k.constant(ignore_index, labels), "eq")
    labels = k.where(ignored, k.constant(0, labels), labels)
    row_weight = _row_weights(k, logits, labels, weight)
    row_weight = k.where(ignored, zero, row_weight)
    source = k.mul(row_weight, k.constant(1 - label_smoothing, logits))
    q = k.scatter_add(k.zeros(shape, k.dtype(logits)), labels, source, 1)
    if label_smoothing:
        w = one if weight is None else weight
        even = k.mul(w, k.constant(label_smoothing / classes, logits))
        q = k.add(q, k.where(ignored, zero, even))
    log_p = log_softmax_in_primitives(k, logits, 1)
    no_part = k.compare(q, zero, "eq")
    loss = k.neg(k.sum(k.where(no_part, zero, k.mul(q, log_p)), (1,), False))
    grad = None
    if want & 0b10:
        grad = k.add(k.mul(k.exp(log_p), k.sum(q, (1,), True)), k.neg(q))
    if reduction != "none":
        loss = k.sum(loss, (0,), False)
    if reduction == "mean":
        n = k.sum(row_weight, (0, 1), False)
        loss = k.div(loss, n)
        grad = None if grad is None else k.div(grad, n)
    return loss, None if grad is None else k.where(ignored, zero, grad)


def _row_weights(k: Any, logits: Array, labels: Array, weight: Array | None) -> Array:
    """Return the weight of each row's label, ``[N, 1]``; checks the labels as well."""
    (rows, _), (_, classes) = k.shape(labels), k.shape(logits)
    if weight is None:
        weight = k.add(k.zeros((1,), k.dtype(logits)), k.constant(1, logits))
    lines = k.expand(k.reshape(weight, (1, k.shape(weight)[0])), (rows, classes))
    return k.gather(lines, labels, 1)


SPECS = (
    KernelSpec(
        name="cross_entropy",
        kind="composite",
        signature=(
            "loss grad? ; logits target weight? ; reduction:none,mean,sum "
            "ignore_index:int label_smoothing:float"
        ),
        doc=(
            "-sum(q * log_softmax(logits)) by row, q = weight * ((1 - s) * onehot + "
            "s / C); grad is its derivative by logits."
        ),
        rule=_cross_entropy_rule,
        reference=cross_entropy,
        decomposition=cross_entropy_in_primitives,
        lead="exp",
        budget=budgets.cross_entropy,
        samples=samples.cross_entropy,
        work=per_element(_cross_entropy_rule, 16),
        defaults=("mean", -100, 0.0),
    ),
)
