# SPDX-License-Identifier: MIT
"""Opaque arrays: each read of their elements outside of a kernel is noted.

A function is recorded with such arrays in place of its own.  If Python reads an
element, the kernels may depend on it, and no short program can repeat the call::

    with noting_reads() as reads:
        if x.view(OpaqueArray)[0] > 3:     # reads == [True]
            ...
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: Attributes that read no element.
_HARMLESS = {
    *("T", "base", "diagonal", "dtype", "flags", "itemsize", "nbytes", "ndim"),
    *("reshape", "setflags", "shape", "size", "squeeze", "strides", "transpose"),
    *("view", "__array_interface__", "__array_struct__", "__array_priority__"),
    *("__array_finalize__", "__array_function__", "__array_ufunc__", "__class__"),
}
_VIEWS = frozenset({np.broadcast_to, np.may_share_memory, np.shares_memory})

_running = threading.local()


def _note() -> None:
    reads = getattr(_running, "reads", None)
    if reads is not None:  # otherwise another thread reads the same tensor
        reads.append(True)


class OpaqueArray(np.ndarray):
    """An array that notes each read of its elements outside of kernels."""

    def __getattribute__(self, name: str) -> Any:
        if name not in _HARMLESS:
            _note()
        return super().__getattribute__(name)

    def __getitem__(self, index: Any) -> Any:
        result = super().__getitem__(index)
        seen = isinstance(result, np.ndarray)
        if not seen or (result.size and not np.may_share_memory(result, self)):
            _note()
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        _note()
        super().__setitem__(index, value)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in _VIEWS:
            _note()
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        _note()
        given = [plain(x) for x in inputs]
        if "out" in kw:
            kw["out"] = tuple([plain(x) for x in kw["out"]])
        return getattr(ufunc, method)(*given, **kw)

    def __bool__(self) -> bool:
        _note()
        return bool(plain(self))

    def __int__(self) -> int:
        _note()
        return int(plain(self))

    def __float__(self) -> float:
        _note()
        return float(plain(self))

    def __index__(self) -> int:
        _note()
        index: int = plain(self).__index__()
        return index

    def __iter__(self) -> Iterator[Any]:
        _note()
        return iter(plain(self))

    def __contains__(self, x: Any) -> bool:
        _note()
        return x in plain(self)


class _Alias:
    """Exposes an array's memory to NumPy; arrays made from it have no array as base."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.__array_interface__ = base.__array_interface__


def opaque(array: Any) -> Any:
    """Return an opaque array on the memory of `array`.

    The bases of all its views lead to it, whatever `array` itself is a view of.  So
    where two arrays overlap, a view shows to which of them it belongs.
    """
    alias = np.asarray(_Alias(array))
    return alias.view(array.dtype).view(OpaqueArray)


def alias_of(array: Any) -> Any:
    """Return the array to which the bases of all views of an opaque array lead."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def plain(x: Any) -> Any:
    """Return an opaque array as a plain array of NumPy, and anything else as it is."""
    if isinstance(x, (list, tuple)) and any(isinstance(one, OpaqueArray) for one in x):
        return [plain(one) for one in x]
    if not isinstance(x, OpaqueArray):
        return x
    base = x.base
    if (
        type(base) is np.ndarray
        and base.base is None
        and (base.shape, base.strides) == (x.shape, x.strides)
        and base.flags.writeable == x.flags.writeable
        and base.dtype is x.dtype
    ):
        return base
    return x.view(np.ndarray)


@contextmanager
def noting_reads() -> Iterator[list[bool]]:
    """Give a list that is not empty if an element was read in this block."""
    before = getattr(_running, "reads", None)
    reads: list[bool] = []
    _running.reads = reads
    try:
        yield reads
    finally:
        _running.reads = before
