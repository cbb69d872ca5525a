# SPDX-License-Identifier: MIT
"""Adam and AdamW with the largest mean square so far (`amsgrad`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits
from autocalc._kernels.cases import Case, parameters, parameters_label, step_scalars
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import (
    Arrays,
    Metas,
    adam_scalars,
    check_group,
    columns,
    sloped,
)
from autocalc._kernels.optim.adamw import adamw_budget, adamw_samples
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

amsgrad = composite(
    "amsgrad",
    "params* exp_avg* exp_avg_sq* max_exp_avg_sq* ; grads* lr step ; "
    "beta1:float beta2:float eps:float weight_decay:float decoupled:bool "
    "maximize:bool",
    "adamw, with the largest v so far in the update of p.",
    layout="like",
    writes=("params", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
    defaults=(0.9, 0.999, 1e-8, 0.01, True, False),
)


@amsgrad.rule
def _(
    params: Metas,
    exp_avg: Metas,
    exp_avg_sq: Metas,
    max_exp_avg_sq: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas, Metas, Metas]:
    lists = {
        "grads": grads,
        "exp_avg": exp_avg,
        "exp_avg_sq": exp_avg_sq,
        "max_exp_avg_sq": max_exp_avg_sq,
    }
    check_group("amsgrad", params, lr, step, **lists)
    return params, exp_avg, exp_avg_sq, max_exp_avg_sq


@amsgrad.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    exp_avg: Arrays,
    exp_avg_sq: Arrays,
    max_exp_avg_sq: Arrays,
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

    def update(
        p: Array, m: Array, v: Array, most: Array, g: Array
    ) -> tuple[Array, ...]:
        g = sloped(p, g, 0.0 if decoupled else weight_decay, maximize)
        p = p * shrink if decoupled else p
        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * (g * g)
        most = xp.maximum(most, v)
        p = p - step_size * (m / (xp.sqrt(most) / root + eps))
        return p, m, v, most

    lists = params, exp_avg, exp_avg_sq, max_exp_avg_sq, grads
    return columns(map(update, *lists), 4)


@amsgrad.budget("as adamw, with the largest v; v and its largest 4 eps")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, exp_avg, exp_avg_sq, _, *rest = inputs
    new_p, new_m, new_v, most = expected
    by_most = adamw_budget.tolerance(
        (params, exp_avg, exp_avg_sq, *rest), attributes, (new_p, new_m, most), eps
    )
    by_v = adamw_budget.tolerance(
        (params, exp_avg, exp_avg_sq, *rest), attributes, (new_p, new_m, new_v), eps
    )
    return [by_most[0], by_most[1], by_v[2], by_most[2]]


@amsgrad.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in adamw_samples(make):
        params, exp_avg, exp_avg_sq, *rest = sample.inputs
        most = tuple(make.positive(*v.shape) for v in exp_avg_sq)
        yield sample._replace(inputs=(params, exp_avg, exp_avg_sq, most, *rest))


amsgrad.work(flops_per_element=17)
amsgrad.benchmarks(
    Case(
        parameters_label(),
        parameters(5, *step_scalars()),
        (0.9, 0.999, 1e-8, 0.01, True, False),
    )
)
