# SPDX-License-Identifier: MIT
"""Reading and adding at indices; an index out of range is an error, never a wrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels.rules import (
    DTYPES,
    INT64,
    NUMBERS,
    check_axis,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
    same_dtype,
)
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape
from autocalc._kernels.work import per_element
from autocalc.errors import kernel_data_error

# ---- rules ---------------------------------------------------------------------------


def _gather_rule(a: Meta, index: Meta, axis: int) -> Meta:
    _along_rule("gather", a, index, axis)
    return Meta(index.shape, a.dtype)


def _scatter_add_rule(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    _along_rule("scatter_add", a, index, axis)
    expect_shape("scatter_add", "src", src, index.shape)
    return _added("scatter_add", a, src)


def _along_rule(name: str, a: Meta, index: Meta, axis: int) -> None:
    """Raise unless `index` has the shape of `a` in all dimensions but `axis`."""
    check_axis(name, axis, a)
    one_of(name, "index", index, (INT64,))
    expect_ndim(name, "index", index, len(a.shape))
    expect_shape(name, "index", index, _replace(a.shape, axis, index.shape[axis]))


def _embedding_rule(weight: Meta, indices: Meta) -> Meta:
    one_of("embedding", "indices", indices, (INT64,))
    expect_ndim("embedding", "weight", weight, 2)
    dtype = float_dtype("embedding", weight)
    return Meta((*indices.shape, weight.shape[1]), dtype)


def _embedding_backward_rule(
    g: Meta, indices: Meta, padding_idx: int, *, shape: Shape, dtype: DType
) -> Meta:
    name = "embedding_backward"
    one_of(name, "indices", indices, (INT64,))
    expect_shape(name, "g", g, (*indices.shape, shape[-1]))
    dweight = Meta(shape, dtype)
    expect_ndim(name, "dweight", dweight, 2)
    float_dtype(name, dweight, g)
    return dweight


def _index_select_rule(a: Meta, index: Meta, axis: int) -> Meta:
    _index_rule("index_select", a, index, axis)
    return Meta(_replace(a.shape, axis, index.shape[0]), a.dtype)


def _index_add_rule(a: Meta, index: Meta, src: Meta, axis: int) -> Meta:
    _index_rule("index_add", a, index, axis)
    expect_shape("index_add", "src", src, _replace(a.shape, axis, index.shape[0]))
    return _added("index_add", a, src)


def _index_rule(name: str, a: Meta, index: Meta, axis: int) -> None:
    check_axis(name, axis, a)
    one_of(name, "index", index, (INT64,))
    expect_ndim(name, "index", index, 1)


def _added(name: str, a: Meta, src: Meta) -> Meta:
    dtype = same_dtype(name, a, src)
    one_of(name, "a", a, NUMBERS)
    return Meta(a.shape, dtype)


def _replace(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def checked(xp: Any, kernel: str, operand: str, index: Array, size: int) -> Array:
    """Return `index` if all of it lies in 0 to `size` - 1.

    Raises
    ------
    KernelDataError
        Naming the first value (in row-major order) that does not.
    """
    wrong = (index < 0) | (index >= size)
    if xp.any(wrong):
        position = int(xp.argmax(wrong))
        value = int(index.reshape(-1)[position])
        raise kernel_data_error(kernel, operand, position, value)
    return index


# ---- references ----------------------------------------------------------------------


def gather(xp: Any, a: Array, index: Array, axis: int) -> Array:
    index = checked(xp, "gather", "index", index, a.shape[axis])
    return xp.take_along_axis(a, index, axis)


def scatter_add(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "scatter_add", "index", index, a.shape[axis])
    where = list(xp.indices(index.shape, sparse=True))
    where[axis] = index
    return xp.index_add(a, tuple(where), src)


def embedding(xp: Any, weight: Array, indices: Array) -> Array:
    return weight[checked(xp, "embedding", "indices", indices, weight.shape[0])]


def embedding_backward(
    xp: Any,
    g: Array,
    indices: Array,
    padding_idx: int,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    checked(xp, "embedding_backward", "indices", indices, shape[0])
    kept = indices != padding_idx
    return xp.index_add(xp.zeros(shape, g.dtype), (indices[kept],), g[kept])


def embedding_backward_in_primitives(
    k: Any,
    g: Array,
    indices: Array,
    padding_idx: int,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    n = math.prod(k.shape(indices))
    rows, index = k.reshape(g, (n, shape[1])), k.reshape(indices, (n, 1))
    if padding_idx >= 0:
        is_padding = k.compare(index, k.constant(padding_idx, index), "eq")
        rows = k.where(is_padding, k.constant(0, g), rows)
    index = k.expand(index, (n, shape[1]))
    return k.scatter_add(k.zeros(shape, dtype), index, rows, 0)


def index_select(xp: Any, a: Array, index: Array, axis: int) -> Array:
    index = checked(xp, "index_select", "index", index, a.shape[axis])
    return xp.take(a, index, axis=axis)


def index_select_in_primitives(k: Any, a: Array, index: Array, axis: int) -> Array:
    return k.gather(a, _along(k, index, k.shape(a), axis), axis)


def index_add(xp: Any, a: Array, index: Array, src: Array, axis: int) -> Array:
    index = checked(xp, "index_add", "index", index, a.shape[axis])
    return xp.index_add(a, (*[slice(None)] * axis, index), src)


def index_add_in_primitives(
    k: Any, a: Array, index: Array, src: Array, axis: int
) -> Array:
    return k.scatter_add(a, _along(k, index, k.shape(a), axis), src, axis)


def _along(k: Any, index: Array, shape: Shape, axis: int) -> Array:
    """Repeat a vector of indices over every dimension but `axis`."""
    (n,) = k.shape(index)
    line = tuple(n if d == axis else 1 for d in range(len(shape)))
    return k.expand(k.reshape(index, line), _replace(shape, axis, n))


# ---- specs ---------------------------------------------------------------------------


def _spec(
    name: str, signature: str, doc: str, rule: Callable[..., Meta], **more: Any
) -> KernelSpec:
    return KernelSpec(
        name=name,
        kind="composite" if "decomposition" in more else "primitive",
        signature=signature,
        doc=doc,
        rule=rule,
        work=per_element(rule, 1),
        **more,
    )


SPECS = (
    _spec(
        "gather",
        "out ; a index ; axis:int",
        "out[i][j] = a[index[i][j]][j] for axis 0, and so for the others.",
        _gather_rule,
        reference=gather,
        budget=budgets.EXACT,
        samples=samples.gather,
        dtypes=DTYPES,
    ),
    _spec(
        "scatter_add",
        "out ; a index src ; axis:int",
        "a, then out[index[i][j]][j] += src[i][j] for axis 0, in index order.",
        _scatter_add_rule,
        reference=scatter_add,
        budget=budgets.scatter_add,
        samples=samples.scatter_add,
        dtypes=NUMBERS,
        alias=(("out", "a"),),
    ),
    _spec(
        "embedding",
        "out ; weight indices",
        "out[...] = weight[indices[...]]",
        _embedding_rule,
        reference=embedding,
        budget=budgets.EXACT,
        samples=samples.embedding,
    ),
    _spec(
        "embedding_backward",
        "dweight ; g indices ; padding_idx:int",
        "dweight[indices[...]] += g[...] from 0, in order, skipping padding_idx.",
        _embedding_backward_rule,
        reference=embedding_backward,
        decomposition=embedding_backward_in_primitives,
        lead="scatter_add",
        budget=budgets.embedding_backward,
        samples=samples.embedding_backward,
        free=True,
    ),
    _spec(
        "index_select",
        "out ; a index ; axis:int",
        "The slices of a at `index` along `axis`.",
        _index_select_rule,
        reference=index_select,
        decomposition=index_select_in_primitives,
        lead="gather",
        budget=budgets.EXACT,
        samples=samples.index_select,
        dtypes=DTYPES,
    ),
    _spec(
        "index_add",
        "out ; a index src ; axis:int",
        "a, then out[index[i]] += src[i] for axis 0, in index order.",
        _index_add_rule,
        reference=index_add,
        decomposition=index_add_in_primitives,
        lead="scatter_add",
        budget=budgets.index_add,
        samples=samples.index_add,
        dtypes=NUMBERS,
        alias=(("out", "a"),),
    ),
)
