# SPDX-License-Identifier: MIT
"""Softmax and its logarithm along the last axis of what is contiguous."""

from __future__ import annotations

from typing import Any

import cupy

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda._rows import floats, run_rows


def _along_last(a: Any, axis: int) -> Any:
    """Return `a` with its axis last, contiguous."""
    return cupy.ascontiguousarray(cupy.moveaxis(a, axis, -1))


def _rows(name: str, out: Any, axis: int, *operands: Any, logarithm: bool) -> None:
    if not out.size:
        return
    given = [_along_last(a, axis) for a in operands]
    like = given[0]
    last = axis % out.ndim == out.ndim - 1
    to = out if last and out.flags.c_contiguous else cupy.empty_like(like, order="C")
    size = like.shape[-1]
    rows = like.size // size
    run_rows("softmax", name, like, rows, to, *given, cupy.int64(size), logarithm)
    if to is not out:
        out[...] = cupy.moveaxis(to, -1, axis)


def _forward(logarithm: bool) -> Any:
    def kernel(out: Any, a: Any, axis: int) -> None:
        _rows("softmax", out, axis, a, logarithm=logarithm)

    return kernel


def _backward(logarithm: bool) -> Any:
    def kernel(out: Any, g: Any, y: Any, axis: int) -> None:
        _rows("softmax_backward", out, axis, g, y, logarithm=logarithm)

    return kernel


def softmaxes() -> dict[str, KernelImpl]:
    """Return softmax, its logarithm, and their gradients."""
    return {
        "softmax": KernelImpl(_forward(False), supports=floats),
        "softmax_backward": KernelImpl(_backward(False), supports=floats),
        "log_softmax": KernelImpl(_forward(True), supports=floats),
        "log_softmax_backward": KernelImpl(_backward(True), supports=floats),
    }
