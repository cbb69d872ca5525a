# SPDX-License-Identifier: MIT
"""Sample calls of resampling, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Sample, Shape

#: Shape, axis, size.
_CALLS: tuple[tuple[Shape, int, int], ...] = (
    ((2, 3, 5), 2, 9),
    ((2, 3, 9), 2, 4),
    ((1, 2, 4, 17), 2, 7),
    ((1, 2, 17, 5), 3, 33),
    ((3, 1, 1), 2, 5),
    ((2, 2, 7), 2, 1),
    ((0, 2, 3), 2, 6),
    ((6, 10, 15, 23), 2, 31),
)


def _calls() -> Iterator[tuple[str, Shape, tuple[int, int, float, str, bool]]]:
    for shape, axis, size in _CALLS:
        n, large = shape[axis], "large, " if shape[0] > 5 else ""
        corners = (n - 1) / (size - 1) if size > 1 else 0.0
        for mode, align, scale in (
            ("nearest", False, n / size),
            ("linear", False, n / size),
            ("linear", True, corners),
        ):
            label = f"{large}{mode}, {shape}, {axis} to {size}, corners {align}"
            yield label, shape, (axis, size, scale, mode, align)
    for mode in ("nearest", "linear"):
        label = f"{mode}, a scale of its own"
        yield label, (2, 5, 3), (1, 12, 1 / 2.55, mode, False)


def resample(make: Make) -> Iterator[Sample]:
    for label, shape, attributes in _calls():
        yield Sample(label, (make.normal(*shape),), attributes)


def resample_backward(make: Make) -> Iterator[Sample]:
    for label, shape, (axis, size, *rest) in _calls():
        g = make.normal(*shape[:axis], size, *shape[axis + 1 :])
        yield Sample(label, (g,), (axis, shape[axis], *rest))
