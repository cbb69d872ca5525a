# SPDX-License-Identifier: MIT
"""The positions of values in a sorted sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, Operands, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.rules import DTYPES, INT64, expect_shape, same_dtype
from autocalc._kernels.samples import FEW_TAILS, LARGE, Make
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import ShapeError

searchsorted = standalone(
    "searchsorted",
    "out ; line values ; right:bool",
    "The number of elements of a sorted row that are less than each value; with "
    "`right`, less or equal.",
    dtypes=DTYPES,
)


@searchsorted.rule
def _(line: Meta, values: Meta, right: bool) -> Meta:
    same_dtype("searchsorted", line, values)
    if not line.shape:
        raise ShapeError("searchsorted: `line` has shape (); it must have a dimension.")
    if len(line.shape) > 1:
        shape = *line.shape[:-1], *values.shape[-1:]
        expect_shape("searchsorted", "values", values, shape)
    return Meta(values.shape, INT64)


@searchsorted.reference
def _(xp: Any, line: Array, values: Array, right: bool) -> Array:
    side = "right" if right else "left"
    if line.ndim == 1:
        return xp.searchsorted(line, values, side)
    out = xp.empty(values.shape, xp.int64)
    for row in xp.ndindex(*line.shape[:-1]):
        out[row] = xp.searchsorted(line[row], values[row], side)
    return out


searchsorted.budget(EXACT)


@searchsorted.samples
def _(make: Make) -> Iterator[Sample]:
    for right in (False, True):
        for n in (0, 1, *FEW_TAILS):
            line, values = np.sort(make.normal(n)), make.normal(5, 3)
            yield Sample(f"n={n}, right={right}", (line, values), (right,))
        special = np.sort(make.special())
        yield Sample(f"special, right={right}", (special, special), (right,))
        rows, values = np.sort(make.normal(2, 3, 9)), make.normal(2, 3, 4)
        yield Sample(f"rows, right={right}", (rows, values), (right,))
        number = make.normal(9).sum(dtype=make.dtype)
        yield Sample(f"a number, right={right}", (rows[0, 0], number), (right,))
    line = np.sort(make.normal(70))
    yield Sample("large", (line, make.normal(LARGE)), (False,))
    yield Sample("no rows", (make.normal(0, 3), make.normal(0, 2)), (False,))


searchsorted.work(flops_per_element=10)


def _sorted_beside(n: int, *shape: int) -> Operands:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        (line,), (values,) = floats(n)(rng), floats(*shape)(rng)
        return np.sort(line), values

    return make


searchsorted.benchmarks(Case("1 Mi in 1024", _sorted_beside(1024, 1 << 20), (False,)))
