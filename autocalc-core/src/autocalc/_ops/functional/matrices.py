# SPDX-License-Identifier: MIT
"""Inverses, determinants and factors of matrices, over any batch dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index
from typing import NamedTuple

from autocalc._ops import elementwise, matrices
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import coerce
from autocalc._ops._out import apply_out
from autocalc._ops.creation import empty, eye, zeros
from autocalc._ops.functional.products import matmul
from autocalc._ops.functional.shapes import clone, expand, reshape, transpose
from autocalc._tensor import Tensor
from autocalc._tensor.checks import one_of, sequence
from autocalc._tensor.dtypes import bool_
from autocalc.errors import ArgumentError, ShapeError

__all__ = ["det", "inverse", "logdet", "matrix_power", "slogdet"]


def inv(A: Tensor) -> Tensor:
    """Return the inverse of each matrix of `A` [..., n, n].

    Solve a system with `solve`, which is quicker and more precise.

    Raises
    ------
    LinAlgError
        If a matrix is singular: names the first one.
    ShapeError, DTypeError
        If `A` is not made of square matrices of a float dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.inv(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    return matrices.inv(check_tensor("inv", A))


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return the X with A X = B, or X A = B; batch dimensions broadcast.

    Parameters
    ----------
    A
        [..., n, n].
    B
        [..., n, k], or vectors: [n], or [..., n] with the leading dimensions of `A`.
    left
        False solves X A = B, B [..., k, n].

    Raises
    ------
    LinAlgError
        If a matrix is singular: names the first one.
    ShapeError
        If the shapes do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> ac.linalg.solve(A, ac.tensor([2.0, 2.0]))
    tensor([1. , 0.5])
    """
    a, b = coerce("solve", check_tensor("solve", A), check_tensor("solve", B))
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    if vector:
        column = matrices.solve(a, reshape(b, (*b.shape, 1)))
        return reshape(column, column.shape[:-1])
    if left:
        return matrices.solve(a, b)
    return _turned(matrices.solve(_turned(a), _turned(b)))


def _turned(x: Tensor) -> Tensor:
    return transpose(x, -1, -2) if x.ndim > 1 else x


def det(A: Tensor) -> Tensor:
    """Return the determinant of each matrix of `A` [..., n, n].

    It has a gradient where the matrix is singular, too; a second one it has not there.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.det(ac.tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """
    return matrices.det(check_tensor("det", A))


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


def slogdet(A: Tensor) -> SlogdetResult:
    """Return the sign of the determinant and the log of its size: 0 and -inf at 0."""
    return SlogdetResult(*matrices.slogdet(check_tensor("slogdet", A)))


def logdet(input: Tensor) -> Tensor:
    """Return log(det) of each matrix: NaN where the determinant is negative."""
    sign, log = slogdet(input)
    return elementwise.add(elementwise.mul(elementwise.log(sign), 0.0), log)


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return L of A = L L^T of positive definite matrices; reads the lower triangle.

    Parameters
    ----------
    upper
        Return L^T.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite: names the first one.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.cholesky(ac.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    low = matrices.cholesky(check_tensor("cholesky", A))
    return _turned(low) if upper else low


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


def qr(A: Tensor, mode: str = "reduced") -> QRResult:
    """Return A = Q R, Q with orthonormal columns, R upper triangular.

    Parameters
    ----------
    A
        [..., m, n]; k is the smaller of m and n.
    mode
        "reduced": Q [..., m, k], R [..., k, n].  "complete": Q [..., m, m]; no gradient
        if m > n.  "r": R alone, Q is empty.

    Raises
    ------
    ArgumentError
        If `mode` is another word.
    """
    one_of("qr", "mode", mode, ("reduced", "complete", "r"))
    x = check_tensor("qr", A)
    q, r = matrices.qr(x, "complete" if mode == "complete" else "reduced")
    return QRResult(empty(0, dtype=x.dtype) if mode == "r" else q, r)


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None
) -> SVDResult:
    """Return A = U diag(S) Vh, the singular values descending.

    The vectors have a gradient where singular values differ, and it is that of the
    first min(m, n) of them.

    Parameters
    ----------
    A
        [..., m, n].
    full_matrices
        U [..., m, m] and Vh [..., n, n]; else min(m, n) columns and rows.
    driver
        None: there is one.

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity: says where.
    """
    if driver is not None:
        message = f"svd: `driver`={driver!r}; there is one, so it must be None."
        raise ArgumentError(message)
    return SVDResult(*matrices.svd(check_tensor("svd", A), bool(full_matrices)))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Return the singular values of each matrix, descending; see `svd`."""
    return svd(A, False, driver=driver).S


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def eigh(A: Tensor, UPLO: str = "L") -> EighResult:
    """Return A = V diag(w) V^T of symmetric matrices, the eigenvalues w ascending.

    The vectors have a gradient where eigenvalues differ.

    Parameters
    ----------
    UPLO
        Which triangle is read: "L" the lower, "U" the upper.

    Raises
    ------
    ArgumentError
        If `UPLO` is another letter.
    LinAlgError
        If LAPACK does not find the values: names the first matrix.
    """
    one_of("eigh", "UPLO", UPLO, ("L", "U", "l", "u"))
    x = check_tensor("eigh", A)
    return EighResult(*matrices.eigh(x if UPLO.upper() == "L" else _turned(x)))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, ascending; see `eigh`."""
    return eigh(A, UPLO).eigenvalues


def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of each matrix; see `linalg.inv`."""
    return apply_out("inverse", inv(input), out)


def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Return A @ A @ ... of `n` factors; of the inverse where `n` is negative.

    Takes about 2 log2(n) products.

    Raises
    ------
    LinAlgError
        If `n` is negative and a matrix singular.
    ShapeError
        If the matrices are not square.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.matrix_power(ac.tensor([[2.0, 0.0], [0.0, 3.0]]), 3)
    tensor([[ 8.,  0.],
            [ 0., 27.]])
    """
    x = check_tensor("matrix_power", input)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        message = (
            f"matrix_power: `input` has shape {x.shape}; it must be square matrices "
            f"[..., n, n]."
        )
        raise ShapeError(message)
    try:
        n = index(n)
    except TypeError:
        message = f"matrix_power: `n`={n!r} is a {type(n).__name__}; give an integer."
        raise ArgumentError(message) from None
    if n < 0:
        return apply_out("matrix_power", matrix_power(inv(x), -n), out)
    if n == 0:  # chosen, so that it has a history as every other power
        identity = expand(eye(x.shape[-1], dtype=x.dtype), x.shape)
        return apply_out(
            "matrix_power", elementwise.choose(zeros(1, dtype=bool_), x, identity), out
        )
    if n == 1:
        return apply_out("matrix_power", clone(x), out)
    half = matrix_power(x, n // 2) if n > 3 else x
    square = matmul(half, half)
    return apply_out("matrix_power", matmul(square, x) if n % 2 else square, out)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of two or more matrices, in the order that costs least.

    The first and the last may be vectors: a row and a column, which then disappear.

    Raises
    ------
    ArgumentError
        If there are fewer than two tensors.
    ShapeError
        If one between them is no matrix, or neighbours do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.multi_dot([ac.ones(10, 2), ac.ones(2, 30), ac.ones(30)]).shape
    (10,)
    """
    given = [
        check_tensor("multi_dot", x) for x in sequence("multi_dot", "tensors", tensors)
    ]
    if len(given) < 2:
        message = f"multi_dot: {len(given)} tensors; it needs at least two."
        raise ArgumentError(message)
    row, column = given[0].ndim == 1, given[-1].ndim == 1
    parts = [*given]
    parts[0] = reshape(parts[0], (1, *parts[0].shape)) if row else parts[0]
    parts[-1] = reshape(parts[-1], (*parts[-1].shape, 1)) if column else parts[-1]
    _check_chain(given, parts)
    out = _product(parts, _cheapest([*(x.shape[0] for x in parts), parts[-1].shape[1]]))
    out = reshape(out, out.shape[:-1]) if column else out
    return reshape(out, out.shape[1:]) if row else out


def _check_chain(given: list[Tensor], parts: list[Tensor]) -> None:
    fits = all(x.ndim == 2 for x in parts) and all(
        a.shape[1] == b.shape[0] for a, b in pairwise(parts)
    )
    if not fits:
        shapes = ", ".join(str(x.shape) for x in given)
        message = (
            f"multi_dot: the shapes {shapes} do not fit: all must be matrices, save "
            f"the first and last, and columns must equal the rows that follow."
        )
        raise ShapeError(message)


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each run (first, last) of a chain of matrices.

    Matrix i is sizes[i] by sizes[i + 1]; the cost counts multiplications.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            choices = [
                cost[i, s] + cost[s + 1, j] + sizes[i] * sizes[s + 1] * sizes[j + 1]
                for s in range(i, j)
            ]
            cost[i, j] = min(choices)
            split[i, j] = i + choices.index(cost[i, j])
    return split


def _product(parts: list[Tensor], split: dict[tuple[int, int], int]) -> Tensor:
    def between(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        s = split[i, j]
        return matmul(between(i, s), between(s + 1, j))

    return between(0, len(parts) - 1)
