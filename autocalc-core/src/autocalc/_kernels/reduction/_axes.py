# SPDX-License-Identifier: MIT
"""Shape rules, references and samples that reductions share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import magnitude
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import check_axes, float_dtype, reduced_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample, Shape


def count(a: Array, axes: tuple[int, ...]) -> int:
    return int(np.prod([np.shape(a)[axis] for axis in axes], dtype=np.int64))


def below_max(a: Array, axis: int) -> Array:
    """Return max(a) - a along `axis`, with 0 for values that are not finite."""
    a = np.asarray(a, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return magnitude(a.max(axis=axis, keepdims=True, initial=-np.inf) - a)


def special_reductions(make: Make) -> Iterator[Sample]:
    for value in (np.inf, -np.inf, np.nan, 0.0, -0.0):
        for where in (0, 18, 36):
            a = make.normal(37)
            a[where] = value
            yield Sample(f"{value} at {where}", (a,), ((0,), False))
    ends = make.normal(37)
    ends[[3, 30]] = np.inf, -np.inf
    yield Sample("both infinities", (ends,), ((0,), False))
    for value in (np.inf, -np.inf, np.nan, -0.0):
        a = np.full((3, 20), value, make.dtype)
        yield Sample(f"all {value}", (a,), ((1,), False))
    tiny = np.finfo(make.dtype).tiny
    yield Sample("subnormal", (make.normal(40) * tiny,), ((0,), False))
    yield Sample("far from 0", (make.normal(40) * 1000 + 1e4,), ((0,), False))


Axes = tuple[int, ...]


def float_rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
        check_axes(name, axes, a)
        return Meta(reduced_shape(a.shape, axes, keepdim), float_dtype(name, a))

    return rule


def reduced_count(shape: Shape, axes: Axes) -> int:
    """Return the number of elements that are reduced to one."""
    return math.prod(shape[axis] for axis in axes)


AXES = "out ; a ; axes:ints keepdim:bool"


def summed(xp: Any, a: Array) -> Array:
    """Return `a` in the dtype in which its sums and products are computed."""
    return wide(xp, a) if a.dtype.kind in "fc" else a.astype(xp.int64)


def result(total: Array, a: Array) -> Array:
    return narrow(total, a) if a.dtype.kind in "fc" else total


SHAPES = (((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((0, 3), 1), ((3, 0), 1))


def shifted(xp: Any, a: Array, axis: int) -> Array:
    """Return a - max(a), whose exponentials cannot overflow."""
    x = wide(xp, a)
    return x - xp.max(x, axis=axis, keepdims=True, initial=-xp.inf)
