# SPDX-License-Identifier: MIT
"""Methods that turn a tensor into a view of itself."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _inplace_shapes as inplace_shapes
from autocalc._tensor import Tensor


class ShapeWrites:
    """In place: the same memory in another shape or order."""

    __slots__ = ()

    def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
        """Take dimensions of size 1 away, in place; return x."""
        return inplace_shapes.view_("squeeze", self, dim)

    def unsqueeze_(self: Tensor, dim: int) -> Tensor:
        """Insert a dimension of size 1, in place; return x."""
        return inplace_shapes.view_("unsqueeze", self, dim)

    def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """Exchange two dimensions, in place; return x."""
        return inplace_shapes.view_("transpose", self, dim0, dim1)

    swapaxes_ = transpose_
    swapdims_ = transpose_

    def t_(self: Tensor) -> Tensor:
        """Transpose a matrix, in place; return x."""
        return inplace_shapes.view_("t", self)
