# SPDX-License-Identifier: MIT
"""Make dual arrays of two parts, and take them apart.

An array may have several dual levels.  The one with the highest number is outside: both
of its parts are dual arrays of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.batches import Level, place_of_levels
from autocalc._dispatch.device.device import DeviceArray, DeviceDType, dtype_on
from autocalc._dispatch.device.duals import Dual, DualLevel, functions
from autocalc.errors import DeviceError


def has_tangent(array: Any) -> bool:
    """Return whether an array is dual."""
    return array.__class__ is DeviceArray and array.raw.__class__ is Dual


def all_levels(array: Any) -> tuple[Level, ...]:
    """Return the levels of an array, batched and dual, by number."""
    dtype = array.dtype
    if dtype.__class__ is not DeviceDType:
        return ()
    levels = getattr(dtype.library, "levels", None)
    if levels is None:
        raise DeviceError(
            f"forward_ad: tensors on {dtype.place} have no tangents; forward mode "
            f"serves the CPU. Move the tensor with cpu()."
        )
    return tuple(levels)


def top(array: Any) -> DualLevel | None:
    """Return the outermost dual level of an array."""
    return array.raw.level if has_tangent(array) else None


def _above(level: DualLevel, *arrays: Any) -> DualLevel | None:
    """Return the outermost level of arrays, if its number is not below `level`'s."""
    found = [x for x in map(top, arrays) if x is not None]
    highest = max(found, key=lambda x: x.number, default=None)
    return None if highest is None or highest.number < level.number else highest


def pair(level: DualLevel, primal: Any, tangent: Any, *, adjoint: bool = False) -> Any:
    """Return the array ``primal + e tangent``; a tangent of None is zero."""
    outer = _above(level, primal, tangent)
    assert outer is not level, "the parts do not have the level"
    if outer is not None:
        p, dp = primal_at(primal, outer), tangent_at(primal, outer)
        t, dt = _apart(tangent, outer)
        more = None
        if dp is not None or dt is not None:
            more = pair(level, _or_zeros(dp, p), dt, adjoint=adjoint)
        inner = pair(level, p, t, adjoint=adjoint)
        return pair(outer, inner, more, adjoint=_is_adjoint(outer, primal, tangent))
    levels = {x.number: x for a in (primal, tangent) if a is not None
              for x in all_levels(a)}  # fmt: skip
    part: Any = getattr(primal.dtype, "numpy", primal.dtype)
    if levels:
        part = dtype_on(place_of_levels([levels[n] for n in sorted(levels)]), part)
    levels[level.number] = level
    place = place_of_levels([levels[n] for n in sorted(levels)])
    raw = Dual(level, part, primal, tangent, primal.shape, adjoint=adjoint)
    return DeviceArray(raw, dtype_on(place, raw.dtype))


def _apart(tangent: Any, outer: DualLevel) -> tuple[Any, Any]:
    if tangent is None:
        return None, None
    return primal_at(tangent, outer), tangent_at(tangent, outer)


def _or_zeros(a: Any, like: Any) -> Any:
    return functions.k.zeros(like.shape, like.dtype) if a is None else a


def _is_adjoint(level: DualLevel, *arrays: Any) -> bool:
    return any(top(a) is level and a.raw.adjoint for a in arrays if a is not None)


def primal_at(array: Any, level: DualLevel) -> Any:
    """Return the primal of an array at a level: the array itself if it has none."""
    outer = _above(level, array)
    if outer is None:
        return array
    raw = array.raw
    if outer is level:
        return raw.primal
    p, t = primal_at(raw.primal, level), raw.tangent
    t = None if t is None else primal_at(t, level)
    return pair(outer, p, t, adjoint=raw.adjoint)


def tangent_at(array: Any, level: DualLevel) -> Any:
    """Return the tangent of an array at a level, or None for zero."""
    outer = _above(level, array)
    if outer is None:
        return None
    raw = array.raw
    if outer is level:
        return raw.tangent
    p, t = tangent_at(raw.primal, level), raw.tangent
    t = None if t is None else tangent_at(t, level)
    if p is None and t is None:
        return None
    return pair(outer, _or_zeros(p, raw.primal), t, adjoint=raw.adjoint)


def is_adjoint_at(array: Any, level: DualLevel) -> bool:
    """Return whether an array is a cotangent with exchanged parts at a level."""
    outer = _above(level, array)
    if outer is None:
        return False
    raw = array.raw
    if outer is level:
        return bool(raw.adjoint)
    inner = (raw.primal, raw.tangent)
    return any(is_adjoint_at(a, level) for a in inner if a is not None)


def adjoint_levels(array: Any) -> list[DualLevel]:
    """Return the levels at which an array is a cotangent with exchanged parts."""
    levels = all_levels(array) if has_tangent(array) else ()
    return [x for x in levels if isinstance(x, DualLevel) and is_adjoint_at(array, x)]


def missing_levels(array: Any, source: Any) -> list[DualLevel]:
    """Return the levels that run and whose tangents an array cannot take over."""
    if not has_tangent(source):
        return []
    known = all_levels(array)
    return [
        x
        for x in all_levels(source)
        if isinstance(x, DualLevel) and x.active and x not in known
        if tangent_at(source, x) is not None
    ]


def both(array: Any, function: Callable[[Any], Any]) -> Any:
    """Return a dual array with a function applied to both parts."""
    raw = array.raw
    tangent = raw.tangent
    tangent = None if tangent is None else function(tangent)
    return pair(raw.level, function(raw.primal), tangent, adjoint=raw.adjoint)


def zeros_like(array: Any) -> Any:
    """Return an array of zeros."""
    return functions.k.zeros(array.shape, array.dtype)


def collapsed(array: Any, level: DualLevel) -> Any:
    """Return the gradient with respect to a primal from an adjoint cotangent."""
    found = tangent_at(array, level)
    return zeros_like(primal_at(array, level)) if found is None else found
