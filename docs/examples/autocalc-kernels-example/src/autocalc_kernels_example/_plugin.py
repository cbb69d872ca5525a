# SPDX-License-Identifier: MIT
"""What this package offers.  Importing it maps no native code; `load` does."""

from __future__ import annotations

from autocalc.plugin import KERNEL_API_VERSION, KernelImpl, KernelSet, hookimpl


def load() -> dict[str, KernelImpl]:
    """Map the native code and return the kernels by name; called on first use."""
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
            api=KERNEL_API_VERSION,
            # Below BLAS (100) and SIMD (200 to 300): it runs where it is chosen.
            rank=10,
            # Names as in archspec: {"avx2", "fma"}.  Plain C needs nothing.
            requires=frozenset(),
            # Tasks come from shapes, so threads change no bit; the kit proves it.
            determinism="threads",
            load=load,
        )
    ]
