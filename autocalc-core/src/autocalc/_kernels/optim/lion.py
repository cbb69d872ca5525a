# SPDX-License-Identifier: MIT
"""Lion for a group of parameters in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, parameters, parameters_label, step_scalars
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import (
    Arrays,
    Metas,
    Shapes,
    check_group,
    columns,
    over,
    parameter_lists,
)
from autocalc._kernels.precision import as_float64, narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

lion = composite(
    "lion",
    "params* exp_avg* ; grads* lr ; beta1:float beta2:float "
    "weight_decay:float maximize:bool",
    "p = (1 - lr * weight_decay) * p - lr * sign(beta1 * m + (1 - beta1) * "
    "g); m = beta2 * m + (1 - beta2) * g.",
    layout="like",
    flushes=("exp_avg",),
    writes=("params", "exp_avg"),
    defaults=(0.9, 0.99, 0.0, False),
)


@lion.rule
def _(
    params: Metas, exp_avg: Metas, grads: Metas, lr: Meta, *attributes: Any
) -> tuple[Metas, Metas]:
    check_group("lion", params, lr, None, grads=grads, exp_avg=exp_avg)
    return params, exp_avg


@lion.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    exp_avg: Arrays,
    grads: Arrays,
    lr: Array,
    beta1: float,
    beta2: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    shrink = narrow(1 - as_float64(lr) * weight_decay, lr)

    def update(p: Array, m: Array, g: Array) -> tuple[Array, Array]:
        g = -g if maximize else g
        p = p * shrink - lr * xp.sign(beta1 * m + (1 - beta1) * g)
        return p, beta2 * m + (1 - beta2) * g

    return columns(map(update, params, exp_avg, grads), 2)


@lion.budget("2 eps * (|p| + lr), 2 lr more where the sign is one of rounding; m 2 eps")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, exp_avg, grads, lr = inputs
    beta1, _, _, maximize = attributes
    rate = magnitude(lr)
    result: tuple[list[Any], ...] = ([], [])
    for p, m, given in zip(params, exp_avg, grads, strict=True):
        g = -given if maximize else given
        size = beta1 * magnitude(m) + (1 - beta1) * magnitude(g)
        is_rounding = magnitude(beta1 * m + (1 - beta1) * g) <= 2 * eps * size
        flipped = np.where(is_rounding & (size > 0), 2 * rate, 0.0)
        result[0].append(2 * eps * (magnitude(p) + rate) + flipped)
        result[1].append(2 * eps * (magnitude(m) + magnitude(g)))
    return result


def _lion(make: Make, label: str, option: tuple[Any, ...], shapes: Shapes) -> Sample:
    lists = parameter_lists(make, shapes, "nnn")
    return Sample(label, (*lists, make.scalar(0.01)), option)


@lion.samples
def _(make: Make) -> Iterator[Sample]:
    options = ((0.9, 0.99, 0.0, False), (0.0, 0.5, 0.0, True), (0.9, 0.99, 0.1, True))
    yield from over(make, _lion, options)
    zero = (np.zeros(9, make.dtype),)
    inputs = (make.normal(9),), (make.vanishing(9),), zero, make.scalar(0.01)
    yield Sample("vanishing", inputs, options[0])
    inputs = ((make.normal(9),), zero, zero, make.scalar(0.01))
    yield Sample("a gradient of 0 moves nothing", inputs, options[0])


lion.work(flops_per_element=9)
lion.benchmarks(
    Case(
        parameters_label(), parameters(3, *step_scalars()[:1]), (0.9, 0.99, 0.0, False)
    )
)
