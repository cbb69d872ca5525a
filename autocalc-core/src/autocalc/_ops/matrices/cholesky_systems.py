# SPDX-License-Identifier: MIT
"""Linear systems and inverses by the factor that `linalg.cholesky` returns."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import diagonal
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.like import ones_like
from autocalc._ops.matrices import linear_systems
from autocalc._tensor import Tensor
from autocalc.errors import LinAlgError, ShapeError

__all__ = ["cholesky_inverse", "cholesky_solve"]


@method("cholesky_solve")
@autocasts("float32")
@declared
@rounded_once
def cholesky_solve(
    B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the solution X of L L^T X = B.

    A tensor of shape [..., n, k], the right-hand sides.

    Parameters
    ----------
    B
        A tensor of shape [..., n, k], the right-hand sides.
    L
        A tensor of shape [..., n, n], the Cholesky factor.
    upper
        True if `L` is an upper factor U; then U^T U X = B is solved.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        A tensor of shape [..., n, k].

    Raises
    ------
    ShapeError
        If `L` does not hold square matrices, or `B` does not hold matrices.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[4.0, 0.0], [0.0, 9.0]])
    >>> ac.cholesky_solve(ac.ones(2, 1) * 36, ac.linalg.cholesky(A))
    tensor([[9.],
            [4.]])
    """
    where = "cholesky_solve"
    check_float(where, B, L)
    check_shape(where, "B", B, "[..., n, k]")
    lower = _lower(where, L, upper)
    half = linear_systems.solve(lower, B)
    return linear_systems.solve(parts.adjoint(lower), half)


@method("cholesky_inverse")
@autocasts("float32")
@declared
@rounded_once
def cholesky_inverse(
    L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of L L^T.

    Parameters
    ----------
    L
        A tensor of shape [..., n, n], the Cholesky factor.
    upper
        True if `L` is an upper factor U; then the inverse of U^T U is returned.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        A tensor of shape [..., n, n].

    Raises
    ------
    ShapeError
        If `L` does not hold square matrices.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cholesky_inverse(ac.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 1.0000]])
    """
    where = "cholesky_inverse"
    check_float(where, L)
    lower = _lower(where, L, upper)
    unit = diagonal.diag_embed(ones_like(diagonal.diagonal(lower.detach(), 0, -2, -1)))
    try:
        half = linear_systems.solve(lower, unit)
    except LinAlgError:
        if diagonal.diagonal(lower.detach(), 0, -2, -1).all():
            raise
        raise _zero_on_diagonal(where, lower) from None
    return linear_systems.solve(parts.adjoint(lower), half)


def _zero_on_diagonal(where: str, lower: Tensor) -> LinAlgError:
    """Make the error for a factor that has a zero on its diagonal."""
    zero = diagonal.diagonal(lower.detach(), 0, -2, -1) == 0
    *batch, column = zero.nonzero()[0].tolist()
    place = f"(Batch element {batch[0]}): " if len(batch) == 1 else ""
    return LinAlgError(
        f"{where}: {place}The diagonal element {column + 1} is zero, the inversion "
        f"could not be completed: a factor in `L`, of shape {lower.shape}, is "
        "singular."
    )


def _lower(where: str, L: Tensor, upper: bool) -> Tensor:
    """Return the lower factor of the given lower or upper factor."""
    if check_tensor(where, L).ndim < 2 or L.shape[-1] != L.shape[-2]:
        raise ShapeError(
            f"{where}: `L` has shape {L.shape}; it must have at least 2 dimensions, "
            f"and must be batches of square matrices."
        )
    if upper:
        return parts.adjoint(diagonal.triu(L))
    return diagonal.tril(L)
