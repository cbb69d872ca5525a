# SPDX-License-Identifier: MIT
"""Pooling over windows and over boxes."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import Meta, Shape
from autocalc._kernels.table import TABLE
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes

_Ints = tuple[int, ...]


def _words(kernel: _Ints, stride: _Ints, padding: _Ints) -> dict[str, Any]:
    pads = [*padding, *padding]
    return {"kernel_shape": list(kernel), "strides": list(stride), "pads": pads}


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
    metas = TABLE["max_pool"].rule(Meta(x.shape, x.dtype), *attributes)
    shape: Shape = metas[0].shape
    words = _words(kernel, stride, padding)
    more: dict[str, Any] = {"dilations": list(dilation), "ceil_mode": int(ceil)}
    return k.node("MaxPool", x, shape=shape, **words, **more)


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
    shape: Shape = spec.rule(Meta(x.shape, x.dtype), *attributes).shape
    words = _words(kernel, stride, padding)
    more: dict[str, Any] = {
        "ceil_mode": int(ceil),
        "count_include_pad": int(count_include_pad),
    }
    return k.node("AveragePool", x, shape=shape, **words, **more)


def _boxes(k: Kernels, whole: str, part: str, x: Value, sizes: _Ints) -> Any:
    """Write boxes that are the whole plane or equal windows; None for others."""
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
