# SPDX-License-Identifier: MIT
"""Sample calls of what works on lists: optimizers, gradient norm, scaling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.rules import FLOAT32
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make, int64
from autocalc._kernels.spec import Array, Sample

#: Shapes of a group's parameters.
GROUP = ((1,), (17,), (3, 5), (70,), (0,), (), (129,))


def _group(make: Make) -> tuple[Array, ...]:
    return tuple(make.normal(*shape) for shape in GROUP)


def sgd(make: Make) -> Iterator[Sample]:
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
            buffers = _group(make) if option[0] else ()
            inputs = (
                _group(make),
                buffers,
                _group(make),
                make.scalar(0.1),
                int64(step),
            )
            yield Sample(f"{option}, step {step}", inputs, option)
    for n in TAILS:
        lists: list[tuple[Any, ...]] = [(make.normal(n),) for _ in range(3)]
        inputs = (*lists, make.scalar(0.1), int64(2))
        yield Sample(f"n={n}", inputs, options[4])
    group = [(make.normal(301, 401), make.normal(LARGE)) for _ in range(3)]
    yield Sample("large", (*group, make.scalar(0.1), int64(2)), options[4])
    yield Sample("no parameters", ((), (), (), make.scalar(0.1), int64(1)), options[0])


def adamw(make: Make) -> Iterator[Sample]:
    options: tuple[tuple[Any, ...], ...] = (
        (0.9, 0.999, 1e-8, 0.01, True, False),
        (0.9, 0.999, 1e-8, 0.01, False, False),
        (0.9, 0.999, 1e-8, 0.0, True, True),
        (0.0, 0.5, 1e-3, 0.1, True, False),
    )
    for option in options:
        for step in (1, 2, 1000):
            yield _adamw(make, f"{option}, step {step}", step, option)
    for n in TAILS:
        yield _adamw(make, f"n={n}", 3, options[0], ((n,),))
    yield _adamw(make, "large", 3, options[0], ((301, 401), (LARGE,)))


def _adamw(
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


def rmsprop(make: Make) -> Iterator[Sample]:
    options: tuple[tuple[Any, ...], ...] = (
        (0.99, 1e-8, 0.0, 0.0, False, False),
        (0.9, 1e-3, 0.01, 0.0, False, True),
        (0.99, 1e-8, 0.0, 0.9, False, False),
        (0.99, 1e-8, 0.01, 0.0, True, False),
        (0.5, 1e-6, 0.1, 0.5, True, True),
    )
    for option in options:
        yield _rmsprop(make, f"{option}", option)
    for n in TAILS:
        yield _rmsprop(make, f"n={n}", options[4], ((n,),))
    for i in (0, 4):
        yield _rmsprop(make, f"large, {i}", options[i], ((301, 401), (LARGE,)))
    yield _rmsprop(make, "no parameters", options[4], ())


def _rmsprop(
    make: Make,
    label: str,
    options: tuple[Any, ...],
    shapes: tuple[tuple[int, ...], ...] = GROUP,
) -> Sample:
    """Take averages as they come about: the square of the mean is below the mean."""
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


def grad_norm(make: Make) -> Iterator[Sample]:
    yield Sample("a group", (_group(make),))
    for n in TAILS:
        yield Sample(f"n={n}", ((make.normal(n),),))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", ((make.normal(*shape), make.normal(3)),))
    yield Sample("many", (tuple(make.normal(5) for _ in range(100)),))
    if make.dtype == FLOAT32:  # their squares overflow, or vanish, in float32
        for scale in (1e25, 1e-25):
            yield Sample(f"scale={scale}", ((make.normal(40, scale=scale),),))
    for value in (np.inf, -np.inf, np.nan, -0.0):
        a = make.normal(37)
        a[18] = value
        yield Sample(f"one {value}", ((make.normal(5), a),))
    yield Sample("all zero", ((np.zeros(9, make.dtype),),))
    yield Sample("large", ((make.normal(301, 401), make.normal(LARGE)),))


def scale(make: Make) -> Iterator[Sample]:
    for factor in (0.3, 0.0, -1.0, 1.0):
        yield Sample(f"a group by {factor}", (_group(make), make.scalar(factor)))
    for n in TAILS:
        yield Sample(f"n={n}", ((make.normal(n),), make.normal()))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", ((make.normal(*shape),), make.normal()))
    for value in (0.5, np.inf, np.nan):
        yield Sample(f"special by {value}", ((make.special(),), make.scalar(value)))
    group = (make.normal(301, 401), make.normal(LARGE))
    yield Sample("large", (group, make.scalar(0.3)))
    yield Sample("nothing", ((), make.scalar(0.3)))
