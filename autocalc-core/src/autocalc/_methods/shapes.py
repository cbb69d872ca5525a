# SPDX-License-Identifier: MIT
"""Methods that move, choose or convert elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import contiguous_format


def _sizes(sizes: tuple[Any, ...]) -> Sequence[int]:
    """Return sizes given one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return sizes[0]
    return sizes


class Shapes:
    """The same elements in another shape, order or dtype."""

    __slots__ = ()

    def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Return x with dimensions merged."""
        return view.flatten(self, start_dim, end_dim)

    def squeeze(self: Tensor, dim: Any = None) -> Tensor:
        """Return x without dimensions of size 1."""
        return view.squeeze(self, dim)

    def unsqueeze(self: Tensor, dim: int) -> Tensor:
        """Return x with a dimension of size 1 inserted."""
        return view.unsqueeze(self, dim)

    def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """Return x with two dimensions exchanged: a view."""
        return view.transpose(self, dim0, dim1)

    def t(self: Tensor) -> Tensor:
        """Return the transpose of a matrix."""
        return view.t(self)

    def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
        """Return a copy with the same history, in the same layout if none is named."""
        return view.clone(self, memory_format=memory_format)

    def reshape(self: Tensor, *sizes: Any) -> Tensor:
        """Return x in another shape; one size may be -1."""
        return view.reshape(self, _sizes(sizes))

    def view(self: Tensor, *sizes: Any) -> Tensor:
        """Return x in another shape, sharing its memory."""
        return view.view(self, _sizes(sizes))

    def permute(self: Tensor, *sizes: Any) -> Tensor:
        """Return x with its dimensions in another order: a view."""
        return view.permute(self, _sizes(sizes))

    def expand(self: Tensor, *sizes: Any) -> Tensor:
        """Return x repeated to a larger shape, without a copy."""
        return view.expand(self, _sizes(sizes))

    @property
    def T(self: Tensor) -> Tensor:
        """The dimensions in reverse order: a view."""
        return view.permute(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self: Tensor) -> Tensor:
        """The last two dimensions exchanged: a view."""
        return view.transpose(self, -2, -1)

    def contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
        """Return x itself if its elements lie in this order, row-major, else a copy."""
        return view.to(self, memory_format=memory_format)

    def to(
        self: Tensor,
        *args: Any,
        dtype: DType | None = None,
        copy: bool = False,
        device: str | Device | None = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        """Return x with another dtype or on another device, itself if nothing changes.

        Takes a dtype, a device, both, or a tensor whose dtype to take, and the layout
        in memory; `non_blocking` has no effect.
        """
        return view.to(
            self,
            *args,
            dtype=dtype,
            copy=copy,
            device=device,
            memory_format=memory_format,
        )

    def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
        """Return x itself: it lives on the CPU."""
        return self

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x with the dtype of `other`."""
        return view.type_as(self, other)

    def float(self: Tensor) -> Tensor:
        """Return x as float32."""
        return self.to(dtypes.float32)

    def double(self: Tensor) -> Tensor:
        """Return x as float64."""
        return self.to(dtypes.float64)

    def int(self: Tensor) -> Tensor:
        """Return x as int32."""
        return self.to(dtypes.int32)

    def long(self: Tensor) -> Tensor:
        """Return x as int64."""
        return self.to(dtypes.int64)

    def bool(self: Tensor) -> Tensor:
        """Return x as booleans."""
        return self.to(dtypes.bool_)
