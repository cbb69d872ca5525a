# SPDX-License-Identifier: MIT
"""Batched arrays: what a tensor holds inside `vmap`.

A function under `vmap` computes for one example, and its arrays hold all of them.  Such
an array is an array on a device of its own, whose library is here: NumPy's array has
one more dimension in front for each `Level`, and the shape does not show it.  Kernels
for these devices are made from batching rules (`autocalc._batching`).
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autocalc._dispatch.device.without_work import WithoutWork
from autocalc.errors import VmapError

#: The places of batched arrays begin with this word.
VMAP = "vmap"


class Level:
    """One dimension that `vmap` hides.

    Attributes
    ----------
    number
        A small number that no other living level has.  Dimensions of several levels are
        in the order of their numbers.
    size
        The size of the dimension.
    start
        The serial number of nodes when the call began.  Tensors of older nodes do not
        have the level.
    active
        Whether the call of `vmap` still runs.
    randomness
        What random functions do: the argument of `vmap`.
    """

    __slots__ = ("__weakref__", "active", "number", "randomness", "size", "start")

    #: What follows the number of a level without a size in the name of a device.
    letter = ""
    #: Whether the number is higher than all others.
    highest = False

    def __init__(self, size: int, start: int = 0) -> None:
        self.size = size
        self.start = start
        self.active = True
        self.randomness = "error"
        with _LOCK:
            taken = set(_LEVELS)
            last = max(taken, default=0) + 1
            free = (n for n in range(1, last + 1) if n not in taken)
            self.number = last if self.highest else next(free)
            _LEVELS[self.number] = self

    def __repr__(self) -> str:
        return f"<level {self.number} of size {self.size}>"


_LOCK = threading.Lock()
#: The levels of calls that run, and of graphs that still exist, by number.
_LEVELS: weakref.WeakValueDictionary[int, Level] = weakref.WeakValueDictionary()

Levels = tuple[Level, ...]


def place_of_levels(levels: Sequence[Level]) -> str:
    """Return the name of the device of arrays with these levels."""
    return "-".join([VMAP, *map(_named, levels)])


def _named(level: Level) -> str:
    return f"{level.number}{level.letter or f'x{level.size}'}"


def is_batched_place(place: str) -> bool:
    """Return whether arrays at a place are batched or dual."""
    return place.startswith(VMAP)


def is_dual_place(place: str) -> bool:
    """Return whether arrays at a place have a tangent (`duals.py`)."""
    return place.startswith(VMAP) and "d" in place


def level_of(number: int) -> Level:
    """Return the living level with a number."""
    return _LEVELS[number]


def levels_at(place: str) -> Levels:
    """Return the living levels of a place that `place_of_levels` has named."""
    names = place.split("-")[1:]
    return tuple([_LEVELS[int(name.rstrip("d").split("x")[0])] for name in names])


class Memory:
    """The allocator of batched arrays: the dispatcher's, so that recordings see it."""

    empty = staticmethod(np.empty)


memory: Any = Memory


class Batched:
    """An array of all examples that has the shape of one example.

    Parameters
    ----------
    levels
        The hidden dimensions, by number.
    data
        The array, with the hidden dimensions in front; None until it is needed.
    shape, dtype
        Those of one example.
    """

    __slots__ = ("_data", "dtype", "levels", "shape")

    def __init__(self, levels: Levels, data: Any, shape: Any, dtype: Any) -> None:
        self.levels = levels
        self._data = data
        self.shape = shape
        self.dtype = dtype

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the hidden dimensions."""
        levels = self.levels
        if len(levels) == 1:
            return (levels[0].size,)
        return tuple([level.size for level in levels])

    @property
    def data(self) -> Any:
        """The array of all examples; memory is allocated at the first use."""
        if self._data is None:
            self._data = memory.empty(self.sizes + self.shape, self.dtype)
        return self._data

    def give(self, result: Any) -> bool:
        """Take a new array as the data, if nothing has used the memory yet."""
        if self._data is not None or not result.flags.c_contiguous:
            return False
        if result.shape != self.sizes + self.shape or result.dtype != self.dtype:
            return False
        self._data = result
        return True

    @property
    def is_used(self) -> bool:
        """Whether the memory exists: something may have written to it."""
        return self._data is not None

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of one example in bytes."""
        if self._data is None:
            return _strides_of(self.shape, self.dtype.itemsize)
        strides: tuple[int, ...] = self._data.strides[len(self.levels) :]
        return strides

    @property
    def ndim(self) -> int:
        """The number of dimensions of one example."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements of one example."""
        return math.prod(self.shape)

    @property
    def flags(self) -> Any:
        """The layout of one example."""
        step = self.dtype.itemsize
        found = _is_contiguous(self.shape, self.strides, step)
        return SimpleNamespace(c_contiguous=found)

    @property
    def is_same(self) -> bool:
        """Whether all examples are one and the same memory."""
        n = len(self.levels)
        return self._data is not None and not any(self._data.strides[:n])

    @property
    def is_view(self) -> bool:
        """Whether another array may have the same memory."""
        return self._data is not None and self._data.base is not None

    def _like(self, data: Any) -> Batched:
        return Batched(self.levels, data, data.shape[len(self.levels) :], data.dtype)

    def _index(self, index: Any) -> Any:
        lead = (slice(None),) * len(self.levels)
        return (*lead, *(index if isinstance(index, tuple) else (index,)))

    def __getitem__(self, index: Any) -> Batched:
        return self._like(self.data[self._index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._index(index)
        if value.__class__ is Batched:
            n, missing = len(self.levels), self.data[place].ndim - value.data.ndim
            # The value is broadcast within each example.
            new = (None,) * max(missing, 0)
            within = (*place[:n], *new, ...)
            value = value.data[within]
        self.data[place] = value

    def reshape(self, *shape: Any) -> Batched:
        """Return a view in another shape; the strides must allow it."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in sizes and not self.data.size:  # NumPy could not tell the size
            known = -math.prod(sizes)
            sizes = [self.size // max(known, 1) if n == -1 else n for n in sizes]
        seen = self.data.reshape(self.sizes + tuple(sizes))
        if seen.size and not np.may_share_memory(seen, self.data):
            raise ValueError("cannot reshape without a copy")
        return self._like(seen)

    def transpose(self, *axes: Any) -> Batched:
        """Return a view with the dimensions in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not order:
            order = range(self.ndim)[::-1]
        n = len(self.levels)
        moved = [n + axis % max(self.ndim, 1) for axis in order]
        return self._like(self.data.transpose(*range(n), *moved))

    def view(self, dtype: Any = None) -> Batched:
        """Return a view, which may interpret the bytes as other elements."""
        if dtype is None:
            return self._like(self.data.view())
        if not self.shape and np.dtype(dtype).itemsize != self.dtype.itemsize:
            raise ValueError("a number cannot be seen with another size")
        return self._like(self.data.view(dtype))


@lru_cache(1024)
def _strides_of(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    """Return the strides of a row-major array."""
    steps = []
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def _repeated(array: Any, shape: tuple[int, ...]) -> Any:
    """Return a read-only view of an array with further dimensions, of stride 0."""
    if not array.flags.c_contiguous:
        return np.broadcast_to(array, shape)
    # NumPy's broadcast_to takes ten times as long.
    strides = (*(0,) * (len(shape) - array.ndim), *array.strides)
    seen = np.ndarray(shape, array.dtype, array, 0, strides)
    seen.flags.writeable = False
    return seen


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], step: int) -> bool:
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def shared_by_examples(name: str, shape: Any) -> VmapError:
    """Return the error for a write of each example into memory that they share."""
    return VmapError(
        f"vmap: {name} writes different values for each example into a tensor of shape "
        f"{tuple(shape)} that all examples share; vmap: inplace arithmetic is not "
        f"possible because there exists a Tensor `other` in extra_args that has more "
        f"elements than `self`. Make the tensor inside "
        f"the function from a batched one, such as by x.new_zeros(...) or "
        f"zeros_like(x), or return a new tensor."
    )


class BatchedLibrary(WithoutWork):
    """The array library of one combination of levels."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers = numbers
        self._known: list[Any] = []

    @property
    def levels(self) -> Levels:
        """The living levels of the place."""
        found = tuple([known() for known in self._known])
        if found and None not in found:
            return found
        found = tuple([_LEVELS[number] for number in self._numbers])
        self._known = [weakref.ref(level) for level in found]
        return found

    def empty(self, shape: Any, dtype: Any) -> Batched:
        """Return a new array; its memory is allocated when it is used."""
        return Batched(self.levels, None, tuple(shape), dtype)

    def from_host(self, array: Any) -> Batched:
        """Return an array in which all examples are the same, read-only memory."""
        levels = self.levels
        sizes = tuple([level.size for level in levels])
        data = _repeated(array, sizes + array.shape)
        return Batched(levels, data, array.shape, array.dtype)

    def repeated(self, array: Any) -> Batched:
        """Return an array that fewer levels have, or none, as a view with all of them.

        `array` is a NumPy array or a `Batched`.
        """
        own: Levels = ()
        data = array
        if array.__class__ is Batched:
            own, data = array.levels, array.data
        levels = self.levels
        index = tuple([slice(None) if one in own else None for one in levels])
        sizes = tuple([level.size for level in levels])
        shape = data.shape[len(own) :]
        if own:
            place = (*index, ...)
            seen = np.broadcast_to(data[place], sizes + shape)
        else:
            seen = _repeated(data, sizes + shape)
        return Batched(levels, seen, shape, data.dtype)

    def to_host(self, array: Batched) -> Any:
        """Return the array of one example, if all examples are the same memory."""
        if not array.is_same or not array.data.size:
            raise VmapError(
                f"vmap: the values of a tensor of shape {array.shape} are needed by "
                f"Python, but they differ between the {math.prod(array.sizes)} "
                f"examples. item() on a Tensor, bool(), tolist(), numpy() and results "
                f"whose shape depends on values do not work inside vmap; it is "
                f"data-dependent control flow. Use where(), or return the tensor and "
                f"read it outside of vmap."
            )
        first = (*(0,) * len(array.levels), ...)
        return array.data[first].copy()

    def strided(self, array: Batched, shape: Any, strides: Any, offset: int) -> Any:
        """Return a view of each example that begins `offset` bytes after its start."""
        data, n = array.data, len(array.levels)
        steps = data.strides[:n]
        start = offset // data.itemsize
        if start:
            line = as_strided(data, (start + 1,), (data.itemsize,))
            data = line[start:]
        seen = as_strided(data, (*array.sizes, *shape), (*steps, *strides))
        # The base of a view is an array, which the owner of memory is found by.
        return Batched(array.levels, seen.view(), tuple(shape), array.dtype)

    def address(self, array: Batched) -> int:
        """Return the address of the first element of the first example."""
        address: int = array.data.__array_interface__["data"][0]
        return address

    def may_share_memory(self, a: Batched, b: Batched) -> bool:
        """Return whether a write to one of the arrays may change the other one."""
        return np.may_share_memory(a.data, b.data)


@lru_cache(256)
def library_of_place(place: str) -> BatchedLibrary:
    """Return the library of a place that `place_of_levels` has named."""
    return BatchedLibrary(tuple([level.number for level in levels_at(place)]))
