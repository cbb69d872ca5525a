# SPDX-License-Identifier: MIT
"""Adadelta for a group of parameters in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, parameters, parameters_label, step_scalars
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import (
    GROUP,
    Arrays,
    Metas,
    Shapes,
    check_group,
    columns,
    over,
    parameter_lists,
    sloped,
    vanishing,
)
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

adadelta = composite(
    "adadelta",
    "params* square_avg* acc_delta* ; grads* lr ; rho:float eps:float "
    "weight_decay:float maximize:bool",
    "g += weight_decay * p; v = rho * v + (1 - rho) * g**2; change = sqrt(u + "
    "eps) / sqrt(v + eps) * g; u = rho * u + (1 - rho) * change**2; p -= lr * "
    "change.",
    layout="like",
    flushes=("square_avg", "acc_delta"),
    writes=("params", "square_avg", "acc_delta"),
    defaults=(0.9, 1e-6, 0.0, False),
)


@adadelta.rule
def _(
    params: Metas,
    square_avg: Metas,
    acc_delta: Metas,
    grads: Metas,
    lr: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas, Metas]:
    lists = {"grads": grads, "square_avg": square_avg, "acc_delta": acc_delta}
    check_group("adadelta", params, lr, None, **lists)
    return params, square_avg, acc_delta


@adadelta.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    square_avg: Arrays,
    acc_delta: Arrays,
    grads: Arrays,
    lr: Array,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    def update(p: Array, v: Array, u: Array, g: Array) -> tuple[Array, Array, Array]:
        g = sloped(p, g, weight_decay, maximize)
        v = rho * v + (1 - rho) * (g * g)
        change = xp.sqrt(u + eps) / xp.sqrt(v + eps) * g
        u = rho * u + (1 - rho) * (change * change)
        return p - lr * change, v, u

    return columns(map(update, params, square_avg, acc_delta, grads), 3)


@adadelta.budget(
    "eps * (|p| + 8 * lr * |change|); v and u 4 eps and what change is off by"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, square_avg, acc_delta, grads, lr = inputs
    rho, epsilon, decay, _ = attributes
    result: tuple[list[Any], ...] = ([], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        v = rho * magnitude(square_avg[i]) + (1 - rho) * g * g
        u = magnitude(acc_delta[i])
        change = np.sqrt((u + epsilon) / (magnitude(expected[1][i]) + epsilon)) * g
        result[0].append(eps * (magnitude(p) + 8 * magnitude(lr) * change))
        result[1].append(4 * eps * v)
        result[2].append(eps * (4 * rho * u + 20 * (1 - rho) * change * change))
    return result


def _adadelta(
    make: Make, label: str, option: tuple[Any, ...], shapes: Shapes
) -> Sample:
    lists = parameter_lists(make, shapes, "nppn")
    return Sample(label, (*lists, make.scalar(0.5)), option)


@adadelta.samples
def _(make: Make) -> Iterator[Sample]:
    options = ((0.9, 1e-6, 0.0, False), (0.5, 1e-3, 0.1, True))
    yield from over(make, _adadelta, options)
    yield from vanishing(make, _adadelta(make, "", options[0], GROUP), 1, 2)


adadelta.work(flops_per_element=17)
adadelta.benchmarks(
    Case(
        parameters_label(), parameters(4, *step_scalars()[:1]), (0.9, 1e-6, 0.0, False)
    )
)
