# SPDX-License-Identifier: MIT
"""Leaky ReLU and its backward kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import Make, binary, unary
from autocalc._kernels.spec import Array, Sample

#: Slopes that are exact in both dtypes; a negative slope is allowed.
_SLOPES = (0.25, 0.0, -2.0)


def leaky_relu_samples(make: Make) -> Iterator[Sample]:
    for i, slope in enumerate(_SLOPES):
        for sample in unary(make):
            if i == 0 or "special" in sample.label:
                yield Sample(f"{sample.label}, {slope}", sample.inputs, (slope,))


@elementwise(
    "a where a > 0, else slope * a.",
    "a ; slope:float",
    lead="where",
    flops=2,
    samples=leaky_relu_samples,
    benchmarks=mebi(floats, attributes=(0.01,)),
)
def leaky_relu(xp: Any, a: Array, slope: float) -> Array:
    return leaky(xp, a, a, slope)


def leaky(xp: Any, g: Array, a: Array, slope: float) -> Array:
    """Return g where a > 0, else slope * g."""
    below = narrow(wide(xp, g) * xp.asarray(slope, g.dtype), g)
    return xp.where(a > 0, g, below)


def leaky_relu_backward_samples(make: Make) -> Iterator[Sample]:
    for i, slope in enumerate(_SLOPES):
        for sample in binary(make):
            if i == 0 or "special" in sample.label:
                yield Sample(f"{sample.label}, {slope}", sample.inputs, (slope,))


@elementwise(
    "g where a > 0, else slope * g.",
    "g a ; slope:float",
    lead="where",
    flops=2,
    samples=leaky_relu_backward_samples,
    benchmarks=mebi(floats, floats, attributes=(0.01,)),
)
def leaky_relu_backward(xp: Any, g: Array, a: Array, slope: float) -> Array:
    return leaky(xp, g, a, slope)
