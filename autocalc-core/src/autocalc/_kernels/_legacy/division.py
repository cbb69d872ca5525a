# SPDX-License-Identifier: MIT
"""Whole quotients, what they leave, and signs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import NUMBERS
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample
from autocalc.errors import KernelDataError

# ---- references ----------------------------------------------------------------------


def _check_divisor(xp: Any, name: str, b: Array) -> None:
    """Raise if integers are divided by 0; floats give infinity or NaN."""
    if b.dtype.kind != "f" and not xp.all(b):
        message = (
            f"{name}: an integer is divided by 0, which has no answer. Leave such "
            f"elements out, or convert to float32, where it is infinite or NaN."
        )
        raise KernelDataError(message)


def floor_divide(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "floor_divide", b)
    if a.dtype.kind != "f":
        return xp.floor_divide(a, b)
    return narrow(xp.floor_divide(wide(xp, a), wide(xp, b)), a)


def remainder(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "remainder", b)
    if a.dtype.kind != "f":
        return xp.remainder(a, b)
    return narrow(xp.remainder(wide(xp, a), wide(xp, b)), a)


def fmod(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "fmod", b)
    return xp.fmod(a, b)


def sign(xp: Any, a: Array) -> Array:
    return xp.subtract(a > 0, a < 0, dtype=xp.int8).astype(a.dtype)


# ---- samples -------------------------------------------------------------------------


def _divided(make: Make) -> Iterator[Sample]:
    """Sample pairs; integers are not divided by 0."""
    for sample in samples.elementwise(2)(make):
        a, b = sample.inputs
        if not make.is_float:
            b = np.where(b == 0, np.ones((), make.dtype), b)
        yield Sample(sample.label, (a, b))


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    elementwise(
        "floor_divide",
        "a b",
        "floor(a / b), of the exact quotient.",
        floor_divide,
        dtypes=NUMBERS,
        budget=budgets.ulps(1),
        flops=10,
        sample=_divided,
        standalone=True,
    ),
    elementwise(
        "remainder",
        "a b",
        "a - b * floor(a / b): it has the sign of b.",
        remainder,
        dtypes=NUMBERS,
        flops=10,
        sample=_divided,
        standalone=True,
    ),
    elementwise(
        "fmod",
        "a b",
        "a - b * trunc(a / b): it has the sign of a.",
        fmod,
        dtypes=NUMBERS,
        budget=budgets.EXACT,
        flops=10,
        sample=_divided,
        standalone=True,
    ),
    elementwise(
        "sign",
        "a",
        "1 where a is positive, -1 where it is negative, else 0 (NaN too).",
        sign,
        dtypes=NUMBERS,
        budget=budgets.EXACT,
        standalone=True,
    ),
)
