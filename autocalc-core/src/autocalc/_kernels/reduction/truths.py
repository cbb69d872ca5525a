# SPDX-License-Identifier: MIT
"""Tests of all elements; a kernel may stop at the first element that decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, uniform
from autocalc._kernels.declare import composite, standalone
from autocalc._kernels.rules import BOOL, DTYPES, float_dtype, same_dtype, same_shape
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size

equal = composite(
    "equal",
    "out ; a b",
    "Whether all elements of a and b are equal; NaN is not equal to itself.",
    dtypes=DTYPES,
    key="shapes",  # sets may accept only contiguous operands
    complex=True,
)


@equal.rule
def _(a: Meta, b: Meta) -> Meta:
    same_dtype("equal", a, b)
    same_shape("equal", a=a, b=b)
    return Meta((), BOOL)


@equal.reference
def _(xp: Any, a: Array, b: Array) -> Array:
    return (a == b).all()


@equal.decomposition(lead="compare")
def _(k: Any, a: Any, b: Any) -> Any:
    differ = k.compare(a, b, "ne")
    count = k.sum(differ, tuple(range(len(k.shape(differ)))), False)
    return k.compare(count, k.constant(0, count), "eq")


equal.budget(EXACT)


_SIZES = (*[(n,) for n in TAILS], *SHAPES, (LARGE,))


def _label(shape: tuple[int, ...]) -> str:
    return "large" if shape == (LARGE,) else str(shape)


@equal.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in _SIZES:
        a, label = make.normal(*shape), _label(shape)
        yield Sample(f"{label}, the same", (a, a.copy()))
        if a.size:
            b = a.copy()
            b.reshape(-1)[-1] = not b.reshape(-1)[-1]
            yield Sample(f"{label}, the last differs", (a, b))
    yield Sample("special", (make.special(), make.special()))
    if make.is_float:
        zeros = np.zeros(5, make.dtype)
        yield Sample("zeros of both signs", (zeros, -zeros))


def _read(*arguments: Any) -> Work:
    """Count one operation for each element, and only the bytes that are read."""
    metas = [one for one in arguments if isinstance(one, Meta)]
    return Work(size(metas[0]), sum(map(nbytes, metas)))


equal.work(_read)
equal.benchmarks(Case("1 Mi", lambda rng: (rng.random(1 << 20, np.float32),) * 2))


between = standalone(
    "between",
    "out ; a ; least:float most:float above:int",
    "Whether least <= a <= most for all elements, and at least `above` elements of "
    "each row of the last dimension are not the least. It is False if an element is "
    "NaN.",
    defaults=(0,),
    key="shapes",
)


@between.rule
def _(a: Meta, least: float, most: float, above: int) -> Meta:
    float_dtype("between", a)
    return Meta((), BOOL)


@between.reference
def _(xp: Any, a: Array, least: float, most: float, above: int = 0) -> Array:
    x = a.astype(xp.float64)
    inside = ((x >= least) & (x <= most)).all()
    if not above or not x.size:
        return inside
    rows = x if x.ndim else x.reshape(1)
    return inside & ((rows > least).sum(-1) >= above).all()


between.budget(EXACT)


@between.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in _SIZES:
        a, label = make.unit(*shape), _label(shape)
        yield Sample(f"{label}, all", (a,), (-1.0, 1.0, 0))
        if a.size:
            a = a.copy()
            a.reshape(-1)[-1] = 2
            yield Sample(f"{label}, not the last", (a,), (-1.0, 1.0, 0))
    yield Sample("special", (make.special(),), (-1e300, 1e300, 0))
    yield Sample("ends", (np.array([0, 1], make.dtype),), (0.0, 1.0, 0))
    few = np.array([[0, 1, 1], [1, 0, 0]], make.dtype)
    for above in (1, 2):
        yield Sample(f"{above} above", (few,), (0.0, 1.0, above))
        yield Sample(f"{above} of a number", (few[0, 1],), (0.0, 1.0, above))
        yield Sample(f"{above} of rows without elements", (few[:, :0],), (0, 1, above))


between.work(_read)
between.benchmarks(Case("1 Mi", uniform(1 << 20), (0.0, 1.0, 0)))
