# SPDX-License-Identifier: MIT
"""The standard deviation over axes: the root of the variance, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow
from autocalc._kernels.reduction._axes import Axes
from autocalc._kernels.reduction.moments import (
    MOMENTS,
    moments_rule,
    moments_samples,
    off_moments,
    scaled_var,
)
from autocalc._kernels.spec import Array, Attributes

std = composite(
    "std",
    MOMENTS,
    "The square root of `var`, also if `var` overflows or underflows, and the mean.",
    defaults=(False, 1.0),
)

std.rule(moments_rule("std"))


@std.formula(lead="sum")
def _(
    xp: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    out, mean, unit = scaled_var(xp, a, axes, keepdim, correction)
    return narrow(xp.sqrt(out) / unit, a), narrow(mean, a)


@std.budget("(log2(n) + 4) * eps * std, and what `var` is off by where that is 0")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    out, center = expected
    mean = out if center is None else center
    steps, ratio, lost = off_moments(inputs, attributes, mean, eps)
    size = magnitude(out)
    # sqrt(v + d) - sqrt(v) is at most d / (2 sqrt(v)), and at most sqrt(d).
    far = np.fmin(
        steps * ratio * lost / (2 * size) * lost, np.sqrt(steps * ratio) * lost
    )
    return [steps / 2 * size + far + 2 * ulp(out, eps), lost]


std.samples(moments_samples)

std.work(flops_per_element=4)
std.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False, 1.0)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False, 1.0)),
)
