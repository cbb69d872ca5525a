# SPDX-License-Identifier: MIT
"""Errors of indices in replays, with the reference kernel's message and range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autocalc._kernels.adapter import adapt
from autocalc._kernels.kernel_set import ExecutorCall
from autocalc._kernels.table import TABLE
from autocalc.errors import KernelIndexError


def explained(
    error: KernelIndexError, calls: Iterable[ExecutorCall]
) -> KernelIndexError:
    """Return the reference kernel's error for the kernel call that raised `error`.

    `calls` are all calls of this kernel in a program.  The reference kernel repeats
    them on the current operands, with outputs in new memory, until one of them fails in
    the same way.
    """
    for call in calls:
        found = _error_of(error.found[0], call.arguments)
        if found is not None and found.found == error.found:
            return found
    return error


def _error_of(kernel: str, arguments: tuple[Any, ...]) -> KernelIndexError | None:
    spec = TABLE[kernel]
    n = len(spec.outputs)
    outs = [None if out is None else np.empty_like(out) for out in arguments[:n]]
    try:
        adapt(spec)(*outs, *arguments[n:])
    except KernelIndexError as found:
        return found
    return None
