# SPDX-License-Identifier: MIT
"""Cholesky, QR, singular value and eigenvalue decompositions of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import empty
from autocalc._ops.matrices import _complex_rules, _matrix_rules, linear_systems, matmul
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, GradError

cholesky_op = nary("cholesky", saves="out")


cholesky_op.op.complex_rule = _complex_rules.cholesky


@cholesky_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For A = L L', return dA = L'^-1 P L^-1; P is the symmetric part of half(L' g).

    ``half`` keeps the lower triangle and halves its diagonal.
    """
    (low,) = n.saved
    turned = matmul.transposed(k, low)
    p = _matrix_rules.mm(k, turned, g)
    lower = _matrix_rules.only(k, _matrix_rules.is_(k, p, "gt"), p)
    half = k.constant(0.5, p)
    diagonal = _matrix_rules.only(k, _matrix_rules.is_(k, p, "eq"), p)
    symmetric = k.mul(k.add(k.add(lower, matmul.transposed(k, lower)), diagonal), half)
    left = k.solve(turned, symmetric)
    return matmul.transposed(k, k.solve(turned, matmul.transposed(k, left)))


@autocasts("float32")
@traced(light=True)
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Return the Cholesky factor L, with A = L L^T, of positive definite matrices.

    Only the lower triangle of `A` is read.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] of symmetric positive definite matrices.
    upper
        True to return the upper factor L^T.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite; the message gives the index of the first
        one.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.cholesky(ac.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    low = cholesky_op(check_tensor("cholesky", A))
    return parts.conj(linear_systems._turned(low)) if upper else low


qr_op = multi("qr", saves="q r")


qr_op.op.complex_rule = _complex_rules.qr


@qr_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For A = Q R with square R, return dA = (gQ + Q S) R'^-1.

    S is M = R gR' - gQ' Q below the diagonal, mirrored above it.  A wide A = Q [R1 |
    R2] has R2 = Q' Y.  Then gQ grows by Y gR2' with Y = Q R2, and the columns Y of A
    get Q gR2.  The rest is as for a square matrix.
    """
    (q, r), (g_q, g_r) = n.saved, g
    if k.shape(q)[-1] > min(n.shapes[0][-2:]):
        raise GradError(
            f"qr: for matrices of shape {n.shapes[0]}: The QR decomposition is not "
            f"differentiable when mode='complete' and nrows > ncols: the added columns "
            f"of Q are not unique. Use mode='reduced'."
        )
    rows, columns = k.shape(q)[-2], k.shape(r)[-1]
    wide = rows < columns
    parts = [] if g_q is None else [g_q]
    if wide:
        left, right = (..., slice(None, rows)), (..., slice(rows, None))
        r, r2 = k.slice(r, left), k.slice(r, right)
        if g_r is not None:
            g_r, g_r2 = k.slice(g_r, left), k.slice(g_r, right)
            parts.append(_matrix_rules.mm(k, q, r2, matmul.transposed(k, g_r2)))
    g_q = _matrix_rules.total(parts, k, q)
    m = k.neg(_matrix_rules.mm(k, matmul.transposed(k, g_q), q))
    if g_r is not None:
        m = k.add(_matrix_rules.mm(k, r, matmul.transposed(k, g_r)), m)
    lower = _matrix_rules.only(k, _matrix_rules.is_(k, m, "gt"), m)
    symmetric = k.add(
        k.add(lower, matmul.transposed(k, lower)),
        _matrix_rules.only(k, _matrix_rules.is_(k, m, "eq"), m),
    )
    total = k.add(g_q, _matrix_rules.mm(k, q, symmetric))
    da = matmul.transposed(k, k.solve(r, matmul.transposed(k, total)))
    if not wide:
        return da
    rest = (
        _matrix_rules.mm(k, q, g_r2)
        if g_r is not None
        else k.mul(r2, k.constant(0, r2))
    )
    return k.cat([da, rest], len(k.shape(da)) - 1)


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


@autocasts("float32")
@traced
def qr(
    A: Tensor, mode: str = "reduced", *, out: tuple[Tensor, Tensor] | None = None
) -> QRResult:
    """Return A = Q R, where Q has orthonormal columns and R is upper triangular.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n]; below, k is the smaller of m and n.
    mode
        "reduced" returns Q of shape [..., m, k] and R of shape [..., k, n].  "complete"
        returns Q of shape [..., m, m], which has no gradient if m > n.  "r" returns R
        and an empty Q.
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Raises
    ------
    ArgumentError
        If `mode` is not "reduced", "complete" or "r".

    Examples
    --------
    >>> import autocalc as ac
    >>> q, r = ac.linalg.qr(ac.ones(3, 2))
    >>> q.shape, r.shape
    (autocalc.Size([3, 2]), autocalc.Size([2, 2]))
    """
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(
            f"qr received unrecognized mode {mode!r}; use 'reduced', 'complete' or 'r'."
        )
    x = check_tensor("qr", A)
    q, r = qr_op(x, "complete" if mode == "complete" else "reduced")
    return QRResult(
        empty(0, dtype=x.dtype, device=place_of_tensor(x)) if mode == "r" else q, r
    )


svd_op = multi("svd", saves="u s vh")


svd_op.op.complex_rule = _complex_rules.svd


@svd_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For A = U diag(s) V', return dA = U (E1 S + diag(gs) + S E2) V' and more.

    E1 = (U' gU - gU' U) / F and E2 = (V' gV - gV' V) / F with F_ij = s_j^2 - s_i^2.  So
    singular values must differ if the vectors have a gradient.  The parts of gU and gV
    that are orthogonal to U and V are added.
    """
    (u, s, vh), (g_u, g_s, g_vh) = n.saved, g
    count = k.shape(s)[-1]
    u, vh = (
        k.slice(u, (..., slice(count))),
        k.slice(vh, (..., slice(count), slice(None))),
    )
    inner, outer = [], []
    if g_s is not None:
        eye = _matrix_rules.is_(
            k, _matrix_rules.mm(k, matmul.transposed(k, u), u), "eq"
        )
        inner.append(_matrix_rules.only(k, eye, _matrix_rules.rows(k, g_s)))
    if g_u is not None:
        g_u = k.slice(g_u, (..., slice(count)))
        inner.append(_matrix_rules.scaled(k, _turn(k, u, g_u, s), s))
        if k.shape(u)[-2] > count:
            away = _away(k, g_u, u)
            outer.append(_matrix_rules.mm(k, k.div(away, _matrix_rules.rows(k, s)), vh))
    if g_vh is not None:
        g_v = matmul.transposed(k, k.slice(g_vh, (..., slice(count), slice(None))))
        v = matmul.transposed(k, vh)
        inner.append(k.mul(_matrix_rules.columns(k, s), _turn(k, v, g_v, s)))
        if k.shape(v)[-2] > count:
            away = matmul.transposed(k, _away(k, g_v, v))
            outer.append(
                _matrix_rules.mm(k, u, k.div(away, _matrix_rules.columns(k, s)))
            )
    if inner:
        outer.append(_matrix_rules.mm(k, u, _matrix_rules.total(inner, k, u), vh))
    return _matrix_rules.total(outer, k, u)


def _turn(k: Any, u: Any, g: Any, s: Any) -> Any:
    """Return (U' g - g' U) / (s_j^2 - s_i^2), and 0 on the diagonal."""
    m = _matrix_rules.mm(k, matmul.transposed(k, u), g)
    squares = k.mul(s, s)
    apart = k.sub(_matrix_rules.rows(k, squares), _matrix_rules.columns(k, squares))
    apart = k.where(_matrix_rules.is_(k, m, "eq"), k.constant(1, m), apart)
    return k.div(k.sub(m, matmul.transposed(k, m)), apart)


def _away(k: Any, g: Any, u: Any) -> Any:
    """Return the part of `g` that is orthogonal to the columns of `u`."""
    return k.sub(g, _matrix_rules.mm(k, u, matmul.transposed(k, u), g))


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Tensor
    S: Tensor
    Vh: Tensor


@autocasts("float32")
@traced
def svd(
    A: Tensor,
    full_matrices: bool = True,
    *,
    driver: str | None = None,
    out: tuple[Tensor, ...] | None = None,
) -> SVDResult:
    """Return the singular value decomposition A = U diag(S) Vh.

    The singular values S are in descending order.  U and Vh have a gradient only if all
    singular values of the matrix differ.  With ``full_matrices=True``, only the first
    min(m, n) singular vectors have a gradient.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    full_matrices
        True for U of shape [..., m, m] and Vh of shape [..., n, n]; False for min(m, n)
        columns of U and rows of Vh.
    driver
        It must be None, because there is only one algorithm.
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity; the message says where.

    Examples
    --------
    >>> import autocalc as ac
    >>> u, s, vh = ac.linalg.svd(ac.tensor([[3.0, 0.0], [0.0, 4.0]]))
    >>> s
    tensor([4., 3.])
    """
    if driver is not None:
        message = (
            f"svd: `driver` is {driver!r}; it must be None, because there is only one "
            "driver."
        )
        raise ArgumentError(message)
    return SVDResult(*svd_op(check_tensor("svd", A), bool(full_matrices)))


@autocasts("float32")
@declared
def svdvals(
    A: Tensor, *, driver: str | None = None, out: Tensor | None = None
) -> Tensor:
    """Return the singular values of each matrix, in descending order; see `svd`.

    Parameters
    ----------
    A
        A tensor of shape [..., m, n].
    driver
        Accepted so that programs for PyTorch run; it has no effect.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.svdvals(ac.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    return svd(A, False, driver=driver).S


eigh_op = multi("eigh", saves="w v")


eigh_op.op.complex_rule = _complex_rules.eigh


@eigh_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For A = V diag(w) V', return dA = V (diag(gw) + V' gV / (w_j - w_i)) V'.

    Eigenvalues must differ if the vectors have a gradient.
    """
    (w, v), (g_w, g_v) = n.saved, g
    turned = matmul.transposed(k, v)
    inner = []
    if g_w is not None:
        inner.append(
            _matrix_rules.only(
                k, _matrix_rules.is_(k, v, "eq"), _matrix_rules.rows(k, g_w)
            )
        )
    if g_v is not None:
        m = _matrix_rules.mm(k, turned, g_v)
        diagonal = _matrix_rules.is_(k, m, "eq")
        apart = k.sub(_matrix_rules.rows(k, w), _matrix_rules.columns(k, w))
        apart = k.where(diagonal, k.constant(1, m), apart)
        inner.append(
            _matrix_rules.only(k, _matrix_rules.is_(k, m, "ne"), k.div(m, apart))
        )
    return _matrix_rules.mm(k, v, _matrix_rules.total(inner, k, v), turned)


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@autocasts("float32")
@traced(light=True)
def eigh(
    A: Tensor, UPLO: str = "L", *, out: tuple[Tensor, Tensor] | None = None
) -> EighResult:
    """Return the eigenvalue decomposition A = V diag(w) V^T of symmetric matrices.

    The eigenvalues w are in ascending order.  The eigenvectors V have a gradient only
    if all eigenvalues of the matrix differ.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] of symmetric matrices.
    UPLO
        The triangle that is read: "L" for the lower one, "U" for the upper one.
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Raises
    ------
    ArgumentError
        If `UPLO` is neither "L" nor "U".
    LinAlgError
        If LAPACK does not find the eigenvalues of a matrix; the message gives the index
        of the first such matrix.

    Examples
    --------
    >>> import autocalc as ac
    >>> values, vectors = ac.linalg.eigh(ac.tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> values
    tensor([1., 2.])
    """
    if UPLO not in ("L", "U", "l", "u"):
        raise ArgumentError(f"eigh: expected UPLO to be 'L' or 'U', not {UPLO!r}.")
    x = check_tensor("eigh", A)
    if UPLO.upper() == "U":
        x = parts.conj(linear_systems._turned(x))
    return EighResult(*eigh_op(x))


@autocasts("float32")
@declared
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Return the eigenvalues of symmetric matrices, in ascending order; see `eigh`.

    Parameters
    ----------
    A
        A matrix or a batch of them.
    UPLO
        The triangle that is read: "L" for the lower one, "U" for the upper one.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.eigvalsh(ac.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    return eigh(A, UPLO).eigenvalues


eig_op = multi("eig", saves="w v")
eig_op.vjp(_complex_rules.eig)
eig_op.op.complex_rule = _complex_rules.eig


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@autocasts("float32")
def eig(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> EigResult:
    """Return the eigenvalues w and eigenvectors V of square matrices, A V = V diag(w).

    Both are complex.  The vectors have the norm 1, and are unique up to a factor of
    absolute value 1, so a loss must not depend on this factor.  Gradients exist if the
    eigenvalues of each matrix differ.

    Parameters
    ----------
    A
        A tensor of shape ``[..., n, n]`` of real or complex matrices.
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Raises
    ------
    LinAlgError
        If a matrix holds NaN or infinity, or LAPACK does not find its eigenvalues.
    ShapeError, DTypeError
        If `A` does not hold square matrices of floating-point or complex numbers.

    Examples
    --------
    >>> import autocalc as ac
    >>> values, vectors = ac.linalg.eig(ac.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    >>> values
    tensor([0.+1.j, 0.-1.j])
    """
    x = check_tensor("eig", A)
    check_float("eig", x)
    result = EigResult(*eig_op(cast(x, x.dtype.to_complex())))
    if out is None:
        return result
    return EigResult(
        *[copy_to_out("eig", y, o) for y, o in zip(result, out, strict=True)]
    )


@autocasts("float32")
@declared
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the eigenvalues of square matrices, which are complex; see `eig`.

    Parameters
    ----------
    A
        A tensor of shape ``[..., n, n]`` of real or complex matrices.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.eigvals(ac.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    return eig(A).eigenvalues
