# SPDX-License-Identifier: MIT
"""Sample calls of Adagrad, Adadelta and Lion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels._legacy._samples_optimizers import GROUP
from autocalc._kernels.samples import LARGE, TAILS, Make, int64
from autocalc._kernels.spec import Sample

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
Builder: TypeAlias = Callable[[Make, str, tuple[Any, ...], Shapes], Sample]


def _over(
    make: Make, build: Builder, options: tuple[tuple[Any, ...], ...]
) -> Iterator[Sample]:
    """Yield every option on a group, the last on tails, large and no parameters."""
    for option in options:
        yield build(make, f"{option}", option, GROUP)
    last = options[-1]
    for n in TAILS:
        yield build(make, f"n={n}", last, ((n,),))
    yield build(make, "large", last, ((301, 401), (LARGE,)))
    yield build(make, "no parameters", last, ())


def _lists(make: Make, shapes: Shapes, kinds: str) -> tuple[Any, ...]:
    """Return a list of arrays for each letter: n for normal, p for positive."""
    values = {"n": make.normal, "p": make.positive}
    return tuple(tuple(values[kind](*shape) for shape in shapes) for kind in kinds)


def adagrad(make: Make) -> Iterator[Sample]:
    options = ((0.0, 1e-10, 0.0, False), (0.1, 1e-3, 0.01, True))
    for step in (1, 2, 1000):
        yield _adagrad(make, f"step {step}", options[1], GROUP, step)
    yield from _over(make, _adagrad, options)


def _adagrad(
    make: Make, label: str, option: tuple[Any, ...], shapes: Shapes, step: int = 3
) -> Sample:
    lists = _lists(make, shapes, "npn")
    return Sample(label, (*lists, make.scalar(0.01), int64(step)), option)


def adadelta(make: Make) -> Iterator[Sample]:
    options = ((0.9, 1e-6, 0.0, False), (0.5, 1e-3, 0.1, True))
    yield from _over(make, _adadelta, options)


def _adadelta(
    make: Make, label: str, option: tuple[Any, ...], shapes: Shapes
) -> Sample:
    lists = _lists(make, shapes, "nppn")
    return Sample(label, (*lists, make.scalar(0.5)), option)


def lion(make: Make) -> Iterator[Sample]:
    options = ((0.9, 0.99, 0.0, False), (0.0, 0.5, 0.0, True), (0.9, 0.99, 0.1, True))
    yield from _over(make, _lion, options)
    zero = (np.zeros(9, make.dtype),)
    inputs = ((make.normal(9),), zero, zero, make.scalar(0.01))
    yield Sample("a gradient of 0 moves nothing", inputs, options[0])


def _lion(make: Make, label: str, option: tuple[Any, ...], shapes: Shapes) -> Sample:
    lists = _lists(make, shapes, "nnn")
    return Sample(label, (*lists, make.scalar(0.01)), option)
