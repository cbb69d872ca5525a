# SPDX-License-Identifier: MIT
"""Layer norm and RMS norm over the last axis, and their gradients."""

from __future__ import annotations

from typing import Any

import cupy

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda._reduce import Reduce
from autocalc_kernels_cuda._rows import Results, floats, pointer, run_rows

_dweight = cupy.ReductionKernel(
    "T g, T x, T mean, T rstd", "T out",
    "double(g) * ((double(x) - double(mean)) * double(rstd))", "a + b", "out = a", "0",
    "autocalc_norm_dweight", reduce_type="double",
)  # fmt: skip
_add_dweight = cupy.ReductionKernel(
    "T g, T x, T mean, T rstd", "T out",
    "double(g) * ((double(x) - double(mean)) * double(rstd))", "a + b",
    "out = out + a", "0", "autocalc_add_norm_dweight", reduce_type="double",
)  # fmt: skip


_sums = Reduce("Total")


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


def _row(a: Any) -> Any:
    """Return moments [...] as [..., 1]."""
    return a[..., None]


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
    _backward_rows(dx, g, x, mean, rstd, weight, bool(accumulate & 1))
    axes = tuple(range(x.ndim - 1))
    if dweight is not None:
        kernel = _add_dweight if accumulate & 2 else _dweight
        _columns(kernel, dweight, axes, g, x, _row(mean), _row(rstd))
    if dbias is not None:
        line = (axes, g) if axes else ((0,), g[None])
        _sums(dbias, line[1], line[0], bool(accumulate & 4))


def _columns(kernel: Any, out: Any, axes: tuple[int, ...], *operands: Any) -> None:
    """Reduce over rows; one row alone has no axes to reduce over."""
    if axes:
        kernel(*operands, out, axis=axes)
    else:
        kernel(*[a[None] for a in operands], out, axis=0)


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
    _backward_rows(dx, g, x, None, rstd, weight, bool(accumulate & 1))
    if dweight is not None:
        kernel = _add_dweight if accumulate & 2 else _dweight
        zero = cupy.zeros((), x.dtype)
        axes = tuple(range(x.ndim - 1))
        _columns(kernel, dweight, axes, g, x, zero, _row(rstd))


def norms() -> dict[str, KernelImpl]:
    """Return layer norm and RMS norm, and their gradients."""
    return {
        "add_layer_norm": KernelImpl(_add_layer_norm, supports=floats),
        "layer_norm": KernelImpl(_layer_norm, supports=floats),
        "layer_norm_backward": KernelImpl(_layer_norm_backward, supports=floats),
        "rms_norm": KernelImpl(_rms_norm, supports=floats),
        "rms_norm_backward": KernelImpl(_rms_norm_backward, supports=floats),
    }
