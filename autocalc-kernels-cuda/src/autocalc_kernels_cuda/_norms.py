# SPDX-License-Identifier: MIT
"""Layer norm and RMS norm over the last axis, and their gradients."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._rows import Results, floats, pointer, run_rows
from autocalc_kernels_cuda._types import BLOCK, CTYPES, blocks

#: Parts of the rows that are summed apart, and the rows that make one worth it.
_PARTS = 64
_PART_ROWS = 64


def _plain(a: Any) -> Any:
    return None if a is None else cupy.ascontiguousarray(a)


def _layer_norm(
    out: Any, mean: Any, rstd: Any, x: Any, weight: Any, bias: Any, eps: float
) -> None:
    _normalise(None, out, mean, rstd, x, None, weight, bias, eps)


def _add_layer_norm(
    x: Any,
    out: Any,
    mean: Any,
    rstd: Any,
    a: Any,
    b: Any,
    weight: Any,
    bias: Any,
    eps: float,
) -> None:
    _normalise(x, out, mean, rstd, a, b, weight, bias, eps)


def _normalise(
    summed: Any,
    out: Any,
    mean: Any,
    rstd: Any,
    x: Any,
    other: Any,
    weight: Any,
    bias: Any,
    eps: float,
) -> None:
    size = x.shape[-1]
    if not x.size:
        _of_nothing(size, mean, rstd)
        return
    results = Results()
    places = [results.place(a) for a in (out, mean, rstd, summed)]
    given = [_plain(a) for a in (x, other, weight, bias)]
    run_rows(
        "norms",
        "layer_norm",
        out,
        x.size // size,
        *[pointer(a) for a in (*places, *given)],
        cupy.int64(size),
        float(eps),
    )
    results.finish()


def _of_nothing(size: int, mean: Any, rstd: Any) -> None:
    """Fill the moments of rows without elements as 0 / 0 does."""
    for a in (mean, rstd):
        if a is not None and not size:
            a.fill(float("nan"))


def _layer_norm_backward(
    dx: Any,
    dweight: Any,
    dbias: Any,
    g: Any,
    x: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    accumulate: int,
) -> None:
    # First what reads g and x, over which dx may be written.
    _columns(dweight, dbias, g, x, mean, rstd, accumulate >> 1)
    _backward_rows(dx, g, x, mean, rstd, weight, bool(accumulate & 1))


def _columns(
    dweight: Any, dbias: Any, g: Any, x: Any, mean: Any, rstd: Any, accumulate: int
) -> None:
    """Sum over rows; bit 0 of `accumulate` is that of `dweight`, bit 1 of `dbias`."""
    if dweight is None and dbias is None:
        return
    size = x.shape[-1]
    rows = x.size // size if size else 0
    if not size:
        return
    results = Results()
    to = results.place(dweight), results.place(dbias)
    parts = max(min(-(-rows // _PART_ROWS), _PARTS), 1)
    partial = cupy.empty((parts, 2, size), np.float64)
    given = [_plain(a) for a in (g, x, mean, rstd)]
    ctype = CTYPES[x.dtype]
    kernel("norms.cu", f"norm_columns<{ctype}>")(
        (blocks(size, 32), parts), (32, 8), (partial, *map(pointer, given), rows, size)
    )
    adds = bool(accumulate & 1), bool(accumulate & 2)
    kernel("norms.cu", f"norm_columns_end<{ctype}>")(
        (blocks(size),),
        (BLOCK,),
        (*map(pointer, to), partial, np.int32(parts), size, *adds),
    )
    results.finish()


def _backward_rows(
    dx: Any, g: Any, x: Any, mean: Any, rstd: Any, weight: Any, add: bool
) -> None:
    if dx is None or not x.size:
        return
    results = Results()
    place = results.place(dx)
    given = [_plain(a) for a in (g, x, mean, rstd, weight)]
    run_rows(
        "norms",
        "norm_backward",
        dx,
        x.size // x.shape[-1],
        pointer(place),
        *[pointer(a) for a in given],
        cupy.int64(x.shape[-1]),
        add,
    )
    results.finish()


def _rms_norm(out: Any, rstd: Any, x: Any, weight: Any, eps: float) -> None:
    size = x.shape[-1]
    if not x.size:
        _of_nothing(size, None, rstd)
        return
    results = Results()
    places = [results.place(a) for a in (out, rstd)]
    given = [_plain(a) for a in (x, weight)]
    run_rows(
        "norms",
        "rms_norm",
        out,
        x.size // size,
        *[pointer(a) for a in (*places, *given)],
        cupy.int64(size),
        float(eps),
    )
    results.finish()


def _rms_norm_backward(
    dx: Any, dweight: Any, g: Any, x: Any, rstd: Any, weight: Any, accumulate: int
) -> None:
    _columns(dweight, None, g, x, None, rstd, accumulate >> 1)
    _backward_rows(dx, g, x, None, rstd, weight, bool(accumulate & 1))


def norms() -> dict[str, KernelImpl]:
    """Return layer norm and RMS norm, and their gradients."""
    return {
        "add_layer_norm": KernelImpl(_add_layer_norm, supports=floats),
        "layer_norm": KernelImpl(_layer_norm, supports=floats),
        "layer_norm_backward": KernelImpl(_layer_norm_backward, supports=floats),
        "rms_norm": KernelImpl(_rms_norm, supports=floats),
        "rms_norm_backward": KernelImpl(_rms_norm_backward, supports=floats),
    }
