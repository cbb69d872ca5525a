# SPDX-License-Identifier: MIT
"""One row of the table, and what all rows measure with."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from benchmarks.worker import Run


class Item(NamedTuple):
    """One row: the same work without and with an item."""

    number: int
    change: str
    operands: str
    before: Run
    after: Run
    threads: int = 1
    before_threads: int | None = None  # where that is what changes


def floats(*shape: int) -> np.ndarray:
    """Random operands in memory of the kernel set's own."""
    rng = np.random.default_rng(0)
    return arrays.copy(rng.standard_normal(shape, np.float32))


def pointer(a: np.ndarray) -> ctypes.c_void_p:
    """Return the address of an array, which must be kept alive."""
    return ctypes.c_void_p(a.ctypes.data)
