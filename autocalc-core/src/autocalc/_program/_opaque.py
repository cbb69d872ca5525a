# SPDX-License-Identifier: MIT
"""Arrays that tell when something else than a kernel looks at their elements.

For who records the kernels of a call, to run them again without the rest of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: What may be asked of an array without a look at its elements.
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
    if reads is not None:  # else another thread looks at the same tensor
        reads.append(True)


class OpaqueArray(np.ndarray):
    """An array whose elements are not to be read, and a note of it if they are."""

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


def plain(x: Any) -> Any:
    """Return an array as one of NumPy's own class, and anything else as it is."""
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
def guarded(tensors: list[Any], others: dict[int, Any]) -> Iterator[list[bool]]:
    """Guard the arrays of tensors in this block; give what notes each look.

    `others` are arrays that stand in for arrays of these ids.
    """
    before = getattr(_running, "reads", None)
    reads: list[bool] = []
    _running.reads = reads
    tensors = list({id(x): x for x in tensors}.values())
    arrays = [x._array for x in tensors]
    guards = [others.get(id(a), a).view(OpaqueArray) for a in arrays]
    for x, guard in zip(tensors, guards, strict=True):
        x._array = guard
    try:
        yield reads
    finally:
        for x, a, guard in zip(tensors, arrays, guards, strict=True):
            if x._array is guard:  # and nobody has given it another one
                x._array = a
        _running.reads = before


def copy_of(a: Any, nbytes: int) -> Any:
    """Return a copy whose elements lie as those of `a`, which spans so many bytes."""
    line = np.empty(nbytes, np.uint8)
    copy: Any = np.ndarray(a.shape, a.dtype, line, 0, a.strides)
    copy[...] = a
    return copy


def view_at(a: Any, dtype: Any, shape: Any, strides: Any, offset: int) -> Any:
    """Return a view of the memory `offset` bytes behind the first element of `a`."""
    dtype = a.dtype if dtype is None else dtype
    start = np.lib.stride_tricks.as_strided(a, (1,), (a.itemsize,)).view(np.uint8)
    line = np.lib.stride_tricks.as_strided(start, (offset + dtype.itemsize,), (1,))
    first = line[offset:].view(dtype)
    return np.lib.stride_tricks.as_strided(first, shape, strides)
