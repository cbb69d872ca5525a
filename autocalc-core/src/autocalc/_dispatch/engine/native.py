# SPDX-License-Identifier: MIT
"""Core's engine in C++, the extension module `autocalc._native`, where it is installed.

It owns the thread pool and the allocator, which kernel packages reach through the
context of `autocalc_kernel.h`, and it runs compiled programs and calls of operators
(`_eager.py`).  Everything it does is defined in Python, and done so where it is absent.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from autocalc._dispatch.engine.keys import key_of as python_key_of
from autocalc._dispatch.engine.keys import key_of_others
from autocalc._kernels.kernel_set import Allocator, KeyOf, MakeExecutor, PoolTimes


def _found() -> tuple[ModuleType | None, str]:
    """Return the module, or None and why it is not used."""
    try:
        # By its name: an import of `autocalc` would be one upward.
        return import_module("autocalc._native"), ""
    except ModuleNotFoundError:
        return None, "autocalc-core was built without a C++ compiler"
    except ImportError as error:  # compiled for another Python or NumPy
        return None, f"autocalc._native failed: {error}"


_module, missing = _found()

#: The module, or None; then `missing` says why.
native: Any = _module

if native is not None:
    native.eager.bind("key_of_others", key_of_others)

#: What decisions are kept under.
key_of: KeyOf = python_key_of if native is None else native.key_of

#: What binds compiled programs to memory; None where that is done in Python.
executor: MakeExecutor | None = None if native is None else native.Executor


class PoolAllocator:
    """Result arrays in reused, 64-byte aligned blocks."""

    def __init__(self) -> None:
        # The builtin itself, so that a call costs no Python frame.
        self.empty = native.empty
        self.stats = native.stats

    def trim(self) -> None:
        """Give the cached blocks back to the system."""
        native.trim()


class EngineClock:
    """How long threads wait, what they work on, and records of what they share."""

    def __init__(self) -> None:
        # The builtin itself, so that a reading costs no Python frame.
        self.now = native.read_clock
        self.record_jobs = native.record_jobs
        self.job_records = native.job_records
        self.hand_off_ns = native.hand_off_ns

    def measure(self, on: bool) -> None:
        """Measure from now on, or no longer."""
        native.measure_waiting(on)
        native.measure_phases(on)

    def between(self, begin: bytes, end: bytes) -> PoolTimes:
        """Return the activity of threads between two readings."""
        return PoolTimes(*native.clock_between(begin, end))


#: The engine's allocator; None where NumPy allocates.
allocator: Allocator | None = None if native is None else PoolAllocator()

#: The engine's clock; None where there is no pool.
clock: EngineClock | None = None if native is None else EngineClock()


def set_num_threads(count: int) -> None:
    """Tell the pool the thread budget."""
    if native is not None:
        native.set_num_threads(count)


def describe() -> str:
    """Return in one line what runs the threads and allocates."""
    if native is None:
        return f"none: {missing}"
    return f"autocalc._native, {native.num_threads()} threads"
