# SPDX-License-Identifier: MIT
"""What this package offers to AutoCalc: one kernel set, on an NVIDIA GPU.

Importing this module imports neither CuPy nor the driver; `load` does, once.  Where one
is missing, `load` raises a `PluginError` that says which, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autocalc.errors import PluginError
from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl

#: Whether `load` has gone well; `info` asks the driver for nothing before.
_loaded = False


def load() -> Mapping[str, Any]:
    """Check that there are CuPy and a GPU, and return the kernels."""
    global _loaded
    check_device()
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
        from autocalc_kernels_cuda._table import kernels

        found = kernels()
    except (ImportError, OSError, RuntimeError) as error:
        raise PluginError(
            f"a library of CUDA's toolkit cannot be opened ({error}). Install the "
            f'toolkit, or its libraries with `pip install "cupy-cuda13x[ctk]"`.'
        ) from error
    _loaded = True
    return found


def check_device() -> None:
    """Raise `PluginError` where CuPy or a GPU is missing."""
    try:
        import cupy
    except ImportError as error:
        raise PluginError(
            f"CuPy cannot be imported ({error}). Install the one for your CUDA: "
            f"`pip install autocalc-kernels-cuda[cuda13]`, or [cuda12]."
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise PluginError(
            f"CUDA finds no GPU that it can use ({error}). Install NVIDIA's driver, "
            f"and look at what `nvidia-smi` prints."
        ) from error
    if count == 0:
        raise PluginError(
            "CUDA finds no GPU. Look at what `nvidia-smi` prints, and whether "
            "CUDA_VISIBLE_DEVICES hides it."
        )


def device_library() -> Any:
    """Return what makes, copies and frees arrays on the GPU."""
    check_device()
    from autocalc_kernels_cuda._library import CudaLibrary

    return CudaLibrary()


def info() -> Mapping[str, str]:
    """Return what is known; the driver is not started to be described."""
    if not _loaded:
        return {"device": "not asked yet"}
    from autocalc_kernels_cuda import _tf32
    from autocalc_kernels_cuda._library import versions

    return {**versions(), "TF32 products": "yes" if _tf32.allowed() else "no"}


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe the one kernel set."""
    return [
        KernelSet(
            name="cuda",
            family="cuda",
            api=KERNEL_API_VERSION,
            device="cuda",
            rank=300,
            load=load,
            determinism="run",  # sums have a fixed order; cuBLAS on one stream, too
            info=info,
            flushes_subnormals=True,  # CuPy compiles with --ftz=true
            device_library=device_library,
        )
    ]
