# SPDX-License-Identifier: MIT
"""Dtypes by their names in CUDA C++, and how many blocks of threads elements take."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The dtypes of the kernel table.
CTYPES: dict[Any, str] = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.int8): "signed char",
    np.dtype(np.int16): "short",
    np.dtype(np.int32): "int",
    np.dtype(np.int64): "long long",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.bool_): "bool",
}

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

#: Threads of a block, as `common.cuh` has it.
BLOCK = 256


def blocks(count: int, each: int = BLOCK) -> int:
    """Return how many blocks of `each` elements `count` of them take."""
    return -(-count // each)
