# SPDX-License-Identifier: MIT
"""Convolutions, forward and transposed."""

from __future__ import annotations

from typing import Any

from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes

_Ints = tuple[int, ...]


@writes("conv")
def _(
    k: Kernels,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: _Ints,
    padding: _Ints,
    dilation: _Ints,
    groups: int,
) -> Value:
    sizes = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    counts = tuple((n + 2 * p - d * (m - 1) - 1) // s + 1 for n, m, s, p, d in sizes)
    words: dict[str, Any] = {
        "strides": list(stride),
        "pads": [*padding, *padding],
        "group": groups,
    }
    shape = (x.shape[0], weight.shape[0], *counts)
    more: dict[str, Any] = {
        "dilations": list(dilation),
        "kernel_shape": list(weight.shape[2:]),
    }
    return k.node("Conv", x, weight, bias, shape=shape, **words, **more)


@writes("conv_dx")
def _(
    k: Kernels,
    g: Value,
    weight: Value,
    bias: Value | None,
    sizes: _Ints,
    stride: _Ints,
    padding: _Ints,
    dilation: _Ints,
    groups: int,
) -> Value:
    """Write the transposed convolution; pad where `sizes` is larger than its result."""
    rows = zip(g.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    least = [(n - 1) * s - 2 * p + d * (m - 1) + 1 for n, m, s, p, d in rows]
    more = [size - n for size, n in zip(sizes, least, strict=True)]
    words: dict[str, Any] = {
        "strides": list(stride),
        "pads": [*padding, *padding],
        "dilations": list(dilation),
        "group": groups,
        "kernel_shape": list(weight.shape[2:]),
        "output_padding": more,
    }
    shape = (g.shape[0], weight.shape[1] * groups, *sizes)
    return k.node("ConvTranspose", g, weight, bias, shape=shape, **words)
