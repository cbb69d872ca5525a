# SPDX-License-Identifier: MIT
"""The reference kernels as a kernel set, registered like any other set."""

from __future__ import annotations

from collections.abc import Mapping

from autocalc._kernels.adapter import adapt
from autocalc._kernels.hooks import hookimpl
from autocalc._kernels.kernel_set import KERNEL_API_VERSION, Function, KernelSet
from autocalc._kernels.table import TABLE


def load() -> Mapping[str, Function]:
    """Return every kernel of the table."""
    return {name: adapt(spec) for name, spec in TABLE.items()}


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe the reference set."""
    return [
        KernelSet(
            "reference",
            family="reference",
            api=KERNEL_API_VERSION,
            rank=0,
            determinism="threads",
            load=load,
        )
    ]
