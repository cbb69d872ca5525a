# SPDX-License-Identifier: MIT
"""Systems of linear equations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    SQUARE,
    cubic_work,
    double,
    guarded,
    singular,
    squares,
    well_conditioned,
)
from autocalc._kernels.linalg.inv import inverse
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import broadcast_shapes, same_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import ShapeError

solve = standalone(
    "solve",
    "out ; a b",
    "The X of a X = b, matrix by matrix; batch dimensions broadcast.",
    says_why=True,
    complex=True,
)


@solve.rule
def _(a: Meta, b: Meta) -> Meta:
    squares("solve", a)
    dtype = same_dtype("solve", a, b)
    if len(b.shape) < 2 or b.shape[-2] != a.shape[-1]:
        raise ShapeError(
            f"solve: `a` has shape {a.shape} and `b` {b.shape}; `b` must be "
            f"[..., {a.shape[-1]}, columns]."
        )
    batch = broadcast_shapes("solve", a.shape[:-2], b.shape[:-2])
    return Meta((*batch, *b.shape[-2:]), dtype)


@solve.reference
def _(xp: Any, a: Array, b: Array) -> Array:
    x, y = double(xp, a), double(xp, b)
    compute = lambda: xp.linalg.solve(x, y)  # noqa: E731  one line as in inv
    return narrow(guarded(xp, "solve", x, compute, singular(xp)), b)


solve.budget(inverse)


@solve.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in SQUARE:
        for columns in (1, 3):
            a = well_conditioned(make, shape)
            b = make.normal(*shape[:-1], columns)
            yield Sample(f"{shape}, {columns} columns", (a, b))
    a = well_conditioned(make, (3, 1, 2, 2))
    yield Sample("broadcast", (a, make.normal(4, 2, 2)))
    large = well_conditioned(make, (70, 70))
    yield Sample("large", (large, make.normal(2, 70, 100)))
    yield Sample("rows that change places", (make.normal(40, 40), make.normal(40, 5)))


solve.work(cubic_work(2 / 3))
solve.benchmarks(
    Case("16x64x64, 8 columns", join(floats(16, 64, 64), floats(16, 64, 8)))
)
