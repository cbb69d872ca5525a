# SPDX-License-Identifier: MIT
"""The names of memory layouts of images in the public interface."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import spelling
from autocalc.errors import ArgumentError, ShapeError

__all__ = ["channels_last", "channels_last_3d", "contiguous_format", "preserve_format"]


class MemoryFormat:
    """The order of a tensor's elements in memory, which does not affect its indices.

    ``contiguous_format`` is row-major order.  ``channels_last`` stores the channels of
    each pixel of [N, C, H, W] next to each other, and ``channels_last_3d`` those of
    [N, C, D, H, W].  ``preserve_format`` keeps the order of the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(8, 3, 32, 32).to(memory_format=ac.channels_last)
    >>> x.shape, x.stride()
    (autocalc.Size([8, 3, 32, 32]), (3072, 1, 96, 3))
    >>> x.is_contiguous(), x.is_contiguous(memory_format=ac.channels_last)
    (False, True)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{spelling.package}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


#: PyTorch's name for the class.
memory_format = MemoryFormat

contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")

#: The order of the dimensions in memory, and their names.
_ORDERS = {
    channels_last: ((0, 2, 3, 1), "(N, C, H, W)"),
    channels_last_3d: ((0, 2, 3, 4, 1), "(N, C, D, H, W)"),
}


def order_asked(
    where: str, memory_format: object, shape: Any = None
) -> tuple[int, ...] | None:
    """Return the order of dimensions in memory that a format means; None for others.

    If a `shape` is given, it must have the same number of dimensions.

    Raises
    ------
    ArgumentError
        If it is not a memory format.
    ShapeError
        If the shape has a different number of dimensions.
    """
    if memory_format.__class__ is not MemoryFormat:
        raise ArgumentError(
            f"{where}: memory_format={memory_format!r} is not a memory format; give "
            "ac.channels_last, ac.channels_last_3d, ac.contiguous_format or "
            "ac.preserve_format."
        )
    order, sizes = _ORDERS.get(memory_format, (None, ""))
    if order and shape is not None and len(shape) != len(order):
        raise ShapeError(
            f"{where}: {memory_format.name} is a memory format for {sizes}, but the "
            f"shape is {tuple(shape)}. Use unsqueeze() first, or another memory format."
        )
    return order
