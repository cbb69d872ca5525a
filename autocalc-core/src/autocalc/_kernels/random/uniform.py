# SPDX-License-Identifier: MIT
"""Uniform random numbers.

If an element needs one word, element `i` uses word ``offset + i`` of the Philox stream.
If an element needs several words, they are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits
from autocalc._kernels.cases import Case, counter
from autocalc._kernels.declare import composite
from autocalc._kernels.random._streams import distribution, seeded
from autocalc._kernels.random.random_bits import unit
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Sample, Shape

uniform = composite(
    "uniform",
    "out ; seed offset ; low:float high:float",
    "low + (high - low) * u, where u is the random bits times 2**-24 (2**-53 for "
    "float64).",
    defaults=(0.0, 1.0),
    free=True,
)


@uniform.rule
def _(
    seed: Meta, offset: Meta, low: float, high: float, *, shape: Shape, dtype: DType
) -> Meta:
    seeded("uniform", seed, offset)
    return Meta(shape, float_dtype("uniform", Meta(shape, dtype)))


@uniform.formula(lead="random_bits")
def _(
    xp: Any,
    seed: Array,
    offset: Array,
    low: float,
    high: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    return (low + (high - low) * unit(xp, seed, offset, shape, dtype)).astype(dtype)


@uniform.budget("eps * (|low| + |high|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    low, high = attributes
    return [eps * (abs(low) + abs(high))]


@uniform.samples
def _(make: Make) -> Iterator[Sample]:
    yield from distribution(((0.0, 1.0), (-2.0, 3.0), (5.0, 5.0)))


uniform.work(flops_per_element=12)
uniform.benchmarks(Case("1 Mi", counter, (0.0, 1.0), shape=(1 << 20,)))
