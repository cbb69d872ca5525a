# SPDX-License-Identifier: MIT
"""Pseudoinverses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, Operands
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    OBLONG,
    SQUARE,
    cubic,
    double,
    eigenvalues,
    matrices,
    singular_values,
    squares,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import broadcast_shapes, same_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

pinv = standalone(
    "pinv",
    "out ; a atol rtol ; hermitian:bool",
    "The pseudoinverse of each matrix [..., m, n]: singular values of at most "
    "max(atol, rtol * the largest one) count as 0.",
    defaults=(False,),
    complex=True,
)


@pinv.rule
def _(a: Meta, atol: Meta, rtol: Meta, hermitian: bool) -> Meta:
    dtype = squares("pinv", a) if hermitian else matrices("pinv", a)
    same_dtype("pinv", a, atol, rtol)
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    if broadcast_shapes("pinv", batch, atol.shape, rtol.shape) != batch:
        raise ShapeError(
            f"pinv: `atol` has shape {atol.shape} and `rtol` has shape {rtol.shape}; "
            f"they must broadcast to {batch}, with one number for each matrix."
        )
    return Meta((*batch, n, m), dtype)


@pinv.reference
def _(xp: Any, a: Array, atol: Array, rtol: Array, hermitian: bool) -> Array:
    """With a = U diag(s) V: V^T diag(1 / s) U^T; small s have 0 instead of 1 / s."""
    x = double(xp, a)
    if not x.size:
        return xp.swapaxes(xp.zeros_like(a), -1, -2)
    if hermitian:
        s, u = eigenvalues(xp, "pinv", x)
        v = xp.swapaxes(xp.conjugate(u), -1, -2)
    else:
        u, s, v = singular_values(xp, "pinv", x, full=False)
    size = xp.absolute(s)
    least = xp.maximum(
        double(xp, atol.real)[..., None],
        double(xp, rtol.real)[..., None] * xp.max(size, axis=-1, keepdims=True),
    )
    kept = size > least
    inverse = xp.where(kept, 1 / xp.where(kept, s, 1.0), 0.0)
    product = xp.matmul(u * inverse[..., None, :], v)
    return narrow(xp.swapaxes(xp.conjugate(product), -1, -2), a)


@pinv.budget("8 max(m, n) eps |a| |out|^2, by the largest singular values")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, (out,) = inputs[0], expected
    if not a.size:
        return [0.0]
    most, inverse = (
        np.linalg.norm(np.asarray(x, np.float64), 2, axis=(-2, -1), keepdims=True)
        for x in (a, out)
    )
    room = BACKWARD * max(a.shape[-2:]) * eps * most * inverse**2
    return [room + ulp(out, eps)]


@pinv.samples
def _(make: Make) -> Iterator[Sample]:
    zero = np.zeros((), make.dtype)
    eps = np.asarray(1e-5, make.dtype)
    for shape in (*OBLONG, *SQUARE):
        a = well_conditioned(make, shape)
        yield Sample(f"{shape}", (a, zero, eps), (False,))
    a = well_conditioned(make, (2, 4, 4))
    both = np.asarray(a + np.swapaxes(a, -1, -2), make.dtype)
    yield Sample("symmetric", (both, zero, eps), (True,))
    ones = np.ones((2, 3, 4), make.dtype)
    ones[1] = 0
    yield Sample("of rank 1 and 0", (ones, zero, eps), (False,))
    line = np.zeros((2, 3, 3), make.dtype)
    line[:, range(3), range(3)] = (8, 2, 0.5)
    limits = np.asarray([1, 0.25], make.dtype)
    yield Sample("a limit for each", (line, limits, zero), (False,))
    yield Sample("a share for each", (line, zero, limits), (False,))


def _operands() -> Operands:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        a = rng.standard_normal((16, 64, 32), np.float32)
        return a, np.float32(0), np.float32(1e-5)

    return make


pinv.work(cubic(20))
pinv.benchmarks(Case("16x64x32", _operands(), (False,)))
