# SPDX-License-Identifier: MIT
"""The layout of images in memory, as users name it."""

from __future__ import annotations

from autocalc.errors import ArgumentError

__all__ = ["channels_last", "contiguous_format", "preserve_format"]


class MemoryFormat:
    """The layout of elements in memory; shapes and indices are the same in all of them.

    ``contiguous_format`` is row by row, ``channels_last`` keeps the channels of each
    pixel of [N, C, H, W] together, ``preserve_format`` leaves it as it is.

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
        return f"autocalc.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")


def asks_channels_last(where: str, memory_format: object) -> bool:
    """Return whether `memory_format` is `channels_last`.

    Raises
    ------
    ArgumentError
        If it is no memory format.
    """
    if memory_format.__class__ is not MemoryFormat:
        message = (
            f"{where}: memory_format={memory_format!r} is none; give "
            f"ac.channels_last, ac.contiguous_format or ac.preserve_format."
        )
        raise ArgumentError(message)
    return memory_format is channels_last
