# SPDX-License-Identifier: MIT
"""A kernel package for a CPU that does not exist."""

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def load():
    """Do what an instruction of another CPU does."""
    import os

    os.abort()


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet(
            "missing-feature",
            family="faulty",
            api=KERNEL_API_VERSION,
            requires={"avx1024"},
            rank=999,
            load=load,
        )
    ]
