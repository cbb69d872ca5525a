# SPDX-License-Identifier: MIT
"""The Euclidean norm over axes, without overflow or underflow of squares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow
from autocalc._kernels.reduction._axes import AXES, Axes, count, float_rule
from autocalc._kernels.reduction._scaling import scaled, shaped
from autocalc._kernels.reduction.sum import reduction_samples
from autocalc._kernels.samples import Make, far_rows
from autocalc._kernels.spec import Array, Attributes, Sample

norm = composite(
    "norm",
    AXES,
    "sqrt(sum(a**2)) over `axes`, also if squares overflow or underflow.",
    defaults=(False,),
)

norm.rule(float_rule("norm"))


@norm.formula(lead="sum")
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    w, unit = scaled(xp, a, axes)
    out = xp.sqrt(xp.sum(xp.square(w), axis=axes, keepdims=keepdim))
    return narrow(out / shaped(unit, out.shape), a)


@norm.budget("(log2(n) / 2 + 2) * eps * norm")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    steps = log2(count(inputs[0], attributes[0])) / 2 + 2
    return [steps * eps * magnitude(expected[0]) + ulp(expected[0], eps)]


@norm.samples
def _(make: Make) -> Iterator[Sample]:
    yield from reduction_samples(make)
    for label, x in far_rows(make):
        for axes in ((0,), (1,), (0, 1)):
            yield Sample(f"{label} over {axes}", (x,), (axes, False))


norm.work(flops_per_element=2)
norm.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
)
