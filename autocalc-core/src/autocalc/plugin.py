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

Kernels in the C form (``autocalc_kernel.h``) get threads and memory to work in from the
context that `ac_python_context` finds: that of AutoCalc's engine.
"""

from __future__ import annotations

from pathlib import Path

from autocalc._dispatch.machine.cpu import cpu_features
from autocalc._dispatch.plugins.precision import float32_matmul_precision
from autocalc._kernels.device_library import DeviceLibrary
from autocalc._kernels.hooks import hookimpl
from autocalc._kernels.kernel_set import (
    ENTRY_POINT_GROUP,
    KERNEL_API_VERSION,
    Allocator,
    Chain,
    ChainStep,
    DispatchKey,
    Fuse,
    FusedKernel,
    KernelImpl,
    KernelSet,
    PoolClock,
    PoolTimes,
)

__all__ = [
    "ENTRY_POINT_GROUP",
    "KERNEL_API_VERSION",
    "Allocator",
    "Chain",
    "ChainStep",
    "DeviceLibrary",
    "DispatchKey",
    "Fuse",
    "FusedKernel",
    "KernelImpl",
    "KernelSet",
    "PoolClock",
    "PoolTimes",
    "cpu_features",
    "float32_matmul_precision",
    "hookimpl",
    "include_dir",
]


def include_dir() -> Path:
    """Return the folder of the C headers for kernels, such as ``autocalc_kernel.h``.

    Examples
    --------
    >>> from autocalc.plugin import include_dir
    >>> (include_dir() / "autocalc_kernel.h").is_file()
    True
    """
    return Path(__file__).parent / "include"
