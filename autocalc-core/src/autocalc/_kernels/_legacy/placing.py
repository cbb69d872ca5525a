# SPDX-License-Identifier: MIT
"""Writing at indices, and the positions that indices of several axes mean together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy.indexing import checked
from autocalc._kernels.rules import (
    BOOL,
    DTYPES,
    INT64,
    check_axis,
    expect_ndim,
    expect_shape,
    one_of,
    same_dtype,
    same_shape,
)
from autocalc._kernels.samples import LARGE, TAILS, Make
from autocalc._kernels.spec import (
    Array,
    DType,
    KernelSpec,
    Meta,
    Sample,
    Shape,
)
from autocalc._kernels.work import per_element
from autocalc.errors import ArgumentError, kernel_data_error

# ---- rules ---------------------------------------------------------------------------


def _positions_rule(index: Sequence[Meta], sizes: tuple[int, ...]) -> Meta:
    if not index or len(index) != len(sizes):
        message = (
            f"positions: {len(index)} indices for the sizes {sizes}; there must be one "
            f"for each, and one at least."
        )
        raise ArgumentError(message)
    for i, meta in enumerate(index):
        one_of("positions", f"index[{i}]", meta, (INT64,))
    named = {f"index[{i}]": meta for i, meta in enumerate(index)}
    return Meta(same_shape("positions", **named), INT64)


def _true_places_rule(mask: Meta, *, shape: Shape, dtype: DType) -> Meta:
    expect_ndim("true_places", "mask", mask, 1)
    one_of("true_places", "mask", mask, (BOOL,))
    out = Meta(shape, dtype)
    expect_ndim("true_places", "out", out, 1)
    one_of("true_places", "out", out, (INT64,))
    return out


def _scatter_rule(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    check_axis("scatter", axis, a)
    one_of("scatter", "index", index, (INT64,))
    expect_ndim("scatter", "index", index, len(a.shape))
    along = (*a.shape[:axis], index.shape[axis], *a.shape[axis + 1 :])
    expect_shape("scatter", "index", index, along)
    expect_shape("scatter", "src", src, along)
    return Meta(a.shape, same_dtype("scatter", a, src))


def _index_copy_rule(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    check_axis("index_copy", axis, a)
    one_of("index_copy", "index", index, (INT64,))
    expect_ndim("index_copy", "index", index, 1)
    rows = (*a.shape[:axis], index.shape[0], *a.shape[axis + 1 :])
    expect_shape("index_copy", "src", src, rows)
    return Meta(a.shape, same_dtype("index_copy", a, src))


# ---- references ----------------------------------------------------------------------


def positions(xp: Any, index: Sequence[Array], sizes: tuple[int, ...]) -> Array:
    out = None
    for i, (one, size) in enumerate(zip(index, sizes, strict=True)):
        wrong = (one < -size) | (one >= size)
        if xp.any(wrong):
            place = int(xp.argmax(wrong))
            value = int(one.reshape(-1)[place])
            name = "positions"
            raise kernel_data_error(name, f"index[{i}]", place, value)
        wrapped = one % max(size, 1)
        out = wrapped if out is None else out * size + wrapped
    return out


def true_places(xp: Any, mask: Array, *, shape: Shape, dtype: DType) -> Array:
    (count,) = shape
    found = xp.flatnonzero(mask)[:count]
    missing = xp.full(count - len(found), len(mask), dtype)
    return xp.concatenate([found, missing])


def scatter(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "scatter", "index", index, a.shape[axis])
    where = list(xp.indices(index.shape, sparse=True))
    where[axis] = index
    out = xp.array(a)
    out[tuple(where)] = src
    return out


def index_copy(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "index_copy", "index", index, a.shape[axis])
    out = xp.array(a)
    place = (*[slice(None)] * axis, index)
    out[place] = src
    return out


# ---- samples -------------------------------------------------------------------------


def _positions_samples(make: Make) -> Iterator[Sample]:
    for shape in ((), (0,), (1,), (7,), (3, 5), (70, 401)):
        for sizes in ((4,), (3, 5), (2, 3, 4)):
            index = [make.indices(shape, 2 * size) - size for size in sizes]
            yield Sample(f"{shape} in {sizes}", (index,), (sizes,))
    yield Sample("nothing of nothing", ([make.indices((0,), 1)],), ((0,),))
    index = [make.indices((LARGE,), 2 * size) - size for size in (3, 5)]
    yield Sample("large, in (3, 5)", (index,), ((3, 5),))


def _masks(make: Make) -> Iterator[Sample]:
    for n in (*TAILS, LARGE):
        label = f"{'large, ' * (n == LARGE)}n={n}"
        mask = make.mask(n)
        yield Sample(label, (mask,), shape=(int(mask.sum()),))
    for value in (False, True):
        mask = np.full(70, value)
        yield Sample(f"all {value}", (mask,), shape=(70 * value,))


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="positions",
        kind="standalone",
        signature="out ; index* ; sizes:ints",
        doc="Row-major positions of the indices in `sizes`; negative ones wrap once.",
        rule=_positions_rule,
        reference=positions,
        budget=budgets.EXACT,
        samples=_positions_samples,
        work=per_element(_positions_rule, 4),
        dtypes=(INT64,),
    ),
    KernelSpec(
        name="true_places",
        kind="standalone",
        signature="out ; mask",
        doc="The first places at which mask holds; where there are fewer, its size.",
        rule=_true_places_rule,
        reference=true_places,
        budget=budgets.EXACT,
        samples=_masks,
        work=per_element(_true_places_rule, 1),
        dtypes=(INT64,),
        free=True,
    ),
    KernelSpec(
        name="scatter",
        kind="standalone",
        signature="out ; a index src ; axis:int",
        doc="a, then out[index[i][j]][j] = src[i][j] for axis 0, the last one wins.",
        rule=_scatter_rule,
        reference=scatter,
        budget=budgets.EXACT,
        samples=samples.scatter_add,
        work=per_element(_scatter_rule, 0),
        alias=(("out", "a"),),
        dtypes=DTYPES,
    ),
    KernelSpec(
        name="index_copy",
        kind="standalone",
        signature="out ; a index src ; axis:int",
        doc="a, then out[index[i]] = src[i] for axis 0, the last one wins.",
        rule=_index_copy_rule,
        reference=index_copy,
        budget=budgets.EXACT,
        samples=samples.index_add,
        work=per_element(_index_copy_rule, 0),
        alias=(("out", "a"),),
        dtypes=DTYPES,
    ),
)
