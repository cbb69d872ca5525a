# SPDX-License-Identifier: MIT
"""Elementwise arithmetic, comparison, rounding and conversion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.spec import DType, Shape
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import WRITERS, writes

_BOOL, _INT32 = np.dtype(bool), np.dtype(np.int32)

#: Kernels that are one node with the same inputs.
_SAME = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "add": "Add", "asin": "Asin",
    "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "cos": "Cos", "cosh": "Cosh",
    "div": "Div", "erf": "Erf", "exp": "Exp", "log": "Log", "maximum": "Max",
    "minimum": "Min", "mul": "Mul", "neg": "Neg", "pow": "Pow",
    "reciprocal": "Reciprocal", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
    "sqrt": "Sqrt", "sub": "Sub", "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip


def _same(op: str) -> Any:
    def write(k: Kernels, *inputs: Value) -> Value:
        value: Value = k.node(op, *inputs)
        return value

    return write


WRITERS.update({name: _same(op) for name, op in _SAME.items()})


@writes("rsqrt")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Reciprocal", k.node("Sqrt", a))


@writes("log1p")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Log", k.node("Add", a, k.constant(1, a)))


@writes("xlog1py")
def _(k: Kernels, a: Value, b: Value) -> Value:
    zero = k.constant(0, a)
    safe = k.where(k.compare(a, zero, "eq"), zero, b)
    product = k.mul(a, k.log1p(safe))
    found: Value = k.where(k.compare(b, b, "eq"), product, b)
    return found


@writes("expm1")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Sub", k.node("Exp", a), k.constant(1, a))


@writes("exp2")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Pow", k.constant(2, a), a)


@writes("log2")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Div", k.node("Log", a), k.constant(math.log(2), a))


@writes("log10")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Div", k.node("Log", a), k.constant(math.log(10), a))


_COMPARED = {"lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}


@writes("compare")
def _(k: Kernels, a: Value, b: Value, op: str) -> Value:
    if op in _COMPARED and a.dtype == _BOOL:
        a, b = (k.cast(x, _INT32) for x in (a, b))
    if op in _COMPARED:
        return k.node(_COMPARED[op], a, b, dtype=_BOOL)
    equal: Value = k.node("Equal", a, b, dtype=_BOOL)
    return equal if op == "eq" else k.node("Not", equal)


@writes("where")
def _(k: Kernels, condition: Value, a: Value, b: Value) -> Value:
    if a.dtype != _BOOL:
        return k.node("Where", condition, a, b, dtype=a.dtype)
    chosen = k.node("And", condition, a)  # ONNX Runtime's Where takes no booleans
    return k.node("Or", chosen, k.node("And", k.node("Not", condition), b))


@writes("clamp")
def _(k: Kernels, a: Value, low: Value | None, high: Value | None) -> Value:
    if low is not None:
        a = k.node("Max", a, low)
    return a if high is None else k.node("Min", a, high)


_ROUNDED = {"floor": "Floor", "ceil": "Ceil", "even": "Round"}


@writes("round")
def _(k: Kernels, a: Value, mode: str) -> Value:
    if mode in _ROUNDED:
        return k.node(_ROUNDED[mode], a)
    return k.node("Mul", k.node("Sign", a), k.node("Floor", k.node("Abs", a)))


@writes("fmod")
def _(k: Kernels, a: Value, b: Value) -> Value:
    return k.node("Mod", a, b, fmod=1)


@writes("remainder")
def _(k: Kernels, a: Value, b: Value) -> Value:
    if a.dtype.kind not in FLOAT_KINDS:
        return k.node("Mod", a, b)
    whole = k.node("Floor", k.node("Div", a, b))
    return k.node("Sub", a, k.node("Mul", whole, b))


@writes("floor_divide")
def _(k: Kernels, a: Value, b: Value) -> Value:
    if a.dtype.kind in FLOAT_KINDS:
        return k.node("Floor", k.node("Div", a, b))
    return k.node("Div", k.node("Sub", a, k.node("Mod", a, b)), b)


_BITS = {"and": "And", "or": "Or", "xor": "Xor"}


def _bitwise(name: str) -> Any:
    def write(k: Kernels, a: Value, b: Value) -> Value:
        op = name if a.dtype == _BOOL else f"Bitwise{name}"
        value: Value = k.node(op, a, b)
        return value

    return write


WRITERS.update({f"bitwise_{name}": _bitwise(op) for name, op in _BITS.items()})


@writes("bitwise_not")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Not" if a.dtype == _BOOL else "BitwiseNot", a)


@writes("nan_to_num")
def _(k: Kernels, a: Value, nan: float, posinf: float, neginf: float) -> Value:
    a = k.where(k.node("IsNaN", a, dtype=_BOOL), k.constant(nan, a), a)
    for value, instead in ((math.inf, posinf), (-math.inf, neginf)):
        a = k.where(k.compare(a, k.constant(value, a), "eq"), k.constant(instead, a), a)
    return a


@writes("copy")
def _(k: Kernels, a: Value, dtype: DType | None = None) -> Value:
    return a if dtype is None else k.cast(a, dtype)


@writes("fill")
def _(k: Kernels, value: Value, *, shape: Shape, dtype: DType) -> Value:
    return k.expand(k.cast(value, dtype), shape)
