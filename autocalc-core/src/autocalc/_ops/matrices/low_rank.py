# SPDX-License-Identifier: MIT
"""The largest few singular values of large matrices.

Halko, Martinsson, Tropp: Finding structure with randomness (SIAM Review 53, 2011),
algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import NamedTuple

from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import factorizations, matmul
from autocalc._ops.random.random_draws import randn
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flags
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError

__all__ = ["pca_lowrank", "svd_lowrank"]


class LowRankResult(NamedTuple):
    """The result of `svd_lowrank` and `pca_lowrank`."""

    U: Tensor
    S: Tensor
    V: Tensor


@rounded_once
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> LowRankResult:
    """Return an approximate A = U diag(S) V^T with the `q` largest singular values.

    Products with random vectors find the space of the largest singular values.  The
    result is exact if the rank of `A` is at most `q`.  Halko, Martinsson, Tropp:
    Finding structure with randomness (SIAM Review 2011).

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    q
        The number of singular values to compute; it should be a little larger than the
        expected rank.  If a matrix has fewer rows or columns, fewer singular values are
        computed.
    niter
        The number of iterations; more iterations give more accurate results.
    M
        A tensor that is subtracted from `A` first; it is broadcast.

    Returns
    -------
    LowRankResult
        The named tuple (U, S, V) with the shapes [..., m, q], [..., q] and [..., n, q].

    Raises
    ------
    ArgumentError
        If `q` or `niter` is negative.
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.svd_lowrank(ac.ones(4, 4), q=1).S
    tensor([4.])
    """
    where = "svd_lowrank"
    check_float(where, A)
    check_shape(where, "A", A, "[..., m, n]")
    count = min(_at_least_none(where, "q", q, 6), *A.shape[-2:])
    turns = _at_least_none(where, "niter", niter, 2)
    if M is not None:
        x, mean = same_dtype(where, A, M)
        A = arithmetic.sub(x, broadcasting.expand(mean, x.shape))
    wide = A.shape[-2] < A.shape[-1]
    x = _turned(A) if wide else A
    space = _range_of(x, count, turns)
    u, s, vh = factorizations.svd(matmul.matmul(_turned(space), x), False)
    u, v = matmul.matmul(space, u), _turned(vh)
    return LowRankResult(v, s, u) if wide else LowRankResult(u, s, v)


def _range_of(x: Tensor, count: int, turns: int) -> Tensor:
    """Return orthonormal columns that approximate the range of the largest values."""
    n = x.shape[-1]
    start = randn(n, count, dtype=x.dtype, device=place_of_tensor(x))
    space = factorizations.qr(matmul.matmul(x, start)).Q
    for _ in range(turns):
        space = factorizations.qr(matmul.matmul(_turned(x), space)).Q
        space = factorizations.qr(matmul.matmul(x, space)).Q
    return space


def _turned(x: Tensor) -> Tensor:
    return parts.adjoint(x)


def _at_least_none(where: str, name: str, given: object, usual: int) -> int:
    value = usual if given is None else as_int(where, name, given)
    if value < 0:
        message = f"{where}: `{name}` is {value}; it must be 0 or more."
        raise ArgumentError(message)
    return value


@rounded_once
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> LowRankResult:
    """Return the principal components of a matrix, by `svd_lowrank`.

    The columns of V are the principal directions, and S^2 / (m - 1) are the variances.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n]: m samples with n features.
    q
        The number of components; by default 6, or fewer if a matrix has fewer rows or
        columns.
    center
        True to subtract the mean of each column first.
    niter
        The number of iterations, as in `svd_lowrank`.

    Raises
    ------
    ArgumentError
        If `q` is larger than the number of rows or columns.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> ac.pca_lowrank(x, q=1).V.abs()
    tensor([[0.6000],
            [0.8000]])
    """
    where = "pca_lowrank"
    check_flags(where, center=center)
    check_float(where, A)
    check_shape(where, "A", A, "[..., m, n]")
    most = min(A.shape[-2:])
    count = min(6, most) if q is None else _at_least_none(where, "q", q, 6)
    if count > most:
        raise ArgumentError(
            f"{where}: `q` is {count}, but matrices of {A.shape} have only {most} "
            "singular values."
        )
    mean = reduction.mean(A, -2, keepdim=True) if center else None
    return svd_lowrank(A, count, niter, mean)
