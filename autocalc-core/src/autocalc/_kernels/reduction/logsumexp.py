# SPDX-License-Identifier: MIT
"""The logarithm of a sum of exponentials, without overflow."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._axes import AXES, Axes, count
from autocalc._kernels.reduction.moments import logsumexp_rule
from autocalc._kernels.reduction.sum import reduction_samples
from autocalc._kernels.spec import Array, Attributes

logsumexp = composite(
    "logsumexp",
    AXES,
    "log(sum(exp(a))) over `axes`, without overflow.",
    defaults=(False,),
)


logsumexp.rule(logsumexp_rule)


@logsumexp.formula(lead="sum")
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    x = wide(xp, a)
    top = xp.max(x, axis=axes, keepdims=True, initial=-xp.inf)
    top = xp.where(xp.isfinite(top), top, 0.0)
    total = xp.sum(xp.exp(x - top), axis=axes, keepdims=keepdim)
    return narrow(xp.log(total) + top.reshape(total.shape), a)


@logsumexp.budget("eps * (2 |out| + |max(a)| + log2(n) + 4)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    axes, keepdim = attributes[:2]
    largest = magnitude(inputs[0]).max(axis=axes, keepdims=keepdim, initial=0)
    steps = log2(count(inputs[0], axes)) + 4
    return [eps * (2 * magnitude(expected[0]) + largest + steps)]


logsumexp.samples(reduction_samples)


logsumexp.work(flops_per_element=12)
logsumexp.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
)
