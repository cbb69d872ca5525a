# SPDX-License-Identifier: MIT
"""Calls of kernels, made up by hand."""

from __future__ import annotations

from tests.dispatcher import FORWARD
from tests.kernel_table import Work

from autocalc.plugin import PoolTimes
from autocalc.profiler._recording import Kernel, KernelCall

GEMM = Kernel("gemm", "simd", "2x2 2x2", "float32", Work(16, 48))
ADD = Kernel("add", "reference", "2x2 2x2", "float32", Work(4, 48))


def ran(
    start, stop, kernel, site=FORWARD, serial=-1, *, waited=0, helped=0, phases=None
):
    """Return the event of a call."""
    times = PoolTimes(start, stop, waited, helped, phases or {})
    return KernelCall(times, kernel, site, serial)
