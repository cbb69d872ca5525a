# SPDX-License-Identifier: MIT
"""Checks of the arguments of modules."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch._widened import FLOAT_KINDS
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import dtype_of
from autocalc._tensor import dtypes
from autocalc._tensor.checks import one_of
from autocalc.errors import ArgumentError, DTypeError

#: What becomes of the losses of single elements.
REDUCTIONS = ("mean", "sum", "none")


def check_number(where: str, name: str, value: Any) -> None:
    """Raise unless `value` is a finite number of 0 or more."""
    if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        message = f"{where}: `{name}` is {value!r}; it must be a number, 0 or more."
        raise ArgumentError(message)


def check_sizes(where: str, **sizes: Any) -> None:
    """Raise unless all values are integers of 0 or more."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            message = (
                f"{where}: `{name}` is {size!r}; it must be an integer, 0 or more."
            )
            raise ArgumentError(message)


def check_probability(where: str, p: Any) -> None:
    """Raise unless `p` is a number from 0 to 1."""
    if not isinstance(p, (int, float)) or not 0.0 <= p <= 1.0:
        message = f"{where}: `p` is {p!r}; a probability lies from 0 to 1."
        raise ArgumentError(message)


def check_reduction(where: str, reduction: Any) -> None:
    """Raise unless `reduction` is one of the three."""
    one_of(where, "reduction", reduction, REDUCTIONS)


def check_approximate(where: str, approximate: Any) -> None:
    """Raise unless `approximate` names a form of gelu."""
    one_of(where, "approximate", approximate, ("none", "tanh"))


def refuse_booleans(where: str, *operands: Any) -> None:
    """Raise if an operand is boolean, a tensor or True or False itself."""
    if dtypes.bool_ in [dtype_of(where, one) for one in operands]:
        message = (
            f"{where}: takes numbers, not bool; convert a mask with .float() or "
            f".long()."
        )
        raise DTypeError(message)


def check_float(where: str, *tensors: Any) -> None:
    """Raise unless all are tensors of a floating-point dtype."""
    for x in tensors:
        if check_tensor(where, x)._array.dtype.kind not in FLOAT_KINDS:
            message = (
                f"{where}: takes float32 or float64, not {x.dtype.name}. Convert with "
                f".float()."
            )
            raise DTypeError(message)
