# SPDX-License-Identifier: MIT
"""Apple's Accelerate, a part of macOS that uses the matrix units of Apple's chips."""

from __future__ import annotations

import ctypes
import platform

from autocalc.errors import PluginError
from autocalc_kernels_blas._library import Library, open_first

FRAMEWORK = "/System/Library/Frameworks/Accelerate.framework/Accelerate"

#: The arguments of `BLASSetThreading`: all cores, or only the calling thread.
MULTI_THREADED, SINGLE_THREADED = 0, 1


class Accelerate:
    """An opened Accelerate; the system decides how many threads a product gets."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._set = library.function("BLASSetThreading", ctypes.c_int, ctypes.c_int)
        self._threads = "the system's choice"

    def set_num_threads(self, count: int) -> None:
        """Apply a budget of 1 thread; Accelerate cannot be set to any other number."""
        if self._set is not None:  # since macOS 15
            self._set(SINGLE_THREADED if count == 1 else MULTI_THREADED)
            self._threads = "1" if count == 1 else "the system's choice"

    def info(self) -> dict[str, str]:
        return {
            "vendor": "Accelerate",
            "version": f"macOS {platform.mac_ver()[0]}",
            "core": f"{platform.machine()} (Accelerate chose)",
            "threads": self._threads,
            "library": self.library.path,
        }


def open_accelerate() -> Accelerate:
    """Open Accelerate."""
    system = platform.system()
    if system != "Darwin":
        raise PluginError(f"Accelerate is part of macOS; this system is {system}.")
    return Accelerate(open_first("Accelerate", [FRAMEWORK], "It is part of macOS."))
