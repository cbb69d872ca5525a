# SPDX-License-Identifier: MIT
"""The kernel sets of this package, for each instruction set.

The kernels of ``winograd-*`` and ``split-amx`` have other error budgets than the spec.
So they are separate sets, which can be disabled: ``AUTOCALC_DISABLE_KERNELS=winograd``.
Those of ``bf16x2-amx`` and ``bf16-amx`` are less exact than float32; they run if
``ac.set_float32_matmul_precision`` permits it.  ``bfloat16-*`` only contain products of
bfloat16 operands, with their own budget, because they treat very small numbers as 0.

Importing this module maps no native code.  Only `load` does, and only if the CPU has
everything that the set requires.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from autocalc.errors import PluginError
from autocalc.plugin import (
    KERNEL_API_VERSION,
    DispatchKey,
    KernelImpl,
    KernelSet,
    cpu_features,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from autocalc.plugin import Fuse


class _Isa(NamedTuple):
    name: str
    rank: int
    requires: frozenset[str]


_SSE2 = frozenset({"sse2"})
_AVX2 = _SSE2 | {"avx2", "fma", "f16c", "bmi2"}
_AVX512 = _AVX2 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
_AMX = _AVX512 | {"amx_tile", "amx_bf16"}
_AVX512_BF16 = _AVX512 | {"avx512_bf16"}
# The name of NEON on AArch64 in archspec.
_NEON = frozenset({"asimd"})

_ISAS = (
    _Isa("avx512", 300, _AVX512),
    _Isa("avx2", 250, _AVX2),
    _Isa("sse2", 200, _SSE2),
    _Isa("neon", 250, _NEON),
)


#: Images with fewer channels are cheap to rearrange; these are inputs of networks.
_FEW = 16
#: With fewer channels than this, lanes of registers would be empty.
_MANY = 32


def _channels_last(key: DispatchKey) -> bool:
    """Return whether a convolution makes a network start in channels-last layout.

    The calls after it keep the layout, in which a step of a residual network is 1.08
    times as fast.  Images with many channels keep their layout, because rearranging
    them takes longer than one convolution saves.
    """
    _, x, weight, _ = key.shapes or (None,) * 4
    if x is None or weight is None or len(x) != 4:
        return False
    groups = key.attributes[-1]
    return groups == 1 and x[1] < _FEW and weight[0] >= _MANY


def _always(_key: DispatchKey) -> bool:
    """Return True: convolutions in tiles convert other images themselves, and back."""
    return True


#: The size in bytes of a weight that is read in place for any number of rows.
_SMALL_WEIGHT = 1 << 16
#: The size in bytes of a weight that is not packed if there are few rows.
_WEIGHT = 1 << 18


def _transposed_weight(key: DispatchKey) -> bool:
    """Return whether a product prefers a weight that is contiguous across the sums.

    The rows must consist of whole cache lines.  With fewer than 4 rows, x uses dot
    products instead.  Up to 64 rows are 1.03 to 1.9 times as fast with weights that a
    product reads in place.  4 to 6 rows are 1.03 to 1.8 times as fast with larger
    weights (Zen 5, AVX2 and AVX-512).  With SSE2 the factor is 0.7 to 1.3.
    """
    if key.shapes is None or (out := key.shapes[0]) is None or not out:
        return False
    x = key.shapes[2]
    item = key.dtypes[0]
    if x is None or item is None or item.itemsize == 2:  # 16 bits are packed, or read
        return False
    row = out[-1] * item.itemsize
    rows = prod(out[:-1])
    if row < 128 or row % 64 != 0:
        return False
    size = row * x[-1]
    most = 64 if size <= _SMALL_WEIGHT else 6 if size <= _WEIGHT else 0
    return 4 <= rows <= most


def _layout(name: str, family: str) -> Callable[[DispatchKey], bool] | None:
    """Return the function that says whether a kernel prefers channels-last images."""
    if family == "bfloat16" and name.startswith("conv"):
        return _always
    return _channels_last if name == "conv" else None


_Kernels = dict[str, KernelImpl]


def _load_amx(family: str) -> _Kernels:
    from autocalc_kernels_simd import _loader

    if not _loader.cpu_runs("amx"):
        message = "the system grants no AMX state to this process; Linux does from 5.16"
        raise PluginError(message)
    return _load("amx", family)


def _load(isa: str, family: str) -> _Kernels:
    from autocalc_kernels_simd import _loader

    return {
        name: KernelImpl(
            kernel,
            native=kernel.native,
            supports=kernel.supports,
            describe=kernel.describe,
            halves=kernel.halves,
            exception=None if family == "simd" else family,
            channels_last=_layout(name, family),
            transposed_weight=_transposed_weight
            if name in {"linear", "gemm"} and isa in {"avx2", "avx512"}
            else None,
        )
        for name, kernel in _loader.load(isa, family).items()
    }


@cache
def _fuser(isa: str) -> Fuse:
    from autocalc_kernels_simd._chains import Fuser

    return Fuser(isa)


def _winograd(isa: _Isa) -> KernelSet:
    return KernelSet(
        name=f"winograd-{isa.name}",
        family="winograd",
        api=KERNEL_API_VERSION,
        requires=isa.requires,
        rank=isa.rank + 5,
        load=partial(_load, isa.name, "winograd"),
        determinism="threads",
    )


def _amx(
    family: str, rank: int, precision: Literal["highest", "high", "medium"]
) -> KernelSet:
    return KernelSet(
        name=f"{family}-amx",
        family=family,
        api=KERNEL_API_VERSION,
        requires=_AMX,
        rank=rank,
        load=partial(_load_amx, family),
        decomposes=False,
        determinism="threads",
        precision=precision,
    )


#: Large float32 products as products of bfloat16 parts.  One product takes the nearest
#: bfloat16 of each number.  Three products use sums of two parts.  Six use sums of
#: three parts, which are as exact as float32.
_PRODUCTS = (
    _amx("bf16", 330, "medium"),
    _amx("bf16x2", 320, "high"),
    _amx("split", 310, "highest"),
)


def _bfloat16(
    isa: str, rank: int, requires: frozenset[str], load: Callable[[str], _Kernels]
) -> KernelSet:
    return KernelSet(
        name=f"bfloat16-{isa}",
        family="bfloat16",
        api=KERNEL_API_VERSION,
        requires=requires,
        rank=rank,
        load=partial(load, "bfloat16"),
        decomposes=False,
        determinism="threads",
    )


def _bfloat16_sets() -> tuple[KernelSet, KernelSet]:
    """Return products of bfloat16 in tiles, and in pairs.

    On AMD CPUs a multiplication of pairs takes one cycle, like one of float32.  On
    Intel CPUs with AMX it takes two.  There, products that are too small for tiles are
    1.7 times as fast in float32 (94 and 160 GFLOP/s per core of a Granite Rapids).
    """
    pairs = 290 if "amx_bf16" in cpu_features() else 340
    return (
        _bfloat16("amx", 350, _AMX | _AVX512_BF16, _load_amx),
        _bfloat16("avx512_bf16", pairs, _AVX512_BF16, partial(_load, "avx512_bf16")),
    )


def _simd(isa: _Isa) -> KernelSet:
    return KernelSet(
        name=f"simd-{isa.name}",
        family="simd",
        api=KERNEL_API_VERSION,
        requires=isa.requires,
        rank=isa.rank,
        load=partial(_load, isa.name, "simd"),
        determinism="threads",
        fuser=partial(_fuser, isa.name),
    )


def _was_built(kernel_set: KernelSet) -> bool:
    """Return whether the library of the set's instruction set was built.

    A build contains the sets that `AUTOCALC_SIMD_SETS` names and that its compiler
    knows: AMX needs GCC 11 or Clang 12, and AVX512-BF16 needs GCC 10 or Clang 9.
    """
    isa = kernel_set.name.rpartition("-")[2]
    return (Path(__file__).parent / f"kernels_{isa}.so").exists()


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe the kernel sets that were built, the best for each CPU first.

    If there is none, all sets are described; loading one then explains the problem.
    """
    products = *_PRODUCTS, *_bfloat16_sets()
    sets = [*products, *map(_winograd, _ISAS), *map(_simd, _ISAS)]
    return list(filter(_was_built, sets)) or sets
