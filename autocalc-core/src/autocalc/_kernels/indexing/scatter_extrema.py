# SPDX-License-Identifier: MIT
"""Maxima and minima of the values that are scattered along one axis."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.indexing._places import (
    added_at,
    places_along,
    written_along_rule,
)
from autocalc._kernels.indexing.gather import scatter_add_samples
from autocalc._kernels.rules import NUMBERS
from autocalc._kernels.spec import Array, Meta

_CASE = Case(
    "1024x1024 along 1",
    join(floats(1024, 1024), indices(1024, 1024, 1024), floats(1024, 1024)),
    (1,),
)


def _rule(name: str, a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    written_along_rule(name, a, index, src, axis)
    return added_at(name, a, src)


scatter_amax = standalone(
    "scatter_amax",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i][j]][j] = max(out[index[i][j]][j], src[i][j]) "
    "for axis 0.",
    alias=(("out", "a"),),
    dtypes=NUMBERS,
)


@scatter_amax.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    return _rule("scatter_amax", a, index, src, axis)


@scatter_amax.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    where = places_along(xp, "scatter_amax", index, a, axis)
    return xp.index_max(a, where, src)


scatter_amax.budget(EXACT)
scatter_amax.samples(scatter_add_samples)
scatter_amax.work(flops_per_element=1)
scatter_amax.benchmarks(_CASE)


scatter_amin = standalone(
    "scatter_amin",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i][j]][j] = min(out[index[i][j]][j], src[i][j]) "
    "for axis 0.",
    alias=(("out", "a"),),
    dtypes=NUMBERS,
)


@scatter_amin.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    return _rule("scatter_amin", a, index, src, axis)


@scatter_amin.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    where = places_along(xp, "scatter_amin", index, a, axis)
    return xp.index_min(a, where, src)


scatter_amin.budget(EXACT)
scatter_amin.samples(scatter_add_samples)
scatter_amin.work(flops_per_element=1)
scatter_amin.benchmarks(_CASE)
