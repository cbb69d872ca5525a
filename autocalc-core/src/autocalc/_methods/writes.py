# SPDX-License-Identifier: MIT
"""Methods that write into the tensor; their names end with an underscore."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import _writing
from autocalc._tensor import Tensor


class Writes:
    """In place, counted by the storage's version."""

    __slots__ = ()

    def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add `other`, in place; return x."""
        return inplace.add_(self, other, alpha)

    def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Subtract `other`, in place; return x."""
        return inplace.sub_(self, other, alpha)

    def mul_(self: Tensor, other: Any) -> Tensor:
        """Multiply by `other`, in place; return x."""
        return inplace.mul_(self, other)

    def div_(self: Tensor, other: Any, *, rounding_mode: Any = None) -> Tensor:
        """Divide by `other`, in place; return x."""
        return inplace.div_(self, other, rounding_mode)

    def copy_(self: Tensor, src: Any, non_blocking: Any = False) -> Tensor:
        """Take over the values of `src`, in place; return x."""
        return _writing.copy_(self, src)

    def fill_(self: Tensor, value: Any) -> Tensor:
        """Set every element to `value`, in place; return x."""
        return _writing.fill_(self, value)

    def zero_(self: Tensor) -> Tensor:
        """Set every element to 0, in place; return x."""
        return inplace.zero_(self)

    def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
        """Limit to min and max, in place; return x."""
        return inplace.clamp_(self, min, max)

    def uniform_(
        self: Tensor, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
    ) -> Tensor:
        """Draw every element evenly from [low, high), in place; return x."""
        return inplace.uniform_(self, low, high, generator)

    def normal_(
        self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
    ) -> Tensor:
        """Draw every element from a normal distribution, in place; return x."""
        return inplace.normal_(self, mean, std, generator)

    def detach_(self: Tensor) -> Tensor:
        """Cut the history off, in place; return x."""
        return inplace.detach_(self)
