# SPDX-License-Identifier: MIT
"""The mean over windows, for an output of a given size.

In each dimension, output `i` of `s` reads the elements from floor(i n / s) up to
ceil((i + 1) n / s).  If `s` does not divide `n`, adjacent windows share an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.pooling._windows import ADAPTIVE, adaptive_label, rule, spans
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc._kernels.windows import Ints

adaptive_avg_pool = composite(
    "adaptive_avg_pool",
    "out ; x ; sizes:ints",
    "The mean of each box of x [N, C, ...]. `sizes` is the number of boxes along each "
    "dimension.",
    key="shapes",
    layout="like",
)


@adaptive_avg_pool.rule
def _(x: Meta, sizes: Ints) -> Meta:
    return rule("adaptive_avg_pool", "x", x, sizes, x.shape[2:])


def _part(a: Array, axis: int, one: slice) -> Array:
    """Return the view of `a` with the slice `one` of an axis."""
    index = (*(slice(None),) * axis, one)
    return a[index]


@adaptive_avg_pool.formula(lead="sum")
def adaptive_avg_pool_reference(xp: Any, x: Array, sizes: Ints) -> Array:
    out = wide(xp, x)
    for axis, size in enumerate(sizes, 2):
        parts = [
            xp.sum(_part(out, axis, one), axis=axis, keepdims=True)
            / (one.stop - one.start)
            for one in spans(out.shape[axis], size)
        ]
        out = xp.concatenate(parts, axis)
    return narrow(out, x)


def _steps(given: Sequence[int], sizes: Sequence[int]) -> int:
    boxes = zip(given, sizes, strict=True)
    return math.prod(min(-(-n // s) + 1, n) for n, s in boxes) + 4


@adaptive_avg_pool.budget(
    "(n + 4) * eps * mean(|x|) over the n elements of a box at most"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, sizes = magnitude(inputs[0]), attributes[0]
    size = adaptive_avg_pool_reference(numpy_xp, x, sizes)
    return [eps * _steps(x.shape[2:], sizes) * size + ulp(expected[0], eps)]


@adaptive_avg_pool.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, sizes in ADAPTIVE:
        label = adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape),), (sizes,))


adaptive_avg_pool.work(flops_per_element=1)
adaptive_avg_pool.benchmarks(
    Case("32x512x7x7 to 1x1", floats(32, 512, 7, 7), ((1, 1),))
)


adaptive_avg_pool_backward = composite(
    "adaptive_avg_pool_backward",
    "dx ; g ; sizes:ints",
    "The adjoint of adaptive_avg_pool, from g to dx [N, C, *sizes].",
    key="shapes",
    layout="like",
)


@adaptive_avg_pool_backward.rule
def _(g: Meta, sizes: Ints) -> Meta:
    return rule("adaptive_avg_pool_backward", "g", g, sizes, g.shape[2:])


@adaptive_avg_pool_backward.reference
def adaptive_avg_pool_backward_reference(xp: Any, g: Array, sizes: Ints) -> Array:
    out = wide(xp, g)
    for axis, size in enumerate(sizes, 2):
        shape = list(out.shape)
        taken = spans(size, shape[axis])
        shape[axis] = size
        total = xp.zeros(tuple(shape), out.dtype)
        for i, one in enumerate(taken):
            part = _part(out, axis, slice(i, i + 1)) / (one.stop - one.start)
            place = _part(total, axis, one)
            place += part
        out = total
    return narrow(out, g)


@adaptive_avg_pool_backward.decomposition(lead="div")
def _(k: Any, g: Array, sizes: Ints) -> Array:
    for axis, size in enumerate(sizes, 2):
        shape, lead = list(k.shape(g)), (slice(None),) * axis
        taken = spans(size, shape[axis])
        shape[axis] = size
        total = k.zeros(tuple(shape), k.dtype(g))
        for i, one in enumerate(taken):
            count = one.stop - one.start
            part = k.div(k.slice(g, (*lead, slice(i, i + 1))), k.constant(count, g))
            shape[axis] = count
            part = k.expand(part, tuple(shape))
            total = k.add_into_slice(total, (*lead, one), part)
        g = total
    return g


@adaptive_avg_pool_backward.budget(
    "(n + 4) * eps * (the sum of the terms' sizes), n elements in a box at most"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, sizes = magnitude(inputs[0]), attributes[0]
    size = adaptive_avg_pool_backward_reference(numpy_xp, g, sizes)
    return [eps * _steps(sizes, g.shape[2:]) * size + ulp(expected[0], eps)]


@adaptive_avg_pool_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, sizes in ADAPTIVE:
        label = adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape[:2], *sizes),), (shape[2:],))


adaptive_avg_pool_backward.work(flops_per_element=1)
adaptive_avg_pool_backward.benchmarks(
    Case("32x512x7x7 to 1x1", floats(32, 512, 1, 1), ((7, 7),))
)
