# SPDX-License-Identifier: MIT
"""L D L' factors of symmetric matrices, and linear systems solved with them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from autocalc._dispatch.selection.state import check_values
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging import diagonal
from autocalc._ops.elementwise import arithmetic, bitwise, comparison
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import (
    ArgumentError,
    DTypeError,
    GradError,
    LinAlgError,
    ShapeError,
)

__all__ = ["ldl_factor", "ldl_factor_ex", "ldl_solve"]

ldl_op = multi("ldl")
ldl_solve_op = nary("ldl_solve", saves="ld pivots")


@ldl_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    raise GradError(
        "ldl_factor: the derivative of L D L' factors is not implemented, because the "
        "exchanges of rows depend on the elements. Use linalg.solve or linalg.eigh."
    )


@ldl_solve_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return A^-1 g for the right side; A is symmetric."""
    if n.needs(0):
        raise GradError(
            "ldl_solve: the derivative with respect to `LD` is not implemented. Use "
            "linalg.solve(A, B), or detach `LD`."
        )
    found = k.ldl_solve(*n.saved, g)
    return None, None, k.sum_to(found, n.shapes[2])


class LDLFactors(NamedTuple):
    """The result of `ldl_factor`."""

    LD: Tensor
    pivots: Tensor


class LDLFactorsEx(NamedTuple):
    """The result of `ldl_factor_ex`."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


def _factors(where: str, A: Any) -> tuple[Tensor, Tensor, Tensor]:
    x = check_tensor(where, A)
    check_float(where, x)
    check_shape(where, "A", x, "square matrices [..., n, n]")
    ld, pivots = ldl_op(x)
    return ld, pivots, _first_zero(ld.detach(), pivots)


def _first_zero(ld: Tensor, pivots: Tensor) -> Tensor:
    """Return the number of the first block of one row that is 0, or 0."""
    entries = diagonal.diagonal(ld, 0, -2, -1)
    wrong = bitwise.bitwise_or(comparison.eq(entries, 0), comparison.isnan(entries))
    zero = bitwise.bitwise_and(wrong, comparison.gt(pivots, 0))
    if zero.shape[-1] == 0:
        return ld.new_zeros(ld.shape[:-2], dtype=dtypes.int32)
    first = arithmetic.add(extrema.argmax(zero.to(dtypes.int32), -1), 1)
    found: Tensor = arithmetic.mul(first, reduction.any(zero, -1)).to(dtypes.int32)
    return found


def _check_info(where: str, ld: Tensor, info: Tensor) -> None:
    """Raise if a matrix is singular, also in each replay of a program."""
    flat = view.reshape(info, (-1,))
    check_values(partial(_refuse_singular, where, tuple(ld.shape)), flat._array)


def _refuse_singular(where: str, shape: tuple[int, ...], info: Any) -> None:
    for place, row in enumerate(info.tolist()):
        if row:
            which = f"matrix {place} of `A`" if len(shape) > 2 else "`A`"
            raise LinAlgError(
                f"{where}: {which}, of shape {shape[-2:]}, is singular: D[{row - 1}, "
                f"{row - 1}] is 0 or NaN. Use linalg.ldl_factor_ex to get the factors."
            )


@autocasts("as given")
@declared
@rounded_once
def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LDLFactorsEx:
    """Return the result of `ldl_factor`, and an error code instead of raising an error.

    The code is 0 for a matrix that has an inverse.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] of symmetric matrices; only the lower triangles
        are read.
    hermitian
        It has no effect, because the matrices are real.
    check_errors
        True to raise an error where the code is not 0, as `ldl_factor` does.
    out
        Three tensors to write the results into, converted to their dtypes.

    Returns
    -------
    LDLFactorsEx
        The named tuple (LD, pivots, info).  LD and pivots are those of `ldl_factor`;
        info, an int32 tensor of shape [...], holds the error codes.  The code of a
        singular matrix is the number of the first row in which D has a block of one row
        that is 0 or NaN.

    Raises
    ------
    LinAlgError
        If a matrix is singular and `check_errors` is True.
    ShapeError, DTypeError
        If `A` does not hold square matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.ldl_factor_ex(ac.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=autocalc.int32)
    """
    ld, pivots, info = _factors("ldl_factor_ex", A)
    if check_errors:
        _check_info("ldl_factor_ex", ld, info)
    return LDLFactorsEx(ld, pivots, info)


@autocasts("as given")
@declared
@rounded_once
def ldl_factor(
    A: Tensor, *, hermitian: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> LDLFactors:
    """Return the factors of symmetric matrices A = L D L^T, for `ldl_solve`.

    The factors have no gradient, as in PyTorch.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] of symmetric matrices, which need not be positive
        definite; only the lower triangles are read.
    hermitian
        It has no effect, because the matrices are real.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    LDLFactors
        The named tuple (LD, pivots), in the form of LAPACK. LD holds two matrices: the
        matrix D, which consists of blocks of one or two rows on the diagonal, and below
        these blocks the matrix L. The diagonal of L is 1 and is not stored.  Element i
        of the int32 tensor pivots, of shape [..., n], is the number of the row, counted
        from 1, with which row i was exchanged.  For a block of two rows, both elements
        are negative.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    ShapeError, DTypeError
        If `A` does not hold square matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.ldl_factor(ac.tensor([[4.0, 1.0], [1.0, 3.0]]))
    LDLFactors(LD=tensor([[4.0000, 0.0000],
            [0.2500, 2.7500]]), pivots=tensor([1, 2], dtype=autocalc.int32))
    """
    ld, pivots, info = _factors("ldl_factor", A)
    _check_info("ldl_factor", ld, info)
    return LDLFactors(ld, pivots)


@autocasts("as given")
@declared
@rounded_once
def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solution X of A X = B, given the factors that `ldl_factor` returns.

    Only `B` has a gradient.

    Parameters
    ----------
    LD, pivots
        The factors of A, of shape [..., n, n], as `ldl_factor` returns them.
    B
        A tensor of shape [..., n, k]; batch dimensions broadcast.
    hermitian
        It has no effect, because the matrices are real.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError, DTypeError
        If the shapes or dtypes of the tensors do not fit together.
    ArgumentError
        If `pivots` cannot be a result of `ldl_factor`.

    Examples
    --------
    >>> import autocalc as ac
    >>> factors = ac.linalg.ldl_factor(ac.tensor([[4.0, 1.0], [1.0, 3.0]]))
    >>> ac.linalg.ldl_solve(*factors, ac.tensor([[5.0], [4.0]]))
    tensor([[1.],
            [1.]])
    """
    where = "ldl_solve"
    ld, b = same_dtype(where, LD, B)
    check_float(where, ld)
    check_shape(where, "LD", ld, "square matrices [..., n, n]")
    check_shape(where, "B", b, "[..., n, k]")
    return ldl_solve_op(ld, _checked_pivots(where, pivots, ld), b)


def _checked_pivots(where: str, pivots: Any, ld: Tensor) -> Tensor:
    """Return pivots as int32; raise if they cannot belong to the factors."""
    x = check_tensor(where, pivots)
    if x._array.dtype.kind not in "iu":
        raise DTypeError(
            f"{where}: `pivots` is {x.dtype.name}; it must be the integer tensor that "
            "ldl_factor returns."
        )
    if x.shape != ld.shape[:-1]:
        raise ShapeError(
            f"{where}: `pivots` has shape {x.shape}; for factors of shape {ld.shape} "
            f"it must have shape {tuple(ld.shape[:-1])}."
        )
    x = cast(x, dtypes.int32)
    check_values(partial(_refuse_pivots, where), x._array)
    return x


def _refuse_pivots(where: str, pivots: Any) -> None:
    """Raise unless pivots name rows, and those of blocks of two rows are pairs."""
    n = pivots.shape[-1]
    for line in pivots.reshape(-1, n).tolist() if pivots.size else ():
        first = 0
        while first < n:
            size = 1 + (line[first] < 0)
            block = line[first : first + size]
            row = abs(line[first])
            if block != [line[first]] * size or not first + size <= row <= n:
                raise ArgumentError(
                    f"{where}: `pivots` are {line}; they must be those that "
                    "ldl_factor returns."
                )
            first += size
