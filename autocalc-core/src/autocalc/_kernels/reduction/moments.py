# SPDX-License-Identifier: MIT
"""Mean and variance over axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autocalc._kernels.budgets import Inputs, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._axes import (
    AXES,
    Axes,
    count,
    float_rule,
    reduced_count,
)
from autocalc._kernels.reduction.sum import reduction_samples, sum_budget
from autocalc._kernels.rules import check_axes, float_dtype, reduced_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

mean = composite("mean", AXES, "sum(a) / n over `axes`.", defaults=(False,))


mean_rule, logsumexp_rule = float_rule("mean"), float_rule("logsumexp")


mean.rule(mean_rule)


@mean.reference
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    total = xp.sum(wide(xp, a), axis=axes, keepdims=keepdim)
    return narrow(total / reduced_count(a.shape, axes), a)


@mean.decomposition(lead="sum")
def mean_in_primitives(k: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    n = k.constant(reduced_count(k.shape(a), axes), a)
    return k.div(k.sum(a, axes, keepdim), n)


@mean.budget("log2(n) * eps * mean(|a|)")
def mean_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    n = max(count(inputs[0], attributes[0]), 1)
    (tolerance,) = sum_budget.tolerance(inputs, attributes, expected, eps)
    return [tolerance / n + ulp(expected[0], eps)]


mean.samples(reduction_samples)


mean.work(flops_per_element=1)
mean.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
)


var = composite(
    "var",
    "out mean? ; a ; axes:ints keepdim:bool correction:float",
    "sum((a - mean)**2) / max(n - correction, 0) over `axes`, and the mean.",
    defaults=(False, 1.0),
)


@var.rule
def _(a: Meta, axes: Axes, keepdim: bool, correction: float) -> tuple[Meta, Meta]:
    check_axes("var", axes, a)
    out = Meta(reduced_shape(a.shape, axes, keepdim), float_dtype("var", a))
    return out, out


@var.reference
def _(
    xp: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    x, n = wide(xp, a), reduced_count(a.shape, axes)
    center = xp.sum(x, axis=axes, keepdims=True) / n
    squares = xp.sum(xp.square(x - center), axis=axes, keepdims=keepdim)
    out = squares / max(n - correction, 0)
    return narrow(out, a), narrow(center.reshape(out.shape), a)


@var.decomposition(lead="sum")
def _(
    k: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    n = reduced_count(k.shape(a), axes)
    center = mean_in_primitives(k, a, axes, True)
    distance = k.add(a, k.neg(center))
    squares = k.sum(k.mul(distance, distance), axes, keepdim)
    out = k.div(squares, k.constant(max(n - correction, 0), a))
    return out, k.reshape(center, k.shape(out))


@var.budget("2 (log2(n) + 4) * eps * var, and the square of the mean's error")
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    n = count(inputs[0], attributes[0])
    out, center = expected
    expected_mean = out if center is None else center
    (shift,) = mean_budget.tolerance(inputs, attributes, [expected_mean], eps)
    ratio = n / max(n - attributes[2], 1)
    spread = 2 * (log2(n) + 4) * eps * magnitude(out)
    return [spread + ratio * shift**2 + ulp(out, eps), shift]


@var.samples
def _(make: Make) -> Iterator[Sample]:
    for i, sample in enumerate(reduction_samples(make)):
        attributes = (*sample.attributes, float(i % 2))
        yield Sample(sample.label, sample.inputs, attributes, want=0b10)


var.work(flops_per_element=4)
var.benchmarks(Case("1024x1024 over 1", floats(1024, 1024), ((1,), False, 1.0)))
