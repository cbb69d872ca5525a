# SPDX-License-Identifier: MIT
"""Reductions over axes; sums are taken in float64 and rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    DTYPES,
    FLOATS,
    INT64,
    NUMBERS,
    check_axes,
    check_axis,
    check_not_empty,
    float_dtype,
    one_of,
    reduced_shape,
)
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape
from autocalc._kernels.work import per_element

Axes = tuple[int, ...]

# ---- rules ---------------------------------------------------------------------------


def _sum_rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
    check_axes("sum", axes, a)
    dtype = a.dtype if a.dtype in FLOATS else INT64
    return Meta(reduced_shape(a.shape, axes, keepdim), dtype)


def _extreme_rule(name: str, dtypes: tuple[DType, ...]) -> Callable[..., Meta]:
    def rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
        check_axes(name, axes, a)
        check_not_empty(name, axes, a)
        one_of(name, "a", a, dtypes)
        return Meta(reduced_shape(a.shape, axes, keepdim), a.dtype)

    return rule


def _argmax_rule(a: Meta, axis: int, keepdim: bool) -> Meta:
    check_axis("argmax", axis, a)
    check_not_empty("argmax", (axis,), a)
    return Meta(reduced_shape(a.shape, (axis,), keepdim), INT64)


def _float_rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
        check_axes(name, axes, a)
        return Meta(reduced_shape(a.shape, axes, keepdim), float_dtype(name, a))

    return rule


def _var_rule(
    a: Meta, axes: Axes, keepdim: bool, correction: float
) -> tuple[Meta, Meta]:
    check_axes("var", axes, a)
    out = Meta(reduced_shape(a.shape, axes, keepdim), float_dtype("var", a))
    return out, out


def count(shape: Shape, axes: Axes) -> int:
    """Return how many elements are reduced to one."""
    return math.prod(shape[axis] for axis in axes)


# ---- references ----------------------------------------------------------------------


def sum_(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    if a.dtype.kind != "f":
        return xp.sum(a, axis=axes, keepdims=keepdim, dtype=xp.int64)
    return narrow(xp.sum(wide(xp, a), axis=axes, keepdims=keepdim), a)


def max_(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return xp.max(a, axis=axes, keepdims=keepdim)


def argmax(xp: Any, a: Array, axis: int, keepdim: bool) -> Array:
    return xp.argmax(a, axis=axis, keepdims=keepdim)


def mean(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    total = xp.sum(wide(xp, a), axis=axes, keepdims=keepdim)
    return narrow(xp.true_divide(total, count(a.shape, axes)), a)


def mean_in_primitives(k: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    n = k.constant(count(k.shape(a), axes), a)
    return k.div(k.sum(a, axes, keepdim), n)


def min_(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return xp.min(a, axis=axes, keepdims=keepdim)


def min_in_primitives(k: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return _reversed(k, k.max(_reversed(k, a), axes, keepdim))


def _reversed(k: Any, a: Array) -> Array:
    """Turn the order around: -a, or of integers -1 - a, which cannot overflow."""
    negative = k.neg(a)
    return negative if k.dtype(a).kind == "f" else k.add(negative, k.constant(-1, a))


def var(
    xp: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    x, n = wide(xp, a), count(a.shape, axes)
    center = xp.true_divide(xp.sum(x, axis=axes, keepdims=True), n)
    squares = xp.sum(xp.square(x - center), axis=axes, keepdims=keepdim)
    out = xp.true_divide(squares, max(n - correction, 0))
    return narrow(out, a), narrow(center.reshape(out.shape), a)


def var_in_primitives(
    k: Any, a: Array, axes: Axes, keepdim: bool, correction: float, *, want: int = -1
) -> tuple[Array, Array]:
    n = count(k.shape(a), axes)
    center = mean_in_primitives(k, a, axes, True)
    distance = k.add(a, k.neg(center))
    squares = k.sum(k.mul(distance, distance), axes, keepdim)
    out = k.div(squares, k.constant(max(n - correction, 0), a))
    return out, k.reshape(center, k.shape(out))


def logsumexp(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    x = wide(xp, a)
    top = xp.max(x, axis=axes, keepdims=True, initial=-xp.inf)
    top = xp.where(xp.isinf(top), 0, top)
    total = xp.sum(xp.exp(x - top), axis=axes, keepdims=keepdim)
    return narrow(xp.log(total) + top.reshape(total.shape), a)


def logsumexp_in_primitives(k: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    if count(k.shape(a), axes) == 0:
        return k.log(k.sum(a, axes, keepdim))
    top = k.max(a, axes, True)
    zero = k.constant(0, a)
    finite = k.compare(k.mul(top, zero), zero, "eq")  # inf * 0 and NaN * 0 are NaN
    top = k.where(finite, top, zero)
    total = k.sum(k.exp(k.add(a, k.neg(top))), axes, keepdim)
    return k.add(k.log(total), k.reshape(top, k.shape(total)))


# ---- specs ---------------------------------------------------------------------------

_AXES = "out ; a ; axes:ints keepdim:bool"
_max_rule, _min_rule = _extreme_rule("max", DTYPES), _extreme_rule("min", NUMBERS)
_mean_rule, _logsumexp_rule = _float_rule("mean"), _float_rule("logsumexp")

SPECS = (
    KernelSpec(
        name="sum",
        kind="primitive",
        signature=_AXES,
        doc="The sum over `axes`; of integers and booleans in int64.",
        rule=_sum_rule,
        reference=sum_,
        budget=budgets.sum_,
        samples=samples.reduction,
        work=per_element(_sum_rule, 1),
        dtypes=DTYPES,
        defaults=(False,),
    ),
    KernelSpec(
        name="max",
        kind="primitive",
        signature=_AXES,
        doc="The largest over `axes`; NaN if one is.",
        rule=_max_rule,
        reference=max_,
        budget=budgets.EXACT,
        samples=samples.nonempty_reduction,
        work=per_element(_max_rule, 1),
        dtypes=DTYPES,
        defaults=(False,),
    ),
    KernelSpec(
        name="argmax",
        kind="primitive",
        signature="out ; a ; axis:int keepdim:bool",
        doc="The index of the largest along `axis`: the first of equals, NaN largest.",
        rule=_argmax_rule,
        reference=argmax,
        budget=budgets.EXACT,
        samples=samples.argmax,
        work=per_element(_argmax_rule, 1),
        dtypes=DTYPES,
        defaults=(False,),
    ),
    KernelSpec(
        name="mean",
        kind="composite",
        signature=_AXES,
        doc="sum(a) / n over `axes`.",
        rule=_mean_rule,
        reference=mean,
        decomposition=mean_in_primitives,
        lead="sum",
        budget=budgets.mean,
        samples=samples.reduction,
        work=per_element(_mean_rule, 1),
        defaults=(False,),
    ),
    KernelSpec(
        name="min",
        kind="composite",
        signature=_AXES,
        doc="The smallest over `axes`; NaN if one is.",
        rule=_min_rule,
        reference=min_,
        decomposition=min_in_primitives,
        lead="max",
        budget=budgets.EXACT,
        samples=samples.nonempty_reduction,
        work=per_element(_min_rule, 1),
        dtypes=NUMBERS,
        defaults=(False,),
    ),
    KernelSpec(
        name="var",
        kind="composite",
        signature="out mean? ; a ; axes:ints keepdim:bool correction:float",
        doc="sum((a - mean)**2) / max(n - correction, 0) over `axes`, and the mean.",
        rule=_var_rule,
        reference=var,
        decomposition=var_in_primitives,
        lead="sum",
        budget=budgets.var,
        samples=samples.var,
        work=per_element(_var_rule, 4),
        defaults=(False, 1.0),
    ),
    KernelSpec(
        name="logsumexp",
        kind="composite",
        signature=_AXES,
        doc="log(sum(exp(a))) over `axes`, without overflow.",
        rule=_logsumexp_rule,
        reference=logsumexp,
        decomposition=logsumexp_in_primitives,
        lead="sum",
        budget=budgets.logsumexp,
        samples=samples.reduction,
        work=per_element(_logsumexp_rule, 12),
        defaults=(False,),
    ),
)
