# SPDX-License-Identifier: MIT
"""layer_norm of a sum: a residual connection and a norm in one pass.

::

    x = a + b,  out = layer_norm(x)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.norm.layer_norm import (
    layer_norm_budget,
    layer_norm_formula,
    layer_norm_rule,
)
from autocalc._kernels.rules import same_shape
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

Arrays = tuple[Array, Array, Array, Array]

add_layer_norm = composite(
    "add_layer_norm",
    "x out mean? rstd? ; a b weight? bias? ; eps:float",
    "x = a + b; out, mean and rstd are the results of layer_norm of x.",
    alias=(("x", "a"), ("x", "b")),
    defaults=(1e-5,),
)


@add_layer_norm.rule
def _(
    a: Meta, b: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta, Meta]:
    x = Meta(same_shape("add_layer_norm", a=a, b=b), a.dtype)
    return x, *layer_norm_rule(x, weight, bias, eps)


@add_layer_norm.formula(lead="sum")
def _(
    xp: Any,
    a: Array,
    b: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    *,
    want: int = -1,
) -> Arrays:
    x = a + b
    return x, *layer_norm_formula(xp, x, weight, bias, eps)


@add_layer_norm.budget(
    "x: 1 ULP; the others: that of layer_norm, and what a last digit of x changes"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, b, weight, bias = rows.in_float64(inputs)
    x, (_, _, mean, rstd) = a + b, expected
    own = layer_norm_budget.tolerance((x, weight, bias), attributes, expected[1:], eps)
    off = eps * magnitude(x)
    centered, scale = magnitude(x - mean[..., None]), magnitude(rstd)
    relative = np.mean(centered * off, axis=-1) * np.square(scale)
    shift = np.mean(off, axis=-1)
    moved = off + shift[..., None] + centered * relative[..., None]
    moved = scale[..., None] * moved
    moved = moved if weight is None else moved * magnitude(weight)
    more = (moved, shift, relative * scale)
    return [ulp(x, eps), *(t + m for t, m in zip(own, more, strict=True))]


@add_layer_norm.samples
def _(make: Make) -> Iterator[Sample]:
    for i, n in enumerate(TAILS[1:]):
        a, b = make.normal(3, n), make.normal(3, n)
        weight = make.normal(n) if i % 4 < 3 else None
        bias = make.normal(n) if i % 2 else None
        yield Sample(f"rows of {n}", (a, b, weight, bias), (1e-5,), want=0b1100)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        pair = make.normal(*shape), make.normal(*shape)
        yield Sample(f"{shape}", (*pair, None, None), (1e-5,), want=0b1100)
    pair = make.normal(700, 401), make.normal(700, 401)
    yield Sample("large", (*pair, make.normal(401), make.normal(401)), (1e-5,))


add_layer_norm.work(flops_per_element=9)
add_layer_norm.benchmarks(
    Case(
        "4096x768", join(*[floats(4096, 768)] * 2, *[floats(768)] * 2), (1e-5,), 0b1111
    )
)
