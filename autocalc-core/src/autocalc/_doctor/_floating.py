# SPDX-License-Identifier: MIT
"""How floating-point numbers are computed: rounding, and numbers close to zero."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc.testing.conformance import _floating_point as floating_point

#: Elements: enough for every thread to get some.
SIZE = 1 << 20
TURNS = 7

#: Slower than this many times is worth a note.
SLOW = 3.0


def state(_machine: Machine) -> Iterator[Finding]:
    """Compare this thread's floating-point state with the default."""
    deviation = floating_point.deviation()
    if deviation:
        yield Finding(
            "error",
            "floating point",
            f"in this thread {deviation}: something in this process changed the "
            f"floating-point control state",
            "Look for a library built with -ffast-math among what the program imports, "
            "import it later or in another process, or replace it.",
        )
    else:
        yield Finding(
            "ok", "floating point", "rounds to nearest, keeps subnormal numbers"
        )


def subnormals(_machine: Machine) -> Iterator[Finding]:
    """Let all threads multiply subnormal numbers; tell if they are lost, or slow."""
    tiny = np.uint32(1 << 20)  # a subnormal number in float32: 2^-129
    small = arrays.copy(np.full(SIZE, tiny, np.uint32).view(np.float32))
    usual = arrays.copy(np.ones(SIZE, np.float32))
    two = np.array(2.0, np.float32)
    spec = TABLE["mul"]
    name = current().selection.choose(spec, KernelCall(spec).key(small, two))[0]
    lost = int(np.count_nonzero(arrays.mul(small, two).view(np.uint32) != 2 * tiny))
    if lost:
        yield Finding(
            "error",
            "subnormals",
            f"{name} lost {lost} of {SIZE} subnormal products: its threads read or "
            f"write numbers below 1.2e-38 as zero",
            "Start the program without the library that changes the floating-point "
            "state (-ffast-math) before AutoCalc's threads start.",
        )
        return
    ratio = _seconds(small, two) / _seconds(usual, two)
    text = f"{name} keeps them; a product with them takes {ratio:.1f} times as long"
    if ratio > SLOW:
        yield Finding(
            "note",
            "subnormals",
            text,
            "Where a training slows down, look for values below 1e-38: raise eps, or "
            "let weights decay less.",
        )
    else:
        yield Finding("ok", "subnormals", text)


def _seconds(a: Array, b: Any) -> float:
    times = []
    for _ in range(TURNS):
        started = perf_counter()
        arrays.mul(a, b)
        times.append(perf_counter() - started)
    return median(times)
