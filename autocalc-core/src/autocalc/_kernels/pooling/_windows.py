# SPDX-License-Identifier: MIT
"""Checks, samples and references that pooling kernels share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Shape
from autocalc._kernels.windows import Ints, Windows
from autocalc.errors import ShapeError


def largest(xp: Any, taps: Array, places: Array, outside: int) -> tuple[Array, Array]:
    """Return the maximum over axis 2 and its position; NaN counts as the maximum.

    Of equal elements, the first one is chosen, but never one outside of the input.
    """
    best = xp.argmax(taps, axis=2)[:, :, None]
    index = xp.take_along_axis(xp.broadcast_to(places, taps.shape), best, 2)
    index = xp.where(index == outside, xp.min(places, axis=2, keepdims=True), index)
    return xp.take_along_axis(taps, best, 2)[:, :, 0], index[:, :, 0]


def spans(n: int, size: int) -> list[slice]:
    """Return which of the `n` elements each of the `size` outputs reads."""
    return [slice(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]


class Pooling(NamedTuple):
    """One pooling call: the shape of the input and the geometry of the windows."""

    x: Shape
    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    ceil: bool = False

    @property
    def label(self) -> str:
        """The label of the sample, with all parameters."""
        large = "large, " if self.x[0] * self.x[1] > 100 else ""
        return f"{large}{self.x}, {self[1:]}"

    @property
    def counts(self) -> Shape:
        """Return the number of windows in each dimension."""
        return Windows(*self[1:5]).counts("sample", self.x[2:], self.ceil)


CALLS = (
    Pooling((2, 3, 9), (3,), (2,), (1,), (1,)),
    Pooling((1, 2, 10), (3,), (2,), (0,), (2,), ceil=True),
    Pooling((2, 3, 6, 6), (2, 2), (2, 2), (0, 0), (1, 1)),
    Pooling((1, 3, 7, 9), (2, 2), (2, 2), (0, 0), (1, 1), ceil=True),
    Pooling((1, 17, 8, 7), (3, 3), (2, 2), (1, 1), (1, 1)),
    Pooling((1, 2, 5, 33), (3, 2), (1, 1), (1, 0), (1, 1)),
    Pooling((1, 2, 7, 8), (3, 3), (3, 2), (1, 1), (2, 1), ceil=True),
    Pooling((2, 2, 4, 5), (1, 1), (1, 1), (0, 0), (1, 1)),
    Pooling((2, 33, 4, 4), (4, 4), (4, 4), (0, 0), (1, 1)),
    Pooling((1, 1, 6, 6), (2, 2), (3, 3), (1, 1), (1, 1)),
    Pooling((0, 3, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
    Pooling((1, 2, 4, 3, 5), (2, 1, 3), (2, 1, 1), (1, 0, 1), (1, 1, 1)),
    Pooling((2, 2, 5, 6, 4), (3, 3, 2), (2, 2, 2), (1, 1, 0), (1, 1, 1), ceil=True),
    Pooling((9, 13, 12, 12), (2, 2), (2, 2), (0, 0), (1, 1)),
)


def hard(make: Make, shape: Shape) -> Iterator[tuple[str, Array]]:
    """Yield planes in which the selection among equal or NaN elements matters."""
    yield "many equal", np.round(make.normal(*shape))
    yield "nothing but -inf", np.full(shape, -np.inf, make.dtype)
    x = make.normal(*shape)
    x[0, 0, 1, 1] = x[0, 0, 1, 2] = x[1, 1, 0, 0] = np.nan
    yield "some nan", x


#: Shapes of inputs, and the sizes to which they are pooled.
ADAPTIVE: tuple[tuple[Shape, Ints], ...] = (
    ((2, 3, 7), (3,)),
    ((1, 2, 3), (5,)),
    ((2, 3, 6, 6), (1, 1)),
    ((1, 17, 7, 5), (2, 5)),
    ((1, 2, 4, 33), (3, 7)),
    ((0, 2, 4, 4), (2, 2)),
    ((1, 2, 3, 4, 5), (2, 1, 3)),
    ((11, 12, 10, 10), (3, 4)),
)


def adaptive_label(shape: Shape, sizes: Ints) -> str:
    return f"{'large, ' if shape[0] > 10 else ''}{shape} to {sizes}"


def expect_planes(where: str, name: str, meta: Meta, dims: int) -> None:
    """Raise unless an operand is (N, C, ...) with `dims` dimensions after C."""
    if dims < 1 or len(meta.shape) != dims + 2:
        raise ShapeError(
            f"{where}: `{name}` has shape {meta.shape}; it must be (N, C, ...) with "
            f"{max(dims, 1)} dimensions after C."
        )


def rule(where: str, name: str, x: Meta, sizes: Ints, given: Shape) -> Meta:
    dtype = float_dtype(where, x)
    expect_planes(where, name, x, len(sizes))
    if min(sizes) < 1 or min(given) < 1:
        raise ShapeError(
            f"{where}: the input size is {given} and the output size is {sizes}; "
            "neither may be empty, because the mean or maximum of no elements is "
            "undefined."
        )
    return Meta((*x.shape[:2], *sizes), dtype)


def checked_windows(where: str, windows: Windows) -> Windows:
    windows.check(where, len(windows.kernel))
    halves = tuple(span // 2 for span in windows.spans)
    if any(p > half for p, half in zip(windows.padding, halves, strict=True)):
        raise ShapeError(
            f"{where}: `padding` is {windows.padding}; it must be at most {halves}: "
            f"the pad should be at most half of effective kernel size {windows.spans}."
        )
    return windows


def largest_in(k: Any, taps: Array, places: Array, outside: int) -> tuple[Array, Array]:
    """Compute `largest` with primitives."""
    index = k.gather(k.expand(places, k.shape(taps)), k.argmax(taps, 2, True), 2)
    first = k.neg(k.max(k.neg(places), (2,), True))
    is_outside = k.compare(index, k.constant(outside, index), "eq")
    index = k.where(is_outside, first, index)
    out = k.max(taps, (2,), False)
    return out, k.reshape(index, k.shape(out))
