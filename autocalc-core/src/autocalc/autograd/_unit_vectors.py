# SPDX-License-Identifier: MIT
"""The tangents from which forward mode computes all columns of a Jacobian."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops.creation.constants import eye
from autocalc._ops.views import moving, view
from autocalc._tensor import Tensor


def unit_vectors(tensors: Sequence[Tensor], start: int, stop: int) -> list[Tensor]:
    """Return the unit vectors from `start` to `stop`, in parts like the tensors.

    A unit vector has one element for each element of all tensors.  Each part has the
    shape of its tensor, after a dimension that counts the vectors.
    """
    found, first = [], 0
    for x in tensors:
        size = x.numel()
        units = eye(stop, first + size, dtype=x.dtype)
        part = units[start:, first:] if stop else units[:, first:]
        found.append(view.reshape(part, (stop - start, *x.shape)))
        first += size
    return found


def in_blocks(columns: Tensor, y: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the derivatives of `y` with respect to each tensor.

    `columns` are the tangents of `y` along all unit vectors, which come first.
    """
    found, first = [], 0
    for x in tensors:
        block = columns[first : first + x.numel()]
        last = moving.movedim(block, 0, -1)
        found.append(view.reshape(last, (*y.shape, *x.shape)))
        first += x.numel()
    return found
