# SPDX-License-Identifier: MIT
"""Checks, rules and samples of kernels that take indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.budgets import magnitude
from autocalc._kernels.indexing.ranges import index_error
from autocalc._kernels.rules import (
    INT64,
    NUMBERS,
    check_axis,
    expect_ndim,
    expect_shape,
    one_of,
    same_dtype,
)
from autocalc._kernels.spec import Array, Meta, Shape


def added(where: tuple[Any, ...], base: Array, src: Array, eps: float) -> Array:
    """Return n * eps * (|a| + sum(|src|)); n terms per position, at most 1024."""
    total, count = magnitude(base).copy(), np.zeros(np.shape(base))
    np.add.at(total, where, magnitude(src))
    np.add.at(count, where, 1.0)
    return np.minimum(count, 1024) * eps * total


ALONG = (((5,), 0), ((4, 6), 0), ((4, 6), 1), ((2, 5, 3), 1), ((1, 7), 0))


def none(*shape: int) -> Array:
    return np.zeros(shape, np.int64)


def added_at(name: str, a: Meta, src: Meta) -> Meta:
    dtype = same_dtype(name, a, src)
    one_of(name, "a", a, NUMBERS)
    return Meta(a.shape, dtype)


def along_rule(name: str, a: Meta, index: Meta, axis: int) -> None:
    """Raise unless `index` has the shape of `a` in all dimensions but `axis`."""
    check_axis(name, axis, a)
    one_of(name, "index", index, (INT64,))
    expect_ndim(name, "index", index, len(a.shape))
    expect_shape(name, "index", index, replace(a.shape, axis, index.shape[axis]))


def written_along_rule(name: str, a: Meta, index: Meta, src: Meta, axis: int) -> None:
    """Raise unless `index` satisfies `along_rule` and `src` has its shape."""
    along_rule(name, a, index, axis)
    expect_shape(name, "src", src, index.shape)


def replace(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def checked(
    xp: Any, kernel: str, operand: str, index: Array, size: int, also: str = ""
) -> Array:
    """Return `index` if it is from 0 to `size` - 1; `also` is part of the error.

    Raises
    ------
    KernelDataError
        If not; the error names the first wrong value in row-major order.
    """
    wrong = xp.out_of_range(index, size)
    if xp.any(wrong):
        position = int(xp.argmax(wrong))
        value = int(index.reshape(-1)[position])
        raise index_error(kernel, operand, position, value, range(size), also)
    return index


def places_along(
    xp: Any, kernel: str, index: Array, a: Array, axis: int
) -> tuple[Array, ...]:
    """Return the positions that `index` selects along `axis` of `a`; check them."""
    where = list(xp.open_grid(index.shape))
    where[axis] = checked(xp, kernel, "index", index, a.shape[axis])
    return tuple(where)
