# SPDX-License-Identifier: MIT
"""The positions of the largest or smallest elements along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.indexing._places import replace
from autocalc._kernels.reduction.argsort import argsort
from autocalc._kernels.reduction.scan import with_a_choice
from autocalc._kernels.rules import FLOATS, INT64, check_axis
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import ArgumentError

argtopk = standalone(
    "argtopk",
    "out ; a ; axis:int k:int descending:bool",
    "The first k indices that `argsort` gives along `axis`.",
    dtypes=FLOATS,
)


@argtopk.rule
def _(a: Meta, axis: int, k: int, descending: bool) -> Meta:
    check_axis("argtopk", axis, a)
    if not 0 <= k <= a.shape[axis]:
        raise ArgumentError(
            f"argtopk: `k` is {k}; dimension {axis} of `a` of shape {a.shape} has only "
            f"{a.shape[axis]} elements."
        )
    return Meta(replace(a.shape, axis, k), INT64)


@argtopk.reference
def _(xp: Any, a: Array, axis: int, k: int, descending: bool) -> Array:
    first = (*(slice(None),) * axis, slice(0, k))
    return argsort.spec().reference(xp, a, axis, descending)[first]


argtopk.budget(EXACT)


@argtopk.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in with_a_choice(make):
        (a,), (axis, choice) = sample.inputs, sample.attributes
        for k in sorted({0, min(2, a.shape[axis]), a.shape[axis]}):
            yield Sample(f"{sample.label}, {k}", (a,), (axis, k, choice))
    for choice in (False, True):
        few = make.mask(3, 700).astype(make.dtype)
        yield Sample(f"equals, {choice}", (few,), (1, 5, choice))
        long = make.normal(2, 3000)
        yield Sample(f"long, {choice}", (long,), (1, 40, choice))
        yield Sample(f"long, across, {choice}", (long.T,), (0, 3, choice))
        rising = long.copy()
        rising.sort(axis=1)
        yield Sample(f"long, in order, {choice}", (rising,), (1, 17, choice))


argtopk.work(flops_per_element=1)
argtopk.benchmarks(Case("64x50257, 50 along 1", floats(64, 50257), (1, 50, True)))
