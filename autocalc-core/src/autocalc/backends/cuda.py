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
        """Whether products of float32 may be of TF32, as "high" precision allows.

        To set it changes nothing for the CPU's products; to clear it sets "highest".
        """
        return _platform.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _platform.allow_tf32(allowed)


#: What is about float16 and bfloat16 has no effect.
matmul = _Matmul()

_sdp = {"cudnn": True, "flash": True, "math": True, "mem_efficient": True}


def is_built() -> bool:
    """Return False: AutoCalc is for CPUs."""
    return False


def _set(name: str, enabled: bool) -> None:
    _sdp[name] = check_flag(f"enable_{name}_sdp", "enabled", enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set what `cudnn_sdp_enabled` returns."""
    _set("cudnn", enabled)


def enable_flash_sdp(enabled: bool) -> None:
    """Set what `flash_sdp_enabled` returns."""
    _set("flash", enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Set what `math_sdp_enabled` returns."""
    _set("math", enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set what `mem_efficient_sdp_enabled` returns."""
    _set("mem_efficient", enabled)


def cudnn_sdp_enabled() -> bool:
    """Return what `enable_cudnn_sdp` set."""
    return _sdp["cudnn"]


def flash_sdp_enabled() -> bool:
    """Return what `enable_flash_sdp` set."""
    return _sdp["flash"]


def math_sdp_enabled() -> bool:
    """Return what `enable_math_sdp` set."""
    return _sdp["math"]


def mem_efficient_sdp_enabled() -> bool:
    """Return what `enable_mem_efficient_sdp` set."""
    return _sdp["mem_efficient"]
