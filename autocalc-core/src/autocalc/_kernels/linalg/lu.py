# SPDX-License-Identifier: MIT
"""LU factors with row exchanges, and the resulting order of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    OBLONG,
    SQUARE,
    any_matrices,
    cubic,
    double,
    matrices,
)
from autocalc._kernels.linalg.cholesky import conditioned
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import INT32, INT64
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

lu = standalone(
    "lu",
    "lu pivots ; a",
    "a = p l u. l and u are in one matrix: l is below the diagonal of u, and its own "
    "diagonal is 1. Step i exchanged row i with row pivots[i], counted from 1, which "
    "had the largest remaining element.",
    key="shapes",
    complex=True,
)


@lu.rule
def _(a: Meta) -> tuple[Meta, Meta]:
    dtype = matrices("lu", a)
    *batch, m, n = a.shape
    return Meta(a.shape, dtype), Meta((*batch, min(m, n)), INT32)


@lu.reference
def _(xp: Any, a: Array) -> tuple[Array, Array]:
    *batch, m, n = a.shape
    x = double(xp, a).reshape(-1, m, n) if a.size else xp.zeros((0, m, n))
    pivots = xp.zeros((len(x), min(m, n)), dtype=INT32)
    every = xp.arange(len(x))
    for j in range(min(m, n) if len(x) else 0):
        largest = _size(xp, x[:, j:, j]).argmax(axis=1) + j
        pivots[:, j] = largest + 1
        row = x[:, j].copy()
        x[:, j] = x[every, largest]
        x[every, largest] = row
        pivot = x[:, j, j]
        x[:, j + 1 :, j] /= xp.where(pivot == 0, 1, pivot)[:, None]
        x[:, j + 1 :, j + 1 :] -= x[:, j + 1 :, j, None] * x[:, j, None, j + 1 :]
    if not a.size:  # without rows or columns, there are no exchanges
        return narrow(double(xp, a), a), _kept(xp, a.shape)
    return narrow(x.reshape(a.shape), a), pivots.reshape(*batch, min(m, n))


def _size(xp: Any, a: Array) -> Array:
    """Return |a|, or |re a| + |im a| of complex numbers, by which LAPACK compares."""
    return xp.abs(a.real) + xp.abs(a.imag) if a.dtype.kind == "c" else xp.abs(a)


def _kept(xp: Any, shape: tuple[int, ...]) -> Array:
    """Return the pivots of matrices without elements; no rows are exchanged."""
    *batch, m, n = shape
    return xp.zeros((*batch, min(m, n)), dtype=INT32) + xp.arange(
        1, min(m, n) + 1, dtype=INT32
    )


@lu.budget("8 n eps cond(a) max|lu|, pivots exact")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [conditioned.tolerance(inputs, attributes, expected[:1], eps)[0], 0.0]


@lu.samples
def _(make: Make) -> Iterator[Sample]:
    for a in any_matrices(make):
        yield Sample(f"{a.shape}", (a,))
        turned = np.ascontiguousarray(a[..., ::-1, :])
        yield Sample(f"{a.shape}, rows turned", (turned,))
    yield Sample("large", (make.normal(40, 16, 13),))


lu.work(cubic(2 / 3))
lu.benchmarks(Case("16x64x64", floats(16, 64, 64)))


row_order = standalone(
    "row_order",
    "out ; pivots ; rows:int",
    "The order of `rows` rows after exchanges: step i exchanges row i with row "
    "pivots[..., i], counted from 1.",
    dtypes=(INT32,),
)


@row_order.rule
def _(pivots: Meta, rows: int) -> Meta:
    return Meta((*pivots.shape[:-1], rows), INT64)


@row_order.reference
def _(xp: Any, pivots: Array, rows: int) -> Array:
    *batch, count = pivots.shape
    flat = pivots.reshape(-1, count) if pivots.size else xp.zeros((0, count), INT32)
    lines = int(np.prod(batch))
    order = xp.zeros((lines, rows), dtype=INT64) + xp.arange(rows)
    every = xp.arange(lines)
    for j in range(count if lines else 0):
        other = flat[:, j] - 1
        kept = order[:, j].copy()
        order[:, j] = order[every, other]
        order[every, other] = kept
    return order.reshape(*batch, rows)


row_order.budget(EXACT)


@row_order.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in (*SQUARE, *OBLONG):
        *batch, rows, columns = shape
        count = min(rows, columns)
        pivots = np.zeros((*batch, count), INT32)
        for j in range(count):
            pivots[..., j] = j + 1 + make.indices(tuple(batch), rows - j)
        yield Sample(f"{shape}", (pivots,), (rows,))


row_order.work(flops_per_element=0)


def _exchanges(rng: Any) -> tuple[Array]:
    return (rng.integers(1, 65, (1024, 64), INT32),)


row_order.benchmarks(Case("1024x64", _exchanges, (64,)))
