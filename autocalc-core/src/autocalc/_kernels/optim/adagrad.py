# SPDX-License-Identifier: MIT
"""Adagrad for a group of parameters in one call."""

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
)
from autocalc._kernels.precision import as_float64, narrow
from autocalc._kernels.samples import Make, int64
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

adagrad = composite(
    "adagrad",
    "params* total* ; grads* lr step ; lr_decay:float eps:float "
    "weight_decay:float maximize:bool",
    "g += weight_decay * p; s += g**2; p -= lr / (1 + (t - 1) * lr_decay) * g "
    "/ (sqrt(s) + eps).",
    layout="like",
    writes=("params", "total"),
    defaults=(0.0, 1e-10, 0.0, False),
)


@adagrad.rule
def _(
    params: Metas, total: Metas, grads: Metas, lr: Meta, step: Meta, *attributes: Any
) -> tuple[Metas, Metas]:
    check_group("adagrad", params, lr, step, grads=grads, total=total)
    return params, total


@adagrad.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    total: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    # In float64, because a large step number is multiplied by a small decay.
    wide_lr = as_float64(lr)
    rate = narrow(wide_lr / (1 + (step.astype(wide_lr.dtype) - 1) * lr_decay), lr)

    def update(p: Array, s: Array, g: Array) -> tuple[Array, Array]:
        g = sloped(p, g, weight_decay, maximize)
        s = s + g * g
        return p - rate * (g / (xp.sqrt(s) + eps)), s

    return columns(map(update, params, total, grads), 2)


@adagrad.budget(
    "eps * (|p| + 8 * rate * (|g| + weight_decay * |p|) / (sqrt(s) + e)); s 4 eps"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, total, grads, lr, step = inputs
    lr_decay, epsilon, decay, _ = attributes
    rate = float(lr) / (1 + (int(step) - 1) * lr_decay)
    result: tuple[list[Any], ...] = ([], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        ratio = g / (np.sqrt(magnitude(expected[1][i])) + epsilon)
        result[0].append(eps * (magnitude(p) + 8 * rate * ratio))
        result[1].append(4 * eps * (magnitude(total[i]) + g * g))
    return result


def _adagrad(
    make: Make, label: str, option: tuple[Any, ...], shapes: Shapes, step: int = 3
) -> Sample:
    lists = parameter_lists(make, shapes, "npn")
    return Sample(label, (*lists, make.scalar(0.01), int64(step)), option)


@adagrad.samples
def _(make: Make) -> Iterator[Sample]:
    options = ((0.0, 1e-10, 0.0, False), (0.1, 1e-3, 0.01, True))
    for step in (1, 2, 1000):
        yield _adagrad(make, f"step {step}", options[1], GROUP, step)
    yield from over(make, _adagrad, options)


adagrad.work(flops_per_element=9)
adagrad.benchmarks(
    Case(parameters_label(), parameters(3, *step_scalars()), (0.0, 1e-10, 0.0, False))
)
