# SPDX-License-Identifier: MIT
"""Kernels with one block for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from autocalc.plugin import DispatchKey
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._types import BLOCK, CTYPES, FLOATS

Supports = Callable[[DispatchKey], "str | None"]


def run_rows(file: str, name: str, like: Any, rows: int, *arguments: Any) -> None:
    """Start the kernel for the dtype of `like`, if there are rows."""
    if rows:
        found = kernel(f"{file}.cu", f"{name}<{CTYPES[like.dtype]}>")
        found((rows,), (BLOCK,), arguments)


def pointer(array: Any) -> int:
    """Return the address of an array, 0 for one that is absent."""
    return 0 if array is None else int(array.data.ptr)


class Results:
    """Where a kernel writes that makes rows one after the other."""

    def __init__(self) -> None:
        self._later: list[tuple[Any, Any]] = []

    def place(self, out: Any) -> Any:
        """Return the result itself, or an array that is copied into it at the end."""
        if out is None or out.flags.c_contiguous:
            return out
        place = cupy.array(out, order="C")
        self._later.append((out, place))
        return place

    def finish(self) -> None:
        """Copy what could not be written in place."""
        for out, place in self._later:
            out[...] = place


def floats(key: DispatchKey) -> str | None:
    """Take calls whose first operand is float32 or float64."""
    given = next((dtype for dtype in key.dtypes if dtype is not None), None)
    return None if given in FLOATS else f"takes float32 and float64, not {given}"
