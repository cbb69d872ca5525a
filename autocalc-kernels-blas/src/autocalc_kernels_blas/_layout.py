# SPDX-License-Identifier: MIT
"""Strides in the terms of BLAS: transposed or not, leading dimension, batch.

BLAS accepts a matrix whose elements are adjacent along one dimension.  Along the other
they have a constant distance, the leading dimension, which is no shorter than a row.
Most views are like this; others have to be copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: Dimensions and distances are 32-bit integers in most builds.
MAX_INTEGER = 2**31 - 1

Strides = tuple[int, ...]


class Layout(NamedTuple):
    """How a row-major BLAS call describes a matrix; distances are in elements."""

    transposed: bool
    leading: int


class Loop(NamedTuple):
    """One batch dimension, with its strides in bytes in a, b and out."""

    size: int
    a: int
    b: int
    out: int


def layout(
    rows: int, columns: int, row_stride: int, column_stride: int, itemsize: int
) -> Layout | None:
    """Return the layout of a matrix, or None if BLAS cannot take it."""
    leading = _leading(columns, rows, column_stride, row_stride, itemsize)
    if leading:
        return Layout(False, leading)
    leading = _leading(rows, columns, row_stride, column_stride, itemsize)
    return Layout(True, leading) if leading else None


def _leading(
    adjacent: int, others: int, stride: int, other_stride: int, itemsize: int
) -> int:
    """Return the leading dimension if `adjacent` elements are adjacent, else 0."""
    if adjacent > 1 and stride != itemsize:
        return 0
    if others <= 1:
        return max(1, adjacent)  # no distance is that large
    leading, rest = divmod(other_stride, itemsize)
    fits = rest == 0 and max(1, adjacent) <= leading <= MAX_INTEGER
    return leading if fits else 0


def increment(size: int, stride: int, itemsize: int) -> int:
    """Return the distance between elements of a vector; 0 if BLAS cannot take it."""
    if size <= 1:
        return 1
    step, rest = divmod(stride, itemsize)
    return step if rest == 0 and step <= MAX_INTEGER else 0


def batch_strides(
    batch: Sequence[int], shape: Sequence[int], strides: Strides
) -> Strides:
    """Return the strides of an operand over the broadcast `batch`; 0 means repeated."""
    missing = len(batch) - len(shape)
    own = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return (0,) * missing + own


def merged(batch: Sequence[int], a: Strides, b: Strides, out: Strides) -> list[Loop]:
    """Return the batch as few loops as possible, the innermost last."""
    loops: list[Loop] = []
    for loop in map(Loop, batch, a, b, out):
        if loop.size == 1:
            continue
        if loops and _continues(loops[-1], loop):
            loops[-1] = loop._replace(size=loop.size * loops[-1].size)
        else:
            loops.append(loop)
    return loops


def _continues(outer: Loop, inner: Loop) -> bool:
    """Return whether the outer loop continues where the inner one ends."""
    return all(
        far == near * inner.size for far, near in zip(outer[1:], inner[1:], strict=True)
    )
