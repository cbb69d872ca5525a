# SPDX-License-Identifier: MIT
"""Core's engine in C++, the extension module `autocalc._native`, where it is installed.

The module owns the thread pool and the allocator.  Kernel packages reach both through
the context of `autocalc_kernel.h`.  The module also runs compiled programs and calls of
operators (`_eager.py`).  Everything it does is defined in Python, which does it where
the module is absent.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from autocalc._dispatch.engine.keys import key_of as python_key_of
from autocalc._dispatch.engine.keys import key_of_others
from autocalc._kernels.kernel_set import Allocator, KeyOf, MakeExecutor, PoolTimes


def _found() -> tuple[ModuleType | None, str]:
    """Return the module, or None and the reason why it is not used."""
    try:
        # Imported by name, because an import of `autocalc` would be an import upward.
        return import_module("autocalc._native"), ""
    except ModuleNotFoundError:
        return None, "autocalc-core was built without a C++ compiler"
    except ImportError as error:  # it was built for another Python or NumPy
        return None, f"autocalc._native failed: {error}"


_module, missing = _found()

#: The module, or None; then `missing` says why.
native: Any = _module

if native is not None:
    native.eager.bind("key_of_others", key_of_others)

#: The function that makes the keys under which decisions are stored.
key_of: KeyOf = python_key_of if native is None else native.key_of

#: The class that binds compiled programs to memory; None if Python does so.
executor: MakeExecutor | None = None if native is None else native.Executor


class PoolAllocator:
    """Allocates result arrays in reused blocks with an alignment of 64 bytes."""

    def __init__(self) -> None:
        # The builtin is used directly, so that a call needs no Python frame.
        self.empty = native.empty
        self.stats = native.stats

    def trim(self) -> None:
        """Return the cached blocks to the system."""
        native.trim()


class EngineClock:
    """Measures how long threads wait and work, and records what they share."""

    def __init__(self) -> None:
        # The builtin is used directly, so that a reading needs no Python frame.
        self.now = native.read_clock
        self.record_jobs = native.record_jobs
        self.job_records = native.job_records
        self.hand_off_ns = native.hand_off_ns

    def measure(self, on: bool) -> None:
        """Start or stop measuring."""
        native.measure_waiting(on)
        native.measure_phases(on)

    def between(self, begin: bytes, end: bytes) -> PoolTimes:
        """Return the activity of threads between two readings of the clock."""
        return PoolTimes(*native.clock_between(begin, end))


#: The engine's allocator; None if NumPy allocates.
allocator: Allocator | None = None if native is None else PoolAllocator()

#: The engine's clock; None if there is no pool.
clock: EngineClock | None = None if native is None else EngineClock()


def set_num_threads(count: int) -> None:
    """Tell the pool the thread budget."""
    if native is not None:
        native.set_num_threads(count)


def describe() -> str:
    """Return a line that names what runs the threads and allocates."""
    if native is None:
        return f"none: {missing}"
    return f"autocalc._native, {native.num_threads()} threads"
