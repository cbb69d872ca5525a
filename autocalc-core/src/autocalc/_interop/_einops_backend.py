# SPDX-License-Identifier: MIT
"""The backend of einops: ``rearrange``, ``reduce``, ``repeat``, ``einsum``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einops._backends import AbstractBackend

from autocalc._ops.arranging.joining import cat, stack
from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.creation.ranges import arange
from autocalc._ops.matrices.einsum import einsum
from autocalc._tensor import Tensor


class AutoCalcBackend(AbstractBackend):
    """The backend that einops needs, implemented with functions of AutoCalc."""

    framework_name = "autocalc"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        tensor = from_numpy(x)
        return tensor.requires_grad_(tensor.is_floating_point())

    def to_numpy(self, x: Tensor) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        return arange(start, stop)

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return x.permute(axes)

    def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
        if operation in ("min", "max"):
            operation = f"a{operation}"
        if operation != "prod":
            result: Tensor = getattr(x, operation)(dim=tuple(axes))
            return result
        for axis in sorted(axes, reverse=True):
            x = x.prod(dim=axis)
        return x

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = self.add_axis(x, position)
            sizes[position] = length
        return x.expand(sizes)

    def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        return x.repeat(repeats)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return cat(tensors, dim=axis)

    def is_float_type(self, x: Tensor) -> bool:
        return x.is_floating_point()

    def layers(self) -> Any:
        from autocalc._interop import _einops_layers

        return _einops_layers

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return einsum(pattern, *x)
