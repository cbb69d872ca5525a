# SPDX-License-Identifier: MIT
"""OpenBLAS: the wheel ``scipy-openblas32``, or the system's library.

Its threads wait for work in a loop of ``sched_yield`` before they sleep.  If the
process has another thread pool, as in a training step, this waiting takes cores from
the kernels between two products.  So the time-out is set to a short time.  The number
of threads starts at 1, because OpenBLAS creates threads for all cores when it is
opened, and the budget is only set later.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

from autocalc_kernels_blas._core_type import CoreType, openblas_core_type
from autocalc_kernels_blas._environment import environment, users
from autocalc_kernels_blas._features import usable_features
from autocalc_kernels_blas._library import Library, open_first
from autocalc_kernels_blas._search import in_package, in_prefix, in_system

CORE_TYPE = "OPENBLAS_CORETYPE"

#: A worker sleeps after 2^x cycles without work; 2^16 cycles are 26 us at 2.5 GHz.
THREAD_TIMEOUT = "OPENBLAS_THREAD_TIMEOUT"
THREAD_TIMEOUT_CYCLES = "16"

ADVICE = (
    "Run `pip install scipy-openblas32`, or install OpenBLAS with the system's "
    "package manager."
)


class OpenBlas:
    """An opened OpenBLAS.

    Parameters
    ----------
    library
        The open library.
    asked
        The requested core type; None if OpenBLAS chose one.
    """

    def __init__(self, library: Library, asked: CoreType | None) -> None:
        config = library.text("openblas_get_config")
        if "USE64BITINT" in config:
            library = library.with_long_integers(True)
        self.library = library
        self.asked = asked
        self.version = " ".join(config.split()[:2]) or "OpenBLAS"
        self._set = library.function("openblas_set_num_threads", None, ctypes.c_int)

    @property
    def core(self) -> str:
        """The core type in use, as OpenBLAS reports it."""
        return self.library.text("openblas_get_corename") or "unknown"

    def set_num_threads(self, count: int) -> None:
        if self._set is not None:
            self._set(count)

    def num_threads(self) -> int:
        return int(self.library.call("openblas_get_num_threads", ctypes.c_int) or 1)

    def info(self) -> dict[str, str]:
        return {
            "vendor": "OpenBLAS",
            "version": self.version.removeprefix("OpenBLAS "),
            "core": self._core_and_reason(),
            "threads": str(self.num_threads()),
            "library": self.library.path,
        }

    def run_jobs_on(self, callback: int) -> bool:
        """Run the threaded part of each product by a C function; False if impossible.

        `callback` is the address of an ``openblas_threads_callback``.  It gets a number
        of jobs and must run all of them *at the same time*, because the jobs of one
        product wait for each other.  A pool that runs jobs one after the other, as most
        pools do when they are busy, would never return.
        """
        setter = self.library.function(
            "openblas_set_threads_callback_function", None, ctypes.c_void_p
        )
        if setter is None:
            return False
        setter(callback)
        return True

    def _core_and_reason(self) -> str:
        if self.asked is None:
            return f"{self.core} (OpenBLAS chose)"
        if self.core.lower() == self.asked.name.lower():
            return f"{self.core} ({self.asked.reason})"
        return (
            f"{self.core} ({self.asked.name} was asked for: {self.asked.reason}; "
            f"OpenBLAS has no such core, or was opened before)"
        )


def open_openblas() -> OpenBlas:
    """Find and open OpenBLAS with the core type that the rule chooses."""
    asked = chosen_core_type()
    variables = {"OPENBLAS_NUM_THREADS": "1"}
    if asked is not None:
        variables[CORE_TYPE] = asked.name
    if users(THREAD_TIMEOUT) is None:
        variables[THREAD_TIMEOUT] = THREAD_TIMEOUT_CYCLES
    with environment(variables):
        library = open_first("OpenBLAS", candidates(), ADVICE)
    return OpenBlas(library, asked)


def chosen_core_type() -> CoreType | None:
    """Return the choice of the user, or otherwise the result of the rule."""
    own = users(CORE_TYPE)
    if own is not None:
        return CoreType(own, f"the environment sets {CORE_TYPE}")
    return openblas_core_type(usable_features())


def candidates() -> Iterator[str | Path]:
    """Yield the files to try, best first."""
    pattern = {"win32": "*.dll", "darwin": "*.dylib"}.get(sys.platform, "*.so*")
    yield from in_package(
        "scipy_openblas32", f"lib/libscipy_openblas{pattern}", "lib/*.dll", "bin/*.dll"
    )
    yield from in_prefix(f"libopenblas{pattern}", f"openblas{pattern}")
    yield from in_system("openblas")
