# SPDX-License-Identifier: MIT
"""The maximum over windows, for an output of a given size.

In each dimension, output `i` of `s` reads the elements from floor(i n / s) up to
ceil((i + 1) n / s).  If `s` does not divide `n`, adjacent windows share an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.pooling._windows import (
    ADAPTIVE,
    adaptive_label,
    hard,
    largest,
    largest_in,
    rule,
    spans,
)
from autocalc._kernels.rules import INT64
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc._kernels.windows import Ints

adaptive_max_pool = composite(
    "adaptive_max_pool",
    "out indices? ; x ; sizes:ints",
    "The largest element of each box of x [N, C, ...], and its row-major index in its "
    "plane. `sizes` is the number of boxes along each dimension.",
    key="shapes",
    layout="like",
)


@adaptive_max_pool.rule
def _(x: Meta, sizes: Ints) -> tuple[Meta, Meta]:
    out = rule("adaptive_max_pool", "x", x, sizes, x.shape[2:])
    return out, Meta(out.shape, INT64)


@adaptive_max_pool.reference
def _(xp: Any, x: Array, sizes: Ints, *, want: int = -1) -> tuple[Array, Array]:
    planes = x.shape[2:]
    n = math.prod(planes)
    places = xp.arange(n).reshape(1, 1, *planes)
    outs, indices = [], []
    for box in product(*map(spans, planes, sizes)):
        index: Any = (..., *box)
        area = math.prod(one.stop - one.start for one in box)
        window, place = (a[index].reshape(*a.shape[:2], area, 1) for a in (x, places))
        out, index = largest(xp, window, place, n)
        outs.append(out)
        indices.append(index)
    shape = (*x.shape[:2], *sizes)
    out, index = (xp.concatenate(parts, 2).reshape(shape) for parts in (outs, indices))
    return out, index


@adaptive_max_pool.decomposition(lead="max")
def _(k: Any, x: Array, sizes: Ints, *, want: int = -1) -> tuple[Array, Array | None]:
    batch, channels, *planes = k.shape(x)
    n = math.prod(planes)
    places = k.reshape(k.arange(n, x), (1, 1, *planes))
    outs, indices = [], []
    for box in product(*map(spans, planes, sizes)):
        area = math.prod(one.stop - one.start for one in box)
        window = k.reshape(k.slice(x, (..., *box)), (batch, channels, area))
        if want & 0b10:
            place = k.reshape(k.slice(places, (..., *box)), (1, 1, area, 1))
            window = k.reshape(window, (batch, channels, area, 1))
            out, index = largest_in(k, window, place, n)
            outs.append(out)
            indices.append(index)
        else:
            outs.append(k.max(window, (2,), True))
    shape = (batch, channels, *sizes)
    out = k.reshape(k.cat(outs, 2), shape)
    return out, k.reshape(k.cat(indices, 2), shape) if indices else None


adaptive_max_pool.budget(EXACT)


@adaptive_max_pool.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, sizes in ADAPTIVE:
        label = adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape),), (sizes,), want=0b10)
    for label, x in hard(make, (2, 2, 5, 6)):
        yield Sample(label, (x,), ((2, 4),), want=0b10)


adaptive_max_pool.work(flops_per_element=1)
adaptive_max_pool.benchmarks(
    Case("32x512x7x7 to 1x1", floats(32, 512, 7, 7), ((1, 1),))
)
