# SPDX-License-Identifier: MIT
"""The kernels `gemm`, `linear` and their backward kernels.

A product is cuBLAS's; bias, activation and the value before it follow in one pass.
"""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from autocalc.plugin import DispatchKey, KernelImpl
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._products import FLOATS, product, too_large
from autocalc_kernels_cuda._reduce import Reduce
from autocalc_kernels_cuda._types import BLOCK, CTYPES, blocks

_ACTIVATIONS = {
    "none": "Identity",
    "relu": "Relu",
    "gelu": "Gelu",
    "gelu_tanh": "GeluTanh",
}

_column_sums = Reduce("Total")


def _gemm(
    out: Any,
    pre: Any,
    a: Any,
    b: Any,
    bias: Any,
    alpha: float,
    beta: float,
    activation: str,
    accumulate: int,
) -> None:
    """Write activation(alpha * a @ b + bias + beta * out) to `out`."""
    into = bool(accumulate & 1)
    if into and beta == 0:  # what is not finite stays so
        out *= out.dtype.type(0)
        beta = 1.0
    if bias is None and pre is None and activation == "none":
        product(out, a, b, alpha, beta if into else 0.0)
        return
    target = out
    if not out.flags.c_contiguous:
        target = cupy.ascontiguousarray(out) if into else cupy.empty(out.shape, a.dtype)
    product(target, a, b, alpha, beta if into else 0.0)
    _epilogue(target, pre, bias, activation)
    if target is not out:
        out[...] = target


def _epilogue(out: Any, pre: Any, bias: Any, activation: str) -> None:
    """Add the bias and apply the activation in place; `out` is in row order."""
    if out.size == 0:
        return
    before = pre
    if pre is not None and not pre.flags.c_contiguous:
        before = cupy.empty(pre.shape, pre.dtype)
    stride = 0 if bias is None else bias.strides[0] // bias.itemsize
    name = f"epilogue<{_ACTIVATIONS[activation]}, {CTYPES[out.dtype]}>"
    numbers = np.int64(stride), np.int64(out.shape[-1]), np.int64(out.size)
    run = kernel("epilogue.cu", name)
    run((blocks(out.size, 4 * BLOCK),), (BLOCK,), (out, before, bias, *numbers))
    if before is not pre:
        pre[...] = before


def _linear(
    out: Any, pre: Any, x: Any, weight: Any, bias: Any, activation: str
) -> None:
    """Write activation(x @ weight.T + bias) to `out`."""
    if x.ndim == 1:
        out, x = out[None], x[None]
        pre = None if pre is None else pre[None]
    _gemm(out, pre, x, weight.T, bias, 1.0, 1.0, activation, 0)


def _linear_backward(
    dx: Any, dweight: Any, dbias: Any, g: Any, x: Any, weight: Any, accumulate: int
) -> None:
    """Write dx = g @ weight, dweight = g.T @ x and dbias, the sum of g over rows."""
    if dx is not None and g.ndim == 1:
        product(dx[None], g[None], weight, 1.0, float(accumulate & 1))
    elif dx is not None:
        product(dx, g, weight, 1.0, float(accumulate & 1))
    if dweight is not None:
        into = float(accumulate >> 1 & 1)
        product(dweight, _rows(g).T, _rows(x), 1.0, into)
    if dbias is not None:
        axes = tuple(range(g.ndim - 1))
        if axes:
            _column_sums(dbias, g, axes, bool(accumulate & 4))
        else:
            _column_sums(dbias, g[None], (0,), bool(accumulate & 4))


def _rows(a: Any) -> Any:
    """Return all but the last dimension as one."""
    return a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def _linear_relu_backward(
    da: Any, dweight: Any, dbias: Any, g: Any, x: Any, weight: Any, accumulate: int
) -> None:
    """Write the same, and 0 to `da` where x <= 0."""
    _linear_backward(da, dweight, dbias, g, x, weight, accumulate & 0b110)
    if da is None or da.size == 0:
        return
    gradient = cupy.ascontiguousarray(da)
    x = cupy.ascontiguousarray(x)
    run = kernel("epilogue.cu", f"masked<{CTYPES[da.dtype]}>")
    run((blocks(da.size),), (BLOCK,), (gradient, x, np.int64(da.size)))
    if gradient is not da:
        da[...] = gradient


def _supports(key: DispatchKey) -> str | None:
    """Return why cuBLAS does not do this call, None if it does."""
    dtype = next(d for d in reversed(key.dtypes) if d is not None)
    if dtype not in FLOATS:
        return f"cuBLAS is asked for float32 and float64, not {dtype}"
    return too_large(key.shapes or ())


def _supports_gemm(key: DispatchKey) -> str | None:
    if key.attributes and key.attributes[0] == 0:
        return "cuBLAS does not read its operands when alpha is 0"
    return _supports(key)


def products() -> dict[str, KernelImpl]:
    """Return the kernels that are matrix products."""
    return {
        "gemm": KernelImpl(_gemm, supports=_supports_gemm),
        "linear": KernelImpl(_linear, supports=_supports),
        "linear_backward": KernelImpl(_linear_backward, supports=_supports),
        "linear_relu_backward": KernelImpl(_linear_relu_backward, supports=_supports),
    }
