# SPDX-License-Identifier: MIT
"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, HALVES
from autocalc._ops._operator.arguments import (
    Dims,
    NeededDim,
    axes_of,
    axis_of,
    check_tensor,
)
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import check_and_cast, in_float32
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.matrices import factorizations
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.reductions.reduction import spread
from autocalc._ops.views import view
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import integers, number, plain
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError

#: The dimensions of matrices.
_LAST_TWO = (-2, -1)


@traced
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return (sum abs(x_i)^ord)^(1 / ord) over `dim`.

    For ``inf`` it is the largest abs(x_i), for ``-inf`` the smallest one, and for 0 the
    number of elements that are not 0.  The gradient at x = 0 is 0.

    Parameters
    ----------
    x
        A tensor of a floating-point dtype and any shape.
    ord
        The order of the norm: a number, inf or -inf.
    dim
        The dimensions of the vectors; by default all dimensions.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype to which the tensor is cast first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    DTypeError
        If `x` does not have a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.vector_norm(ac.tensor([3.0, 4.0])).item()
    5.0
    """
    x = _floats("vector_norm", x, dtype)
    ord = number("vector_norm", "ord", ord)
    return _norm_of_vectors(x, ord, dim, keepdim)


def _norm_of_vectors(x: Tensor, ord: float, dim: Dims, keepdim: bool) -> Tensor:
    if x._array.dtype in HALVES:
        return in_float32(lambda wide: _norm_of_vectors(wide, ord, dim, keepdim), x)
    if x._array.dtype.kind == "c":
        x = arithmetic.abs(x)
    if ord == 2:
        axes = axes_of("sum", x, dim)
        if len(axes) == x._array.ndim:
            return _length(x, keepdim)
        return norm_op(x, axes, keepdim)
    size = arithmetic.abs(x)
    if ord == math.inf:
        return extrema.amax(size, dim, keepdim)
    if ord == -math.inf:
        return extrema.amin(size, dim, keepdim)
    if ord == 0:
        known = comparison.choose(comparison.isnan(size.detach()), 1.0, size)
        return reduction.sum(arithmetic.sign(known), dim, keepdim)
    if ord == 1:
        return reduction.sum(size, dim, keepdim)
    base = x if ord % 2 == 0 else size  # abs has a kink at 0
    if not x._array.size:
        if ord < 0:
            axes = axes_of("vector_norm", x, dim)
            what = f"norm of order {ord:g}"
            extrema.check_line("vector_norm", x, *axes, what=what)
        return _power_mean(base, ord, dim, keepdim)
    # In units of the largest size, no power overflows or underflows.  The norm of c x
    # is c times the norm of x, so the unit needs no history.
    unit = _unit(size.detach(), ord, dim)
    found = _power_mean(arithmetic.div_op(base, unit), ord, dim, keepdim)
    if not keepdim:
        unit = reduction.sum(unit, axes_of("sum", x, dim))
    return arithmetic.mul(found, unit)


def _power_mean(base: Tensor, ord: float, dim: Dims, keepdim: bool) -> Tensor:
    """Return (sum base^ord)^(1 / ord) over `dim`."""
    powers = _power(base, ord) if ord < 1 else arithmetic.pow_op(base, ord)
    return _power(reduction.sum(powers, dim, keepdim), 1.0 / ord)


def _unit(size: Tensor, ord: float, dim: Dims) -> Tensor:
    """Return the unit of a norm: the largest size; for negative orders the least."""
    found = (extrema.amax if ord > 0 else extrema.amin)(size, dim, True)
    known = comparison.choose(comparison.gt(found, 0.0), found, 1.0)
    return comparison.choose(comparison.lt(known, math.inf), known, 1.0)


@one_node("length", "out a", like="abs")
@traced
def _length(x: Tensor, keepdim: bool) -> Tensor:
    """Return the root of the sum of squares, in one pass over memory."""
    found = arrays.grad_norm([x._array])
    ones = (1,) * x._array.ndim
    return make(arrays.reshape(found, ones) if keepdim else found, None)


@_length.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g x / length, or 0 where the length is 0."""
    y, x = n.saved
    zero = k.constant(0, g)
    slope = k.div(k.constant(1, g), y)
    return k.mul(x, k.mul(g, k.where(k.compare(y, zero, "eq"), zero, slope)))


norm_op = nary("norm", saves="out a")


@norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g x / norm, or 0 where the norm is 0."""
    y, x = n.saved
    axes, keepdim = n.attributes
    zero = k.constant(0, g)
    at_zero = k.compare(y, zero, "eq")
    g = k.where(at_zero, zero, g)
    y = k.where(at_zero, k.constant(1, g), y)
    y, g = (spread(k, v, n.shapes[0], axes, keepdim) for v in (y, g))
    return k.mul(g, k.div(x, y))


def _power(x: Tensor, exponent: float) -> Tensor:
    """Return x^exponent, constant at 0, where the derivative can be infinite."""
    zero = comparison.eq(x.detach(), 0)
    power = arithmetic.pow_op(comparison.choose(zero, 1.0, x), exponent)
    return comparison.choose(zero, 0.0 if exponent > 0 else math.inf, power)


def _floats(where: str, x: Tensor, dtype: DType | None) -> Tensor:
    x = check_and_cast(where, x, dtype)
    if x._array.dtype.kind not in FLOAT_KINDS:
        raise DTypeError(
            f"{where}: needs float32 or float64, not {x.dtype.name}; call .float() "
            "first, or pass dtype=ac.float32."
        )
    return x


@traced
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = _LAST_TWO,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return a norm of each matrix.

    Order inf is the largest sum of abs(a_ij) over a row, order 1 is the largest sum
    over a column, and order 2 is the largest singular value.  Orders -inf, -1 and -2
    are the smallest sum over a row, the smallest sum over a column and the smallest
    singular value.  "nuc" is the sum of the singular values, and "fro" is the square
    root of the sum of the squares of all elements.

    Parameters
    ----------
    A
        The input tensor.
    ord
        The order of the norm: "fro", "nuc", 1, 2, inf, -1, -2 or -inf.
    dim
        The two dimensions of the matrices; by default the last two.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype to which the tensor is cast first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ArgumentError
        If `ord` is not one of the orders above.
    ShapeError
        If `A` has fewer than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.matrix_norm(ac.ones(2, 2))
    tensor(2.)
    """
    A = _floats("matrix_norm", A, dtype)
    return _norm_of_matrices(A, ord, dim, keepdim)


@rounded_once
def _norm_of_matrices(
    A: Tensor, ord: float | str, dim: Sequence[int], keepdim: bool
) -> Tensor:
    dim = integers("matrix_norm", "dim", dim)
    if A.ndim < 2:
        raise ShapeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions, "
            f"not shape {A.shape}."
        )
    if len(dim) != 2:
        raise ShapeError(
            "linalg.matrix_norm: dim must be a 2-tuple, because it names the rows and "
            f"the columns, not {tuple(dim)}."
        )
    row, column = axes = [axis_of("matrix_norm", d, A.ndim) for d in dim]
    if row == column:
        raise DimensionError(
            "linalg.matrix_norm: dims must be different; they name one dimension "
            f"twice: {tuple(dim)}."
        )
    if ord == "fro":
        return _norm_of_vectors(A, 2, axes_of("matrix_norm", A, axes), keepdim)
    if ord in ("nuc", 2, -2):
        return _norm_of_singular_values(A, ord, row, column, keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(
            f"linalg.matrix_norm: Order {ord} not supported; use 'fro', 'nuc', 1, -1, "
            "2, -2, inf or -inf."
        )
    over, rest = (row, column) if ord in (1, -1) else (column, row)
    sums = reduction.sum(arithmetic.abs(A), over, True)
    find = _largest if ord in (1, math.inf) else extrema.amin
    found = find(sums, rest, True)
    return found if keepdim else reduction.sum(found, axes)


def _largest(x: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Return the largest of numbers that are 0 or more; 0 if there are none."""
    find = extrema.amax if x.shape[dim] else reduction.sum
    return find(x, dim, keepdim)


def _norm_of_singular_values(
    A: Tensor, ord: float | str, row: int, column: int, keepdim: bool
) -> Tensor:
    rest = [i for i in range(A.ndim) if i not in (row, column)]
    values = factorizations.svdvals(view.permute(A, (*rest, row, column)))
    if ord == "nuc":
        found = reduction.sum(values, -1)
    else:
        found = (_largest if ord == 2 else extrema.amin)(values, -1)
    if not keepdim:
        return found
    return view.reshape(
        found, [1 if i in (row, column) else n for i, n in enumerate(A.shape)]
    )


@declared
def linalg_norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return a vector norm or, with `ord` and two dimensions, a matrix norm.

    Parameters
    ----------
    A
        The input tensor.
    ord
        The order of the norm: a number, inf, "fro" or "nuc".
    dim
        One dimension, or several, for a vector norm; two dimensions for a matrix norm;
        by default all dimensions.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype to which the tensor is cast first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ArgumentError
        If `ord` does not fit the number of dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.norm(ac.tensor([3.0, 4.0]))
    tensor(5.)
    """
    A = check_tensor("norm", A)
    given = (dim,) if isinstance(plain(dim), int) else dim
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if given is None and A.ndim > 2:
        raise ArgumentError(
            "norm: If dim is not specified but ord is, the input must be 1D or 2D. Its "
            f"shape is {A.shape} and `ord` is {ord!r}; give one dimension for vectors "
            "or two for matrices."
        )
    axes = tuple(range(-A.ndim, 0)) if given is None else integers("norm", "dim", given)
    if len(axes) == 2:
        return matrix_norm(A, ord, axes, keepdim, dtype=dtype)
    if isinstance(ord, str):
        return matrix_norm(A, ord, axes, keepdim, dtype=dtype)  # the error
    if len(axes) > 2:
        raise ArgumentError(
            "norm: If dim is specified, it must be of length 1 or 2. It is "
            f"{tuple(axes)}; without `ord`, any number of dimensions is possible."
        )
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


@method("norm")
@traced
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return (sum abs(x_i)^p)^(1 / p) over `dim`; "fro" means p = 2.

    Parameters
    ----------
    input
        The input tensor.
    p
        The order of the norm.
    dim
        The dimension; a negative one counts from the end.
    keepdim
        True to keep the reduced dimensions, with size 1.
    dtype
        The dtype of the result.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `p` is a word other than "fro" and "nuc".

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.norm(ac.tensor([3.0, 4.0]))
    tensor(5.)
    """
    check_float("norm", input)
    if isinstance(p, str) and p == "nuc":
        pair: Any = _LAST_TWO if dim is None else dim
        return matrix_norm(input, p, pair, keepdim, dtype=dtype)
    if isinstance(p, str) and p not in ("fro", "inf", "-inf"):
        raise ArgumentError(
            f"norm: `p`={p!r} is not available; use 'fro', 'nuc' or a number."
        )
    euclidean = p is None or (isinstance(p, str) and p == "fro")
    order = (
        2.0 if euclidean else number("norm", "p", float(p) if isinstance(p, str) else p)
    )
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


@method("renorm", inplace="renorm_")
@traced
@rounded_once
def renorm(
    input: Tensor,
    p: float,
    dim: NeededDim = None,
    maxnorm: float | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return `input` with each slice along `dim` scaled down to norm `maxnorm`.

    A slice whose `p`-norm is larger than `maxnorm` is multiplied by maxnorm /
    (norm + 1e-7).

    Parameters
    ----------
    input
        The tensor, with at least two dimensions.
    p
        The order of the norm, above 0.
    dim
        The dimension along which slices are taken.
    maxnorm
        The largest allowed norm, 0 or more.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `p` is not positive, or `maxnorm` is negative.
    DTypeError
        If `input` does not have a floating-point dtype.
    ShapeError
        If `input` has fewer than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.renorm(ac.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    x = check_tensor("renorm", input)
    check_float("renorm", x)
    order, most = number("renorm", "p", p), number("renorm", "maxnorm", maxnorm)
    if x.ndim < 2:
        message = (
            f"renorm: `input` has shape {x.shape}; it needs at least two dimensions."
        )
        raise ShapeError(message)
    if not (order > 0 and most >= 0):
        raise ArgumentError(
            f"renorm: `p`={order} and `maxnorm`={most}; `p` must be above 0, and "
            "`maxnorm` 0 or more."
        )
    axis = axis_of("renorm", dim, x.ndim)
    others = [i for i in range(x.ndim) if i != axis]
    norm = vector_norm(x, order, others, True)
    large = comparison.gt(norm.detach(), most)
    scale = arithmetic.div(most, arithmetic.add(norm, 1e-7))
    scale = comparison.choose(large, scale, 1.0)
    return arithmetic.mul(x, scale)
