# SPDX-License-Identifier: MIT
"""Cross-entropy of logits and labels, with its gradient in the same pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, smallest, ulp
from autocalc._kernels.cases import Case, absent, floats, indices, join
from autocalc._kernels.declare import composite
from autocalc._kernels.indexing._places import checked
from autocalc._kernels.indexing.ranges import or_skipped
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._axes import below_max
from autocalc._kernels.reduction.softmax import log_softmax_reference
from autocalc._kernels.rules import (
    INT64,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

cross_entropy = composite(
    "cross_entropy",
    "loss grad? ; logits target weight? ; reduction:none,mean,sum "
    "ignore_index:int label_smoothing:float",
    "-sum(q * log_softmax(logits)) for each row, q = weight * ((1 - s) * onehot + s / "
    "C); grad is its derivative with respect to logits.",
    flushes=("grad",),
    defaults=("mean", -100, 0.0),
)


@cross_entropy.rule
def _(
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


Pair = tuple[Array, "Array | None"]


@cross_entropy.reference
def _(
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
        checked(xp, "cross_entropy", "target", label, classes, or_skipped(ignore_index))
    is_label = xp.arange(classes) == label[:, None]
    w = xp.ones((classes,), x.dtype) if weight is None else wide(xp, weight)
    q = w * ((1 - label_smoothing) * is_label + label_smoothing / max(classes, 1))
    q = xp.where(kept[:, None], q, 0)
    log_p = log_softmax_reference(xp, x, 1)
    loss = -xp.sum(xp.where(q == 0, 0, q * log_p), axis=1)
    grad = None
    if want & 0b10:
        grad = xp.exp(log_p) * xp.sum(q, axis=1, keepdims=True) - q
    n = 1
    if reduction != "none":
        loss = xp.sum(loss)
    if reduction == "mean":
        n = xp.sum(xp.where(kept[:, None] & is_label, w, 0))
        loss = loss / n
    if grad is not None:
        grad = narrow(xp.where(kept[:, None], grad / n, 0), logits)
    return narrow(loss, logits), grad


def _row_weights(k: Any, logits: Array, labels: Array, weight: Array | None) -> Array:
    """Return the weight of each row's label, ``[N, 1]``; check the labels as well."""
    (rows, _), (_, classes) = k.shape(labels), k.shape(logits)
    if weight is None:
        weight = k.add(k.zeros((1,), k.dtype(logits)), k.constant(1, logits))
    lines = k.expand(k.reshape(weight, (1, k.shape(weight)[0])), (rows, classes))
    return k.gather(lines, labels, 1)


@cross_entropy.decomposition(lead="exp")
def _(
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
    log_p = k.log_softmax(logits, 1)
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


@cross_entropy.budget(
    "2 eps * sum(q * (log2(C) + 8 + max(x) - x)) by row; so the gradient, whose "
    "exponentials are 0 below the normal numbers"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    logits, target, weight = inputs
    reduction, ignore_index, smoothing = attributes
    rows, classes = logits.shape
    w = np.ones(classes) if weight is None else magnitude(weight)
    kept = target != ignore_index
    is_label = np.arange(classes) == np.where(kept, target, 0)[:, None]
    q = w * ((1 - smoothing) * is_label + smoothing / max(classes, 1)) * kept[:, None]
    below = below_max(logits, 1)
    steps = 2 * eps * (log2(classes) + 8 + below)
    mass = q.sum(axis=1, keepdims=True)
    loss = (q * steps).sum(axis=1)
    grad = steps * (np.exp(-below) * mass + q) + smallest(eps) * mass
    last = 0.0 if expected[1] is None else ulp(expected[1], eps)
    if reduction == "none":
        return [loss + ulp(expected[0], eps), grad + last]
    n = 1.0
    if reduction == "mean":
        n = float((w * is_label * kept[:, None]).sum()) or 1.0
    total = loss.sum() / n + eps * log2(rows) * magnitude(expected[0])
    return [total, grad / n + last]


def _loss(
    make: Make,
    label: str,
    rows: int,
    classes: int,
    weighted: bool = False,
    options: tuple[str, int, float] = ("mean", -100, 0.0),
    *,
    ignored: int = 0,
    scale: float = 3.0,
) -> Sample:
    target = make.indices((rows,), classes)
    target[rows - ignored :] = options[1]
    weight = make.positive(classes) if weighted else None
    inputs = (make.normal(rows, classes, scale=scale), target, weight)
    return Sample(label, inputs, options, want=0b10)


@cross_entropy.samples
def _(make: Make) -> Iterator[Sample]:
    for classes in TAILS[1:]:
        yield _loss(make, f"{classes} classes", 5, classes)
    for rows in (0, 1, 17, 64):
        yield _loss(make, f"{rows} rows", rows, 10)
    for reduction in ("none", "mean", "sum"):
        for weighted in (False, True):
            for smoothing in (0.0, 0.1):
                label = f"{reduction}, weighted {weighted}, smoothing {smoothing}"
                yield _loss(
                    make, label, 9, 21, weighted, (reduction, 3, smoothing), ignored=2
                )
    yield _loss(make, "large", 1500, 201, True)
    yield _loss(make, "all ignored, mean", 3, 5, ignored=3)
    yield _loss(make, "all ignored, none", 3, 5, options=("none", -100, 0.0), ignored=3)
    yield _loss(make, "far apart", 7, 33, scale=300.0)
    for weighted, smoothing in ((False, 0.0), (True, 0.0), (True, 0.1)):
        options = ("sum" if weighted else "mean", -100, smoothing)
        sample = _loss(make, f"falling, {options}", 5, 129, weighted, options)
        logits = make.falling(5, 129)
        yield sample._replace(inputs=(logits, *sample.inputs[1:]))
    for value in (-np.inf, np.inf, np.nan):
        sample = _loss(make, f"one {value}", 4, 9, options=("none", -100, 0.0))
        logits, target, weight = sample.inputs
        target[1] = 0
        logits[1, 4] = value
        yield sample._replace(inputs=(logits, target, weight))


cross_entropy.work(flops_per_element=16)


@cross_entropy.benchmarks
def _() -> Iterator[Case]:
    for rows, classes in ((256, 10), (512, 50257)):
        operands = join(floats(rows, classes), indices(classes, rows), absent)
        label = f"{rows}x{classes}, gradient"
        yield Case(label, operands, ("mean", -100, 0.0), 0b11)
