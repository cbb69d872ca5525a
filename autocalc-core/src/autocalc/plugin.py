# SPDX-License-Identifier: MIT
"""The one door for kernel packages.

A kernel package names a module in the entry-point group ``autocalc.kernels``.  The
module has one hook, which describes the package's kernel sets; it must be cheap to
import on any CPU, and `KernelSet.load` does the rest on first use::

    from autocalc.plugin import KernelSet, hookimpl

    def load():
        from my_kernels import _native
        return {"add": _native.add}

    @hookimpl
    def autocalc_kernel_sets():
        return [KernelSet("mine", family="mine", api=1, requires={"avx2"},
                          rank=150, load=load)]

`api` is the number that `KERNEL_API_VERSION` had when the package was written.

A package may also bring an eager runtime, calls of operators in C: it names a module in
the group ``autocalc.eager`` (`EAGER_ENTRY_POINT_GROUP`) whose ``EAGER_API_VERSION`` is
the one here.  `_dispatch/_eager.py` says what is asked of it.
"""

from __future__ import annotations

from pathlib import Path

from autocalc._dispatch._cpu import cpu_features
from autocalc._dispatch._eager import EAGER_API_VERSION, EAGER_ENTRY_POINT_GROUP
from autocalc._dispatch._precision import float32_matmul_precision
from autocalc._kernels.device_library import DeviceLibrary
from autocalc._kernels.hooks import hookimpl
from autocalc._kernels.kernel_set import (
    ENTRY_POINT_GROUP,
    KERNEL_API_VERSION,
    Allocator,
    Chain,
    ChainStep,
    DispatchKey,
    Executor,
    ExecutorCall,
    Fuse,
    FusedKernel,
    KernelImpl,
    KernelSet,
    KeyOf,
    MakeExecutor,
    PoolClock,
    PoolTimes,
)

__all__ = [
    "EAGER_API_VERSION",
    "EAGER_ENTRY_POINT_GROUP",
    "ENTRY_POINT_GROUP",
    "KERNEL_API_VERSION",
    "Allocator",
    "Chain",
    "ChainStep",
    "DeviceLibrary",
    "DispatchKey",
    "Executor",
    "ExecutorCall",
    "Fuse",
    "FusedKernel",
    "KernelImpl",
    "KernelSet",
    "KeyOf",
    "MakeExecutor",
    "PoolClock",
    "PoolTimes",
    "cpu_features",
    "float32_matmul_precision",
    "hookimpl",
    "include_dir",
]


def include_dir() -> Path:
    """Return the folder with ``autocalc_kernel.h`` and its Python entry.

    Examples
    --------
    >>> from autocalc.plugin import include_dir
    >>> (include_dir() / "autocalc_kernel.h").is_file()
    True
    """
    return Path(__file__).parent / "include"
