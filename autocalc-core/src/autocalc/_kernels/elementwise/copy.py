# SPDX-License-Identifier: MIT
"""Copy and fill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, number, transposed
from autocalc._kernels.declare import elementwise, primitive
from autocalc._kernels.rules import DTYPES, expect_shape, same_dtype
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, DType, Meta, Sample, Shape


def _copy_rule(a: Meta) -> Meta:
    return a


@elementwise(
    "The same values; the output may have any strides and dtype.",
    dtypes=DTYPES,
    budget=EXACT,
    flops=0,
    rule=_copy_rule,
    layout="contiguous",
    benchmarks=lambda: [Case("1024x1024 transposed", transposed(1024))],
    complex=True,
)
def copy(xp: Any, a: Array) -> Array:
    return a


fill = primitive(
    "fill",
    "out ; value",
    "Every element is value.",
    free=True,
    dtypes=DTYPES,
    complex=True,
)


@fill.rule
def _(value: Meta, *, shape: Shape, dtype: DType) -> Meta:
    expect_shape("fill", "value", value, ())
    same_dtype("fill", value, Meta(shape, dtype))
    return Meta(shape, dtype)


@fill.reference
def _(xp: Any, value: Array, *, shape: Shape, dtype: DType) -> Array:
    return xp.full(shape, value, dtype)


fill.budget(EXACT)


@fill.samples
def _(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(),), shape=(n,))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.normal(),), shape=shape)
    for value in make.special():
        yield Sample(f"value={value}", (np.array(value),), shape=(5,))
    yield Sample("large", (make.normal(),), shape=(LARGE,))


fill.work(flops_per_element=0)
fill.benchmarks(Case("1 Mi", number(0.5), shape=(1 << 20,)))
