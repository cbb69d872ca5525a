# SPDX-License-Identifier: MIT
"""Backward rules of functions of complex matrices that are not holomorphic.

Below, ' is the conjugate transpose.  Gradients follow PyTorch's convention: dA is
dL/dRe(A) + i dL/dIm(A).  Singular and eigenvectors are unique up to factors of absolute
value 1, so a loss must not depend on these factors.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops.matrices import _matrix_rules, matmul

_mm = _matrix_rules.mm


def adjoint(k: Any, x: Any) -> Any:
    """Return the conjugate of the transposed matrices."""
    return k.conj(matmul.transposed(k, x))


def _divided(k: Any, x: Any, r: Any) -> Any:
    """Return x r'^-1 for square r."""
    return adjoint(k, k.solve(r, adjoint(k, x)))


def _real(k: Any, x: Any) -> Any:
    """Return the real parts as complex numbers."""
    half = k.constant(0.5, x)
    return k.mul(k.add(x, k.conj(x)), half)


def _mirrored(k: Any, m: Any, strict: str) -> Any:
    """Return one triangle of `m` and its adjoint, with a real diagonal."""
    part = _matrix_rules.only(k, _matrix_rules.is_(k, m, strict), m)
    diagonal = _matrix_rules.only(k, _matrix_rules.is_(k, m, "eq"), _real(k, m))
    return k.add(k.add(part, adjoint(k, part)), diagonal)


def cholesky(k: Any, n: Any, g: Any) -> Any:
    """For A = L L', return dA = L'^-1 P L^-1, with the Hermitian part P of L' g / 2."""
    (low,) = n.saved
    turned = adjoint(k, low)
    p = _mm(k, turned, g)
    below = _matrix_rules.only(k, _matrix_rules.is_(k, p, "gt"), p)
    diagonal = _matrix_rules.only(k, _matrix_rules.is_(k, p, "eq"), p)
    p = k.add(k.add(below, adjoint(k, below)), diagonal)
    left = k.solve(turned, k.mul(p, k.constant(0.5, p)))
    return adjoint(k, k.solve(turned, adjoint(k, left)))


def qr(k: Any, n: Any, g: Any) -> Any:
    """For A = Q R with square R, return dA = (gQ + Q S) R'^-1.

    S is M = R gR' - gQ' Q below the diagonal, mirrored above it, with a real diagonal.
    A wide A is treated as in the rule for real numbers.
    """
    (q, r), (g_q, g_r) = n.saved, g
    rows, columns = k.shape(q)[-2], k.shape(r)[-1]
    wide = rows < columns
    parts = [] if g_q is None else [g_q]
    if wide:
        left, right = (..., slice(None, rows)), (..., slice(rows, None))
        r, r2 = k.slice(r, left), k.slice(r, right)
        if g_r is not None:
            g_r, g_r2 = k.slice(g_r, left), k.slice(g_r, right)
            parts.append(_mm(k, q, r2, adjoint(k, g_r2)))
    g_q = _matrix_rules.total(parts, k, q)
    m = k.neg(_mm(k, adjoint(k, g_q), q))
    if g_r is not None:
        m = k.add(_mm(k, r, adjoint(k, g_r)), m)
    da = _divided(k, k.add(g_q, _mm(k, q, _mirrored(k, m, "gt"))), r)
    if not wide:
        return da
    rest = _mm(k, q, g_r2) if g_r is not None else k.mul(r2, k.constant(0, r2))
    return k.cat([da, rest], len(k.shape(da)) - 1)


def svd(k: Any, n: Any, g: Any) -> Any:
    """Return dA as for real numbers, and the imaginary diagonal of U' gU / S."""
    (u, s, vh), (g_u, g_s, g_vh) = n.saved, g
    count, dtype = k.shape(s)[-1], k.dtype(u)
    s = k.cast(s, dtype)
    u = k.slice(u, (..., slice(count)))
    vh = k.slice(vh, (..., slice(count), slice(None)))
    inner, outer = [], []
    if g_s is not None:
        eye = _matrix_rules.is_(k, _mm(k, adjoint(k, u), u), "eq")
        line = _matrix_rules.rows(k, k.cast(g_s, dtype))
        inner.append(_matrix_rules.only(k, eye, line))
    if g_u is not None:
        g_u = k.slice(g_u, (..., slice(count)))
        turn, along = _turn(k, u, g_u, s)
        inner.append(_matrix_rules.scaled(k, turn, s))
        if g_vh is not None:
            half = k.mul(_matrix_rules.rows(k, s), k.constant(2, s))
            inner.append(k.div(along, half))
        if k.shape(u)[-2] > count:
            away = _away(k, g_u, u)
            outer.append(_mm(k, k.div(away, _matrix_rules.rows(k, s)), vh))
    if g_vh is not None:
        g_v = adjoint(k, k.slice(g_vh, (..., slice(count), slice(None))))
        v = adjoint(k, vh)
        turn, _ = _turn(k, v, g_v, s)
        inner.append(k.mul(_matrix_rules.columns(k, s), turn))
        if k.shape(v)[-2] > count:
            away = adjoint(k, _away(k, g_v, v))
            outer.append(_mm(k, u, k.div(away, _matrix_rules.columns(k, s))))
    if inner:
        outer.append(_mm(k, u, _matrix_rules.total(inner, k, u), vh))
    return _matrix_rules.total(outer, k, u)


def _turn(k: Any, u: Any, g: Any, s: Any) -> tuple[Any, Any]:
    """Return (U' g - g' U) / (s_j^2 - s_i^2) off the diagonal, and the diagonal."""
    m = _mm(k, adjoint(k, u), g)
    m = k.sub(m, adjoint(k, m))
    diagonal = _matrix_rules.is_(k, m, "eq")
    squares = k.mul(s, s)
    apart = k.sub(_matrix_rules.rows(k, squares), _matrix_rules.columns(k, squares))
    apart = k.where(diagonal, k.constant(1, m), apart)
    off = _matrix_rules.only(k, _matrix_rules.is_(k, m, "ne"), k.div(m, apart))
    return off, _matrix_rules.only(k, diagonal, m)


def _away(k: Any, g: Any, u: Any) -> Any:
    """Return the part of `g` that is orthogonal to the columns of `u`."""
    return k.sub(g, _mm(k, u, adjoint(k, u), g))


def eigh(k: Any, n: Any, g: Any) -> Any:
    """For A = V diag(w) V', return dA = V (diag(gw) + V' gV / (w_j - w_i)) V'."""
    (w, v), (g_w, g_v) = n.saved, g
    turned, dtype = adjoint(k, v), k.dtype(v)
    inner = []
    if g_w is not None:
        line = _matrix_rules.rows(k, k.cast(g_w, dtype))
        inner.append(_matrix_rules.only(k, _matrix_rules.is_(k, v, "eq"), line))
    if g_v is not None:
        inner.append(_apart(k, _mm(k, turned, g_v), k.cast(w, dtype)))
    return _mm(k, v, _matrix_rules.total(inner, k, v), turned)


def _apart(k: Any, m: Any, w: Any) -> Any:
    """Return m_ij / (w_j - w_i) off the diagonal, and 0 on it."""
    apart = k.sub(_matrix_rules.rows(k, w), _matrix_rules.columns(k, w))
    apart = k.where(_matrix_rules.is_(k, m, "eq"), k.constant(1, m), apart)
    return _matrix_rules.only(k, _matrix_rules.is_(k, m, "ne"), k.div(m, apart))


def eig(k: Any, n: Any, g: Any) -> Any:
    """For A V = V diag(w), return dA = V'^-1 (diag(gw) + X) V'.

    X is (M - V' V Re(diag(M))) / conj(w_j - w_i) off the diagonal, with M = V' gV; it
    takes the norm 1 of each vector into account.
    """
    (w, v), (g_w, g_v) = n.saved, g
    turned = adjoint(k, v)
    inner = []
    if g_w is not None:
        line = _matrix_rules.rows(k, g_w)
        inner.append(_matrix_rules.only(k, _matrix_rules.is_(k, v, "eq"), line))
    if g_v is not None:
        m = _mm(k, turned, g_v)
        diagonal = _matrix_rules.only(k, _matrix_rules.is_(k, m, "eq"), _real(k, m))
        m = k.sub(m, _mm(k, turned, v, diagonal))
        inner.append(_apart(k, m, k.conj(w)))
    return k.solve(turned, _mm(k, _matrix_rules.total(inner, k, v), turned))


def det(k: Any, n: Any, g: Any) -> Any:
    """Return dA = g conj(C) with the cofactors C = det(A) A^-T."""
    (a,) = n.saved
    g = _matrix_rules.matrix(k, g)
    if not k.records:  # singular matrices have cofactors as well
        return k.mul(g, k.conj(k.cofactor(a)))
    value = _matrix_rules.matrix(k, k.det(a))
    return k.mul(k.mul(g, k.conj(value)), adjoint(k, k.inv(a)))


def slogdet(k: Any, n: Any, g: Any) -> Any:
    """Return dA = (g - i Im(conj(h) s)) A'^-1, for the sign s with gradient h."""
    (a,), (g_sign, g_log) = n.saved, g
    sign, _ = k.slogdet(a)
    total = None
    if g_log is not None:
        total = k.cast(g_log, k.dtype(a))
    if g_sign is not None:
        both = k.mul(k.conj(g_sign), sign)
        less = k.mul(k.sub(k.conj(both), both), k.constant(0.5, both))
        total = less if total is None else k.add(total, less)
    return k.mul(_matrix_rules.matrix(k, total), adjoint(k, k.inv(a)))


def pinv(k: Any, n: Any, g: Any) -> Any:
    """Return the rule for real matrices, with adjoints in the place of transposes."""
    a, p = n.saved
    turned, across = adjoint(k, p), adjoint(k, g)
    left, right = _mm(k, across, p, turned), _mm(k, turned, p, across)
    da = k.neg(_mm(k, turned, g, turned))
    da = k.add(da, k.sub(left, _mm(k, a, p, left)))
    da = k.add(da, k.sub(right, _mm(k, right, p, a)))
    return da, None, None
