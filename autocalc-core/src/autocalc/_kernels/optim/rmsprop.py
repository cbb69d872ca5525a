# SPDX-License-Identifier: MIT
"""RMSprop for a group of parameters in one call, with PyTorch's formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import (
    Case,
    join,
    nothing,
    parameters,
    parameters_label,
    step_scalars,
)
from autocalc._kernels.declare import composite
from autocalc._kernels.optim._parameters import (
    GROUP,
    Arrays,
    Metas,
    check_group,
    columns,
    sloped,
    vanishing,
)
from autocalc._kernels.samples import LARGE, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

rmsprop = composite(
    "rmsprop",
    "params* square_avg* buffers* grad_avg* ; grads* lr ; alpha:float "
    "eps:float weight_decay:float momentum:float centered:bool maximize:bool",
    "g += weight_decay * p; v = alpha * v + (1 - alpha) * g**2; change = g / "
    "(sqrt(v) + eps); with momentum change = b = momentum * b + change; p -= "
    "lr * change. Centered: m += (1 - alpha) * (g - m), and max(v - m**2, 0) "
    "under the root.",
    layout="like",
    flushes=("square_avg", "buffers", "grad_avg"),
    writes=("params", "square_avg", "buffers", "grad_avg"),
    defaults=(0.99, 1e-8, 0.0, 0.0, False, False),
)


def _expect_empty(word: str, metas: Metas, option: str, value: float) -> None:
    if metas and not value:
        raise ShapeError(
            f"rmsprop: `{word}` has {len(metas)} arrays, but `{option}` is {value}, "
            "which needs no arrays. Give an empty list."
        )


@rmsprop.rule
def _(
    params: Metas,
    square_avg: Metas,
    buffers: Metas,
    grad_avg: Metas,
    grads: Metas,
    lr: Meta,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> tuple[Metas, Metas, Metas, Metas]:
    _expect_empty("buffers", buffers, "momentum", momentum)
    _expect_empty("grad_avg", grad_avg, "centered", centered)
    lists = {"grads": grads, "square_avg": square_avg}
    lists |= {"buffers": buffers} if momentum else {}
    lists |= {"grad_avg": grad_avg} if centered else {}
    check_group("rmsprop", params, lr, None, **lists)
    return params, square_avg, buffers, grad_avg


def _updated(update: Any, params: Arrays, *lists: Arrays) -> list[list[Array]]:
    """Run `update` for each parameter; an empty list is passed as None."""
    nothing = (None,) * len(params)
    rows = map(update, params, *(given or nothing for given in lists))
    results = columns(rows, 4)
    given = (params, *lists[:3])
    return [new if old else [] for new, old in zip(results, given, strict=True)]


@rmsprop.formula(lead="mul")
def _(
    xp: Any,
    params: Arrays,
    square_avg: Arrays,
    buffers: Arrays,
    grad_avg: Arrays,
    grads: Arrays,
    lr: Array,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> list[list[Array]]:
    def update(
        p: Array, v: Array, b: Array, m: Array, g: Array
    ) -> tuple[Array, Array, Array, Array]:
        g = sloped(p, g, weight_decay, maximize)
        v = alpha * v + (1 - alpha) * (g * g)
        spread = v
        if centered:
            m = m + (1 - alpha) * (g - m)
            spread = xp.maximum(v - m * m, xp.zeros((), v.dtype))
        change = g / (xp.sqrt(spread) + eps)
        if momentum:
            change = b = momentum * b + change
        return p - lr * change, v, b, m

    return _updated(update, params, square_avg, buffers, grad_avg, grads)


@rmsprop.budget(
    "8 eps * (|p| / 8 + lr * (|change| + momentum * |b|)); centered, of v + m**2"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    params, square_avg, buffers, grad_avg, grads, lr = inputs
    alpha, epsilon, decay, momentum, centered = attributes[:5]
    result: tuple[list[Any], ...] = ([], [], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        v = alpha * magnitude(square_avg[i]) + (1 - alpha) * g * g
        result[1].append(4 * eps * v)
        spread = magnitude(expected[1][i])
        relative = 8 * eps
        if centered:
            m = magnitude(expected[3][i])
            size = magnitude(grad_avg[i]) + g
            result[3].append(4 * eps * size)
            spread = np.maximum(spread - m * m, 0)
            # The error of v - m**2, propagated through the square root.
            off = 4 * eps * (v + m * size)
            root = np.sqrt(spread)
            lost = np.minimum(off / np.maximum(root, 1e-300), np.sqrt(off))
            relative = relative + lost / (root + epsilon)
        change = relative * g / (np.sqrt(spread) + epsilon)
        if momentum:
            change = change + 4 * eps * momentum * magnitude(buffers[i])
            result[2].append(change + ulp(expected[2][i], eps))
        step = 2 * eps * magnitude(expected[2][i]) if momentum else 0.0
        result[0].append(eps * magnitude(p) + magnitude(lr) * (change + step))
    return result


def _rmsprop(
    make: Make,
    label: str,
    options: tuple[Any, ...],
    shapes: tuple[tuple[int, ...], ...] = GROUP,
) -> Sample:
    """Make consistent averages: the squared mean is less than the mean square."""
    momentum, centered = options[3:5]
    params, grads, buffers, grad_avg, above = (
        tuple(values(*shape) for shape in shapes)
        for values in (*[make.normal] * 4, make.positive)
    )
    square_avg = above
    if centered:
        pairs = zip(above, grad_avg, strict=True)
        square_avg = tuple(np.asarray(v + m * m, make.dtype) for v, m in pairs)
    written = (buffers if momentum else (), grad_avg if centered else ())
    inputs = (params, square_avg, *written, grads, make.scalar(0.01))
    return Sample(label, inputs, options)


@rmsprop.samples
def _(make: Make) -> Iterator[Sample]:
    options: tuple[tuple[Any, ...], ...] = (
        (0.99, 1e-8, 0.0, 0.0, False, False),
        (0.9, 1e-3, 0.01, 0.0, False, True),
        (0.99, 1e-8, 0.0, 0.9, False, False),
        (0.99, 1e-8, 0.01, 0.0, True, False),
        (0.5, 1e-6, 0.1, 0.5, True, True),
    )
    for option in options:
        yield _rmsprop(make, f"{option}", option)
    for option in (options[0], options[4]):
        yield from vanishing(make, _rmsprop(make, "", option), 1)
    for n in TAILS:
        yield _rmsprop(make, f"n={n}", options[4], ((n,),))
    for i in (0, 4):
        yield _rmsprop(make, f"large, {i}", options[i], ((301, 401), (LARGE,)))
    yield _rmsprop(make, "no parameters", options[4], ())


rmsprop.work(flops_per_element=12)
rmsprop.benchmarks(
    Case(
        parameters_label(),
        join(parameters(2), nothing, nothing, parameters(1, *step_scalars()[:1])),
        (0.99, 1e-8, 0.0, 0.0, False, False),
    )
)
