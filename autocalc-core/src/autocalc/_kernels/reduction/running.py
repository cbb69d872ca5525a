# SPDX-License-Identifier: MIT
"""Running maxima and minima, and running sums of exponentials, along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction.scan import along, with_a_choice
from autocalc._kernels.rules import DTYPES, INT64, check_axis, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

cumargmax = standalone(
    "cumargmax",
    "out ; a ; axis:int smallest:bool",
    "The index of the largest of the first 1, 2, ... n elements; of equal elements, "
    "the last.",
    defaults=(False,),
    dtypes=DTYPES,
)


@cumargmax.rule
def _(a: Meta, axis: int, smallest: bool) -> Meta:
    check_axis("cumargmax", axis, a)
    return Meta(a.shape, INT64)


@cumargmax.reference
def _(xp: Any, a: Array, axis: int, smallest: bool) -> Array:
    so_far = (xp.minimum if smallest else xp.maximum).accumulate(a, axis)
    found = a == so_far
    if a.dtype.kind == "f":
        found |= xp.isnan(a)  # NaN is both largest and smallest
    places = xp.arange(a.shape[axis])
    if a.ndim > 1:
        places = places.reshape(-1, *(1,) * (a.ndim - axis - 1))
    return xp.maximum.accumulate(found * places, axis)


cumargmax.budget(EXACT)


@cumargmax.samples
def _(make: Make) -> Iterator[Sample]:
    yield from with_a_choice(make)
    for choice in (False, True):
        few = make.mask(3, 33).astype(make.dtype)
        yield Sample(f"equals, {choice}", (few,), (1, choice))


cumargmax.work(flops_per_element=2)
cumargmax.benchmarks(Case("1024x1024 along 1", floats(1024, 1024), (1, False)))


logcumsumexp = standalone(
    "logcumsumexp",
    "out ; a ; axis:int",
    "log(exp(a_1) + ... + exp(a_i)) for each i along `axis`, without overflow.",
)


@logcumsumexp.rule
def _(a: Meta, axis: int) -> Meta:
    check_axis("logcumsumexp", axis, a)
    return Meta(a.shape, float_dtype("logcumsumexp", a))


@logcumsumexp.reference
def _(xp: Any, a: Array, axis: int) -> Array:
    x = wide(xp, a)
    if a.dtype == xp.float64:
        x = x.astype(xp.longdouble)
    return narrow(xp.logaddexp.accumulate(x, axis), a)


@logcumsumexp.budget("(log2(n) + 32) * eps * (max |out| so far + 2)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (axis,) = attributes
    largest = np.maximum.accumulate(magnitude(expected[0]), axis)
    steps = log2(inputs[0].shape[axis]) + 32
    return [steps * eps * (largest + 2) + ulp(expected[0], eps)]


logcumsumexp.samples(along)
logcumsumexp.work(flops_per_element=20)
logcumsumexp.benchmarks(Case("1024x1024 along 1", floats(1024, 1024), (1,)))
