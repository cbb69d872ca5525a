# SPDX-License-Identifier: MIT
"""Gather, and its adjoint scatter_add; an index out of range raises an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import primitive
from autocalc._kernels.indexing._places import (
    ALONG,
    added,
    added_at,
    along_rule,
    checked,
    none,
    places_along,
    written_along_rule,
)
from autocalc._kernels.rules import DTYPES, NUMBERS
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

gather = primitive(
    "gather",
    "out ; a index ; axis:int",
    "out[i][j] = a[index[i][j]][j] for axis 0; other axes work in the same way.",
    dtypes=DTYPES,
    complex=True,
)


@gather.rule
def _(a: Meta, index: Meta, axis: int) -> Meta:
    along_rule("gather", a, index, axis)
    return Meta(index.shape, a.dtype)


@gather.reference
def _(xp: Any, a: Array, index: Array, axis: int) -> Array:
    index = checked(xp, "gather", "index", index, a.shape[axis])
    return xp.take_along_axis(a, index, axis)


gather.budget(EXACT)


@gather.samples
def gather_samples(make: Make) -> Iterator[Sample]:
    for shape, axis in ALONG:
        for n in (0, 1, 3, 17):
            index = make.indices((*shape[:axis], n, *shape[axis + 1 :]), shape[axis])
            label = f"{shape} along {axis}, {n} each"
            yield Sample(label, (make.normal(*shape), index), (axis,))
    yield Sample("nothing from nothing", (make.normal(0, 2), none(0, 2)), (0,))
    index = make.indices((900, 301), 500)
    yield Sample("large", (make.normal(500, 301), index), (0,))


gather.work(flops_per_element=1)
gather.benchmarks(
    Case("1024x1024 along 1", join(floats(1024, 1024), indices(1024, 1024, 1024)), (1,))
)


scatter_add = primitive(
    "scatter_add",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i][j]][j] += src[i][j] for axis 0, in index "
    "order.",
    alias=(("out", "a"),),
    dtypes=NUMBERS,
    complex=True,
)


@scatter_add.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    written_along_rule("scatter_add", a, index, src, axis)
    return added_at("scatter_add", a, src)


@scatter_add.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    where = places_along(xp, "scatter_add", index, a, axis)
    return xp.index_add(a, where, src)


@scatter_add.budget("n * eps * (|a| + sum(|src|)), n terms at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, index, src = inputs
    where = list(np.indices(index.shape, sparse=True))
    where[attributes[0]] = index
    return [added(tuple(where), a, src, eps)]


@scatter_add.samples
def scatter_add_samples(make: Make) -> Iterator[Sample]:
    for sample in gather_samples(make):
        a, index = sample.inputs
        src = make.normal(*index.shape)
        yield Sample(sample.label, (a, index, src), sample.attributes)


scatter_add.work(flops_per_element=1)
scatter_add.benchmarks(
    Case(
        "1024x1024 along 1",
        join(floats(1024, 1024), indices(1024, 1024, 1024), floats(1024, 1024)),
        (1,),
    )
)
