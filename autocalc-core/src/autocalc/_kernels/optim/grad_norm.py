# SPDX-License-Identifier: MIT
"""Operations on all gradients in one call: their norm, and scaling by a factor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.budgets import ROUNDING, Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, join, number, parameters, parameters_label
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import parameter_group
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._scaling import unit_of
from autocalc._kernels.rules import FLOAT32, FLOAT64, expect_shape, float_dtype
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

grad_norm = composite(
    "grad_norm",
    "norm ; grads*",
    "The square root of the sum of squares over all elements of the list. float32 is "
    "added in float64; float64 is scaled by a power of two if squares could overflow "
    "or underflow.",
)


Metas = tuple[Meta, ...]


@grad_norm.rule
def _(grads: Metas) -> Meta:
    if not grads:
        raise ShapeError(
            "grad_norm: `grads` is an empty list, so the dtype of the result is "
            "unknown. Give at least one array."
        )
    return Meta((), float_dtype("grad_norm", *grads))


Arrays = Sequence[Array]


@grad_norm.reference
def _(xp: Any, grads: Arrays) -> Array:
    unit = unit_of(xp, grads)
    parts = [wide(xp, g) if unit == 1.0 else g * unit for g in grads]
    squares = [xp.sum(xp.square(w)) for w in parts]
    return narrow(xp.sqrt(sum(squares)) / unit, grads[0])


@grad_norm.decomposition(lead="sum")
def _(k: Any, grads: Arrays) -> Array:
    """Square and add in float64, because squares in float32 overflow from 2e19 on."""
    total = None
    for g in grads:
        w = k.reshape(k.cast(g, FLOAT64), (math.prod(k.shape(g)),))
        square = k.sum(k.mul(w, w), (0,), False)
        total = square if total is None else k.add(total, square)
    return k.cast(k.pow(total, k.constant(0.5, total)), k.dtype(grads[0]))


@grad_norm.budget("1 ULP ((log2(n) + 2) / 2 * eps * norm in float64)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (grads,) = inputs
    n = sum(int(np.size(g)) for g in grads)
    own = ulp(expected[0], eps)
    if eps > 1e-10:
        return [own]
    return [(log2(n) + 2) / 2 * eps * magnitude(expected[0]) + own]


@grad_norm.samples
def _(make: Make) -> Iterator[Sample]:
    yield Sample("a group", (parameter_group(make),))
    for n in TAILS:
        yield Sample(f"n={n}", ((make.normal(n),),))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", ((make.normal(*shape), make.normal(3)),))
    yield Sample("many", (tuple(make.normal(5) for _ in range(100)),))
    if make.dtype == FLOAT32:  # their squares overflow or underflow in float32
        for scale in (1e25, 1e-25):
            yield Sample(f"scale={scale}", ((make.normal(40, scale=scale),),))
    for value in (np.inf, -np.inf, np.nan, -0.0):
        a = make.normal(37)
        a[18] = value
        yield Sample(f"one {value}", ((make.normal(5), a),))
    yield Sample("all zero", ((np.zeros(9, make.dtype),),))
    yield Sample("large", ((make.normal(301, 401), make.normal(LARGE)),))


grad_norm.work(flops_per_element=2)
grad_norm.benchmarks(Case(parameters_label(), parameters(1)))


scale = composite(
    "scale",
    "arrays* ; factor",
    "arrays *= factor, in place, for every array of the list.",
    layout="like",
    writes=("arrays",),
)


@scale.rule
def _(arrays: Metas, factor: Meta) -> tuple[Metas]:
    float_dtype("scale", factor, *arrays)
    expect_shape("scale", "factor", factor, ())
    return (arrays,)


@scale.formula(lead="mul")
def _(xp: Any, arrays: Arrays, factor: Array) -> list[Array]:
    return [a * factor for a in arrays]


@scale.budget("correctly rounded")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [[ROUNDING * ulp(a, eps) for a in expected[0]]]


@scale.samples
def _(make: Make) -> Iterator[Sample]:
    for factor in (0.3, 0.0, -1.0, 1.0):
        yield Sample(
            f"a group by {factor}", (parameter_group(make), make.scalar(factor))
        )
    for n in TAILS:
        yield Sample(f"n={n}", ((make.normal(n),), make.normal()))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", ((make.normal(*shape),), make.normal()))
    for value in (0.5, np.inf, np.nan):
        yield Sample(f"special by {value}", ((make.special(),), make.scalar(value)))
    group = (make.normal(301, 401), make.normal(LARGE))
    yield Sample("large", (group, make.scalar(0.3)))
    yield Sample("nothing", ((), make.scalar(0.3)))


scale.work(flops_per_element=1)
scale.benchmarks(Case(parameters_label(), join(parameters(1), number(0.5))))
