# SPDX-License-Identifier: MIT
"""Mean and variance over axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
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
from autocalc._kernels.reduction._scaling import deviations, shaped
from autocalc._kernels.reduction.sum import reduction_samples, sum_budget
from autocalc._kernels.rules import check_axes, float_dtype, reduced_shape
from autocalc._kernels.samples import Make, far_rows
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

mean = composite(
    "mean", AXES, "sum(a) / n over `axes`.", defaults=(False,), complex=True
)


mean_rule, logsumexp_rule = float_rule("mean"), float_rule("logsumexp")


mean.rule(mean_rule)


@mean.formula(lead="sum")
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    total = xp.sum(wide(xp, a), axis=axes, keepdims=keepdim)
    return narrow(total / reduced_count(a.shape, axes), a)


@mean.budget("log2(n) * eps * mean(|a|)")
def mean_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    n = max(count(inputs[0], attributes[0]), 1)
    (tolerance,) = sum_budget.tolerance(inputs, attributes, expected, eps)
    return [tolerance / n + ulp(expected[0], eps)]


mean.samples(reduction_samples)


mean.work(flops_per_element=1)
mean.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
)


MOMENTS = "out mean? ; a ; axes:ints keepdim:bool correction:float"

var = composite(
    "var",
    MOMENTS,
    "sum((a - mean)**2) / max(n - correction, 0) over `axes`, and the mean.",
    defaults=(False, 1.0),
)


def moments_rule(name: str) -> Callable[..., tuple[Meta, Meta]]:
    """Return the rule of `var` and `std`."""

    def rule(
        a: Meta, axes: Axes, keepdim: bool, correction: float
    ) -> tuple[Meta, Meta]:
        check_axes(name, axes, a)
        out = Meta(reduced_shape(a.shape, axes, keepdim), float_dtype(name, a))
        return out, out

    return rule


var.rule(moments_rule("var"))


def scaled_var(
    xp: Any, a: Array, axes: Axes, keepdim: bool, correction: float
) -> tuple[Array, Array, Any]:
    """Return the variance of `a` in scaled units, the mean of `a`, and the units."""
    rest, mean, unit = deviations(xp, a, axes)
    squares = xp.sum(xp.square(rest), axis=axes, keepdims=keepdim)
    out = squares / max(reduced_count(a.shape, axes) - correction, 0)
    return out, (mean / unit).reshape(out.shape), shaped(unit, out.shape)


@var.formula(lead="sum")
def _(
    xp: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    out, mean, unit = scaled_var(xp, a, axes, keepdim, correction)
    return narrow(out / unit / unit, a), narrow(mean, a)


def off_moments(
    inputs: Inputs, attributes: Attributes, mean: Any, eps: float
) -> tuple[float, float, Any]:
    """Return 2 (log2(n) + 4) eps, n / (n - correction), and the error of the means."""
    n = count(inputs[0], attributes[0])
    (lost,) = mean_budget.tolerance(inputs, attributes, [mean], eps)
    return 2 * (log2(n) + 4) * eps, n / max(n - attributes[2], 1), lost


@var.budget("2 (log2(n) + 4) * eps * (var + the square of what the mean loses)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    out, center = expected
    mean = out if center is None else center
    steps, ratio, lost = off_moments(inputs, attributes, mean, eps)
    return [steps * (magnitude(out) + ratio * lost**2) + ulp(out, eps), lost]


@var.samples
def moments_samples(make: Make) -> Iterator[Sample]:
    for i, sample in enumerate(reduction_samples(make)):
        attributes = (*sample.attributes, float(i % 2))
        yield Sample(sample.label, sample.inputs, attributes, want=0b10)
    for label, x in far_rows(make):
        for axes in ((0,), (1,), (0, 1)):
            attributes = (axes, False, 1.0)
            yield Sample(f"{label} over {axes}", (x,), attributes, want=0b10)


var.work(flops_per_element=4)
var.benchmarks(Case("1024x1024 over 1", floats(1024, 1024), ((1,), False, 1.0)))
