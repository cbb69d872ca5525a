# SPDX-License-Identifier: MIT
"""The kernel sets of this package.  Only `load` loads native code."""

from __future__ import annotations

from autocalc.plugin import KernelImpl, KernelSet, hookimpl


def load() -> dict[str, KernelImpl]:
    """Load the native code and return the kernels by name.  Called at first use."""
    from autocalc_kernels_example import _native

    return {
        name: KernelImpl(kernel, native=kernel.native, supports=kernel.supports)
        for name, kernel in _native.kernels.items()
    }


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe the one set of this package."""
    return [
        KernelSet(
            name="example",
            family="example",
            api=1,
            # Below BLAS (100) and SIMD (200 to 300), so it runs only if it is chosen.
            rank=10,
            # Names as in archspec: {"avx2", "fma"}.  Plain C needs no CPU feature.
            requires=frozenset(),
            # Tasks depend only on shapes: any number of threads gives the same bits.
            determinism="threads",
            load=load,
        )
    ]
