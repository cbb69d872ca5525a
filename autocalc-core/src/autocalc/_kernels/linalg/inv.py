# SPDX-License-Identifier: MIT
"""Inverses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    SQUARE,
    condition,
    cubic_work,
    double,
    guarded,
    largest,
    singular,
    squares,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

inv = standalone(
    "inv",
    "out ; a",
    "The inverse of each matrix [..., n, n].",
    says_why=True,  # errors name the singular values, or NaN
    complex=True,
)


@inv.rule
def _(a: Meta) -> Meta:
    return Meta(a.shape, squares("inv", a))


@inv.reference
def _(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    return narrow(guarded(xp, "inv", x, lambda: xp.linalg.inv(x), singular(xp)), a)


@inv.budget("8 n eps cond(a) max|out|")
def inverse(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    (out,), a = expected, inputs[0]
    if not np.size(out):
        return [0.0]
    factor = BACKWARD * a.shape[-1] * eps
    return [factor * condition(a) * largest(out) + ulp(out, eps)]


@inv.samples
def square_samples(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        yield Sample(f"{shape}", (well_conditioned(make, shape),))
    yield Sample("large", (well_conditioned(make, (2, 70, 70)),))
    yield Sample("rows that change places", (make.normal(40, 40),))


inv.work(cubic_work(2))
inv.benchmarks(Case("16x64x64", floats(16, 64, 64), ()))
