# SPDX-License-Identifier: MIT
"""Memory in whole pages: between two forbidden pages, or sparse.

A read outside of an operand between forbidden pages ends the process at once.  With
guard bytes of NaN alone, a read whose value is not used would go unnoticed.  A sparse
mapping has gigabytes of addresses and only a few pages of memory.
"""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import sys
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.spec import Array, DType, Shape

PAGE = mmap.PAGESIZE
#: The bytes from the first to the last element of a sparse array.  This distance
#: overflows 32 bits, both in bytes and in elements of 4 bytes.
FAR = 9 << 30

#: Python has a name for it since 3.13; the number is that of Linux.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_PROT_NONE = 0


def filling_of(dtype: DType) -> int:
    """Return the byte that fills memory outside of operands."""
    return 0xFF if dtype.kind in FLOAT_KINDS else 0xA5


def has_guard_pages() -> bool:
    """Return whether this system can forbid access to pages."""
    return _mprotect() is not None


def between_guards(shape: Shape, dtype: DType, layout: str) -> Array:
    """Return an array that begins directly after a forbidden page, or ends before one.

    The layout is "begins", "ends", or "ends-strided", which has gaps of one element.
    """
    strided = layout == "ends-strided" and bool(shape) and math.prod(shape) > 0
    step = 2 if strided else 1
    places = (*shape[:-1], step * shape[-1]) if strided else shape
    nbytes = math.prod(places) * dtype.itemsize
    room = -(-nbytes // PAGE) * PAGE
    raw = _mapped(room + 2 * PAGE, 0)
    for start in (0, room + PAGE):
        _forbid(raw, start)
    if layout == "begins":
        start = PAGE
    else:
        start = PAGE + room - nbytes + (step - 1) * dtype.itemsize
    inner = raw[PAGE : PAGE + room]
    inner.fill(filling_of(dtype))
    strides = _strides(places, dtype)
    if strided:
        strides = (*strides[:-1], step * dtype.itemsize)
    made: Array = np.ndarray(shape, dtype, raw, start, strides)
    return made


def sparse(shape: Shape, dtype: DType) -> Array | None:
    """Return an array whose first dimension larger than 1 spans `FAR` bytes.

    The result is None if there is no such dimension.  The addresses around the array
    can be read and written, so a kernel whose offsets overflow gives wrong results and
    does not crash.
    """
    axis = next((d for d, size in enumerate(shape) if size > 1), None)
    if axis is None or not math.prod(shape):
        return None
    strides = list(_strides(shape, dtype))
    step = FAR // (shape[axis] - 1)
    strides[axis] = max(strides[axis], -(-step // 64) * 64)
    raw = _mapped(3 * FAR, _NO_RESERVE)
    made: Array = np.ndarray(shape, dtype, raw, FAR, strides)
    return made


def _strides(shape: Shape, dtype: DType) -> Shape:
    """Return the strides of an array in row-major order."""
    return tuple(dtype.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape)))


def _mapped(nbytes: int, flags: int) -> Any:
    """Return zeros in a separate mapping, which is freed together with the array."""
    how = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags
    return np.frombuffer(mmap.mmap(-1, nbytes, flags=how), np.uint8)


def _forbid(raw: Any, start: int) -> None:
    protect = _mprotect()
    assert protect is not None  # the check has tested this
    if protect(raw.ctypes.data + start, PAGE, _PROT_NONE):
        raise OSError("mprotect failed")


@functools.cache
def _mprotect() -> Any:
    if sys.platform == "win32":
        return None
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function
