# SPDX-License-Identifier: MIT
"""Pseudoinverses, ranks, and solutions of least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.creation.constants import empty, full, zeros
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.matrices import _matrix_rules, matmul
from autocalc._ops.matrices.factorizations import eigvalsh, svdvals
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, one_of
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError, ShapeError

pinv_op = nary("pinv", saves="a out")


@pinv_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """DA = -P' g P' + (I - A P) g' P P' + P' P g' (I - P A) with P = A^+.

    The transpose of dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P (Golub and
    Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate", SIAM Journal on Numerical Analysis 10, 1973).
    """
    a, p = n.saved
    turned = matmul.transposed(k, p)
    across = matmul.transposed(k, g)
    left = _matrix_rules.mm(k, across, p, turned)
    right = _matrix_rules.mm(k, turned, p, across)
    da = k.neg(_matrix_rules.mm(k, turned, g, turned))
    da = k.add(da, k.sub(left, _matrix_rules.mm(k, a, p, left)))
    da = k.add(da, k.sub(right, _matrix_rules.mm(k, right, p, a)))
    return da, None, None


@declared
@rounded_once
def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the pseudoinverse of each matrix of `A` [..., m, n] (Moore, Penrose).

    With A = U diag(s) V^T it is P = V diag(1 / s) U^T, 0 standing for 1 / s where s
    counts as 0: up to max(atol, rtol * the largest s).  Its derivative is

        dP = -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P

    as long as the rank stays what it is (Golub and Pereyra, "The differentiation of
    pseudo-inverses and nonlinear least squares problems whose variables separate",
    SIAM Journal on Numerical Analysis 10, 1973); equal singular values do no harm.

    Parameters
    ----------
    A
        [..., m, n].
    rcond
        `rtol` by its old name.
    hermitian
        Take `A` for symmetric: its lower triangle is read, the upper one only by the
        gradient.
    atol, rtol
        Up to which size singular values count as 0, and up to which share of the
        largest; numbers, or a tensor of one for each matrix.  `atol` is 0 by default,
        `rtol` max(m, n) times the smallest step of the dtype at 1, or 0 where `atol` is
        given and not 0.
    out
        A tensor that takes the result, converted to its dtype.

    Returns
    -------
    Tensor
        [..., n, m].

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity: says where.
    ShapeError, DTypeError
        If `A` is not made of matrices of a float dtype, or `hermitian` ones not square.
    ArgumentError
        If `rcond` is given with `atol` or `rtol`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.pinv(ac.tensor([[2.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000, 0.0000],
            [0.0000, 0.2500, 0.0000]])
    """
    if rcond is not None:
        if atol is not None or rtol is not None:
            message = "pinv: `rcond` is `rtol` by its old name; give `atol` and `rtol`."
            raise ArgumentError(message)
        atol, rtol = 0.0, rcond
    x = _matrices("pinv", A)
    limits = _limits("pinv", x, atol, rtol)
    return pinv_op(x, *limits, bool(hermitian))


@method("pinverse")
@rounded_once
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverse of each matrix; see `linalg.pinv`.

    Parameters
    ----------
    input
        [..., m, n].
    rcond
        Up to which share of the largest singular value others count as 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.pinverse(ac.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    x = _matrices("pinverse", input)
    share = full(
        (), number("pinverse", "rcond", rcond), dtype=x.dtype, device=place_of_tensor(x)
    )
    return pinv_op(x, zeros((), dtype=x.dtype, device=place_of_tensor(x)), share, False)


def _matrices(where: str, x: Any) -> Tensor:
    """Return a tensor of matrices of floats."""
    check_float(where, x)
    check_shape(
        where, "A", x, "matrices [..., m, n]. Reshape a vector to one row or column"
    )
    return x  # type: ignore[no-any-return]  # checked


def _limits(where: str, x: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Return up to which size, and which share of the largest, numbers count as 0."""
    share = max(x.shape[-2:]) * finfo(x.dtype).eps
    size = _limit(where, "atol", x, 0.0 if atol is None else atol)
    if rtol is not None:
        return size, _limit(where, "rtol", x, rtol)
    if atol is None:
        return size, full((), share, dtype=x.dtype, device=place_of_tensor(x))
    return size, comparison.choose(
        comparison.gt(size, 0),
        0.0,
        full((), share, dtype=x.dtype, device=place_of_tensor(x)),
    )


def _limit(where: str, name: str, x: Tensor, given: Any) -> Tensor:
    if not isinstance(given, Tensor):
        return full(
            (), number(where, name, given), dtype=x.dtype, device=place_of_tensor(x)
        )
    return cast(given.detach(), x.dtype)


@declared
def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return how many singular values of each matrix do not count as 0, int64.

    Those above max(atol, rtol * the largest one).

    Parameters
    ----------
    A
        [..., m, n].
    tol
        `atol` by its old name, with an `rtol` of 0.
    hermitian
        Take `A` for symmetric: its lower triangle is read, and the sizes of its
        eigenvalues are counted.
    atol, rtol
        As of `pinv`.
    out
        A tensor that takes the result, converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity: says where.
    ShapeError, DTypeError
        If `A` is not made of matrices of a float dtype, or `hermitian` ones not square.
    ArgumentError
        If `tol` is given with `atol` or `rtol`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.matrix_rank(ac.ones(3, 3))
    tensor(1)
    """
    where = "matrix_rank"
    if tol is not None:
        if atol is not None or rtol is not None:
            message = (
                f"{where}: `tol` is `atol` by its old name; give `atol` and `rtol`."
            )
            raise ArgumentError(message)
        atol, rtol = tol, 0.0
    x = _matrices(where, A).detach()
    size, share = _limits(where, x, atol, rtol)
    with no_grad():
        values = eigvalsh(x).abs() if hermitian else svdvals(x)
        return _count_above(values, size, share)


def _count_above(values: Tensor, size: Tensor, share: Tensor) -> Tensor:
    """Return how many of the singular values are above the limits."""
    if values.shape[-1] == 0:
        return zeros(values.shape[:-1], dtype=dtypes.int64)
    most = extrema.amax(values, -1, True)
    shares = arithmetic.mul(view.unsqueeze(share, -1), most)
    least = clamping.maximum(view.unsqueeze(size, -1), shares)
    return reduction.sum(comparison.gt(values, least), -1)


# ---- least squares -------------------------------------------------------------------

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


class LstsqResult(NamedTuple):
    """The result of `lstsq`."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


@rounded_once
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> LstsqResult:
    """Return the X that makes the sum of squares of A X - B least.

    Among several the one of least squares itself: X = A^+ B with the pseudoinverse, see
    `pinv`, whatever the driver.  X and the residuals have a gradient as long as the
    rank stays what it is.

    Parameters
    ----------
    A
        [..., m, n].
    B
        [..., m, k], or vectors: [..., m] with one dimension less than `A`.
    rcond
        Up to which share of the largest singular value others count as 0; by default
        max(m, n) times the smallest step of the dtype at 1.
    driver
        "gelsy", by default, "gels", "gelsd" or "gelss": what is returned with X.

    Returns
    -------
    LstsqResult
        The named tuple (solution [..., n, k] or [..., n]; residuals [..., k], the sums
        of squares, with 1 for k of vectors: empty for "gelsy", unless m > n, and where
        a matrix has a smaller rank than n; rank [...], for "gels" empty;
        singular_values [..., min(m, n)], empty for "gelsy" and "gels").

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity: says where.
    ShapeError
        If the shapes do not fit.
    ArgumentError
        If there is no such driver.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> ac.linalg.lstsq(A, ac.tensor([[1.0], [3.0], [5.0]])).solution
    tensor([[1.],
            [2.]])
    """
    where = "lstsq"
    a, b = same_dtype(where, _matrices(where, A), B)
    name = "gelsy" if driver is None else driver
    one_of(where, "driver", name, _DRIVERS)
    vector = b.ndim == a.ndim - 1
    column = view.unsqueeze(b, -1) if vector else b
    _check_sides(where, a, b, column)
    limits = _limits(where, a, None, None)
    if rcond is not None:
        limits = limits[0], _limit(where, "rcond", a, rcond)
    x, left = cast(a, dtypes.float64), cast(column, dtypes.float64)
    inverse = pinv_op(x, *(cast(limit, dtypes.float64) for limit in limits), False)
    found = matmul.matmul(inverse, left)
    with no_grad():
        values = svdvals(a.detach())
        rank = _count_above(values, *limits)
    wanted = a.shape[-2] > a.shape[-1] and name != "gelsy"
    full_rank = name == "gels" or bool(comparison.eq(rank, a.shape[-1]).all())
    flat = view.reshape(found, (-1,))
    rest = _squares(x, found, left) if wanted and full_rank else flat[:0]
    solution = cast(found, a.dtype)
    return LstsqResult(
        view.squeeze(solution, -1) if vector else solution,
        cast(rest, a.dtype),
        empty(0, dtype=dtypes.int64) if name == "gels" else rank,
        values
        if name in ("gelsd", "gelss")
        else empty(0, dtype=a.dtype, device=place_of_tensor(a)),
    )


def _squares(a: Tensor, x: Tensor, b: Tensor) -> Tensor:
    """Return the sums of squares of A X - B, for each column."""
    away = arithmetic.sub_op(matmul.matmul(a, x), b)
    return reduction.sum(arithmetic.mul(away, away), -2)


def _check_sides(where: str, a: Tensor, b: Tensor, column: Tensor) -> None:
    if column.ndim != a.ndim or column.shape[-2] != a.shape[-2]:
        message = (
            f"{where}: `A` has shape {a.shape} and `B` {b.shape}; `B` must be "
            f"[..., {a.shape[-2]}, k], or vectors [..., {a.shape[-2]}]."
        )
        raise ShapeError(message)
    broadcast_shapes(where, a.shape[:-2], column.shape[:-2])
