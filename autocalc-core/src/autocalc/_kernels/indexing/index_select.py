# SPDX-License-Identifier: MIT
"""Read, add and write whole slices by index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import composite, standalone
from autocalc._kernels.indexing._places import ALONG, added, added_at, checked, replace
from autocalc._kernels.rules import (
    DTYPES,
    INT64,
    NUMBERS,
    check_axis,
    expect_ndim,
    expect_shape,
    one_of,
    same_dtype,
)
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape

index_select = composite(
    "index_select",
    "out ; a index ; axis:int",
    "The slices of a at `index` along `axis`.",
    dtypes=DTYPES,
    complex=True,
)


def _index_rule(name: str, a: Meta, index: Meta, axis: int) -> None:
    check_axis(name, axis, a)
    one_of(name, "index", index, (INT64,))
    expect_ndim(name, "index", index, 1)


@index_select.rule
def _(a: Meta, index: Meta, axis: int) -> Meta:
    _index_rule("index_select", a, index, axis)
    return Meta(replace(a.shape, axis, index.shape[0]), a.dtype)


@index_select.reference
def _(xp: Any, a: Array, index: Array, axis: int) -> Array:
    index = checked(xp, "index_select", "index", index, a.shape[axis])
    return xp.take(a, index, axis=axis)


def _along(k: Any, index: Array, shape: Shape, axis: int) -> Array:
    """Repeat a vector of indices over every dimension but `axis`."""
    (n,) = k.shape(index)
    line = tuple(n if d == axis else 1 for d in range(len(shape)))
    return k.expand(k.reshape(index, line), replace(shape, axis, n))


@index_select.decomposition(lead="gather")
def _(k: Any, a: Array, index: Array, axis: int) -> Array:
    return k.gather(a, _along(k, index, k.shape(a), axis), axis)


index_select.budget(EXACT)


@index_select.samples
def index_select_samples(make: Make) -> Iterator[Sample]:
    for shape, axis in ALONG:
        for n in (0, 1, 3, 17):
            label = f"{shape} along {axis}, {n}"
            index = make.indices((n,), shape[axis])
            yield Sample(label, (make.normal(*shape), index), (axis,))
    index = make.indices((900,), 500)
    yield Sample("large", (make.normal(500, 301), index), (0,))
    reflected = [3, 2, 1, *range(40), 38, 37, 36, 36, 36, *range(5, 20), 7, 9]
    for shape in ((6, 40), (90, 3, 40)):
        label = f"{shape}, in runs that rise and fall"
        index = np.array(reflected, np.int64)
        yield Sample(label, (make.normal(*shape), index), (len(shape) - 1,))


index_select.work(flops_per_element=1)
index_select.benchmarks(
    Case("4096 of 50257x256", join(floats(50257, 256), indices(50257, 4096)), (0,))
)


index_add = composite(
    "index_add",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i]] += src[i] for axis 0, in index order.",
    alias=(("out", "a"),),
    dtypes=NUMBERS,
    complex=True,
)


@index_add.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    _index_rule("index_add", a, index, axis)
    expect_shape("index_add", "src", src, replace(a.shape, axis, index.shape[0]))
    return added_at("index_add", a, src)


@index_add.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "index_add", "index", index, a.shape[axis])
    return xp.index_add(a, (*[slice(None)] * axis, index), src)


@index_add.decomposition(lead="scatter_add")
def _(k: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    return k.scatter_add(a, _along(k, index, k.shape(a), axis), src, axis)


@index_add.budget("n * eps * (|a| + sum(|src|)), n terms at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, index, src = inputs
    return [added((*[slice(None)] * attributes[0], index), a, src, eps)]


@index_add.samples
def index_add_samples(make: Make) -> Iterator[Sample]:
    for sample in index_select_samples(make):
        (a, index), (axis,) = sample.inputs, sample.attributes
        src = make.normal(*a.shape[:axis], len(index), *a.shape[axis + 1 :])
        yield Sample(sample.label, (a, index, src), (axis,))


index_add.work(flops_per_element=1)
index_add.benchmarks(
    Case(
        "4096 into 50257x256",
        join(floats(50257, 256), indices(50257, 4096), floats(4096, 256)),
        (0,),
    )
)


index_copy = standalone(
    "index_copy",
    "out ; a index src ; axis:int",
    "out starts as a; then out[index[i]] = src[i] for axis 0. The last value wins.",
    alias=(("out", "a"),),
    dtypes=DTYPES,
    complex=True,
)


@index_copy.rule
def _(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    check_axis("index_copy", axis, a)
    one_of("index_copy", "index", index, (INT64,))
    expect_ndim("index_copy", "index", index, 1)
    rows = (*a.shape[:axis], index.shape[0], *a.shape[axis + 1 :])
    expect_shape("index_copy", "src", src, rows)
    return Meta(a.shape, same_dtype("index_copy", a, src))


@index_copy.reference
def _(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "index_copy", "index", index, a.shape[axis])
    return xp.index_set(a, (*[slice(None)] * axis, index), src)


index_copy.budget(EXACT)


index_copy.samples(index_add_samples)


index_copy.work(flops_per_element=0)
index_copy.benchmarks(
    Case(
        "4096 into 50257x256",
        join(floats(50257, 256), indices(50257, 4096), floats(4096, 256)),
        (0,),
    )
)
