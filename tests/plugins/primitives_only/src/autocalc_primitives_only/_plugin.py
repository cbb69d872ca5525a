# SPDX-License-Identifier: MIT
"""Describes the kernel set `primitives-only`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def load() -> Mapping[str, Any]:
    """Import the kernels on first use."""
    from autocalc_primitives_only._kernels import KERNELS

    return KERNELS


@hookimpl
def autocalc_kernel_sets() -> list[KernelSet]:
    """Describe the one set: it comes before the reference and after all others."""
    return [
        KernelSet(
            "primitives-only",
            family="primitives-only",
            api=KERNEL_API_VERSION,
            rank=50,
            determinism="run",
            load=load,
        )
    ]
