# SPDX-License-Identifier: MIT
"""PyTorch's older forms of `linalg.svd`, `linalg.qr` and `linalg.cholesky`."""

from __future__ import annotations

from typing import NamedTuple

from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops.creation.constants import zeros
from autocalc._ops.matrices import factorizations
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags

__all__ = ["cholesky", "qr", "svd"]


class SVDParts(NamedTuple):
    """The result of `svd`: A = U diag(S) V^T."""

    U: Tensor
    S: Tensor
    V: Tensor


@method("svd")
@declared
def svd(
    input: Tensor,
    some: bool = True,
    compute_uv: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> SVDParts:
    """Return U, S and V with input = U diag(S) V^T (`linalg.svd` returns V^T, not V).

    Parameters
    ----------
    input
        A tensor of shape [..., m, n].
    some
        True for min(m, n) columns of U and V, False for square matrices.
    compute_uv
        True to compute U and V; otherwise both are zeros.
    out
        Three tensors to write the results into, converted to their dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> U, S, V = ac.svd(ac.tensor([[3.0, 0.0], [0.0, 2.0]]))
    >>> S, (U * S) @ V.mT
    (tensor([3., 2.]), tensor([[3., 0.],
            [0., 2.]]))
    """
    check_flags("svd", some=some, compute_uv=compute_uv)
    if compute_uv:
        u, s, vh = factorizations.svd(input, full_matrices=not some)
        return SVDParts(u, s, vh.mT)
    s = factorizations.svdvals(input)
    m, n = (zeros(*s.shape[:-1], k, k, dtype=s.dtype) for k in input.shape[-2:])
    return SVDParts(m, s, n)


@method("qr")
def qr(
    input: Tensor, some: bool = True, *, out: tuple[Tensor, Tensor] | None = None
) -> factorizations.QRResult:
    """Return Q and R with input = Q R; see `linalg.qr`.

    Parameters
    ----------
    input
        A tensor of shape [..., m, n].
    some
        True for Q with min(m, n) columns, False for a square Q.
    out
        Two tensors to write the results into, converted to their dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> Q, R = ac.qr(ac.eye(3)[:, :2])
    >>> Q.shape, R.shape
    (autocalc.Size([3, 2]), autocalc.Size([2, 2]))
    """
    check_flags("qr", some=some)
    return factorizations.qr(input, "reduced" if some else "complete", out=out)


@method("cholesky")
def cholesky(
    input: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the lower triangular L with input = L L^T; see `linalg.cholesky`.

    Parameters
    ----------
    input
        A tensor of shape [..., n, n] of symmetric positive definite matrices.
    upper
        True to return L^T, the upper factor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cholesky(ac.tensor([[4.0]]))
    tensor([[2.]])
    """
    return factorizations.cholesky(input, upper=upper, out=out)
