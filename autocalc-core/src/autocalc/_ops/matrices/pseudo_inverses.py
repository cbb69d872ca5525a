# SPDX-License-Identifier: MIT
"""Pseudoinverses, ranks and least-squares solutions."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import empty, full, zeros
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.matrices import _complex_rules, _matrix_rules, matmul
from autocalc._ops.matrices.factorizations import eigvalsh, svdvals
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError, ShapeError

pinv_op = nary("pinv", saves="a out")


pinv_op.op.complex_rule = _complex_rules.pinv


@pinv_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return -P' g P' + (I - A P) g' P P' + P' P g' (I - P A), where P = A^+.

    It is the transpose of dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P (Golub
    and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
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


@autocasts("float32")
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
    """Return the pseudoinverse (Moore, Penrose) of each matrix of `A`.

    With the singular value decomposition A = U diag(s) V^T, the pseudoinverse is P = V
    diag(1 / s) U^T. A singular value that is at most max(atol, rtol * the largest one)
    counts as 0, and its inverse is taken as 0, too.  The derivative is

        dP = -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P

    if a small change of A does not change its rank.  Singular values may be equal
    (Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    squares problems whose variables separate", SIAM Journal on Numerical Analysis 10,
    1973).

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    rcond
        The old name of `rtol`: give only one of the two.
    hermitian
        True if `A` is symmetric.  Only its lower triangle is then read, but the
        computation of the gradient reads both triangles.
    atol, rtol
        The limits up to which a singular value counts as 0: absolute, and relative to
        the largest one. Each is a number, or a tensor with one number for each matrix.
        The default of `atol` is 0. The default of `rtol` is max(m, n) times the machine
        epsilon of the dtype, or 0 if `atol` is given and not 0.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        A tensor of shape [..., n, m].

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity; the message says where.
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype, or `hermitian` is True
        and they are not square.
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
            message = (
                "pinv: `rcond` is the old name of `rtol`; give `atol` and `rtol` "
                "instead."
            )
            raise ArgumentError(message)
        atol, rtol = 0.0, rcond
    x = _matrices("pinv", A)
    limits = _limits("pinv", x, atol, rtol)
    return pinv_op(x, *(cast(limit, x.dtype) for limit in limits), bool(hermitian))


@method("pinverse")
@autocasts("float32")
@rounded_once
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverse of each matrix; see `linalg.pinv`.

    Parameters
    ----------
    input
        A tensor of shape [..., m, n].
    rcond
        The limit up to which a singular value counts as 0, relative to the largest one.

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
    """Return a checked tensor of floating-point matrices."""
    check_float(where, x)
    check_shape(
        where,
        "A",
        x,
        "[..., m, n]: input must have at least 2 dimensions, so expected a tensor with "
        "2 or more dimensions. Reshape a vector to one row or column",
    )
    return x  # type: ignore[no-any-return]  # checked


def _limits(where: str, x: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Return the absolute and relative tolerances below which numbers count as 0."""
    share = max(x.shape[-2:]) * finfo(x.dtype).eps
    size = _limit(where, "atol", x, 0.0 if atol is None else atol)
    if rtol is not None:
        return size, _limit(where, "rtol", x, rtol)
    if atol is None:
        return size, full((), share, dtype=x.dtype.to_real(), device=place_of_tensor(x))
    return size, comparison.choose(
        comparison.gt(size, 0),
        0.0,
        full((), share, dtype=x.dtype.to_real(), device=place_of_tensor(x)),
    )


def _limit(where: str, name: str, x: Tensor, given: Any) -> Tensor:
    if not isinstance(given, Tensor):
        return full(
            (),
            number(where, name, given),
            dtype=x.dtype.to_real(),
            device=place_of_tensor(x),
        )
    return cast(given.detach(), x.dtype.to_real())


@autocasts("float32")
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
    """Return the rank of each matrix: the number of its large singular values.

    A singular value is large if it is above max(atol, rtol * the largest one).  The
    result has the dtype int64.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    tol
        The old name of `atol`.  If it is given, `rtol` is 0.
    hermitian
        True if `A` is symmetric: only its lower triangle is read, and the absolute
        values of its eigenvalues are counted.
    atol, rtol
        The absolute and the relative tolerance; the defaults are those of `pinv`.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity; the message says where.
    ShapeError, DTypeError
        If `A` does not hold matrices of a floating-point dtype, or `hermitian` is True
        and they are not square.
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
            raise ArgumentError(
                f"{where}: `tol` is the old name of `atol`; give `atol` and `rtol` "
                "instead."
            )
        atol, rtol = tol, 0.0
    x = _matrices(where, A).detach()
    size, share = _limits(where, x, atol, rtol)
    with no_grad():
        values = eigvalsh(x).abs() if hermitian else svdvals(x)
        return _count_above(values, size, share)


def _count_above(values: Tensor, size: Tensor, share: Tensor) -> Tensor:
    """Return how many singular values are above the tolerances."""
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


@autocasts("float32")
@rounded_once
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> LstsqResult:
    """Return the X that minimises the sum of the squares of A X - B.

    If several X have the same smallest sum, the result is the X whose own elements have
    the smallest sum of squares.  For every driver, it is computed as X = A^+ B, where
    A^+ is the pseudoinverse that `pinv` returns.  X and the residuals have a gradient
    if a small change of A does not change its rank.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    B
        A tensor of shape [..., m, k], or vectors: [..., m] with one dimension less than
        `A`.
    rcond
        The limit up to which a singular value counts as 0, relative to the largest one;
        by default max(m, n) times the machine epsilon of the dtype.
    driver
        "gelsy" (the default), "gels", "gelsd" or "gelss"; it determines which of the
        other results are empty.

    Returns
    -------
    LstsqResult
        The named tuple (solution, residuals, rank, singular_values).  The solution has
        the shape [..., n, k] or [..., n].  The residuals, of shape [..., k] with k = 1
        for vectors, are the sums of squares.  They are empty for "gelsy" and if m <= n.
        For "gelsd" and "gelss", they are also empty if the rank of a matrix is below n.
        The rank, of shape [...], is empty for "gels".  The singular values, of shape
        [..., min(m, n)], are empty for "gelsy" and "gels".

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity; the message says where.
    ShapeError
        If the shapes of the arguments do not fit together.
    ArgumentError
        If `driver` is not the name of one of these drivers.

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
    if name not in _DRIVERS:
        raise ArgumentError(
            f"{where}: parameter `driver` should be one of (gels, gelsy, gelsd, "
            f"gelss), not {name!r}."
        )
    vector = b.ndim == a.ndim - 1
    column = view.unsqueeze(b, -1) if vector else b
    _check_sides(where, a, b, column)
    limits = _limits(where, a, None, None)
    if rcond is not None:
        limits = limits[0], _limit(where, "rcond", a, rcond)
    wide = dtypes.complex128 if a.is_complex() else dtypes.float64
    x, left = cast(a, wide), cast(column, wide)
    inverse = pinv_op(x, *(cast(limit, wide) for limit in limits), False)
    found = matmul.matmul(inverse, left)
    with no_grad():
        values = svdvals(a.detach())
        rank = _count_above(values, *limits)
    wanted = a.shape[-2] > a.shape[-1] and name != "gelsy"
    full_rank = name == "gels" or extrema.holds(comparison.eq(rank, a.shape[-1]).all())
    flat = parts.real(view.reshape(found, (-1,)))
    rest = _squares(x, found, left) if wanted and full_rank else flat[:0]
    solution = cast(found, a.dtype)
    return LstsqResult(
        view.squeeze(solution, -1) if vector else solution,
        cast(rest, a.dtype.to_real()),
        empty(0, dtype=dtypes.int64) if name == "gels" else rank,
        values
        if name in ("gelsd", "gelss")
        else empty(0, dtype=a.dtype.to_real(), device=place_of_tensor(a)),
    )


def _squares(a: Tensor, x: Tensor, b: Tensor) -> Tensor:
    """Return the sums of squares of A X - B for each column."""
    away = arithmetic.sub_op(matmul.matmul(a, x), b)
    if away.is_complex():
        away = arithmetic.abs(away)
    return reduction.sum(arithmetic.mul(away, away), -2)


def _check_sides(where: str, a: Tensor, b: Tensor, column: Tensor) -> None:
    if column.ndim != a.ndim or column.shape[-2] != a.shape[-2]:
        size = -1 if b.ndim == a.ndim - 1 else -2
        needed = f"input.size(-2) should match other.size({size})"
        if not b.ndim:
            needed = "other must have at least 1 dimension"
        raise ShapeError(
            f"{where}: `A` has shape {a.shape} and `B` has shape {b.shape}; {needed}: "
            f"`B` must be [..., {a.shape[-2]}, k], or vectors [..., {a.shape[-2]}]."
        )
    broadcast_shapes(where, a.shape[:-2], column.shape[:-2])
