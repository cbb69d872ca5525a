# SPDX-License-Identifier: MIT
"""Variances and standard deviations over dimensions."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._ops._operator.arguments import Dims, axes_of, check_tensor
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.reductions.reduction import (
    count_elements,
    mean,
    spread,
    sqrt_zero_grad,
)
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, number
from autocalc.errors import ArgumentError, AutocalcWarning

var_op = nary("var", saves="mean a")


@var_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    r"""D var / d x = 2 (x - mean) / (n - correction)."""
    mean_of, a = n.saved
    axes, keepdim, correction = n.attributes
    shape = n.shapes[0]
    if k.records:  # the saved mean has no history
        mean_of = k.mean(a, axes, keepdim)
    freedom = count_elements(shape, axes) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    g = spread(k, k.mul(g, k.constant(scale, g)), shape, axes, keepdim)
    return k.mul(g, k.sub(a, spread(k, mean_of, shape, axes, keepdim)))


std_op = nary("std", saves="mean out a")


@std_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    r"""D std / d x = (x - mean) / std / (n - correction), but 0 where std is 0."""
    mean_of, y, a = n.saved
    axes, keepdim, correction = n.attributes
    shape = n.shapes[0]
    if k.records:  # the saved mean has no history
        mean_of = k.mean(a, axes, keepdim)
    freedom = count_elements(shape, axes) - correction
    scale = 1.0 / freedom if freedom > 0 else math.inf
    zero, one = k.constant(0, g), k.constant(1, g)
    at_zero = k.compare(y, zero, "eq")
    g = k.where(at_zero, zero, k.mul(g, k.constant(scale, g)))
    y = k.where(at_zero, one, y)
    mean_of, y, g = (spread(k, v, shape, axes, keepdim) for v in (mean_of, y, g))
    rest = k.sub(a, mean_of)
    if k.records:
        return k.mul(g, k.div(rest, y))
    # Do not compute g / y first: it could overflow.
    # Under `vmap` not all of them may have memory for each example.
    into = rest if rest.dtype is y.dtype is g.dtype else None
    return k.mul(g, k.div(rest, y, into=into), into=into)


@method("var")
@traced
@rounded_once  # the gradient of halves needs the mean in float32
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
    """Return the variance over `dim`, sum((x - mean)^2) / (n - correction).

    Here n is the number of elements, and `correction` is 1 by default.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        True to divide by n - 1, False to divide by n; it can be given instead of
        `correction`.
    keepdim
        True to keep the reduced dimensions, with size 1.
    correction
        The number that is subtracted from n in the divisor.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ArgumentError
        If `unbiased` is given twice, or together with `correction`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.var(ac.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return _moment("var", input, dim, unbiased, keepdim, correction)


def _moment(
    where: str,
    input: Tensor,
    dim: Any,
    unbiased: bool | None,
    keepdim: bool,
    correction: float | None,
) -> Tensor:
    """Run `var` or `std`, which parse their arguments in the same way."""
    if dim.__class__ is FLAG:  # var(x, unbiased)
        if unbiased is not None or keepdim:
            raise ArgumentError(
                f"{where}: `unbiased`={dim} was given with other arguments; write "
                f"{where}(input, dim, unbiased, keepdim)."
            )
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise ArgumentError(
            f"{where}: `unbiased` and `correction` mean the same; give one of them."
        )
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    x, weight = check_tensor(where, input), number(where, "correction", correction)
    axes = axes_of(where, x, dim)
    if count_elements(x._array.shape, axes) <= weight:
        warn(
            f"{where}: degrees of freedom is <= 0: {count_elements(x.shape, axes)} "
            f"elements less the correction {weight:g}; the result is NaN or infinity.",
            AutocalcWarning,
        )
    if x.is_complex():
        return _moment_of_complex(where, x, axes, keepdim, weight)
    run = std_op if where == "std" else var_op
    return run(x, axes, keepdim, weight)


def _moment_of_complex(
    where: str, x: Tensor, axes: Any, keepdim: bool, weight: float
) -> Tensor:
    """Return the sum of the variances of both parts, or its root."""
    of_real = var_op(parts.real(x), axes, keepdim, weight)
    found = arithmetic.add_op(of_real, var_op(parts.imag(x), axes, keepdim, weight))
    return sqrt_zero_grad(found) if where == "std" else found


@method("std")
@traced
@rounded_once
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
    """Return the standard deviation over `dim`, the square root of `var`.

    It is accurate even where the variance would overflow or underflow.  Where the
    standard deviation is 0, its gradient is 0.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        True to divide by n - 1, False to divide by n, the number of elements.
    keepdim
        True to keep the reduced dimensions, with size 1.
    correction
        The number that is subtracted from n in the divisor; ``unbiased=True`` means 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.std(ac.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return _moment("std", input, dim, unbiased, keepdim, correction)


@traced
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
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        True to divide by n - 1, False to divide by n, the number of elements.
    keepdim
        True to keep the reduced dimensions, with size 1.
    correction
        The number that is subtracted from n in the divisor; ``unbiased=True`` means 1.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.var_mean(ac.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)


@traced
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
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    unbiased
        True to divide by n - 1, False to divide by n, the number of elements.
    keepdim
        True to keep the reduced dimensions, with size 1.
    correction
        The number that is subtracted from n in the divisor; ``unbiased=True`` means 1.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.std_mean(ac.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    spread = std(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)
