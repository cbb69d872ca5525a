# SPDX-License-Identifier: MIT
"""Settings of CUDA's libraries; all but `matmul.allow_tf32` have no effect.

Examples
--------
>>> import autocalc as ac
>>> ac.backends.cuda.matmul.allow_tf32
False
>>> ac.backends.cuda.is_built()
False
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._ops.creation import platform as _platform
from autocalc._tensor.checks import check_flag

__all__ = [
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
]


class _Matmul:
    """How products of matrices are computed on GPUs."""

    def __init__(self) -> None:
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 products may use TF32, as "high" precision allows.

        To set it changes nothing for the CPU's products; to clear it sets "highest".
        """
        return _platform.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _platform.allow_tf32(allowed)


#: What is about float16 and bfloat16 has no effect.
matmul = _Matmul()


def is_built() -> bool:
    """Return False: CUDA support is not built into AutoCalc itself."""
    return False


def _switch(name: str) -> tuple[_Callable[[bool], None], _Callable[[], bool]]:
    """Return what sets and what returns a switch without effect."""
    value = True

    def enable(enabled: bool) -> None:
        nonlocal value
        value = check_flag(enable.__name__, "enabled", enabled)

    def is_enabled() -> bool:
        return value

    enable.__name__ = enable.__qualname__ = f"enable_{name}_sdp"
    is_enabled.__name__ = is_enabled.__qualname__ = f"{name}_sdp_enabled"
    enable.__doc__ = f"Set what `{name}_sdp_enabled` returns."
    is_enabled.__doc__ = f"Return what `enable_{name}_sdp` set."
    return enable, is_enabled


enable_cudnn_sdp, cudnn_sdp_enabled = _switch("cudnn")
enable_flash_sdp, flash_sdp_enabled = _switch("flash")
enable_math_sdp, math_sdp_enabled = _switch("math")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = _switch("mem_efficient")

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
