# SPDX-License-Identifier: MIT
"""Sums and what is made of them, and softmax."""

from __future__ import annotations

from autocalc._ops import elementwise, reduce
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import Dims, axes_of, axis_of, check_tensor
from autocalc._ops._coerce import cast, to_float
from autocalc._ops._op import Operator
from autocalc._ops._out import apply_out
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError


def sum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sum over `dim` (all dimensions by default)."""
    x = check_tensor("sum", input)
    x = x if dtype is None else cast(x, dtype)
    result = reduce.sum(x, axes_of("sum", x, dim), bool(keepdim))
    return result if out is None else apply_out("sum", result, out)


def mean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the mean over `dim` (all dimensions by default)."""
    x = check_tensor("mean", input)
    x = x if dtype is None else cast(x, dtype)
    if not x.is_floating_point():
        message = (
            f"mean: takes float32 or float64, not {x.dtype.name}; pass "
            f"dtype=ac.float32 or call .float() first."
        )
        raise DTypeError(message)
    result = reduce.mean(x, axes_of("mean", x, dim), bool(keepdim))
    return result if out is None else apply_out("mean", result, out)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return sum((x - mean)^2) / (n - correction) over `dim`; correction is 1."""
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    x, weight = check_tensor("var", input), number("var", "correction", correction)
    return apply_out(
        "var", reduce.var(x, axes_of("var", x, dim), bool(keepdim), weight), out
    )


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the square root of `var`."""
    value = var(input, dim, unbiased, keepdim, correction=correction)
    return apply_out("std", elementwise.sqrt_zero_grad(value), out)


def all(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return whether all elements over `dim` are non-zero."""
    zeros = cast(elementwise.eq(input, 0), dtypes.int64)
    return apply_out("all", elementwise.eq(sum(zeros, dim, keepdim), 0), out)


def any(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return whether any element over `dim` is non-zero."""
    ones = cast(elementwise.ne(input, 0), dtypes.int64)
    return apply_out("any", elementwise.ne(sum(ones, dim, keepdim), 0), out)


def logsumexp(
    input: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return log(sum(exp(input))) over `dim`, shifted by the maximum."""
    x = check_tensor("logsumexp", input)
    x = x if x.is_floating_point() else to_float(x)
    return apply_out(
        "logsumexp",
        reduce.logsumexp(x, axes_of("logsumexp", x, dim), bool(keepdim)),
        out,
    )


def softmax(
    input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return exp(x_i) / sum_j exp(x_j) along `dim`."""
    x = check_tensor("softmax", input)
    x = x if dtype is None else cast(x, dtype)
    axis = axis_of("softmax", dim, x.ndim)
    return apply_out(
        "softmax", reduce.softmax(x, axis) if x.ndim else _of_0d(reduce.softmax, x), out
    )


def log_softmax(
    input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return x_i - log(sum_j exp(x_j)) along `dim`."""
    x = check_tensor("log_softmax", input)
    x = x if dtype is None else cast(x, dtype)
    axis = axis_of("log_softmax", dim, x.ndim)
    return apply_out(
        "log_softmax",
        reduce.log_softmax(x, axis) if x.ndim else _of_0d(reduce.log_softmax, x),
        out,
    )


def _of_0d(operator: Operator, x: Tensor) -> Tensor:
    """Run an operator that needs a dimension on a tensor that has none."""
    return shapes.detach_from_base(
        shapes.reshape(operator(shapes.reshape(x, (1,)), 0), ())
    )
