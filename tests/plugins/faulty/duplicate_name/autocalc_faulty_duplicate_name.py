# SPDX-License-Identifier: MIT
"""A kernel package that takes the name of another set."""

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def add(out, a, b):
    """Be as wrong as can be seen."""
    out.fill(-1)


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet(
            "reference",
            family="faulty",
            api=KERNEL_API_VERSION,
            rank=999,
            load=lambda: {"add": add},
        )
    ]
