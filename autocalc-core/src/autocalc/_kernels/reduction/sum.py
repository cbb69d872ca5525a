# SPDX-License-Identifier: MIT
"""The sum over axes, computed in float64 and rounded once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import primitive
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.reduction._axes import AXES, Axes, count
from autocalc._kernels.reduction.extrema import nonempty_reduction_samples
from autocalc._kernels.rules import DTYPES, FLOATS, INT64, check_axes, reduced_shape
from autocalc._kernels.samples import LARGE, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

sum_ = primitive(
    "sum",
    AXES,
    "The sum over `axes`; integers and booleans are added in int64.",
    defaults=(False,),
    dtypes=DTYPES,
    complex=True,
)


@sum_.rule
def _(a: Meta, axes: Axes, keepdim: bool) -> Meta:
    check_axes("sum", axes, a)
    dtype = a.dtype if a.dtype in FLOATS else INT64
    return Meta(reduced_shape(a.shape, axes, keepdim), dtype)


@sum_.reference
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    if a.dtype.kind not in "fc":
        return xp.sum(a, axis=axes, keepdims=keepdim, dtype=xp.int64)
    return narrow(xp.sum(wide(xp, a), axis=axes, keepdims=keepdim), a)


@sum_.budget("log2(n) * eps * sum(|a|)")
def sum_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    axes, keepdim = attributes[:2]
    total = magnitude(inputs[0]).sum(axis=axes, keepdims=keepdim)
    return [eps * log2(count(inputs[0], axes)) * total + ulp(expected[0], eps)]


@sum_.samples
def reduction_samples(make: Make) -> Iterator[Sample]:
    yield from nonempty_reduction_samples(make)
    if make.is_float:  # sequential rounding errors have the same sign
        for shape, axis in (((LARGE,), 0), ((20_003, 7), 0)):
            alike = np.full(shape, 0.1, make.dtype)
            yield Sample(f"large, alike {shape}", (alike,), ((axis,), False))
    for shape, axes in (((0,), (0,)), ((0, 3), (0,)), ((3, 0), (1,)), ((0, 0), (0, 1))):
        for keepdim in (False, True):
            label = f"{shape} over {axes}"
            yield Sample(label, (make.normal(*shape),), (axes, keepdim))


sum_.work(flops_per_element=1)
sum_.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
    Case("1024x1024 over all", floats(1024, 1024), ((0, 1), False)),
)
