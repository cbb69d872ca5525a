# SPDX-License-Identifier: MIT
"""Products, running sums and products, and statistics made of other reductions."""

from __future__ import annotations

from typing import NamedTuple

from autocalc._ops import elementwise, scans
from autocalc._ops._arguments import Dims, axes_of, axis_of, check_tensor
from autocalc._ops._coerce import cast
from autocalc._ops._op import Operator
from autocalc._ops._out import apply_out
from autocalc._ops.functional.elementwise_composites import isnan, truth
from autocalc._ops.functional.extrema import amax, amin
from autocalc._ops.functional.reductions import mean, std, sum, var
from autocalc._ops.functional.shapes import clone
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.dtypes import DType

__all__ = [
    "aminmax",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "nanmean",
    "nansum",
    "prod",
    "std_mean",
    "var_mean",
]


def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the product over `dim` (all dimensions by default).

    Of integers and booleans it is taken in int64.  The gradient is right where
    elements are 0, too.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.prod(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor([ 2., 12.])
    """
    x = check_tensor("prod", input)
    x = x if dtype is None else cast(x, dtype)
    return apply_out("prod", scans.prod(x, axes_of("prod", x, dim), bool(keepdim)), out)


def cumsum(
    input: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor:
    """Return y_i = x_1 + ... + x_i along `dim`; of integers in int64.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cumsum(ac.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    return apply_out(
        "cumsum", _scan("cumsum", scans.cumsum, input, dim, dtype, (False,)), out
    )


def cumprod(
    input: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor:
    """Return y_i = x_1 * ... * x_i along `dim`; of integers in int64."""
    return apply_out(
        "cumprod", _scan("cumprod", scans.cumprod, input, dim, dtype, ()), out
    )


def _scan(
    name: str,
    operator: Operator,
    input: Tensor,
    dim: int,
    dtype: DType | None,
    attributes: tuple[bool, ...],
) -> Tensor:
    x = check_tensor(name, input)
    x = x if dtype is None else cast(x, dtype)
    axis = axis_of(name, dim, x.ndim)
    if x.ndim == 0:
        return clone(x) if x.is_floating_point() else cast(x, dtypes.int64)
    return operator(x, axis, *attributes)


class MinMax(NamedTuple):
    """What `aminmax` returns."""

    min: Tensor
    max: Tensor


def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> MinMax:
    """Return the smallest and the largest elements over `dim`, as (min, max)."""
    return apply_out(
        "aminmax", MinMax(amin(input, dim, keepdim), amax(input, dim, keepdim)), out
    )


def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """Return how many elements over `dim` are not zero, as int64."""
    return sum(truth(check_tensor("count_nonzero", input)), dim)


def nansum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sum over `dim` with NaN counted as 0."""
    x = check_tensor("nansum", input)
    x = x if dtype is None else cast(x, dtype)
    if not x.is_floating_point():
        return apply_out("nansum", sum(x, dim, keepdim), out)
    zero = elementwise.mul(cast(isnan(x.detach()), x.dtype), 0)
    return apply_out(
        "nansum", sum(elementwise.choose(isnan(x.detach()), zero, x), dim, keepdim), out
    )


def nanmean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the mean over `dim` of what is not NaN."""
    x = check_tensor("nanmean", input)
    x = x if dtype is None else cast(x, dtype)
    kept = elementwise.eq(x.detach(), x.detach())
    total = nansum(x, dim, keepdim)
    return apply_out(
        "nanmean", elementwise.div(total, cast(sum(kept, dim, keepdim), x.dtype)), out
    )


def var_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over `dim`."""
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)


def std_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over `dim`."""
    spread = std(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)
