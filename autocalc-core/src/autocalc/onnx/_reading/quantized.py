# SPDX-License-Identifier: MIT
"""Integers with scales and zero points."""

from __future__ import annotations

from typing import Any

from autocalc._ops.elementwise import clamping, rounding
from autocalc._ops.matrices import matmul
from autocalc._ops.reductions import extrema
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.limits import iinfo
from autocalc.onnx._node import Node
from autocalc.onnx._reading.convolution import PADS, convolved
from autocalc.onnx._table import reads


def _spread(node: Node, scale: Tensor, x: Tensor) -> Tensor:
    """Return a scale or zero point that fits x: for all, for a row or for a block."""
    size = node.get("block_size", 0)
    axis = node.get("axis", 1)
    if scale.ndim == 0 or (scale.numel() == 1 and scale.ndim == 1):
        return scale.reshape(())
    axis %= x.ndim
    if size:
        return scale.repeat_interleave(size, axis).narrow(axis, 0, x.shape[axis])
    return scale.reshape(-1, *[1] * (x.ndim - 1 - axis))


def _rounded(x: Tensor, zero: Any, dtype: Any) -> Tensor:
    """Return numbers rounded to even, moved by the zero point, within an integer."""
    whole = rounding.round(x)
    whole = whole if zero is None else whole + zero.to(x.dtype)
    limits = iinfo(dtype)
    return clamping.clamp(whole, limits.min, limits.max).to(dtype)


@reads("QuantizeLinear", unused=("saturate", "precision", "output_dtype"))
def _(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    dtype = node.dtype("output_dtype", dtypes.uint8) if zero is None else zero.dtype
    precise = node.dtype("precision", dtypes.float32)
    quotient = x.to(precise) / _spread(node, scale, x).to(precise)
    zero = None if zero is None else _spread(node, zero, x)
    return _rounded(quotient.to(dtypes.float32), zero, dtype)


@reads("DequantizeLinear", unused=("output_dtype",))
def _(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    dtype = node.dtype("output_dtype", scale.dtype)
    exact = x.to(dtypes.float32)
    if zero is not None:
        exact = exact - _spread(node, zero, x).to(dtypes.float32)
    return (exact * _spread(node, scale, x).to(dtypes.float32)).to(dtype)


@reads("DynamicQuantizeLinear")
def _(node: Node, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return x as bytes, with the scale and the zero point that fit its range."""
    low, high = extrema.amin(x).clamp(max=0), extrema.amax(x).clamp(min=0)
    scale = (high - low) / 255
    scale = scale + (scale == 0).to(scale.dtype)
    zero = clamping.clamp(rounding.round(-low / scale), 0, 255).to(dtypes.uint8)
    return _rounded(x / scale, zero, dtypes.uint8), scale, zero


def _centred(x: Tensor, zero: Tensor | None, axis: int) -> Tensor:
    """Return integers without their zero point, as float64, which is exact."""
    exact = x.to(dtypes.float64)
    return exact if zero is None else exact - _aligned(zero, x, axis).to(dtypes.float64)


def _aligned(one: Tensor, x: Tensor, axis: int) -> Tensor:
    """Return a number for each row or column, so that it broadcasts over x."""
    if one.numel() == 1:
        return one.reshape(())
    if one.ndim > 1:
        return one
    return one.reshape(-1, *[1] * (x.ndim - 1 - axis % x.ndim))


def _product(a: Tensor, b: Tensor, a_zero: Any, b_zero: Any) -> Tensor:
    """Return the exact product of integer matrices, as float64."""
    row = -2 if a.ndim > 1 else -1
    return matmul.matmul(_centred(a, a_zero, row), _centred(b, b_zero, -1))


@reads("MatMulInteger")
def _(
    node: Node,
    a: Tensor,
    b: Tensor,
    a_zero: Tensor | None = None,
    b_zero: Tensor | None = None,
) -> Tensor:
    return _product(a, b, a_zero, b_zero).to(dtypes.int32)


@reads("QLinearMatMul")
def _(
    node: Node,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
) -> Tensor:
    out = _product(a, b, a_zero, b_zero)
    rows = _aligned(a_scale, a, -2).to(dtypes.float64)
    columns = _aligned(b_scale, b, -1).to(dtypes.float64)
    return _rounded(out * (rows * columns / scale.to(dtypes.float64)), zero, zero.dtype)


_UNUSED = ("kernel_shape", "pads", "auto_pad")


@reads("ConvInteger", unused=_UNUSED, only=PADS)
def _(
    node: Node,
    x: Tensor,
    w: Tensor,
    x_zero: Tensor | None = None,
    w_zero: Tensor | None = None,
) -> Tensor:
    out = convolved(node, _centred(x, x_zero, 1), _centred(w, w_zero, 0))
    return out.to(dtypes.int32)


@reads("QLinearConv", unused=_UNUSED, only=PADS)
def _(
    node: Node,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    bias = None if bias is None else bias.to(dtypes.float64)
    out = convolved(node, _centred(x, x_zero, 1), _centred(w, w_zero, 0), bias)
    channels = _aligned(w_scale, out, 1).to(dtypes.float64)
    factor = x_scale.to(dtypes.float64) * channels / scale.to(dtypes.float64)
    return _rounded(out * factor, zero, zero.dtype)
