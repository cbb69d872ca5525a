# SPDX-License-Identifier: MIT
"""Calls of C functions that read what no guard sees: clocks, files, the process."""

from __future__ import annotations

import io
from types import CodeType, FrameType, MethodType
from typing import Any

from autocalc._compile._objects import DRAWS, dict_of
from autocalc._compile._reads import reads_of
from autocalc._compile._whose import _LIBRARY

_CLOCK = "the time"
_FILES = "what the system knows about files"
_SYSTEM = "what the system knows about processes"
_PROCESS = "the state of the interpreter"
_CHANCE = "the random numbers that the system draws"

#: By the module of functions: what they read, and the names of those that read it.
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
         "getallocatedblocks", "get_int_max_str_digits", "gettrace", "getprofile",
         "_current_frames"})),
    "gc": (_PROCESS, frozenset(
        {"isenabled", "get_count", "get_stats", "get_objects", "get_referrers",
         "get_threshold", "get_debug"})),
    "_weakref": (_PROCESS, frozenset({"getweakrefcount", "getweakrefs"})),
    "_thread": (_PROCESS, frozenset({"_count", "stack_size"})),
    "_tracemalloc": (_PROCESS, frozenset(
        {"is_tracing", "get_traced_memory", "get_tracemalloc_memory"})),
    "faulthandler": (_PROCESS, frozenset({"is_enabled"})),
    "_signal": (_SYSTEM, frozenset({"getsignal", "getitimer"})),
    "_locale": (_SYSTEM, frozenset({"setlocale", "localeconv"})),
    "resource": (_SYSTEM, frozenset({"getrusage", "getrlimit"})),
    "numpy": ("what a file holds", frozenset({"fromfile"})),
}  # fmt: skip
_OF_POSIX = frozenset({"getloadavg", "times", "umask", "getpriority", "system"})
_READS["nt"] = _READS["posix"]

_NOW = frozenset({"datetime.now", "datetime.utcnow", "datetime.today", "date.today"})

#: Methods of files and similar objects, all in C.
_FROM_FILES = frozenset(
    {"read", "read1", "readline", "readlines", "readinto", "readinto1", "readall",
     "getvalue", "getbuffer", "tell"}
)  # fmt: skip

#: Code that contains one of these names may open a file to write to it.
_WRITES = ("write", "print", "save", "dump", "append", "touch", "mkdir", "copy")

#: By the name of a class or its module: the contents of objects that only their methods
#: reveal.
_KEPT_IN_C = {"sqlite3": "what a database holds", "_queue": "what a queue holds"}
#: The same for objects that a step may also make for itself.
_KEPT_IN_OLD = {
    "_asyncio": "the state of a task",
    "_ctypes.CFuncPtr": "what a function in C returns",
    "_ctypes._Pointer": "memory by its address",
    "_socket": "what a socket receives",
    "select": "what the system knows about files",
    "xml.etree.ElementTree": "what an element of XML holds",
} | dict.fromkeys(
    ("_blake2", "_bz2", "_hashlib", "_lzma", "_md5", "_sha1", "_sha2", "_sha256",
     "_sha3", "_sha512", "zlib"),
    "the state of a function that compresses or digests",
)  # fmt: skip

#: Functions of Python's library that read the state of the process, by module and name.
_OF_LIBRARY = {
    ("linecache", "getline"): "what a file holds",
    ("linecache", "getlines"): "what a file holds",
    ("threading", "active_count"): _SYSTEM,
    ("threading", "enumerate"): _SYSTEM,
    ("ctypes", "string_at"): "memory by its address",
    ("ctypes", "wstring_at"): "memory by its address",
}

#: Parts of Python's library that search for source code or write logs; results do not
#: depend on them.
_EXEMPT = ("<frozen importlib", "<frozen zipimport", "/logging/__init__.py",
           "/warnings.py", "/traceback.py")  # fmt: skip


def logs(frame: FrameType | None) -> bool:
    """Return whether a frame belongs to Python's library and works for `logging`."""
    while frame is not None and "/logging/" not in frame.f_code.co_filename:
        if not frame.f_code.co_filename.startswith(_LIBRARY):
            return False
        frame = frame.f_back
    return frame is not None


def read_from_outside(function: Any, frame: FrameType, caller: FrameType) -> str:
    """Return what a function in C reads that no guard sees; "" if it reads nothing.

    `frame` calls it on behalf of the user's `caller`.  Reads of clocks and of the
    interpreter count only if both are the same frame.
    """
    name = function.__name__
    if name == "urandom":
        return _CHANCE
    what, names = _READS.get(function.__module__ or "", ("", frozenset()))
    found = what if name in names else _read_by(function, caller.f_code)
    if found in {_CLOCK, _PROCESS}:
        return found if frame is caller else ""
    return "" if _is_exempt(frame, caller) else found


def _read_by(function: Any, code: CodeType) -> str:
    """Return what a function in C reads, found by its name or its object."""
    name, of = function.__name__, getattr(function, "__self__", None)
    if name == "open" and function.__module__ in {"io", "_io"}:
        reads = reads_of(code)
        known = reads.names | reads.globals.keys()
        writes = any(part in one for one in known for part in _WRITES)
        return "" if writes else "what a file holds"
    if isinstance(of, io.IOBase) and name in _FROM_FILES:
        return "what a file holds"
    if name == "from_address":
        return "memory by its address"
    if name in {"getstate", "get_state"} and isinstance(of, DRAWS):
        return "the state of a generator"
    if function.__module__ in {"posix", "nt"} and name in _OF_POSIX:
        return _SYSTEM
    return _CLOCK if function.__qualname__ in _NOW else _kept(of, _KEPT_IN_C)


def _is_exempt(frame: FrameType | None, caller: FrameType) -> bool:
    """Return whether Python's library writes logs or searches for source code."""
    while frame is not None and frame is not caller:
        if any(part in frame.f_code.co_filename for part in _EXEMPT):
            return True
        frame = frame.f_back
    return False


def kept_in_c(value: Any) -> str:
    """Return which contents of an object only its methods reveal; "" if none."""
    if isinstance(value, MethodType) and value.__name__ == "get_state":
        value = value.__self__  # NumPy's methods are compiled: no call of them is seen
        return "the state of a generator" if isinstance(value, DRAWS) else ""
    return _kept(value, _KEPT_IN_OLD | _KEPT_IN_C)


def _kept(value: Any, known: dict[str, str]) -> str:
    for base in type(value).__mro__:
        name = f"{base.__module__}.{base.__name__}"
        if dict_of(value) is None and base.__module__ in known:
            return known[base.__module__]
        if name in known:
            return known[name]
    return ""


def read_by_library(frame: FrameType) -> str:
    """Return which part of the process's state a function of the library reads."""
    where = frame.f_globals.get("__name__"), frame.f_code.co_name
    return _OF_LIBRARY.get(where, "")  # type: ignore[arg-type]
