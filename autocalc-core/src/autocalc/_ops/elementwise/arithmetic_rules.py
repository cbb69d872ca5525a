# SPDX-License-Identifier: MIT
"""Backward rules of powers, and of powers and sizes of complex numbers."""

from __future__ import annotations

import math
from typing import Any


def power(k: Any, n: Any, g: Any) -> Any:
    """Return g conj(b a^(b - 1)) and g conj(a^b log(a)); 0 where the base is 0."""
    y, a, b = n.saved
    zero = k.constant(0, g)
    da = db = None
    if n.needs(0):
        slope = k.mul(b, k.pow(a, k.sub(b, k.constant(1, b))))
        slope = k.where(k.compare(b, zero, "eq"), zero, slope)
        da = k.sum_to(k.mul(g, k.conj(slope)), n.shapes[0])
    if n.needs(1):
        at_zero = k.compare(a, zero, "eq")
        log_a = k.log(k.where(at_zero, k.constant(1, a), a))
        slope = k.where(at_zero, zero, k.mul(y, log_a))
        db = k.sum_to(k.mul(g, k.conj(slope)), n.shapes[1])
    return da, db


def size(k: Any, n: Any, g: Any) -> Any:
    """Multiply the real g by a / |a|, or by 0 where a is 0."""
    (a,) = n.saved
    found = k.abs(a)
    none = k.compare(found, k.constant(0, found), "eq")
    safe = k.where(none, k.constant(1, found), found)
    return k.mul(k.cast(k.div(g, safe), k.dtype(a)), a)


def slope_of_power(k: Any, a: Any, b: Any) -> Any:
    """Return b * a^(b-1), but 0 where b is 0, also where a is 0.

    A recorded pass puts 1 in place of bases with an infinite slope: `where` gives them
    the cotangent 0, and 0 times infinity is NaN.
    """
    one, zero = k.constant(1, a), k.constant(0, a)
    constant, less = k.compare(b, zero, "eq"), k.sub(b, one)
    if not k.records:
        return k.where(constant, zero, k.mul(b, k.pow(a, less)))
    finite = k.compare(k.abs(k.div(one, a)), k.constant(math.inf, a), "lt")
    usual = k.where(constant, finite, k.compare(one, one, "eq"))
    return k.where(usual, k.mul(b, k.pow(k.where(usual, a, one), less)), zero)
