# SPDX-License-Identifier: MIT
"""Batch normalisation by running statistics, with shortcut and activation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, absent, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.norm._activated import (
    ATTRIBUTES,
    SAMPLED,
    activated,
    most_change,
    steps_of,
)
from autocalc._kernels.norm._channels import EPS, batches, channels, statistics
from autocalc._kernels.norm.batch_norm_activation import before, before_budget
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

batch_norm_running = composite(
    "batch_norm_running",
    f"out ; x mean var weight? bias? other? ; eps:float {ATTRIBUTES}",
    "For each channel of x [N, C, ...]: f((x - mean) / sqrt(var + eps) * weight + bias "
    "+ other) with the given mean and var, where f is the activation.",
    key="shapes",
    layout="like",
    alias=(("out", "x"), ("out", "other")),
)


@batch_norm_running.rule
def _(
    x: Meta,
    mean: Meta,
    var: Meta,
    weight: Meta | None,
    bias: Meta | None,
    other: Meta | None,
    *attributes: Any,
) -> Meta:
    name = "batch_norm_running"
    channels(name, x, mean=mean, var=var, weight=weight, bias=bias)
    expect_shape(name, "other", other, x.shape)
    return Meta(x.shape, float_dtype(name, x, mean, var, weight, bias, other))


@batch_norm_running.formula(lead="mul")
def _(
    xp: Any,
    x: Array,
    mean: Array,
    var: Array,
    weight: Array | None,
    bias: Array | None,
    other: Array | None,
    eps: float,
    activation: str,
    alpha: float,
    beta: float,
) -> Array:
    z = before(xp, x, other, mean, var, weight, bias, eps)
    return narrow(activated(xp, z, activation, alpha, beta), x)


@batch_norm_running.budget(
    "6 eps * |x - mean| * |weight| * rstd, 2 eps of each other part of the sum, times "
    "the activation's steepest slope, and its own 4 ULP"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, mean, var, weight, bias, other = inputs
    eps_, activation, alpha, _ = attributes
    parts = (x, other, mean, var, weight, bias, eps_)
    z = before(np, np.asarray(x, np.float64), *parts[1:])
    off = most_change(activation) * before_budget(z, parts, eps)
    return [off + eps * steps_of(activation, z, alpha) + ulp(expected[0], eps)]


@batch_norm_running.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        for j, f in enumerate(SAMPLED):
            other = make.normal(*x.shape) if (i + j) % 2 else None
            inputs = (x, *statistics(make, x), weight, bias, other)
            yield Sample(f"{label}, {f[0]}", inputs, (EPS, *f))


batch_norm_running.work(flops_per_element=6)
batch_norm_running.benchmarks(
    Case(
        "32x64x56x56",
        join(
            floats(32, 64, 56, 56), floats(64), positive(64), *[floats(64)] * 2, absent
        ),
        (1e-5, "relu", 0.0, 0.0),
    )
)
