# SPDX-License-Identifier: MIT
"""linear_backward, combined with the backward kernel of a ReLU before the layer.

::

    x = relu(a),  out = x @ weight.T + bias:   da = g @ weight where x > 0, else 0

Rows of the gradient are masked while they are in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations.relu import relu_backward_formula
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.matmul.linear import (
    linear_backward_budget,
    linear_backward_exceptions,
    linear_backward_formula,
    linear_backward_rule,
    linear_backward_work,
)
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample

Gradients = tuple["Array | None", "Array | None", "Array | None"]

linear_relu_backward = composite(
    "linear_relu_backward",
    "da? dweight? dbias? ; g x weight ; accumulate:int",
    "da = 0 where x <= 0, else g @ weight (x = relu(a)); dweight = g.T @ x, dbias = "
    "sum of g over rows.",
    key="shapes",
    accumulates=("dweight", "dbias"),
)


@linear_relu_backward.rule
def _(g: Meta, x: Meta, weight: Meta) -> tuple[Meta | None, Meta | None, Meta]:
    return linear_backward_rule(g, x, weight)


@linear_relu_backward.formula(lead="gemm")
def _(
    xp: Any,
    g: Array,
    x: Array,
    weight: Array,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> Gradients:
    into = {"dweight": dweight, "dbias": dbias}
    dx, dw, db = linear_backward_formula(xp, g, x, weight, want=want, **into)
    return None if dx is None else relu_backward_formula(xp, dx, x), dw, db


linear_relu_backward.budget(linear_backward_budget)
for _name, _budget in linear_backward_exceptions.items():
    linear_relu_backward.exception(_name, _budget)


@linear_relu_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for m, k, n in ((1, 20, 7), (40, 1, 1), (9, 33, 20), (70, 64, 130)):
        g, x, weight = make.normal(m, n), make.normal(m, k), make.normal(n, k)
        yield Sample(f"{m}x{k}x{n}", (g, x, weight), want=0b111)
    for shape in ((), (2, 3), (2, 1, 3), (0, 2)):
        g, x, weight = (
            make.normal(*shape, 20),
            make.normal(*shape, 33),
            make.normal(20, 33),
        )
        yield Sample(f"leading {shape}", (g, x, weight), want=0b111)
    g, x, weight = make.normal(301, 225), make.normal(301, 260), make.normal(225, 260)
    yield Sample("large", (g, x, weight), want=0b111)


linear_relu_backward.work(linear_backward_work)
linear_relu_backward.benchmarks(
    Case(
        "256x784 to 1024",
        join(floats(256, 1024), floats(256, 784), floats(1024, 784)),
        want=0b111,
    )
)
