# SPDX-License-Identifier: MIT
"""Flat positions of multi-dimensional indices, and of the true elements of a mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, alternating, indices, listed
from autocalc._kernels.declare import standalone
from autocalc._kernels.indexing.ranges import index_error
from autocalc._kernels.rules import BOOL, INT64, expect_ndim, one_of, same_shape
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, DType, Meta, Sample, Shape
from autocalc.errors import ArgumentError, ShapeError

positions = standalone(
    "positions",
    "out ; index* ; sizes:ints",
    "The row-major positions of the indices in `sizes`; negative indices wrap once.",
    dtypes=(INT64,),
)


@positions.rule
def _(index: Sequence[Meta], sizes: tuple[int, ...]) -> Meta:
    if not index or len(index) != len(sizes):
        raise ArgumentError(
            f"positions: {len(index)} indices were given for the sizes {sizes}; there "
            "must be one for each size, and at least one."
        )
    for i, meta in enumerate(index):
        one_of("positions", f"index[{i}]", meta, (INT64,))
    named = {f"index[{i}]": meta for i, meta in enumerate(index)}
    return Meta(same_shape("positions", **named), INT64)


@positions.reference
def _(xp: Any, index: Sequence[Array], sizes: tuple[int, ...]) -> Array:
    out = None
    for i, (one, size) in enumerate(zip(index, sizes, strict=True)):
        wrong = (one < -size) | (one >= size)
        if xp.any(wrong):
            place = int(xp.argmax(wrong))
            value = int(one.reshape(-1)[place])
            possible = range(-size, size)
            raise index_error("index", f"index[{i}]", place, value, possible)
        wrapped = one % max(size, 1)
        out = wrapped if out is None else out * size + wrapped
    return out


positions.budget(EXACT)


@positions.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in ((), (0,), (1,), (7,), (3, 5), (70, 401)):
        for sizes in ((4,), (3, 5), (2, 3, 4)):
            index = [make.indices(shape, 2 * size) - size for size in sizes]
            yield Sample(f"{shape} in {sizes}", (index,), (sizes,))
    yield Sample("nothing of nothing", ([make.indices((0,), 1)],), ((0,),))
    index = [make.indices((LARGE,), 2 * size) - size for size in (3, 5)]
    yield Sample("large, in (3, 5)", (index,), ((3, 5),))


positions.work(flops_per_element=4)
positions.benchmarks(
    Case(
        "64 Ki pairs in 1024x1024",
        listed(*[indices(1024, 1 << 16)] * 2),
        ((1024, 1024),),
    )
)


true_places = standalone(
    "true_places",
    "out ; mask",
    "The indices of the first True elements of mask, filled up with its size.",
    free=True,
    dtypes=(INT64,),
)


@true_places.rule
def _(mask: Meta, *, shape: Shape, dtype: DType) -> Meta:
    expect_ndim("true_places", "mask", mask, 1)
    one_of("true_places", "mask", mask, (BOOL,))
    out = Meta(shape, dtype)
    expect_ndim("true_places", "out", out, 1)
    one_of("true_places", "out", out, (INT64,))
    return out


@true_places.reference
def _(xp: Any, mask: Array, *, shape: Shape, dtype: DType) -> Array:
    (count,) = shape
    found = xp.flatnonzero(mask)[:count]
    missing = xp.full(count - len(found), len(mask), dtype)
    return xp.concatenate([found, missing])


true_places.budget(EXACT)


@true_places.samples
def _(make: Make) -> Iterator[Sample]:
    for n in (*TAILS, LARGE):
        label = f"{'large, ' * (n == LARGE)}n={n}"
        mask = make.mask(n)
        yield Sample(label, (mask,), shape=(int(mask.sum()),))
    for value in (False, True):
        mask = np.full(70, value)
        yield Sample(f"all {value}", (mask,), shape=(70 * value,))


nonzero = standalone(
    "nonzero",
    "rows count ; mask ; size:int",
    "The indices of the first True elements of mask, one row for each, then zeros; and "
    "the number of True elements.",
    dtypes=(BOOL,),
)


@nonzero.rule
def _(mask: Meta, size: int) -> tuple[Meta, Meta]:
    one_of("nonzero", "mask", mask, (BOOL,))
    if not mask.shape:
        raise ShapeError("nonzero: `mask` has shape (); it must have a dimension.")
    return Meta((size, len(mask.shape)), INT64), Meta((), INT64)


@nonzero.reference
def _(xp: Any, mask: Array, size: int) -> tuple[Array, Array]:
    found = xp.argwhere(mask)
    rest = xp.zeros((max(size - len(found), 0), mask.ndim), xp.int64)
    rows = xp.concatenate([found[:size].astype(xp.int64), rest])
    return rows, xp.asarray(len(found), dtype=xp.int64)


nonzero.budget(EXACT)


@nonzero.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in (*SHAPES[1:], (7,), (70, 9)):
        mask = make.mask(*shape)
        for size in (0, 2, mask.size):
            yield Sample(f"{shape}, {size}", (mask,), (size,))
    yield Sample("large", (make.mask(LARGE),), (LARGE // 3,))


nonzero.work(flops_per_element=1)
nonzero.benchmarks(Case("1 Mi", alternating(1 << 20), (1 << 19,)))


true_places.work(flops_per_element=1)
true_places.benchmarks(Case("1 Mi", alternating(1 << 20), shape=(1 << 19,)))
