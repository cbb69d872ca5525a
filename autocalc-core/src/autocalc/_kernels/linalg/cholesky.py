# SPDX-License-Identifier: MIT
"""Cholesky factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, definite
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    SQUARE,
    check_finite,
    condition,
    cubic,
    double,
    guarded,
    largest,
    squares,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

cholesky = standalone(
    "cholesky",
    "out ; a",
    "The lower triangular L of a = L L^T; reads the lower triangle.",
    key="shapes",  # sets may accept only small matrices
    says_why=True,  # errors name the smallest eigenvalue, or NaN
    complex=True,
)


@cholesky.rule
def _(a: Meta) -> Meta:
    return Meta(a.shape, squares("cholesky", a))


def _not_positive(xp: Any) -> Callable[[Array], tuple[str, str] | None]:
    def at_fault(matrix: Array) -> tuple[str, str] | None:
        order = _first_minor(xp, matrix)
        if not order:
            return None
        least = xp.linalg.eigvalsh(matrix)[0]
        reason = (
            "The factorization could not be completed, because the leading minor of "
            f"order {order} is not positive-definite: "
        )
        return reason, (
            f"is not positive definite: its smallest eigenvalue is {least:.3g}. "
            f"Add a multiple of the identity that is larger than that"
        )

    return at_fault


def _first_minor(xp: Any, matrix: Array) -> int:
    """Return the order of the first minor that is not positive definite, or 0."""
    orders = range(1, len(matrix) + 1)
    return next((k for k in orders if not _factors(xp, matrix[:k, :k])), 0)


def _factors(xp: Any, matrix: Array) -> bool:
    """Return whether a matrix is positive definite."""
    try:
        xp.linalg.cholesky(matrix)
    except xp.linalg.LinAlgError:
        return False
    return True


@cholesky.reference
def _(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    check_finite(xp, "cholesky", x, lower=True)
    compute = lambda: xp.linalg.cholesky(x)  # noqa: E731  as the others
    return narrow(guarded(xp, "cholesky", x, compute, _not_positive(xp)), a)


@cholesky.budget("8 n eps cond(a) max|out|")
def conditioned(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    (a,) = inputs
    if not a.size:
        return [0.0] * len(expected)
    factor = BACKWARD * max(a.shape[-2:]) * eps * condition(a)
    return [factor * largest(out) + ulp(out, eps) for out in expected]


def _positive(make: Make, *shape: int) -> Array:
    a = well_conditioned(make, shape)
    return np.matmul(a, np.swapaxes(a, -1, -2)).astype(make.dtype)


def positive_samples(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        yield Sample(f"{shape}", (_positive(make, *shape),))


@cholesky.samples
def _(make: Make) -> Iterator[Sample]:
    yield from positive_samples(make)
    yield Sample("large", (_positive(make, 80, 16, 16),))
    yield Sample("large, in blocks", (_positive(make, 2, 140, 140),))


cholesky.work(cubic(1 / 3))
cholesky.benchmarks(Case("16x64x64", definite(16, 64)))
