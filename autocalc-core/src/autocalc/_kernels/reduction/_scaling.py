# SPDX-License-Identifier: MIT
"""Scaling by powers of two against overflow of squares, and precise deviations.

Numbers whose squares overflow or underflow are first multiplied by a power of two, the
`unit`; the results are divided by it.  In references, only float64 needs this, because
the squares of float32 fit into float64.  The mean of numbers far from zero has errors
in the last digits; adding the mean of the deviations from it corrects them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels.precision import wide
from autocalc._kernels.spec import Array, DType

Axes = int | tuple[int, ...]

_FLOAT64 = np.dtype(np.float64)


def limits(dtype: DType) -> tuple[float, float]:
    """Return the magnitude from which numbers are scaled, and the power of two."""
    bits = min(int(np.finfo(dtype).maxexp), 1024)  # treat long double as float64
    return 2.0 ** (bits * 25 // 64), 2.0 ** (bits * 5 // 8)


def is_tiny_eps(dtype: DType, eps: float) -> bool:
    """Return whether small numbers are scaled; squares above `eps` do not need it."""
    return eps < limits(dtype)[0] ** -2


def scaled_eps(xp: Any, eps: float, unit: Any) -> Any:
    """Return `eps` in units of the scaled squares; a positive one remains positive."""
    if eps == 0.0 or isinstance(unit, float):
        return eps
    if eps < 0.0:
        return eps * unit * unit
    return xp.maximum(eps * unit * unit, float(np.finfo(unit.dtype).tiny))


def scaled(xp: Any, a: Array, axes: Axes, eps: float = 0.0) -> tuple[Array, Any]:
    """Return the widened `a` times the unit of each reduced part, and the units."""
    w = wide(xp, a)
    if w.dtype != a.dtype or a.dtype.itemsize > 8:  # a wider dtype holds the squares
        return w, 1.0
    far, factor = limits(a.dtype)
    size = xp.max(xp.absolute(w), axis=axes, keepdims=True, initial=0.0)
    unit = xp.where(size > far, 1 / factor, 1.0)
    if is_tiny_eps(a.dtype, eps):
        unit = xp.where(size * far < 1, factor, unit)
    return (w, 1.0) if xp.all(unit == 1.0) else (w * unit, unit)


def unit_of(xp: Any, arrays: Sequence[Array]) -> float:
    """Return a common unit for all elements of several arrays."""
    if arrays[0].dtype != _FLOAT64:
        return 1.0
    far, factor = limits(arrays[0].dtype)
    size = max([float(xp.max(xp.absolute(a))) for a in arrays if a.size], default=0.0)
    if size > far:
        return 1 / factor
    return factor if 0 < size < 1 / far else 1.0


def deviations(
    xp: Any, a: Array, axes: Axes, eps: float = 0.0
) -> tuple[Array, Array, Any]:
    """Return scaled deviations from the mean, the scaled mean, and the units."""
    w, unit = scaled(xp, a, axes, eps)
    n = math.prod([a.shape[axis] for axis in _as_tuple(axes)])
    mean = xp.sum(w, axis=axes, keepdims=True) / n
    rest = w - mean
    if w.dtype != a.dtype:  # the wider dtype is precise enough
        return rest, mean, unit
    shift = xp.sum(rest, axis=axes, keepdims=True) / n
    shift = xp.where(xp.isfinite(shift), shift, 0.0)  # no shift for an infinite mean
    return rest - shift, mean + shift, unit


def _as_tuple(axes: Axes) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else axes


def shaped(unit: Any, shape: tuple[int, ...]) -> Any:
    """Return the units in a shape that broadcasts with the numbers to divide."""
    return unit if isinstance(unit, float) else unit.reshape(shape)
