# SPDX-License-Identifier: MIT
"""What modules above the selection of kernels provide to it.

A decomposition calls kernels by the namespace `arrays`, whose calls ask the selection.
A small one runs as a short program, which is made of tensors.  Imports of these would
point upward, so each module provides its part when it is imported::

    provide(arrays=arrays)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._kernels.spec import KernelSpec

#: Runs a decomposition: ``(operands, attributes, wanted) -> outputs``.
Compute = Callable[[Sequence[Any], tuple[Any, ...], int], Any]


class Provided:
    """The parts that are provided.

    Attributes
    ----------
    arrays
        The namespace of kernel calls.
    short_program
        Returns what runs a kernel's decomposition as a short program; None where
        nothing does.
    """

    __slots__ = ("arrays", "short_program")

    def __init__(self) -> None:
        self.arrays: Any = None
        self.short_program: Callable[[KernelSpec], Compute | None] = lambda _: None


provided = Provided()


def provide(**parts: Any) -> None:
    """Provide parts by their names."""
    for name, part in parts.items():
        setattr(provided, name, part)
