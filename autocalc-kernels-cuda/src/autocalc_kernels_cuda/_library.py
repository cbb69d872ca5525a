# SPDX-License-Identifier: MIT
"""The arrays of an NVIDIA GPU: CuPy's, on one stream, as AutoCalc asks for them."""

from __future__ import annotations

from typing import Any

import cupy
import cupyx
import numpy as np

from autocalc_kernels_cuda import _errors, _xp

Shape = tuple[int, ...]


class CudaLibrary:
    """Memory, copies and waiting on the current device and CuPy's current stream.

    Everything but `to_host` and `synchronize` returns before the device has done it.
    These two raise what a kernel has found wrong with values in the meantime.
    """

    xp: Any = _xp

    def __init__(self) -> None:
        self._peak = 0

    def count(self) -> int:
        """Return how many GPUs there are; 0 where the driver is missing."""
        try:
            return int(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError:
            return 0

    def empty(self, shape: Shape, dtype: Any) -> Any:
        """Return a new C-contiguous array, its values undefined."""
        return cupy.ndarray(shape, dtype)

    def from_host(self, array: Any) -> Any:
        """Return a C-contiguous copy on the device."""
        return cupy.array(array, dtype=array.dtype, order="C")

    def to_host(self, raw: Any) -> Any:
        """Wait, raise what kernels found wrong, and return a copy in NumPy."""
        copy = raw.get(order="C")
        _errors.raise_pending()
        return copy

    def strided(self, raw: Any, shape: Shape, strides: Shape, offset: int) -> Any:
        """Return a view: strides in bytes, from `offset` bytes after the first."""
        return cupy.ndarray(shape, raw.dtype, raw.data + offset, strides)

    def address(self, raw: Any) -> int:
        """Return the address of the first element in the GPU's memory."""
        return int(raw.data.ptr)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether the memory from first to last element overlaps."""
        return bool(cupy.may_share_memory(a, b))

    def synchronize(self) -> None:
        """Wait for the stream, and raise what kernels found wrong."""
        cupy.cuda.get_current_stream().synchronize()
        _errors.raise_pending()

    def pin(self, array: Any) -> Any:
        """Return a copy in page-locked memory, which the device reads at full speed."""
        if array.size == 0:
            return array.copy()
        pinned = cupyx.empty_pinned(array.shape, array.dtype)
        pinned[...] = array
        return pinned

    def is_pinned(self, array: Any) -> bool:
        """Return whether an array of NumPy is in page-locked memory."""
        owner = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        owner = owner.obj if isinstance(owner, memoryview) else owner
        return isinstance(owner, cupy.cuda.PinnedMemoryPointer)

    def stats(self) -> dict[str, int]:
        """Return bytes: of arrays, the most seen so far, cached, and of the GPU."""
        pool = cupy.get_default_memory_pool()
        free, total = cupy.cuda.runtime.memGetInfo()
        in_use = int(pool.used_bytes())
        self._peak = max(self._peak, in_use)
        return {
            "in_use": in_use,
            "peak": self._peak,
            "cached": int(pool.free_bytes()),
            "free": int(free),
            "total": int(total),
        }

    def trim(self) -> None:
        """Give the memory that the pools keep for later back to the driver."""
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def device_name() -> str:
    """Return the name of the current GPU."""
    device = cupy.cuda.runtime.getDevice()
    return str(cupy.cuda.runtime.getDeviceProperties(device)["name"].decode())


def versions() -> dict[str, str]:
    """Return what `autocalc kernels` shows."""
    runtime = cupy.cuda.runtime.runtimeGetVersion()
    driver = cupy.cuda.runtime.driverGetVersion()
    return {
        "device": device_name(),
        "CUDA": f"{runtime // 1000}.{runtime % 1000 // 10}",
        "driver takes": f"CUDA {driver // 1000}.{driver % 1000 // 10}",
        "CuPy": str(cupy.__version__),
        "NumPy": str(np.__version__),
    }
