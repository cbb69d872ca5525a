# SPDX-License-Identifier: MIT
"""Windows over the last dimensions: sizes, padding, patches and their adjoint.

Convolution, pooling and unfolding use these functions.  `D` is the number of these
dimensions.  In each dimension, output `t` reads the positions
``t * stride - padding + i * dilation`` for the taps `i` of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from autocalc._kernels.spec import Array, Shape
from autocalc.errors import ArgumentError, ShapeError

Ints = tuple[int, ...]


class Windows(NamedTuple):
    """The geometry of windows; each field has one entry per windowed dimension."""

    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints

    @property
    def taps(self) -> int:
        """The number of elements of a window."""
        return math.prod(self.kernel)

    @property
    def spans(self) -> Ints:
        """The extent of a window, from its first to its last element."""
        pairs = zip(self.kernel, self.dilation, strict=True)
        return tuple(d * (k - 1) + 1 for k, d in pairs)

    def check(self, where: str, dims: int) -> None:
        """Raise unless all fields have `dims` entries that are large enough."""
        for name, least in (("kernel", 1), ("stride", 1), ("padding", 0),
                            ("dilation", 1)):  # fmt: skip
            values = getattr(self, name)
            if len(values) != dims or any(value < least for value in values):
                raise ArgumentError(
                    f"{where}: `{name}` is {values}; it must be {dims} integers, "
                    f"{least} or more."
                )

    def counts(self, where: str, sizes: Shape, ceil: bool = False) -> Shape:
        """Return the number of windows in each dimension.

        With `ceil`, an additional window may extend beyond the end if it begins before
        the end.
        """
        return _counts(self, where, sizes, ceil)

    def high(self, sizes: Shape, counts: Shape) -> Ints:
        """Return how far the windows extend beyond the end of each dimension."""
        return _high(self, sizes, counts)

    def places(self, counts: Shape) -> tuple[tuple[slice, ...], ...]:
        """Return each tap's positions in all windows, as one slice per dimension."""
        return _places(self, counts)


@lru_cache(1024)
def _counts(windows: Windows, where: str, sizes: Shape, ceil: bool) -> Shape:
    padded = tuple(n + 2 * p for n, p in zip(sizes, windows.padding, strict=True))
    if any(n < span for n, span in zip(padded, windows.spans, strict=True)):
        steps = zip(padded, windows.spans, windows.stride, strict=True)
        found = tuple((n - span) // step + 1 for n, span, step in steps)
        raise ShapeError(
            f"{where}: a window of {windows.spans} does not fit into the input of size "
            f"{padded}, which is {sizes} with its padding. It gives the calculated "
            f"shape of the array of sliding blocks as {found}, but its components must "
            "be at least one. Give a larger input, more padding or a smaller kernel."
        )
    each = zip(padded, windows.padding, windows.spans, windows.stride, strict=True)
    return tuple(_count(n, p, span, step, ceil) for n, p, span, step in each)


@lru_cache(1024)
def _high(windows: Windows, sizes: Shape, counts: Shape) -> Ints:
    each = zip(
        sizes, counts, windows.stride, windows.padding, windows.spans, strict=True
    )
    return tuple(
        max((count - 1) * step + span - low - n, 0)
        for n, count, step, low, span in each
    )


@lru_cache(64)
def _places(windows: Windows, counts: Shape) -> tuple[tuple[slice, ...], ...]:
    found = []
    for tap in product(*map(range, windows.kernel)):
        each = zip(tap, windows.dilation, windows.stride, counts, strict=True)
        found.append(
            tuple(slice(i * d, i * d + n * step, step) for i, d, step, n in each)
        )
    return tuple(found)


def _count(n: int, padding: int, span: int, step: int, ceil: bool) -> int:
    """Return the number of windows in `n` elements, which include the padding."""
    if not ceil:
        return (n - span) // step + 1
    count = -(-(n - span) // step) + 1
    return count - ((count - 1) * step >= n - padding)


# ---- in the array namespace ----------------------------------------------------------


def padded(
    xp: Any, a: Array, low: Sequence[int], high: Sequence[int], value: float = 0
) -> Array:
    """Return `a` with `value` around its last dimensions."""
    if not (any(low) or any(high)):
        return a
    lead, sizes = a.shape[: -len(low)], a.shape[-len(low) :]
    sides = list(zip(low, sizes, high, strict=True))
    out = xp.full((*lead, *map(sum, sides)), value, a.dtype)
    middle = (..., *[slice(before, before + n) for before, n, _ in sides])
    out[middle] = a
    return out


def columns(
    xp: Any, a: Array, windows: Windows, counts: Shape, value: float = 0
) -> Array:
    """Return the elements of all windows by tap, [N, C, *taps, *counts]."""
    sizes = a.shape[-len(counts) :]
    a = padded(xp, a, windows.padding, windows.high(sizes, counts), value)
    return xp.windows(a, windows.kernel, counts, windows.stride, windows.dilation)


def added(xp: Any, taps: Array, sizes: Shape, windows: Windows) -> Array:
    """Apply the adjoint of `columns`: sum each element over the windows with it."""
    counts = taps.shape[-len(sizes) :]
    whole = _whole(windows, sizes, counts)
    total = xp.add_windows(taps, whole, windows.stride, windows.dilation)
    return total[_middle(windows.padding, sizes)]


def _whole(windows: Windows, sizes: Shape, counts: Shape) -> Shape:
    """Return the sizes with their padding."""
    each = zip(windows.padding, sizes, windows.high(sizes, counts), strict=True)
    return tuple(map(sum, each))


def _middle(padding: Ints, sizes: Shape) -> tuple[Any, ...]:
    """Return the index of the part without padding."""
    each = zip(padding, sizes, strict=True)
    return (..., *(slice(p, p + n) for p, n in each))


# ---- in primitives -------------------------------------------------------------------


def padded_in(
    k: Any, a: Array, low: Sequence[int], high: Sequence[int], value: float = 0
) -> Array:
    """Compute `padded` with primitives, by joining blocks of `value`."""
    first = len(k.shape(a)) - len(low)
    for axis, (before, after) in enumerate(zip(low, high, strict=True), first):
        if before or after:
            parts = [_block(k, a, axis, before, value), a]
            parts.append(_block(k, a, axis, after, value))
            a = k.cat(parts, axis)
    return a


def _block(k: Any, a: Array, axis: int, size: int, value: float) -> Array:
    shape = k.shape(a)
    shape = (*shape[:axis], size, *shape[axis + 1 :])
    return k.full(shape, value, k.dtype(a))


def patches_in(k: Any, a: Array, windows: Windows, counts: Shape) -> list[Array]:
    """Return, for each tap, a view [N, C, *counts] of the padded `a`."""
    return [k.slice(a, (..., *place)) for place in windows.places(counts)]


def columns_in(k: Any, a: Array, windows: Windows, counts: Shape, value: float = 0,
               ) -> Array:  # fmt: skip
    """Return [N, C, taps, *counts] by primitives, with one copy for each tap."""
    sizes = k.shape(a)[-len(counts) :]
    a = padded_in(k, a, windows.padding, windows.high(sizes, counts), value)
    lead = len(k.shape(a)) - len(counts)
    parts = [k.slice(a, (..., None, *place)) for place in windows.places(counts)]
    return parts[0] if len(parts) == 1 else k.cat(parts, lead)


def added_in(
    k: Any, parts: Sequence[Array], sizes: Shape, windows: Windows, counts: Shape
) -> Array:
    """Apply the adjoint of `patches_in`, and remove the padding."""
    if len(parts) == 1 and counts == sizes and not any(windows.padding):
        return parts[0]
    shape, dtype = k.shape(parts[0]), k.dtype(parts[0])
    whole = _whole(windows, sizes, counts)
    total = k.zeros((*shape[:2], *whole), dtype)
    for place, part in zip(windows.places(counts), parts, strict=True):
        total = k.add_into_slice(total, (..., *place), part)
    if whole == sizes:
        return total
    return k.contiguous(k.slice(total, _middle(windows.padding, sizes)))
