# SPDX-License-Identifier: MIT
"""Elementwise arithmetic, comparison, rounding and conversion."""

from __future__ import annotations

from functools import reduce
from typing import Any

from autocalc._ops.creation import constants
from autocalc._ops.elementwise import (
    arithmetic,
    bitwise,
    clamping,
    comparison,
    exponential,
    rounding,
    trigonometric,
)
from autocalc._ops.indexing import masking
from autocalc._ops.reductions import logical
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import READERS, Reader, reads

#: Operators that are one function of the same tensors.
_SAME = {
    "Abs": arithmetic.abs,
    "Acos": trigonometric.acos,
    "Acosh": trigonometric.acosh,
    "Add": arithmetic.add,
    "And": logical.logical_and,
    "Asin": trigonometric.asin,
    "Asinh": trigonometric.asinh,
    "Atan": trigonometric.atan,
    "Atanh": trigonometric.atanh,
    "BitwiseAnd": bitwise.bitwise_and,
    "BitwiseNot": bitwise.bitwise_not,
    "BitwiseOr": bitwise.bitwise_or,
    "BitwiseXor": bitwise.bitwise_xor,
    "Ceil": rounding.ceil,
    "Cos": trigonometric.cos,
    "Cosh": trigonometric.cosh,
    "Equal": comparison.eq,
    "Erf": exponential.erf,
    "Exp": exponential.exp,
    "Floor": rounding.floor,
    "Greater": comparison.gt,
    "GreaterOrEqual": comparison.ge,
    "IsNaN": comparison.isnan,
    "Less": comparison.lt,
    "LessOrEqual": comparison.le,
    "Log": exponential.log,
    "Mul": arithmetic.mul,
    "Neg": arithmetic.neg,
    "Not": logical.logical_not,
    "Or": logical.logical_or,
    "Reciprocal": arithmetic.reciprocal,
    "Round": rounding.round,
    "Sign": arithmetic.sign,
    "Sin": trigonometric.sin,
    "Sinh": trigonometric.sinh,
    "Sqrt": exponential.sqrt,
    "Sub": arithmetic.sub,
    "Tan": trigonometric.tan,
    "Tanh": trigonometric.tanh,
    "Where": masking.where,
    "Xor": logical.logical_xor,
}


def _same(function: Any) -> Any:
    def read(node: Node, *inputs: Tensor) -> Tensor:
        result: Tensor = function(*inputs)
        return result

    return read


READERS.update({name: Reader(_same(f)) for name, f in _SAME.items()})


@reads("Identity")
def _(node: Node, x: Tensor) -> Tensor:
    return x


@reads("Dropout", numbers=(1, 2), unused=("seed",))
def _(
    node: Node,
    x: Tensor,
    ratio: list[float] | None = None,
    training: list[bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the input: graphs run for inference, where dropout does nothing."""
    if ratio is None or ratio[0] > 0:
        node.expect("training_mode", bool(training and training[0]), False)
    return x, constants.ones(x.shape, dtype=dtypes.bool_)


@reads("Pow")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return arithmetic.pow(x, y).to(x.dtype)


@reads("Div")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    whole = not x.is_floating_point()
    return (
        arithmetic.div(x, y, rounding_mode="trunc") if whole else arithmetic.div(x, y)
    )


@reads("Mod")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return arithmetic.fmod(x, y) if node.get("fmod", 0) else arithmetic.remainder(x, y)


@reads("Max")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(clamping.maximum, x)


@reads("Min")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(clamping.minimum, x)


@reads("Sum")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(arithmetic.add, x)


@reads("Clip", numbers=(1, 2))
def _(
    node: Node, x: Tensor, low: list[Any] | None = None, high: list[Any] | None = None
) -> Tensor:
    least, most = (None if one is None else one[0] for one in (low, high))
    if least is None or most is None or not x.is_floating_point():
        return x if least is most is None else clamping.clamp(x, least, most)
    return functional.hardtanh(x, least, most) if least < most else x.clamp(least, most)


@reads("Cast", unused=("saturate", "round_mode"))
def _(node: Node, x: Tensor) -> Tensor:
    return x.to(node.dtype("to"))


@reads("CastLike", unused=("saturate", "round_mode"))
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return x.to(y.dtype)


@reads("IsInf")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("detect_negative", 1)
    node.only("detect_positive", 1)
    return comparison.isinf(x)
