# SPDX-License-Identifier: MIT
"""Views of an array in another shape, where its strides allow one."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from autocalc._dispatch.device.device import DeviceArray
from autocalc._kernels.rules import check_ndim
from autocalc._kernels.spec import Array, Shape

#: Copying this many elements takes less time than finding out whether that is needed.
SMALL = 1024


@lru_cache(1024)
def expanded_strides(old: Shape, strides: Shape, shape: Shape) -> Shape | None:
    """Return the strides of an array repeated to `shape`; None if it does not fit."""
    lead = len(shape) - len(old)
    if lead < 0 or any(n not in {1, m} for n, m in zip(old, shape[lead:], strict=True)):
        return None
    return (
        *(0,) * lead,
        *(0 if n == 1 else s for n, s in zip(old, strides, strict=True)),
    )


def reshaped_view(a: Array, shape: Shape) -> Array | None:
    """Return a view of `a` with another shape; None if its strides do not allow one.

    To find that there is no view of a large array, NumPy would first make a copy.  This
    took 0.4 ms for the queries, keys and values of 1,024 tokens.
    """
    try:
        if a.flags.c_contiguous or not a.size:
            return a.reshape(shape)
        if a.size > SMALL or a.__class__ is DeviceArray:
            shape = _with_sizes(shape, a.size)
            return a.reshape(shape) if _runs_fit(a, shape) else None
        seen = a.reshape(shape)
    except ValueError:
        check_ndim(len(shape))
        raise
    shared = seen.base is a or (a.base is not None and seen.base is a.base)
    return seen if shared else None


def _with_sizes(shape: Shape, count: int) -> Shape:
    """Return a shape of `count` elements without -1."""
    if -1 not in shape:
        return shape
    others = -prod(shape)
    missing = count // others if others else 0
    return tuple([missing if size == -1 else size for size in shape])


def _runs_fit(a: Array, shape: Shape) -> bool:
    """Return whether each new dimension is within one run of evenly spaced elements."""
    old = [(n, s) for n, s in zip(a.shape, a.strides, strict=True) if n != 1]
    left = step = 1
    for size in reversed(shape):
        if size == 1:
            continue
        if left == 1:
            left, step = old.pop()
            while old and old[-1][1] == step * left:
                left *= old.pop()[0]
        if left % size:
            return False
        left //= size
        step *= size
    return True
