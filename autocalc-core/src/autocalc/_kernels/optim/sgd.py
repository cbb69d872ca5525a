# SPDX-License-Identifier: MIT
"""SGD with momentum for a group of parameters in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, parameters, parameters_label, step_scalars
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import (
    Arrays,
    Metas,
    check_group,
    columns,
    parameter_group,
    sloped,
    vanishing,
)
from autocalc._kernels.samples import LARGE, TAILS, Make, int64
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

sgd = composite(
    "sgd",
    "params* buffers* ; grads* lr step ; momentum:float dampening:float "
    "weight_decay:float nesterov:bool maximize:bool",
    "g += weight_decay * p; b = momentum * b + (1 - dampening) * g (g at step "
    "1); p -= lr * b (nesterov: g + momentum * b).",
    layout="like",
    flushes=("buffers",),
    writes=("params", "buffers"),
    defaults=(0.0, 0.0, 0.0, False, False),
)


@sgd.rule
def _(
    params: Metas,
    buffers: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    momentum: float,
    *attributes: Any,
) -> tuple[Metas, Metas]:
    if buffers and not momentum:
        raise ShapeError(
            f"sgd: `buffers` has {len(buffers)} arrays, but `momentum` is 0, which "
            "needs no buffers. Give an empty list."
        )
    lists = {"grads": grads, "buffers": buffers} if momentum else {"grads": grads}
    check_group("sgd", params, lr, step, **lists)
    return params, buffers


@sgd.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    buffers: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> list[list[Array]]:
    is_first = step == 1
    first, later = xp.any(is_first), xp.any(step != 1)  # False if not known

    def update(p: Array, g: Array, b: Array = None) -> tuple[Array, ...]:
        g = sloped(p, g, weight_decay, maximize)
        if not momentum:
            return (p - lr * g,)
        if first:
            b = g
        else:
            b = momentum * b + ((1 - dampening) * g if dampening else g)
            b = b if later else xp.where(is_first, g, b)
        g = g + momentum * b if nesterov else b
        return p - lr * g, b

    lists = (params, grads, buffers) if momentum else (params, grads)
    return columns(map(update, *lists), 2)


@sgd.budget("4 eps * (|p| + lr * (|g| + weight_decay * |p| + momentum * |b|))")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, buffers, grads, lr, _ = inputs
    momentum, _, decay = attributes[:3]
    new_params, new_buffers = [], []
    for i, (p, g) in enumerate(zip(params, grads, strict=True)):
        size = magnitude(g) + decay * magnitude(p)
        if momentum:
            size = size + momentum * magnitude(buffers[i])
            new_buffers.append(4 * eps * size)
            size = size * (1 + momentum)
        new_params.append(4 * eps * (magnitude(p) / 4 + magnitude(lr) * size))
    return [new_params, new_buffers]


@sgd.samples
def _(make: Make) -> Iterator[Sample]:
    options: tuple[tuple[Any, ...], ...] = (
        (0.0, 0.0, 0.0, False, False),
        (0.0, 0.0, 0.01, False, True),
        (0.9, 0.0, 0.0, False, False),
        (0.9, 0.1, 0.01, False, False),
        (0.9, 0.0, 0.01, True, False),
        (0.5, 0.0, 0.01, True, True),
    )
    for option in options:
        for step in (1, 2):
            buffers = parameter_group(make) if option[0] else ()
            inputs = (
                parameter_group(make),
                buffers,
                parameter_group(make),
                make.scalar(0.1),
                int64(step),
            )
            yield Sample(f"{option}, step {step}", inputs, option)
    yield from vanishing(make, Sample("", inputs, options[2]))
    for n in TAILS:
        lists: list[tuple[Any, ...]] = [(make.normal(n),) for _ in range(3)]
        inputs = (*lists, make.scalar(0.1), int64(2))
        yield Sample(f"n={n}", inputs, options[4])
    group = [(make.normal(301, 401), make.normal(LARGE)) for _ in range(3)]
    yield Sample("large", (*group, make.scalar(0.1), int64(2)), options[4])
    yield Sample("no parameters", ((), (), (), make.scalar(0.1), int64(1)), options[0])


sgd.work(flops_per_element=6)
sgd.benchmarks(
    Case(
        parameters_label(),
        parameters(3, *step_scalars()),
        (0.9, 0.0, 0.0, False, False),
    )
)
