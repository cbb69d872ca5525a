# SPDX-License-Identifier: MIT
"""Calls of functions in C that read what no guard sees: clocks, files, the process."""

from __future__ import annotations

import io
from types import CodeType, FrameType
from typing import Any

from autocalc._compile._whose import _LIBRARY

_CLOCK = "the time"
_FILES = "what the system knows about files"
_PROCESS = "the state of the interpreter"
_CHANCE = "the random numbers that the system draws"

#: By the module of a function: what it reads, and the names of those that do.
_READS: dict[str, tuple[str, frozenset[str]]] = {
    "time": (_CLOCK, frozenset(
        {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter",
         "perf_counter_ns", "process_time", "process_time_ns", "thread_time",
         "thread_time_ns", "localtime", "gmtime", "ctime", "strftime"})),
    "posix": (_FILES, frozenset(
        {"stat", "lstat", "fstat", "listdir", "scandir", "access", "getcwd", "getcwdb",
         "readlink", "read", "pread"})),
    "sys": (_PROCESS, frozenset(
        {"getrefcount", "getrecursionlimit", "getswitchinterval",
         "getallocatedblocks", "get_int_max_str_digits"})),
    "gc": (_PROCESS, frozenset(
        {"isenabled", "get_count", "get_stats", "get_objects", "get_referrers",
         "get_threshold", "get_debug"})),
}  # fmt: skip
_READS["nt"] = _READS["posix"]

_NOW = frozenset({"datetime.now", "datetime.utcnow", "datetime.today", "date.today"})

#: Methods of files and their like, all in C.
_FROM_FILES = frozenset(
    {"read", "read1", "readline", "readlines", "readinto", "readinto1", "readall",
     "getvalue", "getbuffer"}
)  # fmt: skip

#: By the module of a class: what its objects hold, which only their methods tell.
_KEPT_IN_C = {"sqlite3": "what a database holds", "_queue": "what a queue holds"}

#: Of Python's library: what looks for source code, and logs; results do not depend on
#: it.
_EXEMPT = ("<frozen importlib", "<frozen zipimport", "/linecache.py", "/tokenize.py",
           "/logging/__init__.py", "/warnings.py", "/traceback.py")  # fmt: skip


def logs(frame: FrameType | None) -> bool:
    """Return whether Python's library works for `logging` in a frame."""
    while frame is not None and "/logging/" not in frame.f_code.co_filename:
        if not frame.f_code.co_filename.startswith(_LIBRARY):
            return False
        frame = frame.f_back
    return frame is not None


def read_from_outside(function: Any, code: CodeType, *, is_direct: bool) -> str:
    """Return what a function in C reads that no guard sees; "" if it reads nothing.

    `code` calls it; clocks and the interpreter matter where that is the user's.
    """
    name, of = function.__name__, getattr(function, "__self__", None)
    if name == "urandom":
        return _CHANCE
    what, names = _READS.get(function.__module__ or "", ("", frozenset()))
    if name in names:
        found = what
    elif isinstance(of, io.IOBase) and name in _FROM_FILES:
        found = "what a file holds"
    elif function.__qualname__ in _NOW:
        found = _CLOCK
    else:
        modules = [base.__module__ for base in type(of).__mro__]
        found = next((_KEPT_IN_C[m] for m in modules if m in _KEPT_IN_C), "")
    if found in {_CLOCK, _PROCESS}:
        return found if is_direct else ""
    return "" if any(part in code.co_filename for part in _EXEMPT) else found
