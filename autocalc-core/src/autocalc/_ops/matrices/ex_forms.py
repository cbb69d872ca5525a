# SPDX-License-Identifier: MIT
"""Inverses, solutions and Cholesky factors that return an error code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.creation.constants import eye
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.elementwise import comparison
from autocalc._ops.matrices.factorizations import cholesky
from autocalc._ops.matrices.linear_systems import inv, solve
from autocalc._ops.matrices.pseudo_inverses import matrix_rank
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import LinAlgError


class InvExResult(NamedTuple):
    """The result of `inv_ex`."""

    inverse: Tensor
    info: Tensor


class SolveExResult(NamedTuple):
    """The result of `solve_ex`."""

    result: Tensor
    info: Tensor


class CholeskyExResult(NamedTuple):
    """The result of `cholesky_ex`."""

    L: Tensor
    info: Tensor


@autocasts("float32")
@declared
@rounded_once
def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> InvExResult:
    """Return the inverse of each matrix, and an error code instead of raising an error.

    The code is 0 for a matrix that has an inverse.  For a singular matrix, the inverse
    is NaN, and the code is the number, counted from 1, of the first column that is a
    linear combination of the columns before it.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    check_errors
        True to raise an error for a singular matrix, as `inv` does.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    InvExResult
        The named tuple (inverse, info).  The int32 tensor info, of shape [...], holds
        the error codes.

    Raises
    ------
    LinAlgError
        If a matrix is singular and `check_errors` is True.
    ShapeError, DTypeError
        If `A` does not hold square matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.inv_ex(ac.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=autocalc.int32)
    """
    x = _squares("inv_ex", A)
    info = _codes(inv, x, _first_dependent, check_errors)
    found = _or_nan(inv(_without_failing(x, info)), info, 2)
    return InvExResult(found, info)


@declared
@rounded_once
def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> SolveExResult:
    """Return each system's solution, and an error code instead of raising an error.

    The code is 0 for a system that has a solution.  Where `A` is singular, the solution
    is NaN, and the code is that of `inv_ex`.

    Parameters
    ----------
    A, B, left
        The arguments of `solve`.
    check_errors
        True to raise an error for a singular matrix, as `solve` does.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    SolveExResult
        The named tuple (result, info); info holds an int32 code for each matrix of `A`.

    Raises
    ------
    LinAlgError
        If a matrix is singular and `check_errors` is True.
    ShapeError
        If the shapes of the arguments do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.solve_ex(ac.zeros(2, 2), ac.ones(2)).result
    tensor([nan, nan])
    """
    a, b = same_dtype("solve_ex", _squares("solve_ex", A), B)
    info = _codes(inv, a, _first_dependent, check_errors)
    found = solve(_without_failing(a, info), b, left=left)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    found = _or_nan(found, info, 1 if vector else 2)
    return SolveExResult(found, info)


@autocasts("float32")
@declared
@rounded_once
def cholesky_ex(
    A: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> CholeskyExResult:
    """Return the Cholesky factor of each matrix, and an error code instead of an error.

    The code is 0 for a positive definite matrix.  For any other matrix, the factor is
    NaN, and the code is the size of the smallest leading block that is not positive
    definite.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] of symmetric matrices; only the lower triangle is
        read.
    upper
        True to return the upper factor L^T.
    check_errors
        True to raise an error for a matrix that is not positive definite, as `cholesky`
        does.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    CholeskyExResult
        The named tuple (L [..., n, n], info [...] of int32).

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite and `check_errors` is True.
    ShapeError, DTypeError
        If `A` does not hold square matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.cholesky_ex(ac.tensor([[1.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=autocalc.int32)
    """
    x = _squares("cholesky_ex", A)
    info = _codes(cholesky, x, _first_indefinite, check_errors)
    found = cholesky(_without_failing(x, info), upper=upper)
    found = _or_nan(found, info, 2)
    return CholeskyExResult(found, info)


def _squares(where: str, x: Any) -> Tensor:
    check_float(where, x)
    check_shape(where, "A", x, "square matrices [..., n, n]")
    return x  # type: ignore[no-any-return]  # checked


def _codes(
    function: Callable[[Tensor], Tensor],
    x: Tensor,
    place: Callable[[Tensor], int],
    strict: bool,
) -> Tensor:
    """Return 0 for each matrix that the function accepts, else the error's place."""
    with no_grad():
        known = x.detach()
        if strict or _fits(function, known):
            function(known)
            return known.new_zeros(x.shape[:-2], dtype=dtypes.int32)
        matrices = view.reshape(known, (-1, *x.shape[-2:]))
        codes = [0 if _fits(function, one) else place(one) for one in matrices]
        made = tensor(codes, dtype=dtypes.int32)
        return view.clone(view.reshape(made, x.shape[:-2]))


def _fits(function: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    try:
        function(x)
    except LinAlgError:
        return False
    return True


def _first_dependent(matrix: Tensor) -> int:
    """Return the number of the first column that depends on those before it."""
    n: int = matrix.shape[-1]
    ranks = (int(matrix_rank(matrix[:, :k]).item()) < k for k in range(1, n + 1))
    return next((k for k, short in enumerate(ranks, 1) if short), n)


def _first_indefinite(matrix: Tensor) -> int:
    """Return the size of the smallest leading part that has no factor."""
    n: int = matrix.shape[-1]
    fits = (_fits(cholesky, matrix[:k, :k]) for k in range(1, n + 1))
    return next((k for k, good in enumerate(fits, 1) if not good), n)


def _without_failing(x: Tensor, info: Tensor) -> Tensor:
    """Replace matrices that have an error code by the identity."""
    good = view.reshape(comparison.eq(info, 0), (*info.shape, 1, 1))
    return comparison.choose(
        good, x, eye(x.shape[-1], dtype=x.dtype, device=place_of_tensor(x))
    )


def _or_nan(found: Tensor, info: Tensor, dims: int) -> Tensor:
    """Replace the results that have an error code by NaN."""
    good = view.reshape(comparison.eq(info, 0), (*info.shape, *(1,) * dims))
    return comparison.choose(good, found, math.nan)
