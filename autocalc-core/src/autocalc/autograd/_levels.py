# SPDX-License-Identifier: MIT
"""Tensors whose batch dimension is hidden, and shown again, with their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autocalc._batching.levels import hidden, levels_of, shown
from autocalc._dispatch.device.batches import Level
from autocalc._tensor import Tensor, make
from autocalc.autograd._function import Function
from autocalc.errors import VmapError


class Hide(Function):
    """Hide a dimension in a level; the gradient shows it again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, level: Level, dim: int) -> Tensor:
        """Return a view of `x` without the dimension."""
        ctx.level, ctx.dim = level, dim
        return _view(x, hidden(x._array, level, dim))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Return the gradient with the dimension."""
        return show(g, ctx.level, ctx.dim), None, None


class Show(Function):
    """Show the dimension that a level hides; the gradient hides it again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, level: Level, dim: int) -> Tensor:
        """Return a view of `x` with the dimension."""
        ctx.level, ctx.dim = level, dim
        return _view(x, shown(x._array, level, dim))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Return the gradient without the dimension."""
        return hide(g, ctx.level, ctx.dim), None, None


def _view(x: Tensor, array: Any) -> Tensor:
    """Return a tensor on memory of `x`, whose writes count as those of `x`."""
    result = make(array, None)
    result._version = x._cell()
    return result


def hide(x: Tensor, level: Level, dim: int) -> Tensor:
    """Return a tensor without its dimension `dim`, for which `level` stands."""
    if x._edge is None:
        return _view(x, hidden(x._array, level, dim))
    result: Tensor = Hide.apply(x, level, dim)
    return result


def show(x: Tensor, level: Level, dim: int) -> Tensor:
    """Return a tensor with the dimension of `level` at place `dim`."""
    if x._edge is None:
        return _view(x, shown(x._array, level, dim))
    result: Tensor = Show.apply(x, level, dim)
    return result


@contextmanager
def entered(size: int) -> Iterator[Level]:
    """Make a level of this size, which is active in this block."""
    from autocalc._batching import rules  # noqa: F401  late: takes 1 ms

    level = Level(size)
    try:
        yield level
    finally:
        level.active = False


def summed(gradient: Tensor, x: Any) -> Tensor:
    """Return the gradient of `x`, summed over the examples that share `x`.

    Levels of calls of `vmap` that still run stay: inside of them, each example has a
    gradient of its own.
    """
    own = () if x is None else levels_of(x._array)
    for level in levels_of(gradient._array):
        if level not in own and not level.active:
            gradient = show(gradient, level, 0).sum(0)
    return gradient


def check_shared(gradient: Tensor, x: Any) -> None:
    """Raise if examples have different gradients for a leaf that they share."""
    own = () if x is None else levels_of(x._array)
    if any(level not in own for level in levels_of(gradient._array)):
        raise VmapError(
            f"backward: inside vmap, each example has a gradient of its own for a leaf "
            f"of shape {gradient.shape} that all of them share. Use ac.func.grad or "
            f"autograd.grad there, or call backward outside of vmap."
        )
