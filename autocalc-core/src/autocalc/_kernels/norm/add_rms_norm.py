# SPDX-License-Identifier: MIT
"""rms_norm of a sum: a residual connection and a norm in one pass.

::

    x = a + b,  out = rms_norm(x)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.norm.rms_norm import (
    rms_norm_budget,
    rms_norm_reference,
    rms_norm_rule,
)
from autocalc._kernels.rules import same_shape
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

add_rms_norm = composite(
    "add_rms_norm",
    "x out rstd? ; a b weight? ; eps:float",
    "x = a + b; out and rstd are the results of rms_norm of x.",
    alias=(("x", "a"), ("x", "b")),
)


@add_rms_norm.rule
def _(a: Meta, b: Meta, weight: Meta | None, eps: float) -> tuple[Meta, Meta, Meta]:
    x = Meta(same_shape("add_rms_norm", a=a, b=b), a.dtype)
    return x, *rms_norm_rule(x, weight, eps)


@add_rms_norm.reference
def _(
    xp: Any, a: Array, b: Array, weight: Array | None, eps: float, *, want: int = -1
) -> tuple[Array, Array, Array]:
    x = xp.add(a, b)
    return x, *rms_norm_reference(xp, x, weight, eps)


@add_rms_norm.decomposition(lead="rms_norm")
def _(
    k: Any, a: Array, b: Array, weight: Array | None, eps: float, *, want: int = -1
) -> tuple[Array, Array, Array | None]:
    x = k.add(a, b)
    return x, *k.rms_norm(x, weight, eps, want=want >> 1 & 0b11)


@add_rms_norm.budget("x: 1 ULP; the others: that of rms_norm and 2 eps of each")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, b, weight = rows.in_float64(inputs)
    x, others = a + b, expected[1:]
    own = rms_norm_budget.tolerance((x, weight), attributes, others, eps)
    more = (None if e is None else 2 * eps * magnitude(e) for e in others)
    both = zip(own, more, strict=True)
    return [ulp(x, eps), *(None if t is None else t + m for t, m in both)]


@add_rms_norm.samples
def _(make: Make) -> Iterator[Sample]:
    for i, n in enumerate(TAILS[1:]):
        a, b = make.normal(3, n), make.normal(3, n)
        weight = make.normal(n) if i % 2 else None
        yield Sample(f"rows of {n}", (a, b, weight), (1e-6,), want=0b100)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        pair = make.normal(*shape), make.normal(*shape)
        yield Sample(f"{shape}", (*pair, None), (1e-6,), want=0b100)
    pair = make.normal(700, 401), make.normal(700, 401)
    yield Sample("large", (*pair, make.normal(401)), (1e-6,))


add_rms_norm.work(flops_per_element=5)
add_rms_norm.benchmarks(
    Case("4096x768", join(*[floats(4096, 768)] * 2, floats(768)), (1e-5,), 0b111)
)
