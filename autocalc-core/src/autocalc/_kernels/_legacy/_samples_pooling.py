# SPDX-License-Identifier: MIT
"""Sample calls of pooling, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_pooling as references
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample, Shape
from autocalc._kernels.windows import Ints, Windows


class _Call(NamedTuple):
    """One pooling: the input's shape and how windows lie."""

    x: Shape
    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    ceil: bool = False

    @property
    def label(self) -> str:
        """Say everything."""
        large = "large, " if self.x[0] * self.x[1] > 100 else ""
        return f"{large}{self.x}, {self[1:]}"

    @property
    def counts(self) -> Shape:
        """Return how many windows there are."""
        return Windows(*self[1:5]).counts("sample", self.x[2:], self.ceil)


_CALLS = (
    _Call((2, 3, 9), (3,), (2,), (1,), (1,)),
    _Call((1, 2, 10), (3,), (2,), (0,), (2,), ceil=True),
    _Call((2, 3, 6, 6), (2, 2), (2, 2), (0, 0), (1, 1)),
    _Call((1, 3, 7, 9), (2, 2), (2, 2), (0, 0), (1, 1), ceil=True),
    _Call((1, 17, 8, 7), (3, 3), (2, 2), (1, 1), (1, 1)),
    _Call((1, 2, 5, 33), (3, 2), (1, 1), (1, 0), (1, 1)),
    _Call((1, 2, 7, 8), (3, 3), (3, 2), (1, 1), (2, 1), ceil=True),
    _Call((2, 2, 4, 5), (1, 1), (1, 1), (0, 0), (1, 1)),
    _Call((2, 33, 4, 4), (4, 4), (4, 4), (0, 0), (1, 1)),
    _Call((1, 1, 6, 6), (2, 2), (3, 3), (1, 1), (1, 1)),
    _Call((0, 3, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
    _Call((1, 2, 4, 3, 5), (2, 1, 3), (2, 1, 1), (1, 0, 1), (1, 1, 1)),
    _Call((9, 13, 12, 12), (2, 2), (2, 2), (0, 0), (1, 1)),
)


def max_pool(make: Make) -> Iterator[Sample]:
    for call in _CALLS:
        yield Sample(call.label, (make.normal(*call.x),), call[1:], want=0b10)
    call = _Call((2, 2, 5, 6), (3, 3), (2, 2), (1, 1), (1, 1))
    for label, x in _hard(make, call.x):
        yield Sample(label, (x,), call[1:], want=0b10)


def _hard(make: Make, shape: Shape) -> Iterator[tuple[str, Array]]:
    """Yield planes in which it matters which of several is chosen."""
    yield "many equal", np.round(make.normal(*shape))
    yield "nothing but -inf", np.full(shape, -np.inf, make.dtype)
    x = make.normal(*shape)
    x[0, 0, 1, 1] = x[0, 0, 1, 2] = x[1, 1, 0, 0] = np.nan
    yield "some nan", x


def max_pool_backward(make: Make) -> Iterator[Sample]:
    for call in _CALLS:
        _, indices = references.max_pool(numpy_xp, make.normal(*call.x), *call[1:])
        inputs = (make.normal(*indices.shape), indices)
        yield Sample(call.label, inputs, (call.x[2:],))


def _means() -> Iterator[tuple[_Call, tuple[Any, ...]]]:
    for i, call in enumerate(_CALLS):
        plain = call._replace(dilation=(1,) * len(call.kernel))
        divisor = 3 if i % 4 == 2 else 0
        yield plain, (*call[1:4], call.ceil, i % 2 == 0, divisor)
        if any(call.padding):
            yield plain, (*call[1:4], call.ceil, i % 2 == 1, 0)


def avg_pool(make: Make) -> Iterator[Sample]:
    for call, attributes in _means():
        label = f"{call.label}, {attributes[-2:]}"
        yield Sample(label, (make.normal(*call.x),), attributes)
    x = make.normal(2, 1, 5)
    x[1, 0, 2] = np.nan
    yield Sample("one nan", (x,), ((2,), (1,), (1,), False, True, 0))


def avg_pool_backward(make: Make) -> Iterator[Sample]:
    for call, attributes in _means():
        label = f"{call.label}, {attributes[-2:]}"
        g = make.normal(*call.x[:2], *call.counts)
        yield Sample(label, (g,), (call.x[2:], *attributes))


#: Shapes, and the sizes that they are pooled to.
_ADAPTIVE: tuple[tuple[Shape, Ints], ...] = (
    ((2, 3, 7), (3,)),
    ((1, 2, 3), (5,)),
    ((2, 3, 6, 6), (1, 1)),
    ((1, 17, 7, 5), (2, 5)),
    ((1, 2, 4, 33), (3, 7)),
    ((0, 2, 4, 4), (2, 2)),
    ((1, 2, 3, 4, 5), (2, 1, 3)),
    ((11, 12, 10, 10), (3, 4)),
)


def _adaptive_label(shape: Shape, sizes: Ints) -> str:
    return f"{'large, ' if shape[0] > 10 else ''}{shape} to {sizes}"


def adaptive_max_pool(make: Make) -> Iterator[Sample]:
    for shape, sizes in _ADAPTIVE:
        label = _adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape),), (sizes,), want=0b10)
    for label, x in _hard(make, (2, 2, 5, 6)):
        yield Sample(label, (x,), ((2, 4),), want=0b10)


def adaptive_avg_pool(make: Make) -> Iterator[Sample]:
    for shape, sizes in _ADAPTIVE:
        label = _adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape),), (sizes,))


def adaptive_avg_pool_backward(make: Make) -> Iterator[Sample]:
    for shape, sizes in _ADAPTIVE:
        label = _adaptive_label(shape, sizes)
        yield Sample(label, (make.normal(*shape[:2], *sizes),), (shape[2:],))
