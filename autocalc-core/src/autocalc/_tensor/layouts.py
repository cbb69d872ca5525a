# SPDX-License-Identifier: MIT
"""`layout`: the layout of tensors: `strided` if they are dense, or a sparse one."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import spelling
from autocalc._tensor.checks import check_flags
from autocalc.errors import ArgumentError

__all__ = ["layout", "sparse_coo", "sparse_csc", "sparse_csr", "strided"]
__all__ += ["jagged"]


class layout:
    """The layout of a tensor's elements in memory.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones(2).layout
    autocalc.strided
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{spelling.package}.{self._name}"

    def __reduce__(self) -> str:
        return self._name


#: Dense: the address of an element is a sum of steps along the dimensions.
strided = layout("strided")

#: Sparse: the coordinates of the entries; the entries row by row, or column by column.
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")

#: Ragged: rows of different lengths, one after the other.
jagged = layout("jagged")


def check_layout(where: str, given: Any, pinned: Any = None) -> None:
    """Raise unless the layout is supported and `pin_memory` is a flag."""
    check_flags(where, pin_memory=pinned)
    if given is not None and given is not strided:
        raise ArgumentError(
            f"{where}: `layout` is {given!r}, but this function makes dense tensors. "
            "Do not give it, or give strided; to_sparse() makes sparse tensors."
        )
