# SPDX-License-Identifier: MIT
"""Hide a dimension of an array in a level, and show it again."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.batches import Batched, Level, Levels, place_of_levels
from autocalc._dispatch.device.device import DeviceArray, dtype_on
from autocalc._dispatch.selection.arrays import arrays

__all__ = ["hidden", "levels_of", "shown", "summed"]


def levels_of(array: Any) -> Levels:
    """Return the levels of an array; none if it is not batched."""
    if array.__class__ is DeviceArray and array.raw.__class__ is Batched:
        levels: Levels = array.raw.levels
        return levels
    return ()


def _wrapped(levels: Levels, data: Any) -> Any:
    """Return an array whose first dimensions are hidden in levels."""
    if not levels:
        return data
    raw = Batched(levels, data, data.shape[len(levels) :], data.dtype)
    return DeviceArray(raw, dtype_on(place_of_levels(levels), data.dtype))


def _moved(data: Any, source: int, to: int) -> Any:
    axes = list(range(data.ndim))
    axes.insert(to, axes.pop(source))
    return arrays.permute(data, axes)


def hidden(array: Any, level: Level, dim: int) -> Any:
    """Return an array without its dimension `dim`, which `level` now hides.

    It is a view.
    """
    levels = levels_of(array)
    data = array.raw.data if levels else array
    place = sum(one.number < level.number for one in levels)
    data = _moved(data, len(levels) + dim, place)
    return _wrapped((*levels[:place], level, *levels[place:]), data)


def shown(array: Any, level: Level, dim: int) -> Any:
    """Return an array with the dimension that `level` hides at place `dim`.

    It is a view.  An array without that level is repeated.
    """
    levels = levels_of(array)
    if level not in levels:
        repeated = arrays.expand(array, (level.size, *array.shape))
        return repeated if dim == 0 else _moved_batched(repeated, dim)
    place = levels.index(level)
    data = _moved(array.raw.data, place, len(levels) - 1 + dim)
    return _wrapped((*levels[:place], *levels[place + 1 :]), data)


def _moved_batched(array: Any, dim: int) -> Any:
    axes = list(range(array.ndim))
    axes.insert(dim, axes.pop(0))
    return arrays.permute(array, axes)


def summed(array: Any, like: Any) -> Any:
    """Return the sum over all examples of the levels that `like` does not have.

    It is the gradient of a tensor that all examples share.  Levels of calls of `vmap`
    that still run stay: inside of them each example has a gradient of its own.
    """
    kept = levels_of(like)
    for level in levels_of(array):
        if level not in kept and not level.active:
            array = arrays.sum(shown(array, level, 0), (0,), False)
    return array

