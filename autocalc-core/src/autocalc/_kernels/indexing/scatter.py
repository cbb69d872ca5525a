# SPDX-License-Identifier: MIT
"""Writes at indices along one axis."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.indexing._places import checked
from autocalc._kernels.indexing.gather import scatter_add_samples
from autocalc._kernels.rules import (
    DTYPES,
    INT64,
    check_axis,
    expect_ndim,
    expect_shape,
    one_of,
    same_dtype,
)
from autocalc._kernels.spec import Array, Meta

scatter = standalone(
    "scatter",
    "out ; a index src ; axis:int",
    "a, then out[index[i][j]][j] = src[i][j] for axis 0, the last one wins.",
    alias=(("out", "a"),),
    dtypes=DTYPES,
)


@scatter.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    check_axis("scatter", axis, a)
    one_of("scatter", "index", index, (INT64,))
    expect_ndim("scatter", "index", index, len(a.shape))
    along = (*a.shape[:axis], index.shape[axis], *a.shape[axis + 1 :])
    expect_shape("scatter", "index", index, along)
    expect_shape("scatter", "src", src, along)
    return Meta(a.shape, same_dtype("scatter", a, src))


@scatter.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "scatter", "index", index, a.shape[axis])
    where = list(xp.indices(index.shape, sparse=True))
    where[axis] = index
    out = xp.array(a)
    out[tuple(where)] = src
    return out


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
