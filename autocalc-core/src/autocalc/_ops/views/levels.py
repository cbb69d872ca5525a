# SPDX-License-Identifier: MIT
"""The dimension of the examples, hidden inside of `vmap`; both operators are views."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.levels import unshared
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.factories import view_operator
from autocalc._tensor import Tensor


@view_operator("hide")
def hide(a: Any, level: Any, dim: int) -> Any:
    """Return the tensor without its dimension `dim`, which `level` hides."""
    return arrays.hidden(a, level, dim)


@hide.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.shown(g, *n.attributes)


@view_operator("show")
def show(a: Any, level: Any, dim: int) -> Any:
    """Return the tensor with the dimension that `level` hides at place `dim`."""
    return arrays.shown(a, level, dim)


@show.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.hidden(g, *n.attributes)


def summed(gradient: Tensor, like: Any, total: Any) -> Tensor:
    """Return the sum over the examples of ended levels that `like` does not have.

    `total` sums a tensor over its first dimension.
    """
    for level in unshared(gradient._array, like):
        gradient = total(show(gradient, level, 0))
    return gradient
