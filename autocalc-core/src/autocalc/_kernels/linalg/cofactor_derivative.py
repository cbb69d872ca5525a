# SPDX-License-Identifier: MIT
"""The derivative of cofactors, which is the second derivative of determinants."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, prod
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    double,
    singular_values,
    squares,
)
from autocalc._kernels.linalg.inv import square_samples
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import same_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

cofactor_derivative = standalone(
    "cofactor_derivative",
    "out ; a d",
    "The derivative of the cofactors of a along d[0], along d[1] ...; a may have any "
    "rank.",
)


@cofactor_derivative.rule
def _(a: Meta, d: Meta) -> Meta:
    squares("cofactor_derivative", a)
    dtype = same_dtype("cofactor_derivative", a, d)
    if d.shape[1:] != a.shape or not d.shape[0]:
        raise ShapeError(
            f"cofactor_derivative: `a` has shape {a.shape} and `d` {d.shape}; `d` must "
            "be one or more directions with the shape of `a`."
        )
    return Meta(a.shape, dtype)


@cofactor_derivative.reference
def _(xp: Any, a: Array, d: Array) -> Array:
    if not a.size:
        return xp.zeros_like(a)
    return narrow(_along(xp, double(xp, a), double(xp, d)), a)


def _along(xp: Any, a: Array, d: Array) -> Array:
    """Return the derivative along all directions in d.

    The derivative along d[:-1] at a + t d[-1] is a polynomial in t of degree n -
    len(d).  Its slope at t = 0 is computed from its values at Chebyshev nodes, without
    dividing by a.
    """
    if len(d) == 1:
        return _along_one(xp, a, d[0])
    n, last = a.shape[-1], d[-1]
    most, step = (xp.abs(x).max(axis=(-2, -1), keepdims=True) for x in (a, last))
    step = xp.where(step == 0, 1.0, step)
    scale = xp.where(most == 0, 1.0, most / step) / n
    total = xp.zeros_like(a)
    for t, weight in _nodes((n - len(d) + 1) // 2):
        above = _along(xp, a + t * scale * last, d[:-1])
        total = total + weight / 2 * (above - _along(xp, a - t * scale * last, d[:-1]))
    return total / scale


def _nodes(count: int) -> list[tuple[float, float]]:
    """Return nodes t, and weights of p(t) in p'(0), for p with `count` odd powers."""
    nodes = [cos((2 * i + 1) * pi / (4 * count)) for i in range(count)]
    return [
        (t, prod(s * s / (s * s - t * t) for s in nodes if s != t) / t) for t in nodes
    ]


def _along_one(xp: Any, x: Array, d: Array) -> Array:
    """Return det(U V) U N V, with x = U S V and M = U^T d V^T.

    N_ii is the sum of p_ij M_jj over all j except i, and N_ij is -p_ij M_ji.  p_ij is
    the product of all singular values except s_i and s_j.
    """
    u, s, v = singular_values(xp, "cofactor_derivative", x)
    others = _products_of_all_but_two(xp, s)
    turned = v @ xp.swapaxes(d, -1, -2) @ u
    on_diagonal = xp.diagonal(turned, axis1=-2, axis2=-1)[..., None]
    inner = xp.eye(s.shape[-1]) * (others @ on_diagonal) - others * turned
    return xp.linalg.det(u @ v)[..., None, None] * (u @ inner @ v)


def _products_of_all_but_two(xp: Any, s: Array) -> Array:
    """Return p_ij, the product of all s except s_i and s_j; it is 0 for i = j."""
    n = s.shape[-1]
    before = _products_before(xp, s)
    after = _products_before(xp, s[..., ::-1])[..., ::-1]
    right = xp.arange(n) > xp.arange(n)[:, None]
    between = _products_before(xp, xp.where(right, s[..., None, :], 1.0))
    upper = xp.where(right, before[..., :, None] * between * after[..., None, :], 0.0)
    return upper + xp.swapaxes(upper, -1, -2)


def _products_before(xp: Any, s: Array) -> Array:
    """Return, for each element of a row, the product of all elements before it."""
    return xp.cumprod(xp.concatenate([xp.ones_like(s[..., :1]), s[..., :-1]], -1), -1)


def _work(a: Meta, d: Meta) -> Work:
    """Count 30 n^3 operations for each matrix and each set of nodes."""
    n = a.shape[-1]
    calls = prod(2 * max((n - m + 1) // 2, 0) for m in range(2, d.shape[0] + 1))
    return Work(30.0 * size(a) * n * calls, nbytes(a, d, a))


@cofactor_derivative.budget("8 n^3 eps |a|^(n - 1 - m) |d_1| ... |d_m|")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (a, d), (out,) = inputs, expected
    n, power = a.shape[-1], a.shape[-1] - 1 - len(d)
    if not a.size or power < 0:
        return [0.0]
    most, along = (
        np.linalg.norm(np.asarray(x, np.float64), 2, axis=(-2, -1), keepdims=True)
        for x in (a, d)
    )
    room = BACKWARD * n**3 * eps * most**power * along.prod(axis=0)
    return [room + ulp(out, eps)]


@cofactor_derivative.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in square_samples(make):
        (a,) = sample.inputs
        yield Sample(sample.label, (a, make.normal(1, *a.shape)))
    ones = np.ones((2, 3, 3), make.dtype)
    ones[1] = 0
    for count in (1, 2, 3):
        d = make.normal(count, 2, 3, 3)
        yield Sample(f"of rank 1 and 0, {count} directions", (ones, d))
    yield Sample("two directions", (make.normal(3, 5, 5), make.normal(2, 3, 5, 5)))


cofactor_derivative.work(_work)
cofactor_derivative.benchmarks(
    Case("16x64x64", join(floats(16, 64, 64), floats(1, 16, 64, 64)))
)
