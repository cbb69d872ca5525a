# SPDX-License-Identifier: MIT
"""Negative log-probabilities of labels, with their slopes in the same pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import composite
from autocalc._kernels.indexing._places import checked
from autocalc._kernels.indexing.ranges import or_skipped
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    INT64,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

nll_loss = composite(
    "nll_loss",
    "loss slopes? ; log_p target ; reduction:none,mean,sum ignore_index:int",
    "The mean of -log_p[i, target[i]] over the labels that count. slopes [N] are its "
    "derivatives with respect to these elements, 0 for labels that do not count.",
    defaults=("mean", -100),
)


@nll_loss.rule
def _(
    log_p: Meta, target: Meta, reduction: str, ignore_index: int
) -> tuple[Meta, Meta]:
    name = "nll_loss"
    dtype = float_dtype(name, log_p)
    expect_ndim(name, "log_p", log_p, 2)
    one_of(name, "target", target, (INT64,))
    rows = log_p.shape[0]
    expect_shape(name, "target", target, (rows,))
    return Meta((rows,) if reduction == "none" else (), dtype), Meta((rows,), dtype)


Pair = tuple[Array, "Array | None"]


@nll_loss.reference
def _(
    xp: Any,
    log_p: Array,
    target: Array,
    reduction: str,
    ignore_index: int,
    *,
    want: int = -1,
) -> Pair:
    x = wide(xp, log_p)
    rows, classes = x.shape
    kept = target != ignore_index
    label = xp.where(kept, target, 0)
    if classes or xp.any(kept):
        checked(xp, "nll_loss", "target", label, classes, or_skipped(ignore_index))
    loss = xp.zeros((rows,), x.dtype)
    if classes:
        loss = xp.where(kept, -xp.take_along_axis(x, label[:, None], 1)[:, 0], 0)
    n = xp.sum(kept) if reduction == "mean" else 1
    if reduction != "none":
        loss = xp.sum(loss) / n
    slopes = xp.where(kept, -1 / n, 0) * xp.ones((rows,), x.dtype)
    slopes = narrow(slopes, log_p) if want & 0b10 else None
    return narrow(xp.asarray(loss), log_p), slopes


@nll_loss.decomposition(lead="gather")
def _(
    k: Any,
    log_p: Array,
    target: Array,
    reduction: str,
    ignore_index: int,
    *,
    want: int = -1,
) -> Pair:
    zero, sign = k.constant(0, log_p), k.constant(-1, log_p)
    (rows,) = k.shape(target)
    ignored = k.compare(target, k.constant(ignore_index, target), "eq")
    labels = k.where(ignored, k.constant(0, target), target)
    picked = k.reshape(k.gather(log_p, k.reshape(labels, (rows, 1)), 1), (rows,))
    counts = None
    if reduction == "mean":
        picked = k.where(ignored, zero, picked)
        counts = k.sum(k.where(ignored, zero, sign), (0,), False)
        loss = k.div(k.sum(picked, (0,), False), counts)
    else:
        loss = k.where(ignored, zero, k.neg(picked))
        loss = loss if reduction == "none" else k.sum(loss, (0,), False)
    if not want & 0b10:
        return loss, None
    slope = sign if counts is None else k.div(k.constant(1, log_p), counts)
    return loss, k.where(ignored, zero, slope)


@nll_loss.budget("(log2(N) + 2) eps * sum(|x|) of what is added, over their number")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    log_p, target = inputs
    reduction, ignore_index = attributes
    kept = target != ignore_index
    slopes = 0.0 if expected[1] is None else ulp(expected[1], eps)
    if reduction == "none":
        return [ulp(expected[0], eps), slopes]
    rows = np.arange(len(target))[kept]
    total = magnitude(log_p)[rows, target[kept]].sum()
    n = max(len(rows), 1) if reduction == "mean" else 1
    steps = (log2(len(target)) + 2) * eps
    return [steps * total / n + ulp(expected[0], eps), slopes]


def _loss(
    make: Make,
    label: str,
    rows: int,
    classes: int,
    options: tuple[str, int] = ("mean", -100),
    *,
    ignored: int = 0,
) -> Sample:
    target = make.indices((rows,), classes)
    target[rows - ignored :] = options[1]
    inputs = (-make.positive(rows, classes), target)
    return Sample(label, inputs, options, want=0b10)


@nll_loss.samples
def _(make: Make) -> Iterator[Sample]:
    for rows in TAILS:
        yield _loss(make, f"{rows} rows", rows, 10)
    for reduction in ("none", "mean", "sum"):
        for index in (-100, 3):
            options = (reduction, index)
            label = f"{reduction}, {index} ignored"
            yield _loss(make, label, 9, 21, options, ignored=2)
    yield _loss(make, "large", 1500, 201)
    yield _loss(make, "all ignored, mean", 3, 5, ignored=3)
    yield _loss(make, "all ignored, sum", 3, 5, ("sum", -100), ignored=3)
    for value in (-np.inf, np.nan):
        for row, label in ((3, "whose label does not count"), (1, "counted")):
            sample = _loss(make, f"{value} {label}", 4, 9, ("sum", -100), ignored=1)
            sample.inputs[0][row] = value
            yield sample


nll_loss.work(flops_per_element=1)
nll_loss.benchmarks(
    Case("512x50257", join(floats(512, 50257), indices(50257, 512)), ("mean", -100))
)
