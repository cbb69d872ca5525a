# SPDX-License-Identifier: MIT
"""A kernel package with one kernel that nobody knows."""

import numpy as np

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def relu(out, a):
    """Be right: the rest of the set is good."""
    np.maximum(a, 0, out=out)


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet(
            "unknown-kernel",
            family="good",
            api=KERNEL_API_VERSION,
            rank=999,
            determinism="threads",
            load=lambda: {"relu": relu, "frobnicate": relu, "sub": "no function"},
        )
    ]
