# SPDX-License-Identifier: MIT
"""Checks, rules and samples of kernels that take indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.budgets import magnitude
from autocalc._kernels.rules import NUMBERS, one_of, same_dtype
from autocalc._kernels.spec import Array, Meta, Shape
from autocalc.errors import kernel_data_error


def added(where: tuple[Any, ...], base: Array, src: Array, eps: float) -> Array:
    """Return n * eps * (|a| + sum(|src|)) with n the terms added at each place."""
    total, count = magnitude(base).copy(), np.zeros(np.shape(base))
    np.add.at(total, where, magnitude(src))
    np.add.at(count, where, 1.0)
    return count * eps * total


ALONG = (((5,), 0), ((4, 6), 0), ((4, 6), 1), ((2, 5, 3), 1), ((1, 7), 0))


def none(*shape: int) -> Array:
    return np.zeros(shape, np.int64)


def added_at(name: str, a: Meta, src: Meta) -> Meta:
    dtype = same_dtype(name, a, src)
    one_of(name, "a", a, NUMBERS)
    return Meta(a.shape, dtype)


def replace(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def checked(xp: Any, kernel: str, operand: str, index: Array, size: int) -> Array:
    """Return `index` if all of it lies in 0 to `size` - 1.

    Raises
    ------
    KernelDataError
        Naming the first value (in row-major order) that does not.
    """
    wrong = (index < 0) | (index >= size)
    if xp.any(wrong):
        position = int(xp.argmax(wrong))
        value = int(index.reshape(-1)[position])
        raise kernel_data_error(kernel, operand, position, value)
    return index
