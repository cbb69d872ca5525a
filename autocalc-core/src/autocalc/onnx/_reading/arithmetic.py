# SPDX-License-Identifier: MIT
"""Elementwise arithmetic, comparison, rounding and conversion."""

from __future__ import annotations

from functools import reduce
from typing import Any

import autocalc as ac
from autocalc._tensor import Tensor
from autocalc.onnx._node import Node
from autocalc.onnx._table import READERS, Reader, reads

#: Operators that are one function of the same tensors.
_SAME = {
    "Abs": ac.abs, "Acos": ac.acos, "Acosh": ac.acosh, "Add": ac.add,
    "And": ac.logical_and,
    "Asin": ac.asin, "Asinh": ac.asinh, "Atan": ac.atan, "Atanh": ac.atanh,
    "BitwiseAnd": ac.bitwise_and, "BitwiseNot": ac.bitwise_not,
    "BitwiseOr": ac.bitwise_or, "BitwiseXor": ac.bitwise_xor, "Ceil": ac.ceil,
    "Cos": ac.cos, "Cosh": ac.cosh, "Equal": ac.eq, "Erf": ac.erf, "Exp": ac.exp,
    "Floor": ac.floor, "Greater": ac.gt, "GreaterOrEqual": ac.ge, "IsNaN": ac.isnan,
    "Less": ac.lt, "LessOrEqual": ac.le, "Log": ac.log, "Mul": ac.mul, "Neg": ac.neg,
    "Not": ac.logical_not, "Or": ac.logical_or, "Reciprocal": ac.reciprocal,
    "Round": ac.round, "Sign": ac.sign, "Sin": ac.sin, "Sinh": ac.sinh,
    "Sqrt": ac.sqrt, "Sub": ac.sub, "Tan": ac.tan, "Tanh": ac.tanh,
    "Where": ac.where, "Xor": ac.logical_xor,
}  # fmt: skip


def _same(function: Any) -> Any:
    def read(node: Node, *inputs: Tensor) -> Tensor:
        result: Tensor = function(*inputs)
        return result

    return read


READERS.update({name: Reader(_same(f), ()) for name, f in _SAME.items()})


@reads("Identity", "Dropout")
def _(node: Node, x: Tensor, *ratio: Tensor) -> Tensor:
    """Return the input: graphs are run for inference, where nothing is dropped."""
    return x


@reads("Pow")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return ac.pow(x, y).to(x.dtype)


@reads("Div")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    whole = not x.is_floating_point()
    return ac.div(x, y, rounding_mode="trunc") if whole else ac.div(x, y)


@reads("Mod")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return ac.fmod(x, y) if node.get("fmod", 0) else ac.remainder(x, y)


@reads("Max")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(ac.maximum, x)


@reads("Min")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(ac.minimum, x)


@reads("Sum")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(ac.add, x)


@reads("Clip")
def _(
    node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None
) -> Tensor:
    x = x if low is None else ac.maximum(x, low)
    return x if high is None else ac.minimum(x, high)


@reads("Cast")
def _(node: Node, x: Tensor) -> Tensor:
    return x.to(node.dtype("to"))


@reads("CastLike")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return x.to(y.dtype)


@reads("IsInf")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("detect_negative", 1)
    node.only("detect_positive", 1)
    return ac.isinf(x)
