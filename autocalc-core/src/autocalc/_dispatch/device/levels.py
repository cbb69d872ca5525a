# SPDX-License-Identifier: MIT
"""Hide a dimension of an array in a level, and show it again; both are views."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.device import device_views as on_device
from autocalc._dispatch.device.batches import Batched, Level, Levels, place_of_levels
from autocalc._dispatch.device.device import DeviceArray, dtype_on


def levels_of(array: Any) -> Levels:
    """Return the levels of an array; none if it is not batched."""
    if array.__class__ is DeviceArray and array.raw.__class__ is Batched:
        levels: Levels = array.raw.levels
        return levels
    return ()


def unshared(array: Any, other: Any) -> list[Level]:
    """Return the ended levels of an array that another array does not have.

    They belong to calls of `vmap` that no longer run.
    """
    known = levels_of(other)
    return [x for x in levels_of(array) if x not in known and not x.active]


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
    levels = levels_of(array)
    data = array.raw.data if levels else array
    place = sum(one.number < level.number for one in levels)
    data = _moved(data, len(levels) + dim, place)
    return _wrapped((*levels[:place], level, *levels[place:]), data)


def shown(array: Any, level: Level, dim: int) -> Any:
    """Return an array with the dimension that `level` hides at place `dim`.

    An array without that level is repeated.
    """
    levels = levels_of(array)
    if level not in levels:
        shape = (level.size, *array.shape)
        if array.__class__ is DeviceArray:
            return _moved(on_device.expand(array, shape), 0, dim)
        return _moved(np.broadcast_to(array, shape), 0, dim)
    place = levels.index(level)
    data = _moved(array.raw.data, place, len(levels) - 1 + dim)
    return _wrapped((*levels[:place], *levels[place + 1 :]), data)
