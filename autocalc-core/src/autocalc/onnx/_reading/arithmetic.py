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
from autocalc._ops.random import random_draws
from autocalc._ops.reductions import logical
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.generator import Generator
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


#: Attributes of early versions, which broadcast only on request.
_EARLY = ("axis", "broadcast")


def aligned(node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Return `y` as early versions broadcast it: its dimensions from `axis` on."""
    axis = node.get("axis")
    if node.opset >= 7 or axis is None or y.ndim == x.ndim:
        return y
    behind = x.ndim - axis % x.ndim - y.ndim
    return y.reshape(*y.shape, *[1] * behind)


def _same(function: Any) -> Any:
    def read(node: Node, *inputs: Tensor) -> Tensor:
        if node.opset < 7 and len(inputs) == 2:
            inputs = (inputs[0], aligned(node, *inputs))
        result: Tensor = function(*inputs)
        return result

    return read


READERS.update({name: Reader(_same(f), (), _EARLY) for name, f in _SAME.items()})


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
    """Return the input, unless the graph itself asks for training."""
    share = ratio[0] if ratio else 0.5
    if not (training and training[0]) or share == 0:
        return x, constants.ones(x.shape, dtype=dtypes.bool_)
    kept = drawn(node, lambda generator: random_draws.rand(x.shape, **generator))
    mask = kept >= share
    return x * mask.to(x.dtype) / (1 - share), mask


def drawn(node: Node, draw: Any) -> Tensor:
    """Return random numbers, from the node's own seed if it has one."""
    seed = node.get("seed")
    if seed is None:
        result: Tensor = draw({})
        return result
    generator = Generator()
    generator.manual_seed(int(seed))
    return draw({"generator": generator})  # type: ignore[no-any-return]


@reads("Pow", unused=_EARLY)
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return arithmetic.pow(x, aligned(node, x, y)).to(x.dtype)


@reads("Div", unused=_EARLY)
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    whole, y = not x.is_floating_point(), aligned(node, x, y)
    return (
        arithmetic.div(x, y, rounding_mode="trunc") if whole else arithmetic.div(x, y)
    )


@reads("Mod")
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    return arithmetic.fmod(x, y) if node.get("fmod", 0) else arithmetic.remainder(x, y)


@reads("BitShift", only={"direction": (None, "LEFT", "RIGHT")})
def _(node: Node, x: Tensor, y: Tensor) -> Tensor:
    left = node.get("direction") == "LEFT"
    shift = bitwise.bitwise_left_shift if left else bitwise.bitwise_right_shift
    return shift(x, y)


@reads("Mean")
def _(node: Node, *x: Tensor) -> Tensor:
    return reduce(arithmetic.add, x) / len(x)


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
    found = comparison.isinf(x)
    if not node.get("detect_negative", 1):
        found = logical.logical_and(found, x > 0)
    if not node.get("detect_positive", 1):
        found = logical.logical_and(found, x < 0)
    return found
