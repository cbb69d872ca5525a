# SPDX-License-Identifier: MIT
"""Tensors joined to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops import shape as shapes
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._coerce import coerce
from autocalc._ops._out import copy_to_out
from autocalc._ops.functional.shapes import unsqueeze
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def listed(where: str, tensors: Any) -> Any:
    """Return what must be a list or tuple of tensors."""
    if not isinstance(tensors, (list, tuple)):
        message = (
            f"{where}: got a {type(tensors).__name__}; it must be a list or tuple of "
            f"tensors."
        )
        raise DTypeError(message)
    return tensors


def cat(
    tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must be equal.

    Tensors of shape (0,) are left out, as in PyTorch.
    """
    parts = coerce("cat", *listed("cat", tensors)) if tensors else ()
    if not parts:
        message = "cat: needs at least one tensor."
        raise ArgumentError(message)
    parts = tuple(part for part in parts if part.shape != (0,)) or parts[:1]
    axis = axis_of("cat", dim, parts[0].ndim)
    for i, part in enumerate(parts):
        same = part.ndim == parts[0].ndim and all(
            m == n or j == axis
            for j, (m, n) in enumerate(zip(part.shape, parts[0].shape, strict=True))
        )
        if not same or part.ndim == 0:
            message = (
                f"cat: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{parts[0].shape}; all sizes but that of dimension {axis} must agree."
            )
            raise ShapeError(message)
    result = shapes.cat(parts, axis)
    return result if out is None else copy_to_out("cat", result, out)


def stack(
    tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    if not listed("stack", tensors):
        message = "stack: needs at least one tensor."
        raise ArgumentError(message)
    for i, part in enumerate(tensors):
        if check_tensor("stack", part).shape != tensors[0].shape:
            message = (
                f"stack: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{tensors[0].shape}; all must be equal."
            )
            raise ShapeError(message)
    axis = axis_of("stack", dim, tensors[0].ndim + 1)
    return cat([unsqueeze(part, axis) for part in tensors], axis, out=out)
