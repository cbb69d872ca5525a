# SPDX-License-Identifier: MIT
"""Elementwise primitives: one value out for each value in, inputs broadcast."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    BOOL,
    DTYPES,
    NUMBERS,
    broadcast_shapes,
    expect_shape,
    float_dtype,
    one_of,
    same_dtype,
    same_shape,
)
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape
from autocalc._kernels.work import per_element

# ---- rules ---------------------------------------------------------------------------


def _round_rule(a: Meta, mode: str) -> Meta:
    return Meta(a.shape, float_dtype("round", a))


def _copy_rule(a: Meta) -> Meta:
    return a


def _compare_rule(a: Meta, b: Meta, op: str) -> Meta:
    same_dtype("compare", a, b)
    return Meta(broadcast_shapes("compare", a.shape, b.shape), BOOL)


def _where_rule(condition: Meta, a: Meta, b: Meta) -> Meta:
    one_of("where", "condition", condition, (BOOL,))
    shape = broadcast_shapes("where", condition.shape, a.shape, b.shape)
    return Meta(shape, same_dtype("where", a, b))


def _fill_rule(value: Meta, *, shape: Shape, dtype: DType) -> Meta:
    expect_shape("fill", "value", value, ())
    same_dtype("fill", value, Meta(shape, dtype))
    return Meta(shape, dtype)


def _axpy_rule(y: Meta, alpha: Meta, x: Meta) -> Meta:
    same_shape("axpy", y=y, x=x)
    return Meta(y.shape, float_dtype("axpy", y, alpha, x))


# ---- references ----------------------------------------------------------------------


def copy(xp: Any, a: Array) -> Array:
    return a


def fill(xp: Any, value: Array, *, shape: Shape, dtype: DType) -> Array:
    return xp.full(shape, value, dtype)


def add(xp: Any, a: Array, b: Array) -> Array:
    return xp.add(a, b)


def mul(xp: Any, a: Array, b: Array) -> Array:
    return xp.multiply(a, b)


def div(xp: Any, a: Array, b: Array) -> Array:
    return xp.true_divide(a, b)


def maximum(xp: Any, a: Array, b: Array) -> Array:
    return xp.maximum(a, b)


def minimum(xp: Any, a: Array, b: Array) -> Array:
    return xp.minimum(a, b)


def power(xp: Any, a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return narrow(xp.power(wide(xp, a), wide(xp, b)), a)
    negative = b < 0  # 1 / a**-b rounded toward zero: only 1 and -1 leave anything
    power = xp.power(a, xp.where(negative, xp.bitwise_and(b, 1), b))
    return xp.where(negative & (xp.absolute(a) != 1), 0, power).astype(a.dtype)


_COMPARE = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def compare(xp: Any, a: Array, b: Array, op: str) -> Array:
    return getattr(xp, _COMPARE[op])(a, b)


def where(xp: Any, condition: Array, a: Array, b: Array) -> Array:
    return xp.where(condition, a, b)


def neg(xp: Any, a: Array) -> Array:
    return xp.negative(a)


def exp(xp: Any, a: Array) -> Array:
    return narrow(xp.exp(wide(xp, a)), a)


def log(xp: Any, a: Array) -> Array:
    return narrow(xp.log(wide(xp, a)), a)


def tanh(xp: Any, a: Array) -> Array:
    return narrow(xp.tanh(wide(xp, a)), a)


def erf(xp: Any, a: Array) -> Array:
    return narrow(xp.erf(wide(xp, a)), a)


def sin(xp: Any, a: Array) -> Array:
    return narrow(xp.sin(wide(xp, a)), a)


def cos(xp: Any, a: Array) -> Array:
    return narrow(xp.cos(wide(xp, a)), a)


_ROUND = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "even": "rint"}


def round_(xp: Any, a: Array, mode: str) -> Array:
    return getattr(xp, _ROUND[mode])(a)


def axpy(xp: Any, y: Array, alpha: Array, x: Array) -> Array:
    return y + alpha * x


# ---- specs ---------------------------------------------------------------------------

FOUR = budgets.ulps(4)
TWO = budgets.ulps(2)

SPECS = (
    elementwise(
        "copy",
        "a",
        "The same values; the output may have any strides and dtype.",
        copy,
        dtypes=DTYPES,
        budget=budgets.EXACT,
        flops=0,
        rule=_copy_rule,
        layout="contiguous",
    ),
    KernelSpec(
        name="fill",
        kind="primitive",
        signature="out ; value",
        doc="value everywhere.",
        rule=_fill_rule,
        reference=fill,
        budget=budgets.EXACT,
        samples=samples.fill,
        work=per_element(_fill_rule, 0),
        dtypes=DTYPES,
        free=True,
    ),
    elementwise("add", "a b", "a + b", add, dtypes=DTYPES),
    elementwise("mul", "a b", "a * b", mul, dtypes=DTYPES),
    elementwise("div", "a b", "a / b", div),
    elementwise(
        "maximum",
        "a b",
        "The larger of a and b; NaN if either is.",
        maximum,
        dtypes=DTYPES,
        budget=budgets.EXACT,
    ),
    elementwise(
        "minimum",
        "a b",
        "The smaller of a and b; NaN if either is.",
        minimum,
        dtypes=DTYPES,
        budget=budgets.EXACT,
    ),
    elementwise(
        "pow",
        "a b",
        "a ** b; of integers, 1 / a ** -b rounded to zero if b < 0.",
        power,
        dtypes=NUMBERS,
        budget=FOUR,
        flops=20,
        sample=samples.power,
    ),
    elementwise(
        "compare",
        "a b ; op:eq,ne,lt,le,gt,ge",
        "Whether a and b compare as `op` says.",
        compare,
        dtypes=DTYPES,
        budget=budgets.EXACT,
        rule=_compare_rule,
        sample=samples.compare,
    ),
    elementwise(
        "where",
        "condition a b",
        "a where the condition holds, else b.",
        where,
        dtypes=DTYPES,
        budget=budgets.EXACT,
        rule=_where_rule,
        sample=samples.where,
    ),
    elementwise("neg", "a", "-a", neg, dtypes=NUMBERS, budget=budgets.EXACT),
    elementwise("exp", "a", "e ** a", exp, budget=TWO, flops=10),
    elementwise("log", "a", "The natural logarithm of a.", log, budget=TWO, flops=10),
    elementwise(
        "tanh", "a", "The hyperbolic tangent of a.", tanh, budget=TWO, flops=15
    ),
    elementwise("erf", "a", "The error function of a.", erf, budget=FOUR, flops=20),
    elementwise("sin", "a", "The sine of a radians.", sin, budget=FOUR, flops=15),
    elementwise("cos", "a", "The cosine of a radians.", cos, budget=FOUR, flops=15),
    elementwise(
        "round",
        "a ; mode:floor,ceil,trunc,even",
        "An integer near a: below, above, towards zero, nearest (even of two).",
        round_,
        budget=budgets.EXACT,
        rule=_round_rule,
        sample=samples.rounding,
    ),
    KernelSpec(
        name="axpy",
        kind="primitive",
        signature="y ; alpha x",
        doc="y += alpha * x",
        rule=_axpy_rule,
        reference=axpy,
        budget=budgets.axpy,
        samples=samples.axpy,
        work=per_element(_axpy_rule, 2),
        layout="like",
        writes=("y",),
    ),
)
