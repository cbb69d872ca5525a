# SPDX-License-Identifier: MIT
"""Hardtanh and its backward kernel; ReLU6 is a special case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations._formulas import activation_backward
from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.samples import Make, unary
from autocalc._kernels.spec import Array, Sample

#: Limits that are exact in both dtypes: those of ReLU6, those of hardtanh, and two
#: equal ones.
_LIMITS = ((0.0, 6.0), (-1.0, 1.0), (0.5, 0.5))


def hardtanh_samples(make: Make) -> Iterator[Sample]:
    for i, limits in enumerate(_LIMITS):
        for sample in unary(make):
            if i == 0 or "special" in sample.label:
                yield Sample(f"{sample.label}, {limits}", sample.inputs, limits)


@elementwise(
    "min(max(a, low), high), low <= high; NaN stays.",
    "a ; low:float high:float",
    lead="maximum",
    budget=EXACT,
    flops=2,
    samples=hardtanh_samples,
    benchmarks=mebi(floats, attributes=(0.0, 6.0)),
)
def hardtanh(xp: Any, a: Array, low: float, high: float) -> Array:
    limits = xp.asarray(low, a.dtype), xp.asarray(high, a.dtype)
    return xp.minimum(xp.maximum(a, limits[0]), limits[1])


def hardtanh_backward_samples(make: Make) -> Iterator[Sample]:
    for low, high in _LIMITS:
        for sample in activation_backward(make, low, high):
            yield Sample(f"{sample.label}, {low}", sample.inputs, (low, high))


def hardtanh_backward_formula(
    xp: Any, g: Array, y: Array, low: float, high: float
) -> Array:
    limited = (y <= xp.asarray(low, y.dtype)) | (y >= xp.asarray(high, y.dtype))
    return xp.where(limited, xp.zeros((), g.dtype), g)


hardtanh_backward = elementwise(
    "0 where y <= low or y >= high, else g (y = hardtanh(a)).",
    "g y ; low:float high:float",
    name="hardtanh_backward",
    lead="where",
    budget=EXACT,
    flops=2,
    samples=hardtanh_backward_samples,
    benchmarks=mebi(floats, floats, attributes=(0.0, 6.0)),
)(hardtanh_backward_formula)
