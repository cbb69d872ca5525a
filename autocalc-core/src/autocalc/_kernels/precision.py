# SPDX-License-Identifier: MIT
"""Compute in float64, round once, and add to the values of an output."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.rules import FLOAT64
from autocalc._kernels.spec import Array


def wide(xp: Any, a: Array) -> Array:
    """Return `a` in float64 or complex128; a dtype of that width or more is kept."""
    if a.dtype.itemsize < 8:
        return a.astype(xp.float64)
    return a.astype(xp.complex128) if a.dtype.char == "F" else a


def as_float64(a: Array) -> Array:
    """Return `a` in float64 if it is narrower, also in formulas over kernels."""
    return a if a.dtype.itemsize > 8 else a.astype(FLOAT64)


def widest(xp: Any, a: Array) -> Array:
    """Return `a` in the next wider format: float64, or long double for float64.

    It is for formulas with so many roundings that float64 would exceed their budget.
    """
    if a.dtype.kind == "c":
        return wide(xp, a)
    return a.astype(xp.float64 if a.dtype.itemsize < 8 else xp.longdouble)


def narrow(a: Array, like: Array) -> Array:
    """Return `a` rounded to the dtype of `like`."""
    return a.astype(like.dtype)


def sigmoid_of(xp: Any, a: Array) -> Array:
    """Return 1 / (1 + exp(-a)) without overflow: exp(a) / (1 + exp(a)) if a < 0."""
    if a.dtype.kind == "c":
        return 1 / (1 + xp.exp(-a))
    decay = xp.exp(-xp.absolute(a))
    return xp.where(a < 0, decay, 1) / (1 + decay)


def plus(into: Array | None, value: Array) -> Array:
    """Return `value`, added to the values of the output if the call accumulates."""
    return value if into is None else into + value


def plus_in(k: Any, into: Array | None, value: Array) -> Array:
    """Compute `plus` with primitives."""
    return value if into is None else k.add(into, value)
