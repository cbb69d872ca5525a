# SPDX-License-Identifier: MIT
"""Hide a dimension of an array in a level, and show it again; both are views."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.device import device_views as on_device
from autocalc._dispatch.device.batches import Batched, Level, Levels, place_of_levels
from autocalc._dispatch.device.device import DeviceArray, dtype_on
from autocalc._dispatch.device.dual_parts import (
    adjoint_levels,
    all_levels,
    both,
    collapsed,
    has_tangent,
)
from autocalc._dispatch.device.duals import Dual, DualLevel


def levels_of(array: Any) -> Levels:
    """Return the levels of an array; none if it is not batched."""
    if array.__class__ is DeviceArray:
        raw = array.raw
        if raw.__class__ is Batched:
            levels: Levels = raw.levels
            return levels
        if raw.__class__ is Dual:
            every = array.dtype.library.levels  # type: ignore[attr-defined]  # of duals
            return tuple([x for x in every if x.__class__ is not DualLevel])
    return ()


def unshared(array: Any, other: Any) -> list[Level]:
    """Return the levels of a cotangent that another array does not have.

    They belong to calls of `vmap` that no longer run, or to dual arrays whose parts are
    exchanged in cotangents.
    """
    known = levels_of(other)
    found = [x for x in levels_of(array) if x not in known and not x.active]
    if has_tangent(array):
        mine = adjoint_levels(array)
        others: Any = all_levels(other) if has_tangent(other) else ()
        found = [*(x for x in mine if x not in others), *found]
    return found


def without_level(k: Any, array: Any, level: Level) -> Any:
    """Return a cotangent of what all examples share, or of what has no tangent."""
    if level.__class__ is DualLevel:
        return collapsed(array, level)
    return k.sum(shown(array, level, 0), (0,), False)


def _wrapped(levels: Levels, data: Any) -> Any:
    """Return an array whose first dimensions are hidden in levels."""
    if not levels:
        return data
    raw = Batched(levels, data, data.shape[len(levels) :], data.dtype)
    return DeviceArray(raw, dtype_on(place_of_levels(levels), data.dtype))


def _moved(a: Any, source: int, to: int) -> Any:
    if source == to:
        return a
    axes = list(range(a.ndim))
    axes.insert(to, axes.pop(source))
    return a.transpose(axes)


def hidden(array: Any, level: Level, dim: int) -> Any:
    """Return an array without its dimension `dim`, which `level` now hides."""
    if has_tangent(array):
        return both(array, lambda a: hidden(a, level, dim))
    levels = levels_of(array)
    data = array.raw.data if levels else array
    place = sum(one.number < level.number for one in levels)
    data = _moved(data, len(levels) + dim, place)
    return _wrapped((*levels[:place], level, *levels[place:]), data)


def shown(array: Any, level: Level, dim: int) -> Any:
    """Return an array with the dimension that `level` hides at place `dim`.

    An array without that level is repeated.
    """
    if has_tangent(array):
        return both(array, lambda a: shown(a, level, dim))
    levels = levels_of(array)
    if level not in levels:
        shape = (level.size, *array.shape)
        if array.__class__ is DeviceArray:
            return _moved(on_device.expand(array, shape), 0, dim)
        return _moved(np.broadcast_to(array, shape), 0, dim)
    place = levels.index(level)
    data = _moved(array.raw.data, place, len(levels) - 1 + dim)
    return _wrapped((*levels[:place], *levels[place + 1 :]), data)
