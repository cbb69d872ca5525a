# SPDX-License-Identifier: MIT
"""Sums, means, products and counts over dimensions."""

from __future__ import annotations

import builtins
from typing import Any

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.engine.eager import along
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import Dims, axes_of, check_tensor, sizes_of
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import cast, check_and_cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary, unary
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import comparison
from autocalc._ops.reductions._product_rules import product_of_the_others
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError, ShapeError


def spread(k: Any, g: Any, shape: Any, axes: Any, keepdim: bool) -> Any:
    """Return `g`, or an array of its shape, with the reduced dimensions of size 1."""
    if keepdim:
        return g
    return k.reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))


sum_op = nary("sum")


@sum_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    return k.expand(spread(k, g, shape, axes, keepdim), shape)


@method("sum")
@along(sum_op, floats=False)
@declared
def sum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the sum over `dim` (all dimensions by default).

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
    >>> ac.sum(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([3., 7.])
    """
    if KINDS and (own := elsewhere("sum", input)) is not None:
        return own(input, dim, keepdim, dtype=dtype)  # type: ignore[no-any-return]
    x = check_and_cast("sum", input, dtype)
    result = sum_op(x, axes_of("sum", x, dim), keepdim)
    if dtype is not None:
        result = cast(result, dtype)  # small integers are added in int64
    return result


@method("sum_to_size")
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Return `input` summed over the dimensions along which `size` is broadcast.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    *size
        The shape of the result, as separate arguments or as one sequence; each size is
        1 or that of `input`.

    Raises
    ------
    ShapeError
        If `size` does not broadcast to the shape of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sum_to_size(ac.ones(2, 3), 1, 3)
    tensor([[2., 2., 2.]])
    """
    x = check_tensor("sum_to_size", input)
    sizes = sizes_of("sum_to_size", size)
    lead = x.ndim - len(sizes)
    if lead < 0 or builtins.any(
        n not in (1, m) for n, m in zip(sizes, x.shape[lead:], strict=True)
    ):
        raise ShapeError(
            f"sum_to_size: {sizes} does not broadcast to the shape {x.shape} of the "
            "tensor, so it is not a possible shape of the sum."
        )
    ones = (lead + i for i, n in enumerate(sizes) if n == 1 and x.shape[lead + i] != 1)
    axes = (*range(lead), *ones)
    if not axes:
        return x
    return view.detach_from_base(view.reshape_op(sum_op(x, axes, True), sizes))


mean_op = nary("mean")


@mean_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    share = k.mul(g, k.constant(1.0 / count_elements(shape, axes), g))
    return k.expand(spread(k, share, shape, axes, keepdim), shape)


@method("mean")
@along(mean_op)
@declared
def mean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the mean over `dim` (all dimensions by default).

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
        If `input` holds integers and no `dtype` is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.mean(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([2., 3.])
    """
    if KINDS and (own := elsewhere("mean", input)) is not None:
        return own(input, dim, keepdim, dtype=dtype)  # type: ignore[no-any-return]
    x = check_and_cast("mean", input, dtype)
    if x._array.dtype.kind not in FLOAT_KINDS:
        raise DTypeError(
            f"mean: needs float32 or float64, not {x.dtype.name}; pass "
            "dtype=ac.float32 or call .float() first."
        )
    return mean_op(x, axes_of("mean", x, dim), keepdim)


# `std` and `weight_norm` use this.
sqrt_zero_grad = unary(
    "sqrt", "the square root, with gradient 0 at 0", saves="out", main=False
)


@sqrt_zero_grad.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    zero = k.constant(0, g)
    at_zero = k.compare(y, zero, "eq")
    slope = k.div(k.constant(0.5, g), k.where(at_zero, k.constant(1, g), y))
    return k.mul(g, k.where(at_zero, zero, slope))


def count_elements(shape: Any, axes: Any) -> int:
    """Return the number of elements in each result of a reduction, at least 1."""
    result = 1
    for axis in axes:
        result *= shape[axis]
    return builtins.max(result, 1)


prod_op = nary("prod", saves="a")


@prod_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g times the product of the other elements, without division by zero.

    P is the product of the elements that are not 0.  Without zeros the derivative is P
    / x_i.  With one zero it is P at the zero, and 0 elsewhere.  With more zeros it is
    0.
    """
    (a,) = n.saved
    axes, keepdim = n.attributes
    above = spread(k, g, n.shapes[0], axes, keepdim)
    if k.records:
        return k.mul(above, product_of_the_others(k, a, axes))
    zero, one = k.constant(0, a), k.constant(1, a)
    is_zero = k.compare(a, zero, "eq")
    count = k.sum(k.where(is_zero, one, zero), axes, True)
    none, single = k.compare(count, zero, "eq"), k.compare(count, one, "eq")
    safe = k.where(is_zero, one, a)
    rest = k.prod(safe, axes, True)
    slope = k.div(k.where(none, rest, zero), safe)
    slope = k.where(is_zero, k.where(single, rest, zero), slope)
    return k.mul(above, slope)


@method("prod")
@autocasts("float32")
@along(prod_op, floats=False)
@declared
def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the product over `dim` (all dimensions by default).

    For integers and booleans, the product is computed in int64.  The gradient is also
    correct where elements are 0.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension; a negative one counts from the end.
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
    >>> ac.prod(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor([ 2., 12.])
    """
    x = check_and_cast("prod", input, dtype)
    result = prod_op(x, axes_of("prod", x, dim), keepdim)
    if dtype is not None:
        result = cast(result, dtype)
    return result


@method("all")
@traced
def all(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return whether all elements over `dim` are non-zero.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.all(ac.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", check_tensor("all", input), dim, keepdim)


_BOOL, _BYTE = dtypes.bool_.numpy, dtypes.uint8.numpy


def _truth(where: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """Return whether all or any elements are not 0, in the dtype that PyTorch uses.

    All are true if the smallest truth value is 1; any is true if the largest is 1.
    """
    axes, a = axes_of(where, x, dim), x._array
    dtype = host_dtype(a.dtype)
    if dtype is not _BOOL:
        a = arrays.compare(a, arrays.constant(0, a), "ne")
    if a.size:
        extreme = arrays.min if where == "all" else arrays.max
        found = extreme(arrays.reinterpret(a, _BYTE), axes, keepdim)
        return make(found if dtype is _BYTE else arrays.reinterpret(found, _BOOL), None)
    count = arrays.sum(a, axes, keepdim)
    found = arrays.compare(count, count, "eq" if where == "all" else "ne")
    return make(arrays.cast(found, _BYTE) if dtype is _BYTE else found, None)


@method("any")
@traced
def any(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return whether any element over `dim` is non-zero.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.any(ac.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
    """
    return _truth("any", check_tensor("any", input), dim, keepdim)


@method("count_nonzero")
@traced
def count_nonzero(input: Tensor, dim: Dims = None, *, axis: Any = None) -> Tensor:
    """Return the number of non-zero elements over `dim`, as int64.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.count_nonzero(ac.tensor([0, 1, 2, 0]))
    tensor(2)
    """
    return sum(comparison.truth(check_tensor("count_nonzero", input)), dim)
