# SPDX-License-Identifier: MIT
"""Computing in float64 and rounding once."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import Array


def wide(xp: Any, a: Array) -> Array:
    """Return `a` in float64; what is as wide already stays as it is."""
    return a if a.dtype.itemsize >= 8 else a.astype(xp.float64)


def widest(xp: Any, a: Array) -> Array:
    """Return `a` in the next wider format: float64, and long double of float64.

    For formulas of so many roundings that float64 itself would miss their budget.
    """
    return a.astype(xp.float64 if a.dtype.itemsize < 8 else xp.longdouble)


def narrow(a: Array, like: Array) -> Array:
    """Return `a` rounded to the dtype of `like`."""
    return a.astype(like.dtype)


def sigmoid_of(xp: Any, a: Array) -> Array:
    """Return 1 / (1 + exp(-a)) without overflow: exp(a) / (1 + exp(a)) if a < 0."""
    decay = xp.exp(-xp.absolute(a))
    return xp.where(a < 0, decay, 1) / (1 + decay)
