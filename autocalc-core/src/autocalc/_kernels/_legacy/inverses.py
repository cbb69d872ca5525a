# SPDX-License-Identifier: MIT
"""Inverses, linear systems and determinants, over batches of square matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, ulp
from autocalc._kernels._legacy._matrices import (
    BACKWARD,
    SQUARE,
    condition,
    double,
    guarded,
    largest,
    singular,
    square_samples,
    squares,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import broadcast_shapes, same_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, KernelSpec, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def _inv_rule(a: Meta) -> Meta:
    return Meta(a.shape, squares("inv", a))


def _cofactor_rule(a: Meta) -> Meta:
    return Meta(a.shape, squares("cofactor", a))


def _solve_rule(a: Meta, b: Meta) -> Meta:
    squares("solve", a)
    dtype = same_dtype("solve", a, b)
    if len(b.shape) < 2 or b.shape[-2] != a.shape[-1]:
        message = (
            f"solve: `a` has shape {a.shape} and `b` {b.shape}; `b` must be "
            f"[..., {a.shape[-1]}, columns]."
        )
        raise ShapeError(message)
    batch = broadcast_shapes("solve", a.shape[:-2], b.shape[:-2])
    return Meta((*batch, *b.shape[-2:]), dtype)


def _det_rule(a: Meta) -> Meta:
    return Meta(a.shape[:-2], squares("det", a))


def _slogdet_rule(a: Meta) -> tuple[Meta, Meta]:
    out = Meta(a.shape[:-2], squares("slogdet", a))
    return out, out


# ---- references ----------------------------------------------------------------------


def inv(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    return narrow(guarded(xp, "inv", x, lambda: xp.linalg.inv(x), singular(xp)), a)


def solve(xp: Any, a: Array, b: Array) -> Array:
    x, y = double(xp, a), double(xp, b)
    compute = lambda: xp.linalg.solve(x, y)  # noqa: E731  one line as in inv
    return narrow(guarded(xp, "solve", x, compute, singular(xp)), b)


def det(xp: Any, a: Array) -> Array:
    return narrow(xp.linalg.det(double(xp, a)), a)


def slogdet(xp: Any, a: Array) -> tuple[Array, Array]:
    sign, log = xp.linalg.slogdet(double(xp, a))
    return narrow(sign, a), narrow(log, a)


def cofactor(xp: Any, a: Array) -> Array:
    """With a = U S V: det(U V) U C V, C the products of all but one of S."""
    x = double(xp, a)
    if not x.size:
        return xp.zeros_like(a)
    u, s, v = guarded(xp, "cofactor", x, lambda: xp.linalg.svd(x), _not_found)
    n = s.shape[-1]
    others = xp.where(xp.eye(n, dtype=bool), 1.0, s[..., None, :])
    sign = xp.linalg.det(xp.matmul(u, v))[..., None, None]
    return narrow(sign * xp.matmul(u * xp.prod(others, -1)[..., None, :], v), a)


def _not_found(matrix: Array) -> str:
    return "has singular values that LAPACK did not find in its number of steps"


# ---- budgets -------------------------------------------------------------------------


@budget("8 n eps cond(a) max|out|")
def _inverse(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (out,), a = expected, inputs[0]
    if not np.size(out):
        return [0.0]
    factor = BACKWARD * a.shape[-1] * eps
    return [factor * condition(a) * largest(out) + ulp(out, eps)]


@budget("8 n eps cond(a), of a determinant times itself")
def _determinant(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,) = inputs
    *sign, value = expected
    size = np.abs(np.asarray(value, np.float64)) if not sign else 1.0
    if not a.size:
        return [0.0] * len(expected)
    room = BACKWARD * a.shape[-1] * eps * condition(a)[..., 0, 0]
    return [*[0.0] * len(sign), room * size + ulp(value, eps)]


@budget("8 n eps |a|^(n - 1), by the largest singular value")
def _cofactors(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,), (out,) = inputs, expected
    if not a.size:
        return [0.0]
    most = np.linalg.norm(np.asarray(a, np.float64), 2, axis=(-2, -1), keepdims=True)
    n = a.shape[-1]
    return [BACKWARD * n * eps * most ** (n - 1) + ulp(out, eps)]


# ---- samples -------------------------------------------------------------------------


def _systems(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for columns in (1, 3):
            a = well_conditioned(make, shape)
            b = make.normal(*shape[:-1], columns)
            yield Sample(f"{shape}, {columns} columns", (a, b))
    a = well_conditioned(make, (3, 1, 2, 2))
    yield Sample("broadcast", (a, make.normal(4, 2, 2)))


def _also_singular(make: Make) -> Iterator[Sample]:
    yield from square_samples(make)
    ones = np.ones((2, 3, 3), make.dtype)
    ones[1, 0] = 0
    yield Sample("of rank 1", (ones,))


# ---- work ----------------------------------------------------------------------------


def _cubic(factor: float) -> Any:
    """Count `factor` n^3 operations for each matrix, as LAPACK's manual does."""

    def work(a: Meta, *rest: Any) -> Work:
        return Work(factor * size(a) * a.shape[-1], nbytes(a, *rest, a))

    return work


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="inv",
        kind="standalone",
        signature="out ; a",
        doc="The inverse of each matrix [..., n, n].",
        rule=_inv_rule,
        reference=inv,
        budget=_inverse,
        samples=square_samples,
        work=_cubic(2),
    ),
    KernelSpec(
        name="solve",
        kind="standalone",
        signature="out ; a b",
        doc="The X of a X = b, matrix by matrix; batch dimensions broadcast.",
        rule=_solve_rule,
        reference=solve,
        budget=_inverse,
        samples=_systems,
        work=_cubic(2 / 3),
    ),
    KernelSpec(
        name="det",
        kind="standalone",
        signature="out ; a",
        doc="The determinant of each matrix [..., n, n].",
        rule=_det_rule,
        reference=det,
        budget=_determinant,
        samples=square_samples,
        work=_cubic(2 / 3),
    ),
    KernelSpec(
        name="slogdet",
        kind="standalone",
        signature="sign logabs ; a",
        doc="The sign and log|det| of each matrix: 0 and -inf if it is singular.",
        rule=_slogdet_rule,
        reference=slogdet,
        budget=_determinant,
        samples=square_samples,
        work=_cubic(2 / 3),
    ),
    KernelSpec(
        name="cofactor",
        kind="standalone",
        signature="out ; a",
        doc="det(a) inv(a)^T, the derivative of det, of singular matrices too.",
        rule=_cofactor_rule,
        reference=cofactor,
        budget=_cofactors,
        samples=_also_singular,
        work=_cubic(20),
    ),
)
