# SPDX-License-Identifier: MIT
"""BLIS and AMD's AOCL-BLIS, installed in the system or in the environment.

BLIS correctly chooses its kernels by the features of the CPU.  Its ``BLIS_ARCH_TYPE``
is not set: the numbers differ between builds, and a number that a build lacks ends the
process.  Its threads exist for one product only, so none have to be put to sleep.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

from autocalc.errors import PluginError
from autocalc_kernels_blas._features import hidden_features
from autocalc_kernels_blas._library import Library, open_first
from autocalc_kernels_blas._search import in_prefix, in_system

ADVICE = (
    "Install BLIS with the system's package manager, for example "
    "`apt install libblis4-pthread`."
)


class Blis:
    """An opened BLIS."""

    def __init__(self, library: Library) -> None:
        size = library.call("bli_info_get_blas_int_type_size", ctypes.c_int64)
        self.library = library.with_long_integers(size == 64)
        library.call("bli_init")
        set_threads = "bli_thread_set_num_threads"
        self._set = library.function(set_threads, None, ctypes.c_int64)

    def set_num_threads(self, count: int) -> None:
        if self._set is not None:
            self._set(count)

    def num_threads(self) -> int:
        count = self.library.call("bli_thread_get_num_threads", ctypes.c_int64)
        return max(1, int(count or 1))  # BLIS returns -1 if it is not set

    def info(self) -> dict[str, str]:
        return {
            "vendor": "BLIS",
            "version": self.library.text("bli_info_get_version_str") or "unknown",
            "core": f"{self._core()} (BLIS chose)",
            "threads": str(self.num_threads()),
            "library": self.library.path,
        }

    def _core(self) -> str:
        query = self.library.function("bli_arch_query_id", ctypes.c_int)
        name = self.library.function("bli_arch_string", ctypes.c_char_p, ctypes.c_int)
        if query is None or name is None:
            return "unknown"
        return str(name(query()).decode())


def open_blis() -> Blis:
    """Find and open BLIS."""
    hidden = sorted(hidden_features())
    if hidden:
        raise PluginError(
            f"BLIS cannot be set to do without {', '.join(hidden)}, which "
            f"AUTOCALC_CPU_FEATURES hides. Use another kernel set."
        )
    return Blis(open_first("BLIS", candidates(), ADVICE))


def candidates() -> Iterator[str | Path]:
    """Yield the files to try, best first: those with threads before the others."""
    pattern = {"win32": "*.dll", "darwin": "*.dylib"}.get(sys.platform, ".so*")
    for name in ("libblis-mt", "libblis", "AOCL-LibBlis-Win-MT"):
        yield from in_prefix(f"{name}{pattern}")
    yield from in_system("blis-mt", "blis", "blis64")
    if sys.platform == "linux":
        # The folder in which Debian stores the builds that its `alternatives` choose
        # from.
        for folder in ("blis-pthread", "blis-openmp"):
            yield from sorted(Path("/usr/lib").glob(f"*/{folder}/libblis.so*"))
