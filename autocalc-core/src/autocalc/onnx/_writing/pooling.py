# SPDX-License-Identifier: MIT
"""Pooling over windows and over boxes."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.upcast import FLOAT32
from autocalc._kernels.spec import Meta, Shape
from autocalc._kernels.table import TABLE
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes

_Ints = tuple[int, ...]


def _windows(
    k: Kernels,
    op: str,
    x: Value,
    out: Shape,
    window: tuple[_Ints, _Ints, _Ints, _Ints],
    ceil: bool,
    **words: Any,
) -> Value:
    """Write windows with a size, stride, padding and gaps between pixels.

    With `ceil_mode`, ONNX counts a last window that begins in the padding; it is
    dropped here.  If that makes a difference, padding at the end is written instead.
    """
    beyond = _beyond(x.shape, out, *window) if ceil else None
    kernel, stride, padding, dilation = window
    ends = padding if beyond is None else _sum(padding, beyond)
    if any(end >= size for end, size in zip(ends, kernel, strict=True)):
        # This happens with gaps between pixels; ONNX Runtime requires less padding than
        # pixels.
        x, ends = _padded(k, x, padding, ends, -math.inf), (0,) * len(ends)
        padding = ends
    words |= {"dilations": list(dilation)} if op == "MaxPool" else {}
    words |= {"ceil_mode": int(ceil and beyond is None), "pads": [*padding, *ends]}
    words |= {"kernel_shape": list(kernel), "strides": list(stride)}
    value: Value = k.node(op, x, shape=out, **words)
    return value


def _sum(first: _Ints, second: _Ints) -> _Ints:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _beyond(
    shape: Shape, out: Shape, kernel: _Ints, stride: _Ints, padding: _Ints, gaps: _Ints
) -> _Ints | None:
    """Return how far windows extend beyond the padding; None if ONNX agrees."""
    dims = zip(shape[2:], out[2:], kernel, stride, padding, gaps, strict=True)
    lines = [(n + 2 * p, m, (size - 1) * d + 1, s) for n, m, size, s, p, d in dims]
    if all(count == -(-(n - width) // step) + 1 for n, count, width, step in lines):
        return None
    return tuple(max((m - 1) * step + width - n, 0) for n, m, width, step in lines)


def _meta(x: Value) -> Meta:
    """Return the metadata for shape rules, which do not depend on the float dtype."""
    return Meta(x.shape, FLOAT32)


@writes("max_pool")
def _(
    k: Kernels,
    x: Value,
    kernel: _Ints,
    stride: _Ints,
    padding: _Ints,
    dilation: _Ints,
    ceil: bool,
) -> Value:
    attributes = (kernel, stride, padding, dilation, ceil)
    metas = TABLE["max_pool"].rule(_meta(x), *attributes)
    return _windows(k, "MaxPool", x, metas[0].shape, attributes[:4], ceil)


@writes("avg_pool")
def _(
    k: Kernels,
    x: Value,
    kernel: _Ints,
    stride: _Ints,
    padding: _Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Value:
    spec: Any = TABLE["avg_pool"]
    attributes = (kernel, stride, padding, ceil, count_include_pad, divisor)
    if divisor:
        value: Value = spec.decomposition(k, x, *attributes)
        return value
    out: Shape = spec.rule(_meta(x), *attributes).shape
    ones = (1,) * len(kernel)
    if ceil and count_include_pad:
        beyond = _beyond(x.shape, out, kernel, stride, padding, ones)
        if beyond is not None:  # divide without the part beyond the padding
            x, padding, count_include_pad = (
                _padded(k, x, padding, padding),
                (0,) * len(ones),
                False,
            )
    window = (kernel, stride, padding, ones)
    counted = int(count_include_pad)
    return _windows(k, "AveragePool", x, out, window, ceil, count_include_pad=counted)


def _padded(
    k: Kernels, x: Value, before: _Ints, ends: _Ints, number: float = 0.0
) -> Value:
    """Write planes padded with a number."""
    if not any(before + ends):
        return x
    widths = [0, 0, *before, 0, 0, *ends]
    shape = (*x.shape[:2], *_sum(_sum(x.shape[2:], before), ends))
    given = k.graph.axes(widths), k.constant(number, x)
    value: Value = k.node("Pad", x, *given, shape=shape)
    return value


def _boxes(k: Kernels, whole: str, part: str, x: Value, sizes: _Ints) -> Any:
    """Write boxes that are the whole plane or equal windows; None for other boxes."""
    shape = (*x.shape[:2], *sizes)
    if set(sizes) == {1}:
        return k.node(whole, x, shape=shape)
    if any(n % size for n, size in zip(x.shape[2:], sizes, strict=True)):
        return None
    kernel = [n // size for n, size in zip(x.shape[2:], sizes, strict=True)]
    return k.node(part, x, shape=shape, kernel_shape=kernel, strides=kernel)


@writes("adaptive_avg_pool")
def _(k: Kernels, x: Value, sizes: _Ints) -> Any:
    value = _boxes(k, "GlobalAveragePool", "AveragePool", x, sizes)
    spec: Any = TABLE["adaptive_avg_pool"]
    return spec.decomposition(k, x, sizes) if value is None else value


@writes("adaptive_max_pool")
def _(k: Kernels, x: Value, sizes: _Ints) -> Any:
    value = _boxes(k, "GlobalMaxPool", "MaxPool", x, sizes)
    spec: Any = TABLE["adaptive_max_pool"]
    return spec.decomposition(k, x, sizes, want=1)[0] if value is None else value
