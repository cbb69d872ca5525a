# SPDX-License-Identifier: MIT
"""The order of elements along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.reduction.scan import with_a_choice
from autocalc._kernels.rules import DTYPES, INT64, check_axis
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample

argsort = standalone(
    "argsort",
    "out ; a ; axis:int descending:bool",
    "The indices that sort along `axis`. The sort is stable; NaN counts as the "
    "largest.",
    defaults=(False,),
    dtypes=DTYPES,
)


@argsort.rule
def _(a: Meta, axis: int, descending: bool) -> Meta:
    check_axis("argsort", axis, a)
    return Meta(a.shape, INT64)


@argsort.reference
def _(xp: Any, a: Array, axis: int, descending: bool) -> Array:
    if not descending:
        return xp.argsort(a, axis=axis, kind="stable")
    turned = (*(slice(None),) * axis, slice(None, None, -1))
    order = xp.argsort(a[turned], axis=axis, kind="stable")
    return a.shape[axis] - 1 - order[turned]


argsort.budget(EXACT)


@argsort.samples
def _(make: Make) -> Iterator[Sample]:
    yield from with_a_choice(make)
    for choice in (False, True):
        few = make.mask(3, 33).astype(make.dtype)
        yield Sample(f"equals, {choice}", (few,), (1, choice))


argsort.work(flops_per_element=10)
argsort.benchmarks(Case("1024x1024 along 1", floats(1024, 1024), (1, False)))
