# SPDX-License-Identifier: MIT
"""Hardswish and its backward kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import ulps
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import Make, binary
from autocalc._kernels.spec import Array, Sample


def hardswish_of(xp: Any, w: Array) -> Array:
    """Return hardswish in the precision of `w`."""
    return w * (xp.minimum(xp.maximum(w + 3, 0), 6) / 6)


def hardswish_slope(xp: Any, w: Array) -> Array:
    """Return the derivative of hardswish in the precision of `w`."""
    within = xp.where(w >= 3, 1, (w + 1.5) / 3)
    return xp.where(w <= -3, 0, within)


@elementwise(
    "hardswish",
    "a",
    "a * (min(max(a + 3, 0), 6) / 6).",
    kind="composite",
    budget=ulps(4),
    flops=5,
)
def hardswish(xp: Any, a: Array) -> Array:
    return narrow(hardswish_of(xp, wide(xp, a)), a)


@hardswish.decomposition(lead="minimum")
def hardswish_in_primitives(k: Any, a: Array) -> Array:
    raised = k.maximum(k.add(a, k.constant(3, a)), k.constant(0, a))
    limited = k.minimum(raised, k.constant(6, a))
    return k.mul(a, k.div(limited, k.constant(6, a)))


def hardswish_backward_samples(make: Make) -> Iterator[Sample]:
    for sample in binary(make):
        yield Sample(sample.label, sample.inputs)
    edges = np.array([-4, -3, -2.75, -1.5, 0, 2.75, 3, 4, np.nan], make.dtype)
    g, a = np.meshgrid(make.normal(5), edges)
    yield Sample("edges", (g, a))


@elementwise(
    "hardswish_backward",
    "g a",
    "0 where a <= -3, g where a >= 3, else g * (a + 1.5) / 3.",
    kind="composite",
    budget=ulps(4),
    flops=4,
    samples=hardswish_backward_samples,
)
def hardswish_backward(xp: Any, g: Array, a: Array) -> Array:
    w, g_ = wide(xp, a), wide(xp, g)
    passed = xp.where(w >= 3, g_, g_ * hardswish_slope(xp, w))
    return narrow(xp.where(w <= -3, xp.zeros((), g_.dtype), passed), g)


@hardswish_backward.decomposition(lead="where")
def hardswish_backward_in_primitives(k: Any, g: Array, a: Array) -> Array:
    slope = k.div(k.add(a, k.constant(1.5, a)), k.constant(3, a))
    passed = k.where(k.compare(a, k.constant(3, a), "ge"), g, k.mul(g, slope))
    low = k.compare(a, k.constant(-3, a), "le")
    return k.where(low, k.constant(0, g), passed)
