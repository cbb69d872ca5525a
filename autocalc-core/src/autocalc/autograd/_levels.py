# SPDX-License-Identifier: MIT
"""Levels of `vmap` around a computation, and the gradients of what examples share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autocalc._dispatch.device.batches import Level
from autocalc._dispatch.device.device import without_tangent
from autocalc._dispatch.device.duals import DualLevel, functions
from autocalc._dispatch.device.levels import levels_of
from autocalc._graph._node import next_serial
from autocalc._ops._tensors import tensors
from autocalc._ops.views import levels
from autocalc._tensor import Tensor
from autocalc.errors import VmapError


@contextmanager
def entered(size: int) -> Iterator[Level]:
    """Make a level of this size, which is active in this block."""
    from autocalc._batching import rules  # noqa: F401  late: takes 1 ms

    level = Level(size, next_serial())
    try:
        yield level
    finally:
        level.active = False


@contextmanager
def entered_dual() -> Iterator[DualLevel]:
    """Make a dual level, which is active in this block."""
    level = new_dual()
    enabled, functions.enabled = functions.enabled, True
    try:
        yield level
    finally:
        level.active = False
        functions.enabled = enabled


def new_dual() -> DualLevel:
    """Return a new dual level."""
    from autocalc._batching import rules as _  # noqa: F401  late: takes 1 ms
    from autocalc._forward import rules  # noqa: F401  the same

    return DualLevel(next_serial())


def summed(gradient: Tensor, x: Any) -> Tensor:
    """Return the gradient of `x`, summed over the examples that share `x`.

    Levels of calls of `vmap` that still run stay: inside of them, each example has a
    gradient of its own.  An adjoint cotangent becomes the gradient of a primal.
    """
    like = None if x is None else without_tangent(x._array)
    return levels.summed(tensors, gradient, like)


def check_shared(gradient: Tensor, x: Any) -> None:
    """Raise if examples have different gradients for a leaf that they share."""
    own = () if x is None else levels_of(x._array)
    if any(level not in own for level in levels_of(gradient._array)):
        raise VmapError(
            f"backward: inside vmap, each example has a gradient of its own for a leaf "
            f"of shape {gradient.shape} that all of them share. Use ac.func.grad or "
            f"autograd.grad there, or call backward outside of vmap."
        )
