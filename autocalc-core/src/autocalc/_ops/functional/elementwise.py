# SPDX-License-Identifier: MIT
"""Elementwise functions whose arguments need more than broadcasting."""

from __future__ import annotations

import builtins
from typing import Protocol

from autocalc._ops import elementwise
from autocalc._ops._arguments import Operand, check_tensor
from autocalc._ops._coerce import coerce
from autocalc._ops._out import apply_out, copy_to_out
from autocalc._ops.functional.shapes import clone
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int
from autocalc.errors import ArgumentError


def add(
    input: Operand, other: Operand, *, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    """Return input + alpha * other."""
    if alpha != 1:
        other = elementwise.mul(other, alpha)
    result = elementwise.add(input, other)
    return result if out is None else copy_to_out("add", result, out)


def sub(
    input: Operand, other: Operand, *, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    """Return input - alpha * other."""
    if alpha != 1:
        other = elementwise.mul(other, alpha)
    result = elementwise.sub(input, other)
    return result if out is None else copy_to_out("sub", result, out)


def clamp(
    input: Tensor,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return min(max(input, min), max), element by element; NaN stays NaN."""
    if min is None and max is None:
        message = "clamp: give `min` or `max`, or both."
        raise ArgumentError(message)
    tensors = [check_tensor("clamp", input), *(x for x in (min, max) if x is not None)]
    operands = iter(coerce("clamp", *tensors))
    x = next(operands)
    low = None if min is None else next(operands)
    high = None if max is None else next(operands)
    return apply_out("clamp", elementwise.clip(x, low, high), out)


class Rounding(Protocol):
    """Floor, ceil, trunc or round."""

    def __call__(self, input: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return a new tensor, or `out` with the result in it."""


def round_mode(mode: str) -> Rounding:
    """Make floor, ceil, trunc or round; integers pass unchanged."""

    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not check_tensor(mode, input).is_floating_point():
            return apply_out(mode, clone(input), out)
        return apply_out(mode, elementwise.rounding(input, mode), out)

    call.__doc__ = f"Return `input` rounded ({mode}), element by element."
    return call


floor = round_mode("floor")


ceil = round_mode("ceil")


trunc = round_mode("trunc")


_nearest = round_mode("even")


def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Return `input` rounded to the nearest, ties to even, at a number of digits."""
    decimals = as_int("round", "decimals", decimals)
    if decimals == 0 or not check_tensor("round", input).is_floating_point():
        return apply_out("round", _nearest(input), out)
    scale = 10.0 ** builtins.abs(decimals)
    up, down = elementwise.mul, elementwise.div
    if decimals < 0:
        up, down = down, up
    return apply_out("round", down(_nearest(up(input, scale)), scale), out)
