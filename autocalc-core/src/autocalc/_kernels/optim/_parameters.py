# SPDX-License-Identifier: MIT
"""Rules, samples and budgets for groups of parameters, which optimizers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.precision import as_float64, narrow
from autocalc._kernels.rules import INT64, expect_shape, float_dtype, one_of
from autocalc._kernels.samples import LARGE, TAILS, Make, int64
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import ShapeError

Shapes: TypeAlias = tuple[tuple[int, ...], ...]


Builder: TypeAlias = Callable[[Make, str, tuple[Any, ...], Shapes], Sample]


#: The shapes of a group's parameters.
GROUP = ((1,), (17,), (3, 5), (70,), (0,), (), (129,))


def over(
    make: Make, build: Builder, options: tuple[tuple[Any, ...], ...]
) -> Iterator[Sample]:
    """Yield all options on a group; the last also on tails, large and no parameters."""
    for option in options:
        yield build(make, f"{option}", option, GROUP)
    last = options[-1]
    for n in TAILS:
        yield build(make, f"n={n}", last, ((n,),))
    yield build(make, "large", last, ((301, 401), (LARGE,)))
    yield build(make, "no parameters", last, ())


def parameter_lists(make: Make, shapes: Shapes, kinds: str) -> tuple[Any, ...]:
    """Return a list of arrays for each letter: n for normal, p for positive values."""
    values = {"n": make.normal, "p": make.positive}
    return tuple(tuple(values[kind](*shape) for shape in shapes) for kind in kinds)


def parameter_group(make: Make) -> tuple[Array, ...]:
    return tuple(make.normal(*shape) for shape in GROUP)


def adam_samples(
    make: Make,
    label: str,
    step: int,
    options: tuple[Any, ...],
    shapes: tuple[tuple[int, ...], ...] = GROUP,
) -> Sample:
    params, exp_avg, exp_avg_sq, grads = (
        tuple(values(*shape) for shape in shapes)
        for values in (make.normal, make.normal, make.positive, make.normal)
    )
    scalars = (make.scalar(0.001), int64(step))
    return Sample(label, (params, exp_avg, exp_avg_sq, grads, *scalars), options)


def vanishing(make: Make, sample: Sample, *squares: int) -> Iterator[Sample]:
    """Yield a sample with state and gradients around the smallest normal number.

    The operands `squares` are not negative.  Gradients have this magnitude, and also
    its square root, so that their squares have this magnitude.
    """
    state, grads = list(sample.inputs), 0
    for i, x in enumerate(state):
        if i and isinstance(x, tuple):
            grads = i
            state[i] = tuple(make.vanishing(*a.shape) for a in x)
            if i in squares:
                state[i] = tuple(map(np.abs, state[i]))
    yield sample._replace(label="vanishing", inputs=tuple(state))
    roots = [np.sqrt(np.abs(a)) * np.sign(a) for a in state[grads]]
    state[grads] = tuple(a.astype(make.dtype) for a in roots)
    yield sample._replace(label="vanishing squares", inputs=tuple(state))


def sloped(p: Array, g: Array, weight_decay: float, maximize: bool) -> Array:
    """Return the gradient to descend, including weight decay."""
    g = -g if maximize else g
    return g + weight_decay * p if weight_decay else g


Arrays = Sequence[Array]


Metas = tuple[Meta, ...]


def check_group(
    name: str, params: Metas, lr: Meta, step: Meta | None, **others: Metas
) -> None:
    """Raise unless all lists have the parameters' length, shapes and dtype."""
    for word, metas in others.items():
        if len(metas) != len(params):
            raise ShapeError(
                f"{name}: `{word}` has {len(metas)} arrays for {len(params)} "
                "parameters. Give one array for each parameter."
            )
        for i, (meta, param) in enumerate(zip(metas, params, strict=True)):
            expect_shape(name, f"{word}[{i}]", meta, param.shape)
        float_dtype(name, lr, *params, *metas)
    expect_shape(name, "lr", lr, ())
    if step is not None:
        expect_shape(name, "step", step, ())
        one_of(name, "step", step, (INT64,))


def columns(rows: Iterable[tuple[Array, ...]], n: int) -> list[list[Array]]:
    """Transpose each parameter's results to `n` lists, which may be empty."""
    rows = list(rows)
    width = len(rows[0]) if rows else 0
    return [[row[i] for row in rows] if i < width else [] for i in range(n)]


def adam_scalars(
    xp: Any, lr: Array, step: Array, beta1: float, beta2: float, weight_decay: float
) -> tuple[Array, Array, Array]:
    """Return lr / (1 - beta1**t), sqrt(1 - beta2**t), 1 - lr * weight_decay.

    The computation is in float64, because 1 - 0.999 in float32 has a relative error of
    5e-5.
    """
    rate = as_float64(lr)
    t = step.astype(rate.dtype)
    step_size = rate / (1 - xp.power(beta1, t))
    root = xp.sqrt(1 - xp.power(beta2, t))
    shrink = 1 - rate * weight_decay
    return narrow(step_size, lr), narrow(root, lr), narrow(shrink, lr)
