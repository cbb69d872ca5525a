# SPDX-License-Identifier: MIT
"""The largest and the smallest element over axes, and their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite, primitive
from autocalc._kernels.reduction._axes import AXES, Axes, special_reductions
from autocalc._kernels.rules import (
    DTYPES,
    INT64,
    NUMBERS,
    check_axes,
    check_axis,
    check_not_empty,
    one_of,
    reduced_shape,
)
from autocalc._kernels.samples import FEW_TAILS, LARGE, TAILS, Make
from autocalc._kernels.spec import Array, DType, Meta, Sample

max_ = primitive(
    "max",
    AXES,
    "The largest element over `axes`; NaN if an element is NaN.",
    defaults=(False,),
    dtypes=DTYPES,
)


def _extreme_rule(name: str, dtypes: tuple[DType, ...]) -> Callable[..., Meta]:
    def rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
        check_axes(name, axes, a)
        check_not_empty(name, axes, a)
        one_of(name, "a", a, dtypes)
        return Meta(reduced_shape(a.shape, axes, keepdim), a.dtype)

    return rule


_max_rule, _min_rule = _extreme_rule("max", DTYPES), _extreme_rule("min", NUMBERS)


max_.rule(_max_rule)


@max_.reference
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return xp.max(a, axis=axes, keepdims=keepdim)


max_.budget(EXACT)


@max_.samples
def nonempty_reduction_samples(make: Make) -> Iterator[Sample]:
    yield Sample("0-d", (make.normal(),), ((), False))
    for n in TAILS[1:]:
        yield Sample(f"n={n}", (make.normal(n),), ((0,), False))
    for n in FEW_TAILS:
        yield Sample(f"rows of {n}", (make.normal(5, n),), ((1,), False))
        yield Sample(f"columns of {n}", (make.normal(n, 5),), ((0,), True))
    for shape in ((2, 3, 5), (3, 1, 4), (2, 1, 3, 4, 1)):
        every = range(len(shape))
        subsets = [s for r in every for s in combinations(every, r + 1)]
        for i, axes in enumerate(subsets):
            label = f"{shape} over {axes}"
            yield Sample(label, (make.normal(*shape),), (axes, i % 2 == 0))
    yield Sample("(0, 3) over (1,)", (make.normal(0, 3),), ((1,), False))
    yield Sample("large vector", (make.normal(LARGE),), ((0,), False))
    yield Sample("large, rows", (make.normal(700, 401),), ((1,), False))
    yield Sample("large, columns", (make.normal(700, 401),), ((0,), False))
    if make.is_float:
        yield from special_reductions(make)


max_.work(flops_per_element=1)
max_.benchmarks(
    Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)),
    Case("1024x1024 over 0", floats(1024, 1024), ((0,), False)),
)


min_ = composite(
    "min",
    AXES,
    "The smallest element over `axes`; NaN if an element is NaN.",
    defaults=(False,),
    dtypes=NUMBERS,
)


min_.rule(_min_rule)


@min_.reference
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return xp.min(a, axis=axes, keepdims=keepdim)


def _reversed(k: Any, a: Array) -> Array:
    """Reverse the order: -a, or for integers -1 - a, which cannot overflow.

    For unsigned integers, whose arithmetic wraps around, -1 is the largest number.
    """
    negative, dtype = k.neg(a), k.dtype(a)
    if dtype.kind == "f":
        return negative
    ones = -1 if dtype.kind == "i" else int(np.iinfo(dtype).max)
    return k.add(negative, k.constant(ones, a))


@min_.decomposition(lead="max")
def _(k: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return _reversed(k, k.max(_reversed(k, a), axes, keepdim))


min_.budget(EXACT)


min_.samples(nonempty_reduction_samples)


min_.work(flops_per_element=1)
min_.benchmarks(Case("1024x1024 over 1", floats(1024, 1024), ((1,), False)))


argmax = primitive(
    "argmax",
    "out ; a ; axis:int keepdim:bool",
    "The index of the largest element along `axis`. Of equal elements it is the first; "
    "NaN counts as the largest.",
    defaults=(False,),
    dtypes=DTYPES,
)


@argmax.rule
def _(a: Meta, axis: int, keepdim: bool) -> Meta:
    check_axis("argmax", axis, a)
    check_not_empty("argmax", (axis,), a)
    return Meta(reduced_shape(a.shape, (axis,), keepdim), INT64)


@argmax.reference
def _(xp: Any, a: Array, axis: int, keepdim: bool) -> Array:
    return xp.argmax(a, axis=axis, keepdims=keepdim)


argmax.budget(EXACT)


@argmax.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in nonempty_reduction_samples(make):
        axes, keepdim = sample.attributes
        if len(axes) == 1:
            yield Sample(sample.label, sample.inputs, (axes[0], keepdim))
    for n in FEW_TAILS:
        yield Sample(f"{n} equals", (np.ones((2, n), make.dtype),), (1, False))
        yield Sample(f"{n} few", (make.mask(3, n).astype(make.dtype),), (1, False))


argmax.work(flops_per_element=1)
argmax.benchmarks(Case("1024x1024 over 1", floats(1024, 1024), (1, False)))
