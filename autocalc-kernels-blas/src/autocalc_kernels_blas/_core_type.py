# SPDX-License-Identifier: MIT
"""Which code path a BLAS library is to take on this CPU: rules on CPU features.

OpenBLAS looks at the CPU's family and model numbers, and so misses CPUs that it does
not know.  From 0.3.31 to 0.3.34 it runs its Haswell kernels on AMD CPUs with AVX-512:
235 GFLOP/s instead of 468 with its SkylakeX kernels (2 cores of Zen 5, n = 2048).  What
a kernel needs are features, so features decide here; and a feature that the user hides
is not used, which a library that asks the CPU itself would never notice.
"""

from __future__ import annotations

from typing import NamedTuple

_AVX512 = frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})
_HASWELL = frozenset({"avx2", "fma"})


class CoreType(NamedTuple):
    """A name that the library knows, and why it was chosen."""

    name: str
    reason: str


#: Best first: OpenBLAS's name and the features that its kernels are compiled for.
#: COOPERLAKE and SAPPHIRERAPIDS add bfloat16 only; their float kernels are SKYLAKEX's.
OPENBLAS_X86 = (
    ("SKYLAKEX", _AVX512 | _HASWELL),
    ("HASWELL", _HASWELL),
    ("SANDYBRIDGE", frozenset({"avx"})),
    ("NEHALEM", frozenset({"sse4_2"})),
    ("PRESCOTT", frozenset({"sse2"})),
)

#: MKL's names for `MKL_Enable_Instructions`, with the number of each.
MKL_LEVELS = (
    ("AVX512", 4, _AVX512 | _HASWELL),
    ("AVX2", 2, _HASWELL),
    ("SSE4_2", 0, frozenset({"sse4_2"})),
)


def openblas_core_type(features: frozenset[str]) -> CoreType | None:
    """Return OpenBLAS's core type for a CPU with `features`.

    None leaves the choice to OpenBLAS: on Arm and other CPUs it goes by what the
    operating system reports.
    """
    for name, needed in OPENBLAS_X86:
        if needed <= features:
            return CoreType(name, f"the CPU features include {_named(needed)}")
    return None


def mkl_level(features: frozenset[str]) -> tuple[int, CoreType] | None:
    """Return MKL's highest level within `features`, as its number and name."""
    for name, number, needed in MKL_LEVELS:
        if needed <= features:
            return number, CoreType(name, f"the CPU features include {_named(needed)}")
    return None


def _named(features: frozenset[str]) -> str:
    """Name the features that tell a level from the one below."""
    telling = {"avx512f", "avx512vl"} & features or features
    return ", ".join(sorted(telling))
