# SPDX-License-Identifier: MIT
"""Sample calls of convolutions, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample, Shape
from autocalc._kernels.windows import Ints, Windows


class _Call(NamedTuple):
    """A convolution: shapes of x and weight, and how windows lie."""

    x: Shape
    weight: Shape
    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int

    @property
    def label(self) -> str:
        """Say everything."""
        large = "large, " if math.prod(self.x) > 10_000 else ""
        return (
            f"{large}{self.x} * {self.weight}, stride {self.stride}, padding "
            f"{self.padding}, dilation {self.dilation}, groups {self.groups}"
        )

    @property
    def counts(self) -> Shape:
        """Return how many windows there are."""
        windows = Windows(self.weight[2:], *self[2:5])
        return windows.counts("sample", self.x[2:])


def _call(
    x: Shape,
    weight: Shape,
    stride: int | Ints = 1,
    padding: int | Ints = 0,
    dilation: int | Ints = 1,
    groups: int = 1,
) -> _Call:
    dims = len(x) - 2
    lie = (
        (given,) * dims if isinstance(given, int) else given
        for given in (stride, padding, dilation)
    )
    return _Call._make((x, weight, *lie, groups))


_CALLS = (
    # one dimension
    _call((2, 3, 9), (4, 3, 3)),
    _call((1, 1, 33), (1, 1, 5), 2, 2),
    _call((2, 4, 11), (6, 2, 3), 1, 3, 2, 2),
    _call((3, 5, 1), (2, 5, 1)),
    # two: kernels of 1, 3, 5, 7; strides; tails of the vector widths
    _call((2, 3, 5, 6), (4, 3, 1, 1)),
    _call((1, 17, 4, 4), (33, 17, 1, 1)),
    _call((2, 4, 7, 8), (3, 4, 1, 1), 2),
    _call((2, 3, 7, 5), (4, 3, 3, 3), 1, 1),
    _call((1, 16, 6, 17), (16, 16, 3, 3), 1, 1),
    _call((1, 5, 8, 9), (17, 5, 3, 3), 2, 1),
    _call((1, 3, 15, 14), (5, 3, 7, 7), 2, 3),
    _call((1, 2, 9, 7), (3, 2, 5, 2), (3, 1), (0, 1)),
    _call((2, 2, 9, 9), (3, 2, 3, 3), 1, 2, 2),
    _call((1, 2, 8, 10), (2, 2, 2, 3), (2, 3), (1, 2), (3, 1)),
    # groups: some, and one for each channel
    _call((2, 4, 5, 5), (6, 2, 3, 3), 1, 1, 1, 2),
    _call((1, 17, 6, 5), (17, 1, 3, 3), 1, 1, 1, 17),
    _call((1, 3, 7, 7), (6, 1, 3, 3), 2, 1, 1, 3),
    # channels enough for a stride to be done by products; a product for each image
    _call((3, 17, 15, 12), (35, 17, 3, 2), (2, 3), (1, 0), (1, 2)),
    _call((2, 5, 17, 16), (7, 5, 1, 1)),
    # a window as large as the input; nothing; three dimensions
    _call((2, 3, 4, 4), (5, 3, 4, 4)),
    _call((0, 3, 5, 5), (4, 3, 3, 3), 1, 1),
    _call((1, 2, 4, 3, 5), (3, 2, 2, 3, 2), (1, 1, 2), (1, 0, 1)),
    _call((5, 12, 13, 13), (20, 12, 3, 3), 1, 1),
    _call((3, 40, 9, 14), (36, 20, 3, 3), 1, (0, 2), 1, 2),
)


def conv(make: Make) -> Iterator[Sample]:
    for i, call in enumerate(_CALLS):
        bias = make.normal(call.weight[0]) if i % 2 else None
        x, weight = make.normal(*call.x), make.normal(*call.weight)
        yield Sample(call.label, (x, weight, bias), call[2:])
    x = _one_nan(make.normal(2, 2, 5, 5))
    weight, lie = make.normal(3, 2, 3, 3), ((1, 1), (1, 1), (1, 1), 1)
    yield Sample("one nan", (x, weight, None), lie)


def conv_dx(make: Make) -> Iterator[Sample]:
    for i, call in enumerate(_CALLS):
        channels = call.x[1]
        bias = make.normal(channels) if i % 2 else None
        g = make.normal(call.x[0], call.weight[0], *call.counts)
        inputs = (g, make.normal(*call.weight), bias)
        yield Sample(call.label, inputs, (call.x[2:], *call[2:]))
    g, weight = _one_nan(make.normal(2, 3, 5, 5)), make.normal(3, 2, 3, 3)
    lie = ((5, 5), (1, 1), (1, 1), (1, 1), 1)
    yield Sample("one nan", (g, weight, None), lie)


def conv_dweight(make: Make) -> Iterator[Sample]:
    for call in _CALLS:
        g = make.normal(call.x[0], call.weight[0], *call.counts)
        attributes = (call.weight[2:], *call[2:])
        yield Sample(call.label, (g, make.normal(*call.x)), attributes, want=0b10)


def _one_nan(a: Array) -> Array:
    a[1, 1, 2, 3] = np.nan
    return a
