# SPDX-License-Identifier: MIT
"""Rules by CPU features for the code path of a BLAS library.

OpenBLAS checks the family and model numbers of the CPU, so it does not know new CPUs.
From 0.3.31 to 0.3.34 it runs its Haswell kernels on AMD CPUs with AVX-512.  They reach
235 GFLOP/s; its SkylakeX kernels reach 468 (2 cores of Zen 5, n = 2048). Kernels need
features, so the features decide here.  A feature that the user hides is not used; a
library that queries the CPU itself would not notice that.
"""

from __future__ import annotations

from typing import NamedTuple

_AVX512 = frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})
_HASWELL = frozenset({"avx2", "fma"})


class CoreType(NamedTuple):
    """A name that the library knows, and the reason for choosing it."""

    name: str
    reason: str


#: Best first: the name in OpenBLAS, and the features for which its kernels are
#: compiled. COOPERLAKE and SAPPHIRERAPIDS only add bfloat16; their float kernels are
#: those of SKYLAKEX.
OPENBLAS_X86 = (
    ("SKYLAKEX", _AVX512 | _HASWELL),
    ("HASWELL", _HASWELL),
    ("SANDYBRIDGE", frozenset({"avx"})),
    ("NEHALEM", frozenset({"sse4_2"})),
    ("PRESCOTT", frozenset({"sse2"})),
)

#: The names of MKL for `MKL_Enable_Instructions`, with the number of each.
MKL_LEVELS = (
    ("AVX512", 4, _AVX512 | _HASWELL),
    ("AVX2", 2, _HASWELL),
    ("SSE4_2", 0, frozenset({"sse4_2"})),
)


def openblas_core_type(features: frozenset[str]) -> CoreType | None:
    """Return OpenBLAS's core type for a CPU with `features`.

    None leaves the choice to OpenBLAS: on Arm and other CPUs it uses the reports of the
    operating system.
    """
    for name, needed in OPENBLAS_X86:
        if needed <= features:
            return CoreType(name, f"the CPU features include {_named(needed)}")
    return None


def mkl_level(features: frozenset[str]) -> tuple[int, CoreType] | None:
    """Return the highest level of MKL within `features`, as its number and name."""
    for name, number, needed in MKL_LEVELS:
        if needed <= features:
            return number, CoreType(name, f"the CPU features include {_named(needed)}")
    return None


def _named(features: frozenset[str]) -> str:
    """Return the names of the features that a level adds to the one below."""
    telling = {"avx512f", "avx512vl"} & features or features
    return ", ".join(sorted(telling))
