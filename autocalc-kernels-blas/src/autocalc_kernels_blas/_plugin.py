# SPDX-License-Identifier: MIT
"""The kernel sets of this package: one for each BLAS library.

Importing this module opens no library; `load` opens it once.  If a library is missing,
`load` raises a `PluginError` that names the searched files and the package to install.
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


#: The rank of the family is 100, and the last digit orders its libraries.  Only
#: Accelerate can use the matrix units of Apple's chips.  OpenBLAS is the library that
#: this package installs.
_ENTRIES = (
    _Entry("accelerate", 103),
    _Entry("openblas", 102),
    _Entry("mkl", 101),
    _Entry("blis", 100),
)


class LazyBlas:
    """A library that is opened when its kernels are first needed."""

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
        """Pass the thread budget to the library."""
        if self.blas is not None:
            self.blas.set_num_threads(count)

    def info(self) -> Mapping[str, str]:
        """Return what is known; the library is not opened for this."""
        return {"library": "not opened yet"} if self.blas is None else self.blas.info()


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe one kernel set for each library, best first."""
    return [_kernel_set(entry) for entry in _ENTRIES]


def _kernel_set(entry: _Entry) -> KernelSet:
    lazy = LazyBlas(entry.vendor)
    return KernelSet(
        name=f"blas-{entry.vendor}",
        family="blas",
        api=KERNEL_API_VERSION,
        rank=entry.rank,
        load=lazy.load,
        determinism=None,  # no library guarantees equal bits
        set_num_threads=lazy.set_num_threads,
        info=lazy.info,
    )
