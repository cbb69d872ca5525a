# SPDX-License-Identifier: MIT
"""Write to indices along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.indexing._places import (
    added_at,
    places_along,
    written_along_rule,
)
from autocalc._kernels.indexing.gather import scatter_add_samples
from autocalc._kernels.rules import DTYPES, NUMBERS, same_dtype
from autocalc._kernels.spec import Array, Attributes, Meta

scatter = standalone(
    "scatter",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i][j]][j] = src[i][j] for axis 0. The last value "
    "wins.",
    alias=(("out", "a"),),
    dtypes=DTYPES,
    complex=True,
)


@scatter.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    written_along_rule("scatter", a, index, src, axis)
    return Meta(a.shape, same_dtype("scatter", a, src))


@scatter.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    where = places_along(xp, "scatter", index, a, axis)
    return xp.index_set(a, where, src)


scatter.budget(EXACT)


scatter.samples(scatter_add_samples)


scatter.work(flops_per_element=0)
scatter.benchmarks(
    Case(
        "1024x1024 along 1",
        join(floats(1024, 1024), indices(1024, 1024, 1024), floats(1024, 1024)),
        (1,),
    )
)


scatter_mul = standalone(
    "scatter_mul",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i][j]][j] *= src[i][j] for axis 0, in index "
    "order.",
    alias=(("out", "a"),),
    dtypes=NUMBERS,
    complex=True,
)


@scatter_mul.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    written_along_rule("scatter_mul", a, index, src, axis)
    return added_at("scatter_mul", a, src)


@scatter_mul.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    where = places_along(xp, "scatter_mul", index, a, axis)
    return xp.index_mul(a, where, src)


@scatter_mul.budget("n * eps * |out|, n factors at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, index, _ = inputs
    where = list(np.indices(index.shape, sparse=True))
    where[attributes[0]] = index
    count = np.zeros(np.shape(a))
    np.add.at(count, tuple(where), 1.0)
    return [count * eps * magnitude(expected[0])]


scatter_mul.samples(scatter_add_samples)
scatter_mul.work(flops_per_element=1)
scatter_mul.benchmarks(
    Case(
        "1024x1024 along 1",
        join(floats(1024, 1024), indices(1024, 1024, 1024), floats(1024, 1024)),
        (1,),
    )
)
