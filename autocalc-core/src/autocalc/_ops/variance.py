# SPDX-License-Identifier: MIT
"""Variances and standard deviations over dimensions."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._arguments import Dims, axes_of, check_tensor
from autocalc._ops._halves import rounded_once
from autocalc._ops._method import method
from autocalc._ops._numpy_names import dim_or_axis, keepdim_or_keepdims
from autocalc._ops._op import nary
from autocalc._ops._out import apply_out
from autocalc._ops._remembered import remembered, replayed
from autocalc._ops.reduction import (
    count_elements,
    mean,
    spread,
    sqrt_zero_grad,
)
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag, number
from autocalc.errors import ArgumentError

var_op = nary("var", saves="mean a")


@var_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    r"""D var / d x = 2 (x - mean) / (n - correction)."""
    mean_of, a = n.saved
    axes, keepdim, correction = n.attributes
    shape = n.shapes[0]
    if k.records:  # the kept mean has no history
        mean_of = k.mean(a, axes, keepdim)
    freedom = count_elements(shape, axes) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    g = spread(k, k.mul(g, k.constant(scale, g)), shape, axes, keepdim)
    return k.mul(g, k.sub(a, spread(k, mean_of, shape, axes, keepdim)))


@method("var")
@remembered
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return sum((x - mean)^2) / (n - correction) over `dim`; correction is 1.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        Divide by n - 1 instead of n.
    keepdim
        Keep the reduced dimensions, with size 1.
    correction
        What is taken from n in the divisor; `unbiased` is 1.
    out
        A tensor that takes the result, converted to its dtype.
    axis, keepdims
        `dim` and `keepdim` by NumPy's names.

    Raises
    ------
    ArgumentError
        If `unbiased` is given twice, or beside `correction`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.var(ac.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    if axis is not None:
        dim = dim_or_axis("var", dim, axis)
    if keepdims is not None:
        keepdim = keepdim_or_keepdims("var", keepdim, keepdims)
    if unbiased is not None:
        check_flag("var", "unbiased", unbiased)
    if keepdim.__class__ is not FLAG:
        keepdim = check_flag("var", "keepdim", keepdim)
    if dim.__class__ is FLAG:  # var(x, unbiased)
        if unbiased is not None or keepdim:
            message = (
                f"var: `unbiased`={dim} stands alone, with nothing behind it; for more "
                f"give var(input, dim, unbiased, keepdim)."
            )
            raise ArgumentError(message)
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        message = "var: `unbiased` and `correction` say the same; give one of them."
        raise ArgumentError(message)
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    x, weight = check_tensor("var", input), number("var", "correction", correction)
    result = var_op(x, axes_of("var", x, dim), keepdim, weight)
    return result if out is None else apply_out("var", result, out)


@method("std")
@replayed
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the square root of `var`.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        Divide by n - 1 instead of n.
    keepdim
        Keep the reduced dimensions, with size 1.
    correction
        What is taken from n in the divisor; `unbiased` is 1.
    out
        A tensor that takes the result, converted to its dtype.
    axis, keepdims
        `dim` and `keepdim` by NumPy's names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.std(ac.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    if axis is not None:
        dim = dim_or_axis("std", dim, axis)
    if keepdims is not None:
        keepdim = keepdim_or_keepdims("std", keepdim, keepdims)
    value = var(input, dim, unbiased, keepdim, correction=correction)
    result = sqrt_zero_grad(value)
    return result if out is None else apply_out("std", result, out)


@replayed
@rounded_once
def var_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over `dim`.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        Divide by n - 1 instead of n.
    keepdim
        Keep the reduced dimensions, with size 1.
    correction
        What is taken from n in the divisor; `unbiased` is 1.
    axis, keepdims
        `dim` and `keepdim` by NumPy's names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.var_mean(ac.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    if axis is not None:
        dim = dim_or_axis("var_mean", dim, axis)
    if keepdims is not None:
        keepdim = keepdim_or_keepdims("var_mean", keepdim, keepdims)
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)


@replayed
@rounded_once
def std_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over `dim`.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        Divide by n - 1 instead of n.
    keepdim
        Keep the reduced dimensions, with size 1.
    correction
        What is taken from n in the divisor; `unbiased` is 1.
    axis, keepdims
        `dim` and `keepdim` by NumPy's names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.std_mean(ac.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    if axis is not None:
        dim = dim_or_axis("std_mean", dim, axis)
    if keepdims is not None:
        keepdim = keepdim_or_keepdims("std_mean", keepdim, keepdims)
    spread = std(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)
