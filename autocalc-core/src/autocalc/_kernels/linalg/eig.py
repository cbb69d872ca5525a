# SPDX-License-Identifier: MIT
"""Eigenvalues and eigenvectors of any square matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    check_finite,
    cubic,
    double,
    guarded,
    squares,
    unfinished,
    well_conditioned,
)
from autocalc._kernels.rules import FLOAT32, FLOAT64
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Sample

eig = standalone(
    "eig",
    "w v ; a",
    "a = v diag(w) v^-1 with vectors v of norm 1; both are complex, in LAPACK's order.",
    complex="rule",
)

_COMPLEX: dict[DType, DType] = {
    FLOAT32: np.dtype(np.complex64),
    FLOAT64: np.dtype(np.complex128),
}


@eig.rule
def _(a: Meta) -> tuple[Meta, Meta]:
    real: DType = FLOAT32 if a.dtype in (FLOAT32, _COMPLEX[FLOAT32]) else FLOAT64
    dtype = _COMPLEX[squares("eig", Meta(a.shape, real))]
    return Meta(a.shape[:-1], dtype), Meta(a.shape, dtype)


@eig.reference
def _(xp: Any, a: Array) -> tuple[Array, Array]:
    x = double(xp, a)
    check_finite(xp, "eig", x)
    if x.dtype.kind == "c" and not x.imag.any():
        x = x.real  # eigenvalues are exact pairs then
    find = xp.linalg.eig
    row = x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])  # NumPy takes 63 dimensions
    w, v = guarded(xp, "eig", x, partial(find, row), unfinished(find))
    return w.reshape(x.shape[:-1]), v.reshape(x.shape)


@eig.budget("8 n eps cond(v) |a|, of vectors divided by the gap between values")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    """Allow what theorems of Bauer and Fike say of a backward stable algorithm."""
    (a,) = inputs
    if not a.size:
        return [0.0, 0.0]
    w, v = (np.asarray(x, np.complex128) for x in expected)
    n = a.shape[-1]
    norm = np.linalg.norm(np.asarray(a, np.float64), 2, axis=(-2, -1))
    room = BACKWARD * n * eps * np.linalg.cond(v) * norm
    apart = np.abs(w[..., :, None] - w[..., None, :])
    gap = np.where(np.eye(n, dtype=bool), norm[..., None, None], apart)
    turned = room / gap.min(axis=(-2, -1))
    return [room[..., None], turned[..., None, None]]


@eig.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 2, 2), (0, 0)):
        yield Sample(f"{shape}", (well_conditioned(make, shape),))


eig.work(cubic(25))
eig.benchmarks(Case("16x32x32", floats(16, 32, 32)))
