# SPDX-License-Identifier: MIT
"""Sums and means over the elements that are not NaN."""

from __future__ import annotations

from math import inf
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import Dims
from autocalc._ops._operator.coerce import check_and_cast, check_tensor
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.reductions.reduction import sum
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError


@method("nansum")
@traced
@rounded_once
def nansum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the sum over `dim` with NaN counted as 0.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype of the result; `input` is converted to it first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nansum(ac.tensor([1.0, ac.nan, 2.0]))
    tensor(3.)
    """
    x = check_and_cast("nansum", input, dtype)
    if x.dtype.is_half:  # if `dtype` is another one
        return nansum(x, dim, keepdim)
    if x._array.dtype.kind not in FLOAT_KINDS:
        return sum(x, dim, keepdim, dtype=dtype)
    a = x._array
    if x._edge is None:  # one pass, but no slope at infinity
        whole = make(arrays.nan_to_num(a, 0.0, inf, -inf), None)
    else:
        bad = make(arrays.compare(a, a, "ne"), None)
        whole = comparison.where_op(bad, make(constant(0, a.dtype), None), x)
    return sum(whole, dim, keepdim)


@method("nanmean")
@traced
@rounded_once
def nanmean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the mean over `dim` of the elements that are not NaN.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype of the result; `input` is converted to it first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    DTypeError
        If `input` is not of float32 or float64.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nanmean(ac.tensor([1.0, ac.nan, 2.0]))
    tensor(1.5000)
    """
    if not check_tensor("nanmean", input).is_floating_point():
        raise DTypeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{input.dtype.name}. Convert it with .float()."
        )
    x = check_and_cast("nanmean", input, dtype)
    if x.dtype.is_half:  # if `dtype` is another one
        return nanmean(x, dim, keepdim)
    a = x._array
    kept = make(arrays.compare(a, a, "eq"), None)
    total = nansum(x, dim, keepdim)
    count = arrays.cast(sum(kept, dim, keepdim)._array, a.dtype)
    return arithmetic.div_op(total, make(count, None))
