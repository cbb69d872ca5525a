# SPDX-License-Identifier: MIT
"""Measure the memory of the process outside of Python's objects.

``malloc`` is the exact number of bytes that the C library has allocated and not freed.
It reveals a kernel that leaks 16 bytes per call.  ``mapped`` and ``resident`` are the
size of the address space and the resident pages of the process.  They include other
allocators, and pages that are mapped directly.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

#: The growth in bytes per call that counts as a leak: the resolution of each measure.
LEAST = {"malloc": 16, "mapped": 4096, "resident": 4096}

_FIELDS = (
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",
    "usmblks",
    "fsmblks",
    "uordblks",
    "fordblks",
    "keepcost",
)


class _MallInfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _FIELDS)


def native_memory() -> dict[str, int]:
    """Return the bytes of the process, for each measure that the system offers."""
    found = {}
    if _mallinfo is not None:
        info = _mallinfo()
        found["malloc"] = info.uordblks + info.hblkhd
    pages = _pages()
    if pages is not None:
        found["mapped"], found["resident"] = pages
    return found


def _pages() -> tuple[int, int] | None:
    """Return (address space, resident memory), or (0, peak) on systems without them."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  10 us
            size, resident = file.read().split()[:2]
    except OSError:
        return _peak()
    return int(size) * _PAGE, int(resident) * _PAGE


def _peak() -> tuple[int, int] | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0, peak  # bytes on macOS; only growth matters


def _find_mallinfo() -> Callable[[], _MallInfo] | None:
    """Return glibc's mallinfo2, None elsewhere; mallinfo counts only in 32 bits."""
    if os.name != "posix":
        return None
    function = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if function is not None:
        function.restype = _MallInfo
    return function


_mallinfo = _find_mallinfo()
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
