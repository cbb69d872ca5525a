# SPDX-License-Identifier: MIT
"""Running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, positive
from autocalc._kernels.declare import standalone
from autocalc._kernels.reduction._axes import SHAPES, result, summed
from autocalc._kernels.rules import DTYPES, FLOATS, INT64, check_axis
from autocalc._kernels.samples import FEW_TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

cumsum = standalone(
    "cumsum",
    "out ; a ; axis:int reverse:bool",
    "The sums of the first 1, 2, ... n elements along `axis`, or of the last 1, 2, ... "
    "n.",
    defaults=(False,),
    dtypes=DTYPES,
    complex=True,
)


def _scan_rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axis: int, *attributes: Any) -> Meta:
        check_axis(name, axis, a)
        return Meta(a.shape, a.dtype if a.dtype in FLOATS else INT64)

    return rule


_cumsum_rule, _cumprod_rule = _scan_rule("cumsum"), _scan_rule("cumprod")


cumsum.rule(_cumsum_rule)


@cumsum.reference
def _(xp: Any, a: Array, axis: int, reverse: bool) -> Array:
    x = summed(xp, a)
    if reverse:
        return result(xp.flip(xp.cumsum(xp.flip(x, axis), axis=axis), axis), a)
    return result(xp.cumsum(x, axis=axis), a)


@cumsum.budget("(log2(n) + 16) * eps * sum(|a|) of the terms so far")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (a,), (axis, reverse) = inputs, attributes
    total = magnitude(a)
    total = np.flip(total, axis) if reverse else total
    total = np.cumsum(total, axis=axis)
    total = np.flip(total, axis) if reverse else total
    return [(log2(a.shape[axis]) + 16) * eps * total + ulp(expected[0], eps)]


@cumsum.samples
def with_a_choice(make: Make) -> Iterator[Sample]:
    for sample in along(make):
        for choice in (False, True):
            label = f"{sample.label}, {choice}"
            yield Sample(label, sample.inputs, (*sample.attributes, choice))


cumsum.work(flops_per_element=1)
cumsum.benchmarks(Case("1024x1024 along 1", floats(1024, 1024), (1, False)))


cumprod = standalone(
    "cumprod",
    "out ; a ; axis:int",
    "The products of the first 1, 2, ... n elements along `axis`.",
    dtypes=DTYPES,
    complex=True,
)


cumprod.rule(_cumprod_rule)


@cumprod.reference
def _(xp: Any, a: Array, axis: int) -> Array:
    return result(xp.cumprod(summed(xp, a), axis=axis), a)


@cumprod.budget(
    "min(n, 4096) * eps * |out|; what products below the normal numbers lose"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (a,), (axis,) = inputs, attributes
    numbers = np.finfo(np.float32 if eps > 1e-10 else np.float64)
    factors = np.moveaxis(magnitude(a), axis, 0)
    below = np.moveaxis(magnitude(expected[0]), axis, 0) < 2 * float(numbers.tiny)
    lost = np.zeros(factors.shape)
    for i, factor in enumerate(factors):
        before = lost[i - 1] if i else 0.0
        lost[i] = before * factor + below[i] * float(numbers.smallest_subnormal)
    steps = min(a.shape[axis], 4096)
    limit = steps * eps * magnitude(expected[0]) + ulp(expected[0], eps)
    return [limit + np.moveaxis(lost, 0, axis)]


@cumprod.samples
def along(make: Make) -> Iterator[Sample]:
    for n in (1, *FEW_TAILS):
        yield Sample(f"n={n}", (make.normal(n),), (0,))
    for shape, axis in SHAPES:
        yield Sample(f"{shape} along {axis}", (make.normal(*shape),), (axis,))
    yield Sample("large", (make.normal(70, 401),), (1,))
    if make.is_float:
        rows = np.tile(make.special(), (3, 1))
        yield Sample("special", (rows,), (0,))
        yield Sample("one special", (rows[:1].T + make.normal(3),), (1,))


cumprod.work(flops_per_element=1)
cumprod.benchmarks(Case("1024x1024 along 1", positive(1024, 1024), (1,)))
