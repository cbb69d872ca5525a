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


@elementwise(
    "a * (min(max(a + 3, 0), 6) / 6).", lead="minimum", budget=ulps(4), flops=5
)
def hardswish(xp: Any, a: Array) -> Array:
    return narrow(hardswish_of(xp, wide(xp, a)), a)


def hardswish_backward_samples(make: Make) -> Iterator[Sample]:
    for sample in binary(make):
        yield Sample(sample.label, sample.inputs)
    edges = np.array([-4, -3, -2.75, -1.5, 0, 2.75, 3, 4, np.nan], make.dtype)
    g, a = np.meshgrid(make.normal(5), edges)
    yield Sample("edges", (g, a))


def hardswish_backward_formula(xp: Any, g: Array, a: Array) -> Array:
    w, g_ = wide(xp, a), wide(xp, g)
    passed = xp.where(w >= 3, g_, g_ * ((w + 1.5) / 3))
    return narrow(xp.where(w <= -3, xp.zeros((), g_.dtype), passed), g)


hardswish_backward = elementwise(
    "0 where a <= -3, g where a >= 3, else g * (a + 1.5) / 3.",
    "g a",
    name="hardswish_backward",
    lead="where",
    budget=ulps(4),
    flops=4,
    samples=hardswish_backward_samples,
)(hardswish_backward_formula)
