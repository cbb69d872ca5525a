# SPDX-License-Identifier: MIT
"""How much memory the process has by itself, outside of Python's objects.

``malloc`` is what the C library gave out and did not get back, to the byte: a kernel
that forgets 16 bytes a call shows.  ``mapped`` and ``resident`` are the address space
and the pages of the process; they see other allocators, and pages mapped directly.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

#: Bytes a call from which growth is a leak: the least that each measure shows.
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
    """Return the bytes that the process has, by each measure that the system offers."""
    found = {}
    if _mallinfo is not None:
        info = _mallinfo()
        found["malloc"] = info.uordblks + info.hblkhd
    pages = _pages()
    if pages is not None:
        found["mapped"], found["resident"] = pages
    return found


def _pages() -> tuple[int, int] | None:
    """Return address space and resident memory; the peak of the latter elsewhere."""
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
    return 0, peak  # bytes on macOS; what counts is whether it grows


def _find_mallinfo() -> Callable[[], _MallInfo] | None:
    """Return glibc's mallinfo2, None elsewhere; mallinfo counts in 32 bits only."""
    if os.name != "posix":
        return None
    function = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if function is not None:
        function.restype = _MallInfo
    return function


_mallinfo = _find_mallinfo()
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
