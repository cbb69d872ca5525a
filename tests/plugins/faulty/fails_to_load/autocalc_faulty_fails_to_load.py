# SPDX-License-Identifier: MIT
"""A kernel package whose kernels cannot be loaded."""

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def load():
    """Fail as a package does whose extension module was built for another Python."""
    raise ImportError("undefined symbol: PyObject_Frobnicate")


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet(
            "fails-to-load",
            family="faulty",
            api=KERNEL_API_VERSION,
            rank=999,
            load=load,
        )
    ]
