# SPDX-License-Identifier: MIT
"""Determinants, their logarithms and cofactors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    condition,
    cubic_work,
    double,
    singular_values,
    squares,
)
from autocalc._kernels.linalg.inv import square_samples
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

det = standalone(
    "det",
    "out ; a",
    "The determinant of each matrix [..., n, n].",
    says_why=True,  # the results for infinities and NaN
    complex=True,
)


@det.rule
def _(a: Meta) -> Meta:
    return Meta(a.shape[:-2], squares("det", a))


@det.reference
def _(xp: Any, a: Array) -> Array:
    return narrow(xp.linalg.det(double(xp, a)), a)


@det.budget("8 n eps cond(a), of a determinant times itself")
def _determinant(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    (a,) = inputs
    *sign, value = expected
    size = np.abs(np.asarray(value, np.float64)) if not sign else 1.0
    if not a.size:
        return [0.0] * len(expected)
    room = BACKWARD * a.shape[-1] * eps * condition(a)[..., 0, 0]
    return [*[0.0] * len(sign), room * size + ulp(value, eps)]


det.samples(square_samples)


det.work(cubic_work(2 / 3))
det.benchmarks(Case("16x64x64", floats(16, 64, 64)))


slogdet = standalone(
    "slogdet",
    "sign logabs ; a",
    "The sign and log|det| of each matrix: 0 and -inf if it is singular.",
    says_why=True,
    complex={"logabs": "real"},
)


@slogdet.rule
def _(a: Meta) -> tuple[Meta, Meta]:
    out = Meta(a.shape[:-2], squares("slogdet", a))
    return out, out


@slogdet.reference
def _(xp: Any, a: Array) -> tuple[Array, Array]:
    sign, log = xp.linalg.slogdet(double(xp, a))
    return narrow(sign, a), narrow(log, a.real)


slogdet.budget(_determinant)


slogdet.samples(square_samples)


slogdet.work(cubic_work(2 / 3))
slogdet.benchmarks(Case("16x64x64", floats(16, 64, 64)))


cofactor = standalone(
    "cofactor",
    "out ; a",
    "det(a) inv(a)^T, the derivative of det. It is also defined for singular matrices.",
    says_why=True,  # for large matrices that are almost singular
    complex=True,
)


@cofactor.rule
def _(a: Meta) -> Meta:
    return Meta(a.shape, squares("cofactor", a))


@cofactor.reference
def _(xp: Any, a: Array) -> Array:
    """With a = U S V: det(U V) U C V; C has the products of all s except one."""
    x = double(xp, a)
    if not x.size:
        return xp.zeros_like(a)
    u, s, v = singular_values(xp, "cofactor", x)
    n = s.shape[-1]
    others = xp.where(xp.eye(n, dtype=bool), 1.0, s[..., None, :])
    sign = xp.linalg.det(xp.matmul(u, v))[..., None, None]
    left = xp.conjugate(u) * xp.prod(others, axis=-1)[..., None, :]
    return narrow(sign * xp.matmul(left, xp.conjugate(v)), a)


@cofactor.budget("8 n eps |a|^(n - 1), by the largest singular value")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (a,), (out,) = inputs, expected
    if not a.size:
        return [0.0]
    most = np.linalg.norm(np.asarray(a, np.float64), 2, axis=(-2, -1), keepdims=True)
    n = a.shape[-1]
    return [BACKWARD * n * eps * most ** (n - 1) + ulp(out, eps)]


@cofactor.samples
def _(make: Make) -> Iterator[Sample]:
    yield from square_samples(make)
    ones = np.ones((2, 3, 3), make.dtype)
    ones[1, 0] = 0
    yield Sample("of rank 1", (ones,))


cofactor.work(cubic_work(20))
cofactor.benchmarks(Case("16x64x64", floats(16, 64, 64)))
