# SPDX-License-Identifier: MIT
"""The CPU by the names that PyTorch has for instruction sets."""

from __future__ import annotations

from autocalc._dispatch.machine.cpu import detected_features

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Return the CPU's instruction set: "AVX512", "AVX2", "DEFAULT" or another name.

    The command `autocalc doctor` shows which kernels run.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.backends.cpu.get_cpu_capability() in {"AVX512", "AVX2", "DEFAULT"}
    True
    """
    flags = detected_features()
    if {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags:
        return "AVX512"
    return "AVX2" if {"avx2", "fma"} <= flags else "DEFAULT"
