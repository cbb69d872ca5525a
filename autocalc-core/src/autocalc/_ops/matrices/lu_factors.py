# SPDX-License-Identifier: MIT
"""LU factors of matrices, and linear systems solved with them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from autocalc._dispatch.selection.state import check_values
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import diagonal
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import empty, eye
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import _matrix_rules, matmul
from autocalc._ops.matrices.matrix_systems import solve_triangular
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flags
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, LinAlgError, ShapeError

__all__ = ["lu", "lu_solve", "lu_unpack", "triangular_solve"]

lu_op = multi("lu", saves="lu pivots")
row_order_op = nary("row_order")


@lu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For P' A = L U with one square part, return the gradient of A.

    It is d(P' A) = L1'^-1 (low + up) U1'^-1.

    ``low`` is L1' gL1 - gU2 U2' below the diagonal, and ``up`` is gU1 U1' - L2' gL2 on
    and above it.  The columns A2 of a wide matrix get L1'^-1 gU2, and the rows A2 of a
    tall one get gL2 U1'^-1.
    """
    (lu, pivots), g = n.saved, g[0]
    m, columns = k.shape(lu)[-2:]
    size = min(m, columns)
    one, rest = slice(size), slice(size, None)
    square, g_square = (k.slice(x, (..., one, one)) for x in (lu, g))
    below = _matrix_rules.is_(k, square, "gt")
    lower, g_lower = (_matrix_rules.only(k, below, x) for x in (square, g_square))
    upper, g_upper = k.sub(square, lower), k.sub(g_square, g_lower)
    ones = _matrix_rules.only(
        k, _matrix_rules.is_(k, square, "eq"), k.constant(1, square)
    )
    lower = k.add(lower, ones)
    low = _matrix_rules.mm(k, matmul.transposed(k, lower), g_lower)
    up = _matrix_rules.mm(k, g_upper, matmul.transposed(k, upper))
    if columns > size:
        u2, g2 = (k.slice(x, (..., one, rest)) for x in (lu, g))
        low = k.sub(low, _matrix_rules.mm(k, g2, matmul.transposed(k, u2)))
    if m > size:
        l2, g2 = (k.slice(x, (..., rest, one)) for x in (lu, g))
        up = k.sub(up, _matrix_rules.mm(k, matmul.transposed(k, l2), g2))
    low = _matrix_rules.only(k, below, low)
    up = k.sub(up, _matrix_rules.only(k, below, up))
    left, right = matmul.transposed(k, lower), upper
    found = k.solve(left, _right_solved(k, k.add(low, up), right))
    if columns > size:
        found = k.cat([found, k.solve(left, g2)], len(k.shape(found)) - 1)
    if m > size:
        found = k.cat([found, _right_solved(k, g2, right)], len(k.shape(found)) - 2)
    order = k.expand(_matrix_rules.columns(k, k.row_order(pivots, m)), k.shape(found))
    zeros = k.zeros(k.shape(found), k.dtype(found))
    return k.scatter_add(zeros, order, found, len(k.shape(found)) - 2)


def _right_solved(k: Any, x: Any, upper: Any) -> Any:
    """Return x U'^-1."""
    return matmul.transposed(k, k.solve(upper, matmul.transposed(k, x)))


class LUFactors(NamedTuple):
    """The result of `lu_factor`."""

    LU: Tensor
    pivots: Tensor


class LUFactorsEx(NamedTuple):
    """The result of `lu_factor_ex`."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class LUResult(NamedTuple):
    """The result of `lu` and of `lu_unpack`."""

    P: Tensor
    L: Tensor
    U: Tensor


def _factors(where: str, A: Any, pivot: bool) -> tuple[Tensor, Tensor]:
    check_flags(where, pivot=pivot)
    x = check_tensor(where, A)
    check_float(where, x)
    check_shape(where, "A", x, "[..., m, n]")
    if not pivot:
        raise ArgumentError(
            f"{where}: LU without pivoting is not implemented on the CPU: the factors "
            "may not exist without exchanges of rows. Set `pivot` to True."
        )
    packed, pivots = lu_op(x)
    return packed, pivots


@declared
@rounded_once
def lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LUFactorsEx:
    """Return LU factors in one matrix, and an error code instead of raising an error.

    The code is 0 if no element on the diagonal of U is 0.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    pivot
        True to exchange rows; without exchanges, the factors of some matrices do not
        exist.
    check_errors
        True to raise an error where the code is not 0, as `lu_factor` does.
    out
        Three tensors to write the results into, converted to their dtypes.

    Returns
    -------
    LUFactorsEx
        The named tuple (LU, pivots, info).  LU and pivots are those of `lu_factor`;
        info, an int32 tensor of shape [...], holds the error codes.  A code above 0 is
        the number of the first column with a 0 on the diagonal of U.

    Raises
    ------
    LinAlgError
        If an element on the diagonal of U is 0 and `check_errors` is True.
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.lu_factor_ex(ac.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=autocalc.int32)
    """
    check_flags("lu_factor_ex", check_errors=check_errors)
    lu, pivots = _factors("lu_factor_ex", A, pivot)
    info = _first_zero(lu.detach())
    if check_errors:
        _check_info("lu_factor_ex", lu, info)
    return LUFactorsEx(lu, pivots, info)


def _first_zero(lu: Tensor) -> Tensor:
    """Return the number of the first zero on each diagonal, or 0 if there is none."""
    zero = comparison.eq(diagonal.diagonal(lu, 0, -2, -1), 0)
    if zero.shape[-1] == 0:
        return lu.new_zeros(lu.shape[:-2], dtype=dtypes.int32)
    first = arithmetic.add(extrema.argmax(zero.to(dtypes.int32), -1), 1)
    found: Tensor = arithmetic.mul(first, reduction.any(zero, -1)).to(dtypes.int32)
    return found


def _check_info(where: str, lu: Tensor, info: Tensor) -> None:
    """Raise if a matrix is singular, also in each replay of a program."""
    flat = view.reshape(info, (-1,))
    check_values(partial(_refuse_singular, where, tuple(lu.shape)), flat._array)


def _refuse_singular(where: str, shape: tuple[int, ...], info: Any) -> None:
    for place, column in enumerate(info.tolist()):
        if column:
            which = f"matrix {place} of `A`" if len(shape) > 2 else "`A`"
            raise LinAlgError(
                f"{where}: {which}, of shape {shape[-2:]}, is singular: "
                f"U[{column - 1}, {column - 1}] is 0. Use linalg.lu or "
                "linalg.lu_factor_ex to get the factors."
            )


@declared
@rounded_once
def lu_factor(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor] | None = None
) -> LUFactors:
    """Return the factors of A = P L U in one matrix, for `lu_solve`.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n]; k is the smaller of m and n.
    pivot
        True to exchange rows, so that the factors always exist.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    LUFactors
        The named tuple (LU, pivots).  LU holds U on and above its diagonal, and L below
        its diagonal.  The diagonal of L is 1 and is not stored.  Element i of the int32
        tensor pivots, of shape [..., k], is the number of the row, counted from 1, with
        which row i was exchanged in step i.

    Raises
    ------
    LinAlgError
        If an element on the diagonal of U is 0.
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.lu_factor(ac.tensor([[1.0, 2.0], [4.0, 4.0]]))
    LUFactors(LU=tensor([[4.0000, 4.0000],
            [0.2500, 1.0000]]), pivots=tensor([2, 2], dtype=autocalc.int32))
    """
    lu, pivots = _factors("lu_factor", A, pivot)
    _check_info("lu_factor", lu, _first_zero(lu.detach()))
    return LUFactors(lu, pivots)


@declared
@rounded_once
def lu_of(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor, Tensor] | None = None
) -> LUResult:
    """Return a permutation P and triangular matrices L and U with A = P L U.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n]; k is the smaller of m and n.
    pivot
        True to exchange rows, so that the factors always exist.
    out
        Three tensors to write the results into, converted to their dtypes.

    Returns
    -------
    LUResult
        The named tuple (P, L, U) with the shapes [..., m, m], [..., m, k] and
        [..., k, n]; the diagonal of L is 1.

    Raises
    ------
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> P, L, U = ac.linalg.lu(ac.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
    """
    return _unpacked(*_factors("lu", A, pivot))


def _unpacked(lu: Tensor, pivots: Tensor) -> LUResult:
    return LUResult(_exchange(pivots, lu), _lower(lu), _upper(lu))


def _exchange(pivots: Tensor, lu: Tensor) -> Tensor:
    """Return the matrices P: column i has its 1 in the row where row i came from."""
    m = lu.shape[-2]
    order = row_order_op(pivots, m)
    rows = eye(m, dtype=lu.dtype, device=place_of_tensor(lu))
    return view.transpose(rows[order], -1, -2) if m else rows.expand(*order.shape, 0)


def _lower(lu: Tensor) -> Tensor:
    m, n = lu.shape[-2:]
    part = diagonal.tril(lu[..., : min(m, n)], -1)
    ones = eye(m, min(m, n), dtype=lu.dtype, device=place_of_tensor(lu))
    return arithmetic.add(part, ones)


def _upper(lu: Tensor) -> Tensor:
    return diagonal.triu(lu[..., : min(lu.shape[-2:]), :])


@declared
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LUResult:
    """Return P, L and U from the result of `linalg.lu_factor`.

    Parameters
    ----------
    LU_data, LU_pivots
        The results of `linalg.lu_factor`.
    unpack_data
        False to return empty L and U.
    unpack_pivots
        False to return an empty P.
    out
        Three tensors to write the results into, converted to their dtypes.

    Raises
    ------
    DTypeError
        If `LU_pivots` is not of int32.

    Examples
    --------
    >>> import autocalc as ac
    >>> lu, pivots = ac.linalg.lu_factor(ac.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> ac.lu_unpack(lu, pivots).L
    tensor([[1.0000, 0.0000],
            [0.2500, 1.0000]])
    """
    where = "lu_unpack"
    check_flags(where, unpack_data=unpack_data, unpack_pivots=unpack_pivots)
    lu = check_tensor(where, LU_data)
    check_shape(where, "LU_data", lu, "[..., m, n]")
    none = empty(0, dtype=lu.dtype, device=place_of_tensor(lu))
    _check_pivots(where, "LU_pivots", LU_pivots, lu)
    return LUResult(
        _exchange(LU_pivots, lu) if unpack_pivots else none,
        _lower(lu) if unpack_data else none,
        _upper(lu) if unpack_data else none,
    )


def _check_pivots(where: str, name: str, pivots: Any, lu: Tensor) -> None:
    check_tensor(where, pivots)
    if pivots.dtype is not dtypes.int32:
        raise DTypeError(
            f"{where}: `{name}` is {pivots.dtype.name}; it must be the tensor that "
            f"lu_factor returns, of torch.int32 dtype."
        )
    needed = (*lu.shape[:-2], min(lu.shape[-2:]))
    if pivots.shape != needed:
        raise ShapeError(
            f"{where}: `{name}` has shape {pivots.shape}; for factors of shape "
            f"{lu.shape} it must have shape {needed}."
        )


@autocasts("as given")
@declared
@rounded_once
def linalg_lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solution X of A X = B, given the factors that `lu_factor` returns.

    A tensor of shape [..., n, k]; with ``left=False``, [..., k, n].  The leading
    dimensions are broadcast.

    Parameters
    ----------
    LU, pivots
        The factors of A, of shape [..., n, n], as `lu_factor` returns them.
    B
        A tensor of shape [..., n, k]; with ``left=False`` [..., k, n]; batch dimensions
        broadcast.
    left
        True to solve A X = B, False to solve X A = B.
    adjoint
        True to solve with the transpose of A.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If A is singular.
    ShapeError, DTypeError
        If the shapes or dtypes of the tensors do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> lu, pivots = ac.linalg.lu_factor(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> ac.linalg.lu_solve(lu, pivots, ac.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    where = "lu_solve"
    check_flags(where, left=left, adjoint=adjoint)
    lu, b = same_dtype(where, LU, B)
    check_float(where, lu)
    check_shape(where, "LU", lu, "square matrices [..., n, n]")
    check_shape(where, "B", b, "[..., n, k]")
    _check_pivots(where, "pivots", pivots, lu)
    if not left:  # X A = B is A' X' = B'
        b = parts.adjoint(b)
    found = _solved(lu, pivots, b, adjoint == left)
    return found if left else parts.adjoint(found)


def _solved(lu: Tensor, pivots: Tensor, b: Tensor, turned: bool) -> Tensor:
    """Return A^-1 b, or A'^-1 b if `turned`."""
    if turned:
        other = parts.adjoint(lu)
        half = solve_triangular(other, b, upper=False)
        found = solve_triangular(other, half, upper=True, unitriangular=True)
        return matmul.matmul(_exchange(pivots, lu), found)
    rows = _taken(b, row_order_op(pivots, lu.shape[-1]))
    half = solve_triangular(lu, rows, upper=False, unitriangular=True)
    return solve_triangular(lu, half, upper=True)


def _taken(x: Tensor, order: Tensor) -> Tensor:
    """Return matrices with their rows in another order."""
    batch = broadcasting.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    x = broadcasting.expand(x, (*batch, *x.shape[-2:]))
    places = view.reshape(order, (*order.shape, 1))
    return indexing.take_along_dim(x, broadcasting.expand(places, x.shape), -2)


@method("lu")
@autocasts("float32")
@declared
def lu(
    A: Tensor,
    pivot: bool = True,
    get_infos: bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> Any:
    """Return LU factors in one matrix and their pivots, as `linalg.lu_factor` does.

    This is the older name of `linalg.lu_factor`.  It raises no error for a singular
    matrix.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    pivot
        True to exchange rows, so that the factors always exist.
    get_infos
        True to also return the codes `info` of `linalg.lu_factor_ex`.
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> lu, pivots = ac.lu(ac.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> pivots
    tensor([2, 2], dtype=autocalc.int32)
    """
    check_flags("lu", get_infos=get_infos)
    found = lu_factor_ex(A, pivot=pivot)
    return found if get_infos else (found.LU, found.pivots)


@method("lu_solve")
@autocasts("float32")
@declared
def lu_solve(
    b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return the solution X of A X = b; the older form of `linalg.lu_solve`.

    Parameters
    ----------
    b
        A tensor of shape [..., n, k].
    LU_data, LU_pivots
        The factors of A, of shape [..., n, n], as `linalg.lu_factor` returns them.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> factors = ac.linalg.lu_factor(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> ac.lu_solve(ac.ones(2, 1), *factors)
    tensor([[0.5000],
            [0.2500]])
    """
    return linalg_lu_solve(LU_data, LU_pivots, b)


class TriangularSolveResult(NamedTuple):
    """The result of `triangular_solve`."""

    solution: Tensor
    cloned_coefficient: Tensor


@method("triangular_solve")
@autocasts("float32")
@declared
@rounded_once
def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> TriangularSolveResult:
    """Return the solution X of A X = b for triangular matrices, and a copy of A.

    This is the older form of `linalg.solve_triangular`.

    Parameters
    ----------
    b
        A tensor of shape [..., n, k].
    A
        A tensor of shape [..., n, n].
    upper
        True to read the upper triangle of `A`, False to read the lower one.
    transpose
        True to solve with the transpose of the triangular matrix.
    unitriangular
        True to take the diagonal as 1 without reading it.
    out
        Two tensors to write the results into, converted to their dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> ac.triangular_solve(ac.tensor([[4.0], [8.0]]), A).solution
    tensor([[1.],
            [2.]])
    """
    where = "triangular_solve"
    check_flags(where, upper=upper, transpose=transpose, unitriangular=unitriangular)
    a = check_tensor(where, A)
    check_shape(where, "A", a, "square matrices [..., n, n]")
    turned = view.transpose(a, -1, -2) if transpose else a
    found = solve_triangular(
        turned, b, upper=upper != transpose, unitriangular=unitriangular
    )
    return TriangularSolveResult(found, view.clone(a))
