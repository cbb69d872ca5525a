# SPDX-License-Identifier: MIT
"""Adam and AdamW for a group of parameters in one call."""

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
    adam_samples,
    adam_scalars,
    check_group,
    columns,
    sloped,
    vanishing,
)
from autocalc._kernels.samples import LARGE, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

adamw = composite(
    "adamw",
    "params* exp_avg* exp_avg_sq* ; grads* lr step ; beta1:float beta2:float "
    "eps:float weight_decay:float decoupled:bool maximize:bool",
    "p *= 1 - lr * weight_decay; m += (1 - beta1) * (g - m); v = beta2 * v + "
    "(1 - beta2) * g**2; p -= lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - "
    "beta2**t) + eps). Not decoupled: g += weight_decay * p instead.",
    layout="like",
    flushes=("exp_avg", "exp_avg_sq"),
    writes=("params", "exp_avg", "exp_avg_sq"),
    defaults=(0.9, 0.999, 1e-8, 0.01, True, False),
)


@adamw.rule
def _(
    params: Metas,
    exp_avg: Metas,
    exp_avg_sq: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas, Metas]:
    check_group(
        "adamw", params, lr, step, grads=grads, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq
    )
    return params, exp_avg, exp_avg_sq


@adamw.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    exp_avg: Arrays,
    exp_avg_sq: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> list[list[Array]]:
    step_size, root, shrink = adam_scalars(xp, lr, step, beta1, beta2, weight_decay)

    def update(p: Array, m: Array, v: Array, g: Array) -> tuple[Array, ...]:
        g = sloped(p, g, 0.0 if decoupled else weight_decay, maximize)
        p = p * shrink if decoupled else p
        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * (g * g)
        p = p - step_size * (m / (xp.sqrt(v) / root + eps))
        return p, m, v

    return columns(map(update, params, exp_avg, exp_avg_sq, grads), 3)


@adamw.budget("eps * (2 |p| + 16 * step size * (|m| + |g|) / denominator); m, v 4 eps")
def adamw_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    params, exp_avg, _, grads, lr, step = inputs
    beta1, beta2, epsilon, decay = attributes[:4]
    step_size = float(lr) / (1 - beta1 ** int(step))
    root = float(np.sqrt(1 - beta2 ** int(step)))
    result: tuple[list[Any], ...] = ([], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        m = magnitude(exp_avg[i]) + g
        v = magnitude(expected[2][i])
        ratio = m / (np.sqrt(v) / root + epsilon)
        change = 2 * magnitude(p) + 16 * step_size * ratio
        tolerances = (eps * change, 4 * eps * m, 4 * eps * (v + g * g * (1 - beta2)))
        for values, value in zip(result, tolerances, strict=True):
            values.append(value)
    return result


@adamw.samples
def adamw_samples(make: Make) -> Iterator[Sample]:
    options: tuple[tuple[Any, ...], ...] = (
        (0.9, 0.999, 1e-8, 0.01, True, False),
        (0.9, 0.999, 1e-8, 0.01, False, False),
        (0.9, 0.999, 1e-8, 0.0, True, True),
        (0.0, 0.5, 1e-3, 0.1, True, False),
    )
    for option in options:
        for step in (1, 2, 1000):
            yield adam_samples(make, f"{option}, step {step}", step, option)
    for n in TAILS:
        yield adam_samples(make, f"n={n}", 3, options[0], ((n,),))
    yield from vanishing(make, adam_samples(make, "", 3, options[0]), 2)
    yield adam_samples(make, "large", 3, options[0], ((301, 401), (LARGE,)))


adamw.work(flops_per_element=16)
adamw.benchmarks(
    Case(
        parameters_label(),
        parameters(4, *step_scalars()),
        (0.9, 0.999, 1e-8, 0.01, True, False),
    )
)
