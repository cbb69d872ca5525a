# SPDX-License-Identifier: MIT
"""Inverses, determinants and factors of matrices.

The derivations are M. Giles, "Collected matrix derivative results for forward and
reverse mode algorithmic differentiation" (2008), in real arithmetic; ' is transposed.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import multi, nary
from autocalc._ops.linalg import transposed
from autocalc.errors import GradError

# ---- small pieces that rules share ---------------------------------------------------


def _mm(k: Any, *factors: Any) -> Any:
    """Return the product of matrices, from the left."""
    product = factors[0]
    for factor in factors[1:]:
        product = k.gemm(product, factor, None)[0]
    return product


def _is(k: Any, like: Any, order: str) -> Any:
    """Return whether row and column are in `order` ("eq", "lt"): [rows, columns]."""
    rows, columns = k.shape(like)[-2:]
    row = k.reshape(k.arange(rows, like), (rows, 1))
    return k.compare(row, k.arange(columns, like), order)


def _only(k: Any, where: Any, x: Any) -> Any:
    return k.where(where, x, k.constant(0, x))


def _scaled(k: Any, x: Any, s: Any) -> Any:
    """Return `x` with column j multiplied by s_j."""
    return k.mul(x, _rows(k, s))


def _rows(k: Any, s: Any) -> Any:
    return k.reshape(s, (*k.shape(s)[:-1], 1, k.shape(s)[-1]))


def _columns(k: Any, s: Any) -> Any:
    return k.reshape(s, (*k.shape(s), 1))


def _total(parts: list[Any], k: Any, like: Any) -> Any:
    """Return the sum of parts, zeros for none."""
    if not parts:
        return k.mul(like, k.constant(0, like))
    total = parts[0]
    for part in parts[1:]:
        total = k.add(total, part)
    return total


def _matrix(k: Any, g: Any) -> Any:
    """Return a number for each matrix as [..., 1, 1]."""
    return k.reshape(g, (*k.shape(g), 1, 1))


# ---- inverses ------------------------------------------------------------------------

inv = nary("inv", saves="out")


@inv.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Y = A^-1: dA = -Y' g Y'."""
    (y,) = n.saved
    turned = transposed(k, y)
    return k.neg(_mm(k, turned, g, turned))


solve = nary("solve", saves="a out:a")


@solve.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A X = B: dB = A'^-1 g, dA = -dB X'; summed over what was broadcast."""
    a, x = n.saved
    db = k.solve(transposed(k, a), g)
    da = None
    if n.needs(0):
        da = k.sum_to(k.neg(_mm(k, db, transposed(k, x))), n.shapes[0])
    return da, k.sum_to(db, n.shapes[1]) if n.needs(1) else None


det = nary("det", saves="a")


@det.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """DA = g C with the cofactors C, which a singular matrix has as well."""
    return k.mul(_matrix(k, g), k.cofactor(*n.saved))


cofactor = nary("cofactor", saves="a out")


@cofactor.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """DA = (sum(g C) C - C g' C) / det(A): NaN at a singular matrix."""
    a, c = n.saved
    axes = len(k.shape(a)) - 2, len(k.shape(a)) - 1
    along = k.mul(k.sum(k.mul(g, c), axes, True), c)
    across = _mm(k, c, transposed(k, g), c)
    return k.div(k.sub(along, across), _matrix(k, k.det(a)))


slogdet = multi("slogdet", saves="a")


@slogdet.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """DA = g A'^-1 for log abs(det); the sign is constant."""
    (a,), (_, g_log) = n.saved, g
    if g_log is None:
        return k.zeros(n.shapes[0], n.dtype)
    return k.mul(_matrix(k, g_log), transposed(k, k.inv(a)))


# ---- factors -------------------------------------------------------------------------

cholesky = nary("cholesky", saves="out")


@cholesky.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A = L L': dA = L'^-1 P L^-1 with P the symmetric part of half(L' g).

    ``half`` keeps the lower triangle, its diagonal halved.
    """
    (low,) = n.saved
    turned = transposed(k, low)
    p = _mm(k, turned, g)
    lower = _only(k, _is(k, p, "gt"), p)
    half = k.constant(0.5, p)
    diagonal = _only(k, _is(k, p, "eq"), p)
    symmetric = k.mul(k.add(k.add(lower, transposed(k, lower)), diagonal), half)
    left = k.solve(turned, symmetric)
    return transposed(k, k.solve(turned, transposed(k, left)))


qr = multi("qr", saves="q r")


@qr.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A = Q R, R square: dA = (gQ + Q S) R'^-1.

    S is M = R gR' - gQ' Q below the diagonal, mirrored above it.  A wide
    A = Q [R1 | R2] has R2 = Q' Y: then gQ grows by Y gR2' with Y = Q R2, the columns Y
    of A get Q gR2, and the rest is as for a square matrix.
    """
    (q, r), (g_q, g_r) = n.saved, g
    if k.shape(q)[-1] > min(n.shapes[0][-2:]):
        message = (
            f"qr: mode='complete' of matrices {n.shapes[0]} with more rows than "
            f"columns has no gradient: the added columns of Q are not unique. Use "
            f"mode='reduced'."
        )
        raise GradError(message)
    rows, columns = k.shape(q)[-2], k.shape(r)[-1]
    wide = rows < columns
    parts = [] if g_q is None else [g_q]
    if wide:
        left, right = (..., slice(None, rows)), (..., slice(rows, None))
        r, r2 = k.slice(r, left), k.slice(r, right)
        if g_r is not None:
            g_r, g_r2 = k.slice(g_r, left), k.slice(g_r, right)
            parts.append(_mm(k, q, r2, transposed(k, g_r2)))
    g_q = _total(parts, k, q)
    m = k.neg(_mm(k, transposed(k, g_q), q))
    if g_r is not None:
        m = k.add(_mm(k, r, transposed(k, g_r)), m)
    lower = _only(k, _is(k, m, "gt"), m)
    symmetric = k.add(k.add(lower, transposed(k, lower)), _only(k, _is(k, m, "eq"), m))
    total = k.add(g_q, _mm(k, q, symmetric))
    da = transposed(k, k.solve(r, transposed(k, total)))
    if not wide:
        return da
    rest = _mm(k, q, g_r2) if g_r is not None else k.mul(r2, k.constant(0, r2))
    return k.cat([da, rest], len(k.shape(da)) - 1)


svd = multi("svd", saves="u s vh")


@svd.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A = U diag(s) V': dA = U (E1 S + diag(gs) + S E2) V', and what leaves the spaces.

    E1 = (U' gU - gU' U) / F and E2 = (V' gV - gV' V) / F with F_ij = s_j^2 - s_i^2:
    singular values must differ, if the vectors have a gradient.
    """
    (u, s, vh), (g_u, g_s, g_vh) = n.saved, g
    count = k.shape(s)[-1]
    u, vh = (
        k.slice(u, (..., slice(count))),
        k.slice(vh, (..., slice(count), slice(None))),
    )
    inner, outer = [], []
    if g_s is not None:
        eye = _is(k, _mm(k, transposed(k, u), u), "eq")
        inner.append(_only(k, eye, _rows(k, g_s)))
    if g_u is not None:
        g_u = k.slice(g_u, (..., slice(count)))
        inner.append(_scaled(k, _turn(k, u, g_u, s), s))
        if k.shape(u)[-2] > count:
            away = _away(k, g_u, u)
            outer.append(_mm(k, k.div(away, _rows(k, s)), vh))
    if g_vh is not None:
        g_v = transposed(k, k.slice(g_vh, (..., slice(count), slice(None))))
        v = transposed(k, vh)
        inner.append(k.mul(_columns(k, s), _turn(k, v, g_v, s)))
        if k.shape(v)[-2] > count:
            away = transposed(k, _away(k, g_v, v))
            outer.append(_mm(k, u, k.div(away, _columns(k, s))))
    if inner:
        outer.append(_mm(k, u, _total(inner, k, u), vh))
    return _total(outer, k, u)


def _turn(k: Any, u: Any, g: Any, s: Any) -> Any:
    """Return (U' g - g' U) / (s_j^2 - s_i^2), 0 on the diagonal."""
    m = _mm(k, transposed(k, u), g)
    squares = k.mul(s, s)
    apart = k.sub(_rows(k, squares), _columns(k, squares))
    apart = k.where(_is(k, m, "eq"), k.constant(1, m), apart)
    return k.div(k.sub(m, transposed(k, m)), apart)


def _away(k: Any, g: Any, u: Any) -> Any:
    """Return the part of `g` that is orthogonal to the columns of `u`."""
    return k.sub(g, _mm(k, u, transposed(k, u), g))


eigh = multi("eigh", saves="w v")


@eigh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A = V diag(w) V': dA = V (diag(gw) + V' gV / (w_j - w_i)) V'.

    Eigenvalues must differ, if the vectors have a gradient.
    """
    (w, v), (g_w, g_v) = n.saved, g
    turned = transposed(k, v)
    inner = []
    if g_w is not None:
        inner.append(_only(k, _is(k, v, "eq"), _rows(k, g_w)))
    if g_v is not None:
        m = _mm(k, turned, g_v)
        diagonal = _is(k, m, "eq")
        apart = k.sub(_rows(k, w), _columns(k, w))
        apart = k.where(diagonal, k.constant(1, m), apart)
        inner.append(_only(k, _is(k, m, "ne"), k.div(m, apart)))
    return _mm(k, v, _total(inner, k, v), turned)
