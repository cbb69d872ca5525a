# SPDX-License-Identifier: MIT
"""Normal random numbers by the Box-Muller transform.

If an element needs one word, element `i` uses word ``offset + i`` of the Philox stream.
If an element needs several words, they are adjacent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, counter
from autocalc._kernels.declare import composite
from autocalc._kernels.random._streams import BITS, distribution, seeded
from autocalc._kernels.random.random_bits import unit
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Sample, Shape

normal = composite(
    "normal",
    "out ; seed offset ; mean:float std:float",
    "mean + std * sqrt(-2 log(u + 2**-24)) * cos(2 pi v); u, v are the uniform "
    "numbers 2i and 2i + 1 (2**-53 for float64).",
    defaults=(0.0, 1.0),
    free=True,
)


@normal.rule
def _(
    seed: Meta, offset: Meta, mean: float, std: float, *, shape: Shape, dtype: DType
) -> Meta:
    seeded("normal", seed, offset)
    return Meta(shape, float_dtype("normal", Meta(shape, dtype)))


@normal.formula(lead="random_bits")
def _(
    xp: Any,
    seed: Array,
    offset: Array,
    mean: float,
    std: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    u = unit(xp, seed, offset, (math.prod(shape), 2), dtype)
    u1, u2 = u[:, 0] + 2.0 ** -BITS[min(dtype.itemsize, 8)], u[:, 1]
    radius = xp.sqrt(-2 * xp.log(u1))
    drawn = (mean + std * (radius * xp.cos(2 * math.pi * u2))).astype(dtype)
    return drawn.reshape(shape)


@normal.budget("eps * (16 std + |mean|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    mean_, std = attributes
    return [eps * (16 * abs(std) + abs(mean_)) + ulp(expected[0], eps)]


@normal.samples
def _(make: Make) -> Iterator[Sample]:
    yield from distribution(((0.0, 1.0), (-2.0, 3.0), (5.0, 0.0)))


normal.work(flops_per_element=60)
normal.benchmarks(Case("1 Mi", counter, (0.0, 1.0), shape=(1 << 20,)))
