# SPDX-License-Identifier: MIT
"""Softmax, log-softmax and their backward kernels along one axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, smallest, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite, primitive
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._axes import below_max, shifted
from autocalc._kernels.rules import check_axis, float_dtype, same_shape
from autocalc._kernels.samples import FEW_TAILS, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

softmax = primitive(
    "softmax",
    "out ; a ; axis:int",
    "exp(a) / sum(exp(a)) along `axis`, without overflow.",
    flushes=("out",),
    alias=(("out", "a"),),
)


def _rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axis: int) -> Meta:
        check_axis(name, axis, a)
        return Meta(a.shape, float_dtype(name, a))

    return rule


softmax.rule(_rule("softmax"))


@softmax.reference
def _(xp: Any, a: Array, axis: int) -> Array:
    e = xp.exp(shifted(xp, a, axis))
    return narrow(e / xp.sum(e, axis=axis, keepdims=True), a)


@softmax.budget("eps * out * (log2(n) + 6 + max(a) - a)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, out = inputs[0], expected[0]
    steps = log2(a.shape[attributes[0]]) + 6 + below_max(a, attributes[0])
    return [eps * (magnitude(out) * steps) + ulp(out, eps)]


@softmax.samples
def softmax_samples(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n, scale=3.0),), (0,))
    for n in FEW_TAILS:
        yield Sample(f"rows of {n}", (make.normal(5, n, scale=3.0),), (1,))
        yield Sample(f"columns of {n}", (make.normal(n, 5, scale=3.0),), (0,))
    for shape, axis in (((2, 3, 5), 1), ((0, 3), 1), ((3, 0), 1), ((0, 3), 0)):
        yield Sample(f"{shape} along {axis}", (make.normal(*shape),), (axis,))
    yield Sample("large, rows", (make.normal(700, 401),), (1,))
    yield Sample("large, columns", (make.normal(700, 401),), (0,))
    yield Sample("far apart", (make.normal(4, 33, scale=300.0),), (1,))
    yield Sample("far from 0", (make.normal(4, 33) + 1e4,), (1,))
    yield Sample("falling", (make.falling(3, 129),), (1,))
    yield Sample("falling, columns", (make.falling(3, 129).T.copy(),), (0,))
    for value in (-np.inf, np.inf, np.nan):
        a = make.normal(3, 21)
        a[1, 4] = value
        yield Sample(f"one {value}", (a,), (1,))
        a = make.normal(3, 21)
        a[1] = value
        yield Sample(f"a row of {value}", (a,), (1,))


softmax.work(flops_per_element=14)
softmax.benchmarks(
    *[
        Case(f"{n}x{d}", floats(n, d), (1,))
        for n, d in ((4096, 128), (512, 4096), (64, 50257))
    ]
)


log_softmax = composite(
    "log_softmax",
    "out ; a ; axis:int",
    "a - log(sum(exp(a))) along `axis`, without overflow.",
    alias=(("out", "a"),),
)


log_softmax.rule(_rule("log_softmax"))


@log_softmax.formula(lead="exp")
def log_softmax_reference(xp: Any, a: Array, axis: int) -> Array:
    x = shifted(xp, a, axis)
    return narrow(x - xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=True)), a)


@log_softmax.budget("eps * (log2(n) + 4 + max(a) - a + |out|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, out = inputs[0], expected[0]
    steps = log2(a.shape[attributes[0]]) + 4 + below_max(a, attributes[0])
    return [eps * (steps + magnitude(out))]


log_softmax.samples(softmax_samples)


log_softmax.work(flops_per_element=14)
log_softmax.benchmarks(Case("512x4096", floats(512, 4096), (1,)))


softmax_backward = composite(
    "softmax_backward",
    "out ; g y ; axis:int",
    "y * (g - sum(g * y)) along `axis` (y = softmax(a)).",
    flushes=("out",),
    alias=(("out", "g"),),
)


def _backward_rule(name: str) -> Callable[..., Meta]:
    def rule(g: Meta, y: Meta, axis: int) -> Meta:
        check_axis(name, axis, y)
        return Meta(same_shape(name, g=g, y=y), float_dtype(name, g, y))

    return rule


softmax_backward.rule(_backward_rule("softmax_backward"))


@softmax_backward.formula(lead="sum")
def _(xp: Any, g: Array, y: Array, axis: int) -> Array:
    g_, y_ = wide(xp, g), wide(xp, y)
    return narrow(y_ * (g_ - xp.sum(g_ * y_, axis=axis, keepdims=True)), g)


@softmax_backward.budget("2 eps * |y| * (|g| + (log2(n) + 2) * sum(|g * y|))")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, y = map(magnitude, inputs)
    (axis,) = attributes
    total = (log2(g.shape[axis]) + 2) * (g * y).sum(axis=axis, keepdims=True)
    return [2 * eps * (y * (g + total)) + ulp(expected[0], eps)]


def _backward(
    make: Make, sample: Sample, forward: Callable[[Array, Array], Array]
) -> Sample:
    """Sample a backward kernel with the forward kernel's result as `y`."""
    (a,), (axis,) = sample.inputs, sample.attributes
    with np.errstate(all="ignore"):
        a = a.astype(np.float64)
        e = np.exp(a - a.max(axis=axis, keepdims=True, initial=-np.inf))
        y = forward(e, e.sum(axis=axis, keepdims=True)).astype(make.dtype)
    return Sample(sample.label, (make.normal(*a.shape), y), (axis,))


@softmax_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in softmax_samples(make):
        yield _backward(make, sample, lambda e, total: e / total)


softmax_backward.work(flops_per_element=4)
softmax_backward.benchmarks(Case("512x4096", join(*[floats(512, 4096)] * 2), (1,)))


log_softmax_backward = composite(
    "log_softmax_backward",
    "out ; g y ; axis:int",
    "g - exp(y) * sum(g) along `axis` (y = log_softmax(a)).",
    flushes=("out",),
    alias=(("out", "g"),),
)


log_softmax_backward.rule(_backward_rule("log_softmax_backward"))


@log_softmax_backward.formula(lead="sum")
def _(xp: Any, g: Array, y: Array, axis: int) -> Array:
    g_, y_ = wide(xp, g), wide(xp, y)
    return narrow(g_ - xp.exp(y_) * xp.sum(g_, axis=axis, keepdims=True), g)


@log_softmax_backward.budget(
    "2 eps * (|g| + exp(y) * (log2(n) + 3 + |y|) * sum(|g|)); exp(y) is 0 below the "
    "normal numbers"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, (axis,) = magnitude(inputs[0]), attributes
    y = np.minimum(inputs[1], 0.0)
    steps = log2(g.shape[axis]) + 3 + magnitude(y)
    total = g.sum(axis=axis, keepdims=True)
    return [2 * eps * (g + np.exp(y) * steps * total) + smallest(eps) * total]


@log_softmax_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in softmax_samples(make):
        yield _backward(make, sample, lambda e, total: np.log(e / total))
        if "falling" in sample.label:  # also a gradient like that of a loss with labels
            g, y = _backward(make, sample, lambda e, total: np.log(e / total)).inputs
            g[np.abs(g) < np.abs(g).max()] = 0
            yield Sample(f"{sample.label}, one g", (g, y), sample.attributes)


log_softmax_backward.work(flops_per_element=4)
log_softmax_backward.benchmarks(Case("512x4096", join(*[floats(512, 4096)] * 2), (1,)))
