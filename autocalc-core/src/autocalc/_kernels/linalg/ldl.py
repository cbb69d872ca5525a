# SPDX-License-Identifier: MIT
"""L D L' factors of symmetric matrices, and systems that are solved with them.

The factors and the pivots have the form of LAPACK's ``sytrf`` and ``sytrs`` for lower
triangles.  D has blocks of one or two rows, which Bunch and Kaufman's rule chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    BACKWARD,
    SQUARE,
    cubic,
    double,
    largest,
    squares,
    well_conditioned,
)
from autocalc._kernels.linalg.cholesky import conditioned
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import INT32, broadcast_shapes, same_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape
from autocalc.errors import ShapeError

#: A pivot alone is at least this large compared with its column.  This bound lets the
#: elements grow least.
_ALPHA = (1 + math.sqrt(17)) / 8

ldl = standalone(
    "ldl",
    "ld pivots ; a",
    "a = l d l', of the lower triangle of a. d and l are in one matrix: l is below the "
    "blocks of d, and its own diagonal is 1. Step i exchanged row and column i with "
    "pivots[i], counted from 1. Of a block of two rows, both pivots are negative and "
    "name what its second row was exchanged with.",
    key="shapes",
)


@ldl.rule
def _(a: Meta) -> tuple[Meta, Meta]:
    return Meta(a.shape, squares("ldl", a)), Meta(a.shape[:-1], INT32)


@ldl.reference
def _(xp: Any, a: Array) -> tuple[Array, Array]:
    n = a.shape[-1]
    found = double(xp, a).copy()
    pivots = xp.zeros(a.shape[:-1], dtype=INT32)
    for place in np.ndindex(a.shape[:-2]) if a.size else ():
        x = found[place]
        x[...] = xp.tril(x) + xp.tril(x, -1).T
        k = 0
        while k < n:
            k += _step(xp, x, pivots[place], k)
    return narrow(xp.tril(found), a), pivots


def _step(xp: Any, x: Array, pivots: Array, k: int) -> int:
    """Factor the next block of a symmetric matrix in place; return its size.

    What is right of the block is not read again.
    """
    size, other = _block(xp, x, k)
    last = k + size - 1
    pivots[k : last + 1] = other + 1 if size == 1 else -other - 1
    if other != last:
        _exchange(x[k:, k:], last - k, other - k)
    block, below = x[k : last + 1, k : last + 1], x[last + 1 :, k : last + 1]
    if not below.size or (size == 1 and block[0, 0] == 0):
        return size
    kept = below.copy()
    below[...] = _divided(xp, kept, block)
    x[last + 1 :, last + 1 :] -= below @ kept.T
    return size


def _block(xp: Any, x: Array, k: int) -> tuple[int, int]:
    """Return the size of the next block, and the row to exchange its last row with."""
    size, column = abs(float(x[k, k])), xp.abs(x[k + 1 :, k])
    most = float(column.max()) if column.size else 0.0
    if most == 0 or size >= _ALPHA * most:
        return 1, k
    row = k + 1 + int(column.argmax())
    others = xp.abs(x[row, k:])
    others[row - k] = 0
    widest = float(others.max())
    if size >= _ALPHA * most * (most / widest):
        return 1, k
    return (1 if abs(float(x[row, row])) >= _ALPHA * widest else 2), row


def _exchange(x: Array, i: int, j: int) -> None:
    """Exchange two rows and the same two columns."""
    x[[i, j]] = x[[j, i]]
    x[:, [i, j]] = x[:, [j, i]]


def _divided(xp: Any, rows: Array, block: Array) -> Array:
    """Return rows multiplied by the inverse of a block of one or two rows."""
    if len(block) == 1:
        return rows / block[0, 0]
    edge = block[1, 0]
    first, second = block[1, 1] / edge, block[0, 0] / edge
    scale = 1 / (first * second - 1) / edge
    one = scale * (first * rows[:, 0] - rows[:, 1])
    two = scale * (second * rows[:, 1] - rows[:, 0])
    return xp.stack([one, two], axis=1)


@ldl.budget("8 n eps cond(a) max|ld|, pivots exact")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [conditioned.tolerance(inputs, attributes, expected[:1], eps)[0], 0.0]


def _symmetric(make: Make, shape: Shape) -> Iterator[Array]:
    """Yield matrices with large, with any and with no elements on the diagonal."""
    for a in (well_conditioned(make, shape), make.normal(*shape)):
        whole = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)
        yield whole
    n = shape[-1]
    if n > 1:
        hollow = whole.copy()
        hollow[..., np.arange(n), np.arange(n)] = 0
        yield hollow


@ldl.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for i, a in enumerate(_symmetric(make, shape)):
            yield Sample(f"{shape}, {i}", (a,))


ldl.work(cubic(1 / 3))
ldl.benchmarks(Case("16x32x32", floats(16, 32, 32)))


ldl_solve = standalone(
    "ldl_solve",
    "out ; ld pivots b",
    "The X of a X = b, given the results of `ldl` for a; batch dimensions broadcast.",
    key="shapes",
)


@ldl_solve.rule
def _(ld: Meta, pivots: Meta, b: Meta) -> Meta:
    squares("ldl_solve", ld)
    dtype = same_dtype("ldl_solve", ld, b)
    if len(b.shape) < 2 or b.shape[-2] != ld.shape[-1]:
        raise ShapeError(
            f"ldl_solve: `ld` has shape {ld.shape} and `b` {b.shape}; `b` must be "
            f"[..., {ld.shape[-1]}, columns]."
        )
    batch = broadcast_shapes("ldl_solve", ld.shape[:-2], b.shape[:-2])
    return Meta((*batch, *b.shape[-2:]), dtype)


@ldl_solve.reference
def _(xp: Any, ld: Array, pivots: Array, b: Array) -> Array:
    batch = broadcast_shapes("ldl_solve", ld.shape[:-2], b.shape[:-2])
    x = xp.broadcast_to(double(xp, ld), (*batch, *ld.shape[-2:]))
    places = xp.broadcast_to(pivots, (*batch, ld.shape[-1]))
    found = xp.broadcast_to(double(xp, b), (*batch, *b.shape[-2:])).copy()
    for place in np.ndindex(batch) if found.size else ():
        blocks = list(_blocks(places[place]))
        for step in blocks:
            _forward(xp, x[place], found[place], *step)
        for step in blocks[::-1]:
            _backward(x[place], found[place], *step)
    return narrow(found, b)


def _blocks(pivots: Array) -> Iterator[tuple[int, int, int]]:
    """Yield the first row, the last row, and the row that the last came from."""
    first, numbers = 0, pivots.tolist()
    while first < len(numbers):
        last = first + (numbers[first] < 0)
        yield first, last, abs(numbers[first]) - 1
        first = last + 1


def _forward(xp: Any, ld: Array, b: Array, first: int, last: int, other: int) -> None:
    """Multiply by the inverses of the exchange, of columns of l, and of a block."""
    b[[last, other]] = b[[other, last]]
    rows = slice(first, last + 1)
    b[last + 1 :] -= ld[last + 1 :, rows] @ b[rows]
    block = ld[rows, rows].copy()
    if last > first:
        block[0, 1] = block[1, 0]
    b[rows] = _divided(xp, b[rows].T, block).T


def _backward(ld: Array, b: Array, first: int, last: int, other: int) -> None:
    """Multiply by the inverses of rows of l', and of the exchange."""
    rows = slice(first, last + 1)
    b[rows] -= ld[last + 1 :, rows].T @ b[last + 1 :]
    b[[last, other]] = b[[other, last]]


@ldl_solve.budget("8 n eps cond(a) max|out| of a = l d l'")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (out,) = expected
    factor = BACKWARD * max(out.shape[-2], 1) * eps * _SOLVED_CONDITION
    return [factor * largest(out) + ulp(out, eps) if out.size else 0.0]


#: The condition of the samples of `ldl_solve` is less than this.
_SOLVED_CONDITION = 64.0


@ldl_solve.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in (*SQUARE, (3, 1, 2, 2)):
        ld, pivots = _factors(make, shape)
        batch = (4,) if shape == (3, 1, 2, 2) else shape[:-2]
        for columns in (1, 3):
            b = make.normal(*batch, shape[-1], columns)
            yield Sample(f"{shape}, {columns} columns", (ld, pivots, b))


def _factors(make: Make, shape: Shape) -> tuple[Array, Array]:
    """Return factors with blocks of one and of two rows, and exchanges."""
    n = shape[-1]
    ld = make.normal(*shape) / 8
    pivots = np.zeros(shape[:-1], INT32)
    ld[..., np.arange(n), np.arange(n)] += 2
    k = 0
    while k < n:
        last = k + 1 if k % 3 == 1 and k + 1 < n else k
        other = make.indices(shape[:-2], n - last) + last + 1
        pivots[..., k : last + 1] = (other if last == k else -other)[..., None]
        if last > k:  # [[0, 2], [2, 0]] and a little
            ld[..., (k, last), (k, last)] -= 2
            ld[..., last, k] += 2
        k = last + 1
    return ld, pivots


ldl_solve.work(cubic(2))


def _benchmark(rng: Any) -> tuple[Array, ...]:
    pivots = np.arange(1, 33, dtype=INT32) + np.zeros((16, 1), INT32)
    ld, b = rng.standard_normal((16, 32, 32)), rng.standard_normal((16, 32, 8))
    return (ld + 9 * np.eye(32)).astype(np.float32), pivots, b.astype(np.float32)


ldl_solve.benchmarks(Case("16x32x32, 8 columns", _benchmark))
