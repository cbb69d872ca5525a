# SPDX-License-Identifier: MIT
"""What this package offers to AutoCalc: one kernel set for each BLAS library.

Importing this module opens nothing; `load` does, once.  Where a library is missing,
`load` raises a `PluginError` which says what was looked for and what to install.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

from autocalc.plugin import KERNEL_API_VERSION, KernelImpl, KernelSet, hookimpl
from autocalc_kernels_blas._library import Blas


class _Entry(NamedTuple):
    vendor: str
    rank: int


#: The family's rank is 100; the last digit orders its libraries.  Accelerate alone
#: reaches the matrix units of Apple's chips; OpenBLAS is what this package installs.
_ENTRIES = (
    _Entry("accelerate", 103),
    _Entry("openblas", 102),
    _Entry("mkl", 101),
    _Entry("blis", 100),
)


class LazyBlas:
    """A library that is opened when its kernels are first wanted."""

    def __init__(self, vendor: str) -> None:
        self.vendor = vendor
        self.blas: Blas | None = None

    def load(self) -> dict[str, KernelImpl]:
        """Open the library and return its kernels."""
        from autocalc_kernels_blas import _axpy, _gemm

        module = importlib.import_module(f"autocalc_kernels_blas._{self.vendor}")
        blas: Blas = getattr(module, f"open_{self.vendor}")()
        self.blas = blas
        return {
            "gemm": KernelImpl(_gemm.Gemm(blas.library), supports=_gemm.supports),
            "axpy": KernelImpl(_axpy.Axpy(blas.library), supports=_axpy.supports),
        }

    def set_num_threads(self, count: int) -> None:
        """Pass the thread budget on."""
        if self.blas is not None:
            self.blas.set_num_threads(count)

    def info(self) -> Mapping[str, str]:
        """Return what is known; a library is not opened to be described."""
        return {"library": "not opened yet"} if self.blas is None else self.blas.info()


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe one kernel set per library, best first."""
    return [_kernel_set(entry) for entry in _ENTRIES]


def _kernel_set(entry: _Entry) -> KernelSet:
    lazy = LazyBlas(entry.vendor)
    return KernelSet(
        name=f"blas-{entry.vendor}",
        family="blas",
        api=KERNEL_API_VERSION,
        rank=entry.rank,
        load=lazy.load,
        determinism=None,  # no library promises the same bits
        set_num_threads=lazy.set_num_threads,
        info=lazy.info,
    )
