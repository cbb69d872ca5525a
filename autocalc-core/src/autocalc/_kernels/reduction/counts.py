# SPDX-License-Identifier: MIT
"""Counts of integers, and counts of numbers in the bins of a histogram."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, indices, uniform
from autocalc._kernels.declare import standalone
from autocalc._kernels.rules import BOOL, INT64, expect_ndim, float_dtype, one_of
from autocalc._kernels.samples import FEW_TAILS, LARGE, Make
from autocalc._kernels.spec import Array, Meta, Sample

bincount = standalone(
    "bincount",
    "counts ends ; a ; size:int",
    "The number of elements that are equal to each of 0 ... size - 1, and the smallest "
    "and the largest element, or (0, -1) if there are none. Other elements are not "
    "counted.",
    dtypes=(INT64,),
)


@bincount.rule
def _(a: Meta, size: int) -> tuple[Meta, Meta]:
    expect_ndim("bincount", "a", a, 1)
    one_of("bincount", "a", a, (INT64,))
    return Meta((size,), INT64), Meta((2,), INT64)


@bincount.reference
def _(xp: Any, a: Array, size: int) -> tuple[Array, Array]:
    counted = a[(a >= 0) & (a < size)]
    ends = [a.min(), a.max()] if a.size else [0, -1]
    counts = xp.bincount(counted, minlength=size)
    return counts.astype(xp.int64), xp.asarray(ends, dtype=xp.int64)


bincount.budget(EXACT)


@bincount.samples
def _(make: Make) -> Iterator[Sample]:
    for n in (0, *FEW_TAILS):
        a = make.indices((n,), 9)
        yield Sample(f"n={n}", (a,), (9,))
        yield Sample(f"n={n}, of all sizes", (a - 3,), (4,))
    yield Sample("nothing counted", (make.indices((5,), 9),), (0,))
    extremes = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 1])
    yield Sample("the largest integers", (extremes,), (3,))
    yield Sample("large", (make.indices((LARGE,), 70),), (70,))


bincount.work(flops_per_element=1)
bincount.benchmarks(Case("1 Mi of 256", indices(256, 1 << 20), (256,)))


histc = standalone(
    "histc",
    "counts rising ; a ; bins:int low:float high:float",
    "The number of elements in each of the equal bins of [low, high]; high is in the "
    "last bin. If both are 0, the bins span the elements of a. Equal ends are moved "
    "apart by 1 each. `rising` says whether the ends are finite and increasing; if "
    "not, counts are 0.",
)


@histc.rule
def _(a: Meta, bins: int, low: float, high: float) -> tuple[Meta, Meta]:
    expect_ndim("histc", "a", a, 1)
    return Meta((bins,), float_dtype("histc", a)), Meta((), BOOL)


@histc.reference
def _(xp: Any, a: Array, bins: int, low: float, high: float) -> tuple[Array, Array]:
    x = a.astype(xp.float64)
    low, high = (float(a.dtype.type(end)) for end in (low, high))
    if low == high == 0 and x.size:
        low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (low < high and high - low < np.inf):
        return xp.zeros((bins,), a.dtype), xp.asarray(False)
    inside = x[(x >= low) & (x <= high)]
    place = ((inside - low) * (bins / (high - low))).astype(xp.int64)
    counts = xp.bincount(xp.clip(place, 0, bins - 1), minlength=bins)
    return counts.astype(a.dtype), xp.asarray(True)


histc.budget(EXACT)


@histc.samples
def _(make: Make) -> Iterator[Sample]:
    for n in (0, *FEW_TAILS):
        a = make.normal(n)
        yield Sample(f"n={n}", (a,), (7, -1.0, 1.5))
        yield Sample(f"n={n}, all", (a,), (5, 0.0, 0.0))
    edges = np.array([0, 1, 2, 3, 4, 4.5, -0.5], make.dtype)
    yield Sample("edges", (edges,), (4, 0.0, 4.0))
    yield Sample("equal", (np.ones(3, make.dtype),), (3, 0.0, 0.0))
    yield Sample("falling ends", (edges,), (4, 2.0, 1.0))
    yield Sample("special", (make.special(),), (4, 0.0, 0.0))
    yield Sample("special, between", (make.special(),), (4, -2.0, 2.0))
    yield Sample("large", (make.normal(LARGE),), (100, -2.0, 2.0))


histc.work(flops_per_element=5)
histc.benchmarks(Case("1 Mi", uniform(1 << 20), (100, 0.0, 1.0)))
