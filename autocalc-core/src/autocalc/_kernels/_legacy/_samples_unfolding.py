# SPDX-License-Identifier: MIT
"""Sample calls of unfolding and folding."""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Sample, Shape
from autocalc._kernels.windows import Ints, Windows

#: Shape of the planes, and how windows lie.
_CALLS: tuple[tuple[Shape, tuple[Ints, Ints, Ints, Ints]], ...] = (
    ((2, 3, 5, 6), ((2, 3), (1, 1), (0, 0), (1, 1))),
    ((1, 2, 7, 7), ((3, 3), (2, 1), (1, 1), (1, 2))),
    ((2, 2, 4, 33), ((1, 1), (1, 1), (0, 0), (1, 1))),
    ((1, 2, 6, 5), ((1, 1), (2, 3), (1, 0), (1, 1))),
    ((0, 3, 4, 4), ((2, 2), (2, 2), (0, 0), (1, 1))),
    ((2, 3, 17), ((4,), (3,), (2,), (1,))),
    ((9, 10, 12, 12), ((3, 3), (1, 1), (1, 1), (1, 1))),
)


def _label(shape: Shape, windows: tuple[Ints, ...]) -> str:
    return f"{'large, ' if shape[0] > 8 else ''}{shape}, {windows}"


def unfold(make: Make) -> Iterator[Sample]:
    for shape, windows in _CALLS:
        yield Sample(_label(shape, windows), (make.normal(*shape),), windows)


def fold(make: Make) -> Iterator[Sample]:
    for (batch, channels, *rest), given in _CALLS:
        windows, sizes = Windows(*given), tuple(rest)
        count = 1
        for n in windows.counts("sample", sizes):
            count *= n
        x = make.normal(batch, channels * windows.taps, count)
        label = _label((batch, channels, *sizes), given)
        yield Sample(label, (x,), (sizes, *given))
