# SPDX-License-Identifier: MIT
"""Triangular systems, tensor systems, and products of reflections."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from autocalc._ops._operator.arguments import as_int, axis_of, integers
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging import diagonal
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import eye, zeros
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.matrices import linear_systems, matmul
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError


@declared
@rounded_once
def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solution X of A X = B, or X A = B, for triangular matrices `A`.

    The other triangle of `A` is not read, and its gradient is 0.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    B
        A tensor of shape [..., n, k]; with ``left=False`` [..., k, n].
    upper
        True to read the upper triangle, False the lower one.
    left
        True to solve A X = B, False to solve X A = B.
    unitriangular
        True to take the diagonal as 1, without reading it.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix has a 0 on its diagonal; the message gives the index of the first
        one.
    ShapeError
        If `A` does not hold square matrices, or the shape of `B` does not fit.
    DTypeError
        If the operands do not have the same floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> ac.linalg.solve_triangular(A, ac.tensor([[4.0], [8.0]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    where = "solve_triangular"
    a, b = same_dtype(where, A, B)
    check_float(where, a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or b.ndim < 2:
        raise ShapeError(
            f"{where}: `A` has shape {a.shape} and `B` has shape {b.shape}; they must "
            "be [..., n, n] and matrices."
        )
    half = _triangle(a, upper, unitriangular)
    return linear_systems.solve(half, b, left=left)


def _triangle(a: Tensor, upper: bool, unit: bool) -> Tensor:
    """Return one triangle of matrices, with zeros in the other."""
    part = diagonal.triu if upper else diagonal.tril
    if not unit:
        return part(a)
    above = part(a, 1 if upper else -1)
    return arithmetic.add(
        above, eye(*a.shape[-2:], dtype=a.dtype, device=place_of_tensor(a))
    )


@autocasts("float32")
@declared
@rounded_once
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of the linear map that `tensordot` with `A` computes.

    `A` is taken as a matrix: its first `ind` dimensions are the rows, and the others
    are the columns.

    Parameters
    ----------
    A
        A tensor; the product of its first `ind` sizes equals the product of the others.
    ind
        The number of dimensions that form the rows, at least 1.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        A tensor of shape ``[*A.shape[ind:], *A.shape[:ind]]``.

    Raises
    ------
    ArgumentError
        If `ind` is below 1, or `A` has fewer dimensions than `ind`.
    ShapeError
        If the two products of sizes differ.
    LinAlgError
        If the matrix is singular.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.tensorinv(ac.eye(6).reshape(6, 2, 3), ind=1).shape
    autocalc.Size([2, 3, 6])
    """
    where = "tensorinv"
    check_float(where, A)
    ind = as_int(where, "ind", ind)
    if not 1 <= ind <= A.ndim:
        raise ArgumentError(
            f"{where}: `ind` is {ind}. Expected a strictly positive integer, at most "
            f"the {A.ndim} dimensions of `A`."
        )
    rows, columns = A.shape[:ind], A.shape[ind:]
    if prod(rows) != prod(columns):
        raise ShapeError(
            f"{where}: Expected self to satisfy the requirement that the product of "
            f"the first {ind} sizes equals that of the others, but the products of "
            f"{A.shape} are {prod(rows)} and {prod(columns)}."
        )
    n = prod(rows)
    found = linear_systems.inv(view.reshape(A, (n, n)))
    return view.reshape(found, (*columns, *rows))


@autocasts("float32")
@declared
@rounded_once
def tensorsolve(
    A: Tensor,
    B: Tensor,
    dims: Sequence[int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solution X of ``tensordot(A, X, X.ndim) = B``.

    A tensor, the right-hand side.

    Parameters
    ----------
    A
        A tensor of shape ``[*B.shape, *X.shape]``; the product of the sizes of `B`
        equals that of X.
    B
        The right-hand side.
    dims
        The dimensions of `A` that are moved to its end before the system is solved.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If the sizes of `A` and `B` do not fit together.
    LinAlgError
        If the system is singular.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.tensorsolve(2 * ac.eye(6).reshape(2, 3, 6), ac.ones(2, 3))
    tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])
    """
    where = "tensorsolve"
    a, b = same_dtype(where, A, B)
    check_float(where, a)
    if dims is not None:
        moved = [axis_of(where, d, a.ndim) for d in integers(where, "dims", dims)]
        kept = [d for d in range(a.ndim) if d not in moved]
        a = view.permute(a, (*kept, *moved))
    shape, n = a.shape[b.ndim :], prod(b.shape)
    if a.numel() != n * n or prod(shape) != n:
        raise ShapeError(
            f"{where}: Expected self to satisfy the requirement that the product of "
            f"the sizes of `A` {a.shape} after the first {b.ndim} is {n}, as is the "
            f"product of the first sizes. `B` {b.shape} has so many elements."
        )
    found = linear_systems.solve(view.reshape(a, (n, n)), view.reshape(b, (n,)))
    return view.reshape(found, shape)


@autocasts("float32")
@declared
@rounded_once
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the first n columns of the product of the reflections H_1, ..., H_k.

    Here H_i = I - tau_i v_i v_i^T, where v_i is column i of `A` below the diagonal, 1
    on the diagonal, and 0 above it.  LAPACK stores the Q of A = Q R in this form.  The
    product is computed in float64 and rounded once.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n] with m >= n.
    tau
        A tensor of shape [..., k] with k <= n.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        A tensor of shape [..., m, n].

    Raises
    ------
    ShapeError
        If the sizes of the arguments do not fit together.
    DTypeError
        If the operands do not have the same floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.householder_product(ac.zeros(2, 2), ac.tensor([2.0, 0.0]))
    tensor([[-1.,  0.],
            [ 0.,  1.]])
    """
    where = "householder_product"
    a, scales = same_dtype(where, A, tau)
    check_float(where, a)
    rows, columns = a.shape[-2:] if a.ndim > 1 else (0, 1)
    needed = {
        "input must have at least 2 dimensions": a.ndim > 1,
        "input.shape[-2] must be greater than or equal to input.shape[-1]": (
            rows >= columns
        ),
        "input.shape[-1] must be greater than or equal to tau.shape[-1]": (
            scales.ndim > 0 and scales.shape[-1] <= columns
        ),
        "the batch dimensions of both must be equal": (
            scales.shape[:-1] == a.shape[:-2] and scales.ndim == a.ndim - 1
        ),
    }
    failed = next((text for text, good in needed.items() if not good), None)
    if failed:
        raise ShapeError(
            f"{where}: `A` has shape {a.shape} and `tau` has shape {scales.shape}; "
            f"{failed}."
        )
    wide = dtypes.complex128 if a.is_complex() else dtypes.float64
    v, factors = (cast(x, wide) for x in (_triangle(a, False, True), scales))
    q = broadcasting.expand(
        eye(rows, columns, dtype=v.dtype, device=place_of_tensor(v)), a.shape
    )
    q = comparison.choose(zeros(1, dtype=dtypes.bool_), v, q)  # gives q a history
    for i in reversed(range(scales.shape[-1])):
        column = v[..., i : i + 1]
        scale = view.unsqueeze(factors[..., i : i + 1], -1)
        along = matmul.matmul(parts.adjoint(column), q)
        q = arithmetic.sub_op(q, matmul.matmul(arithmetic.mul(scale, column), along))
    return cast(q, a.dtype)
