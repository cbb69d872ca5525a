# SPDX-License-Identifier: MIT
"""Pooling to a given size, whatever the input's.

In each dimension output `i` of `s` takes the elements from floor(i n / s) up to
ceil((i + 1) n / s); neighbours share one where `s` does not divide `n`.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from autocalc._kernels._legacy import _budgets_pooling as budgets
from autocalc._kernels._legacy import _references_pooling as references
from autocalc._kernels._legacy import _samples_pooling as samples
from autocalc._kernels._legacy._budgets import EXACT
from autocalc._kernels._legacy.pooling import expect_planes, largest_in
from autocalc._kernels.rules import INT64, float_dtype
from autocalc._kernels.spec import Array, KernelSpec, Meta, Shape
from autocalc._kernels.windows import Ints
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def _rule(where: str, name: str, x: Meta, sizes: Ints, given: Shape) -> Meta:
    dtype = float_dtype(where, x)
    expect_planes(where, name, x, len(sizes))
    if min(sizes) < 1 or min(given) < 1:
        message = (
            f"{where}: planes of {given} to {sizes}; neither may be empty: a mean or "
            f"a maximum of nothing is undefined."
        )
        raise ShapeError(message)
    return Meta((*x.shape[:2], *sizes), dtype)


def _max_rule(x: Meta, sizes: Ints) -> tuple[Meta, Meta]:
    out = _rule("adaptive_max_pool", "x", x, sizes, x.shape[2:])
    return out, Meta(out.shape, INT64)


def _avg_rule(x: Meta, sizes: Ints) -> Meta:
    return _rule("adaptive_avg_pool", "x", x, sizes, x.shape[2:])


def _avg_backward_rule(g: Meta, sizes: Ints) -> Meta:
    return _rule("adaptive_avg_pool_backward", "g", g, sizes, g.shape[2:])


# ---- in primitives -------------------------------------------------------------------


def adaptive_max_pool_in_primitives(
    k: Any, x: Array, sizes: Ints, *, want: int = -1
) -> tuple[Array, Array | None]:
    batch, channels, *planes = k.shape(x)
    n = math.prod(planes)
    places = k.reshape(k.arange(n, x), (1, 1, *planes))
    outs, indices = [], []
    for box in product(*map(references.spans, planes, sizes)):
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


def adaptive_avg_pool_in_primitives(k: Any, x: Array, sizes: Ints) -> Array:
    for axis, size in enumerate(sizes, 2):
        lead = (slice(None),) * axis
        parts = [
            k.div(
                k.sum(k.slice(x, (*lead, one)), (axis,), True),
                k.constant(one.stop - one.start, x),
            )
            for one in references.spans(k.shape(x)[axis], size)
        ]
        x = k.cat(parts, axis)
    return x


def adaptive_avg_pool_backward_in_primitives(k: Any, g: Array, sizes: Ints) -> Array:
    for axis, size in enumerate(sizes, 2):
        shape, lead = list(k.shape(g)), (slice(None),) * axis
        taken = references.spans(size, shape[axis])
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


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="adaptive_max_pool",
        kind="composite",
        signature="out indices? ; x ; sizes:ints",
        doc=(
            "The largest element of each box of x [N, C, ...], as many boxes as "
            "`sizes` says, and where it lies in its plane, counted row by row."
        ),
        rule=_max_rule,
        reference=references.adaptive_max_pool,
        decomposition=adaptive_max_pool_in_primitives,
        lead="max",
        budget=EXACT,
        samples=samples.adaptive_max_pool,
        work=per_element(_max_rule, 1),
        key="shapes",
        layout="like",
    ),
    KernelSpec(
        name="adaptive_avg_pool",
        kind="composite",
        signature="out ; x ; sizes:ints",
        doc="The mean of each box of x [N, C, ...], as many boxes as `sizes` says.",
        rule=_avg_rule,
        reference=references.adaptive_avg_pool,
        decomposition=adaptive_avg_pool_in_primitives,
        lead="sum",
        budget=budgets.adaptive_avg_pool,
        samples=samples.adaptive_avg_pool,
        work=per_element(_avg_rule, 1),
        key="shapes",
        layout="like",
    ),
    KernelSpec(
        name="adaptive_avg_pool_backward",
        kind="composite",
        signature="dx ; g ; sizes:ints",
        doc="The adjoint of adaptive_avg_pool, from g to dx [N, C, *sizes].",
        rule=_avg_backward_rule,
        reference=references.adaptive_avg_pool_backward,
        decomposition=adaptive_avg_pool_backward_in_primitives,
        lead="div",
        budget=budgets.adaptive_avg_pool_backward,
        samples=samples.adaptive_avg_pool_backward,
        work=per_element(_avg_backward_rule, 1),
        key="shapes",
        layout="like",
    ),
)
