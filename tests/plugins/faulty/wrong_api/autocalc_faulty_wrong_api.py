# SPDX-License-Identifier: MIT
"""A kernel package for another version of the contract."""

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet("wrong-api", family="faulty", api=KERNEL_API_VERSION + 1, load=dict)
    ]
