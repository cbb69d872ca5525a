# SPDX-License-Identifier: MIT
"""Objects that modules above the selection of kernels provide to it.

A decomposition calls kernels through the namespace `arrays`, whose calls use the
selection.  A small decomposition runs as a short program, which is made from tensors.
Imports of these modules would point upward.  Each module therefore provides its part
when it is imported::

    provide(arrays=arrays)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._kernels.spec import KernelSpec

#: Runs a decomposition: ``(operands, attributes, wanted) -> outputs``.
Compute = Callable[[Sequence[Any], tuple[Any, ...], int], Any]


class Provided:
    """The objects that were provided.

    Attributes
    ----------
    arrays
        The namespace of kernel calls.
    short_program
        Returns a function that runs a kernel's decomposition as a short program, or
        None.
    batched
        Returns the kernel of a spec for batched arrays (`_dispatch.device.batches`).
    function_rules
        Two functions for a `Function` with a rule of its own: the level of its
        arguments, and its outputs by the rule; None if `vmap` was never imported.
    dual
        Returns the kernel of a spec for dual arrays (`_dispatch.device.duals`).
    """

    __slots__ = ("arrays", "batched", "dual", "function_rules", "short_program")

    def __init__(self) -> None:
        self.arrays: Any = None
        self.function_rules: Any = None
        self.batched: Callable[[KernelSpec], Callable[..., None]]
        self.dual: Callable[[KernelSpec], Callable[..., None]]
        self.short_program: Callable[[KernelSpec], Compute | None] = lambda _: None


provided = Provided()


def provide(**parts: Any) -> None:
    """Provide objects by their names."""
    for name, part in parts.items():
        setattr(provided, name, part)
