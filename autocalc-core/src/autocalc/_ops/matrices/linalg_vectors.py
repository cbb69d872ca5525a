# SPDX-License-Identifier: MIT
"""`linalg` functions of vectors and matrices: products, powers, diagonals, `cond`."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import diagonal, joining
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import eye, zeros
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.matrices import determinants, linear_systems, products, vector_norms
from autocalc._ops.matrices.factorizations import svdvals
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.sequences import scans
from autocalc._ops.views import view
from autocalc._ops.views.broadcasting import expand
from autocalc._tensor import Tensor
from autocalc._tensor.checks import plain, require
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError


@traced
def cross(
    input: Tensor,
    other: Tensor,
    *,
    dim: int = -1,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the cross products of 3-vectors along `dim`; shapes are broadcast.

    Parameters
    ----------
    input, other
        Tensors of the same dtype and number of dimensions, with size 3 along `dim`.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If the size of `dim` is not 3, or the numbers of dimensions differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.cross(ac.tensor([1.0, 0.0, 0.0]), ac.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return products.cross(input, other, as_int("cross", "dim", dim))


@autocasts("lower")
@traced
@rounded_once
def vecdot(
    x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None, axis: Any = None
) -> Tensor:
    """Return the sums of the products x_i y_i along `dim`; shapes are broadcast.

    Parameters
    ----------
    x, y
        Tensors of the same floating-point dtype.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    DTypeError
        If the operands do not have the same floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.vecdot(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), ac.tensor([1.0, -1.0]))
    tensor([-1., -1.])
    """
    a, b = same_dtype("vecdot", x, y)
    check_float("vecdot", a)
    along = arithmetic.mul(parts.conj(a), b)
    axis_of("vecdot", dim, along.ndim)
    return reduction.sum(along, dim)


def diagonal_of(
    A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Tensor:
    """Return a view of the diagonals of matrices; see `diagonal`.

    Parameters
    ----------
    A
        A tensor with at least two dimensions.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dim1, dim2
        The dimensions of the rows and of the columns.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.diagonal(ac.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return diagonal.diagonal(A, offset, dim1, dim2)


@rounded_once
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return the powers 1, x, x^2, ..., x^(N - 1) of each element, in a row.

    Parameters
    ----------
    x
        A tensor of shape [..., n].
    N
        The number of powers, at least 2; n by default.

    Returns
    -------
    Tensor
        A tensor of shape [..., n, N]; it is of int64 if `x` holds integers.

    Raises
    ------
    DTypeError
        If `x` is boolean.
    ArgumentError
        If `N` is below 2.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.vander(ac.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    refuse_booleans("vander", check_tensor("vander", x))
    size = x.shape[-1] if x.ndim else 1
    count = size if N is None else as_int("vander", "N", N)
    require("vander", "N", count, count >= 2, "2 at least")
    rows = view.unsqueeze(x if x.ndim else view.reshape(x, (1,)), -1)
    powers = scans.cumprod(expand(rows, (*rows.shape[:-1], count - 1)), -1)
    ones = powers.new_ones(rows.shape)
    return joining.cat([ones, powers], -1)


# ---- the condition -------------------------------------------------------------------


@autocasts("float32")
@declared
@rounded_once
def cond(
    A: Tensor, p: float | str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the condition number norm(A) norm(A^-1) of each matrix.

    It is infinite for a singular matrix.  By default, and for p = 2, it is the largest
    singular value divided by the smallest one.  For p = -2, it is the smallest singular
    value divided by the largest one.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n]; for p = 2, -2 and None, also [..., m, n].
    p
        The order of the norm, as in `matrix_norm`: None, 2, -2, 1, -1, inf, -inf, "fro"
        or "nuc".
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If `A` has fewer than 2 dimensions.  If `p` is neither 2, -2 nor None, matrices
        that are not square also raise it.
    ArgumentError
        If `p` is not one of the orders above.
    LinAlgError
        If a matrix holds NaN or infinity; the message says where.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.cond(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(2.)
    """
    check_float("cond", A)
    if A.ndim < 2:
        message = f"cond: `A` has shape {A.shape}; it must have at least 2 dimensions."
        raise ShapeError(message)
    order = 2 if p is None else plain(p)
    named = isinstance(order, (int, float, str))
    if not named or order not in (2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"):
        raise ArgumentError(
            f"linalg.cond got an invalid norm type: {p}. It must be None, 2, -2, 1, "
            "-1, inf, -inf, 'fro' or 'nuc'."
        )
    spectral = order in (2, -2)
    if not spectral and A.shape[-1] != A.shape[-2]:
        raise ShapeError(
            f"cond: A must be batches of square matrices for `p`={p!r}; its shape is "
            f"{A.shape}."
        )
    if 0 in A.shape[-2:]:
        return zeros(A.shape[:-2], dtype=A.dtype, device=place_of_tensor(A))
    return _spectral(A, order) if spectral else _by_norm(A, order)


def _spectral(A: Tensor, p: float | str) -> Tensor:
    values = svdvals(A)
    most, least = extrema.amax(values, -1), extrema.amin(values, -1)
    return arithmetic.div(least, most) if p == -2 else arithmetic.div(most, least)


def _by_norm(A: Tensor, p: float | str) -> Tensor:
    singular = comparison.eq(determinants.slogdet(A.detach()).sign, 0)
    whole = view.reshape(singular, (*singular.shape, 1, 1))
    a = comparison.choose(
        whole, eye(A.shape[-1], dtype=A.dtype, device=place_of_tensor(A)), A
    )
    norms = [vector_norms.matrix_norm(x, p) for x in (a, linear_systems.inv(a))]
    return comparison.choose(singular, math.inf, arithmetic.mul(*norms))
