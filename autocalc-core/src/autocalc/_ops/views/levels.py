# SPDX-License-Identifier: MIT
"""The dimension of the examples, hidden inside of `vmap`; both operators are views."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.duals import DualLevel
from autocalc._dispatch.device.levels import unshared
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.factories import view_operator
from autocalc._ops.views.duals import collapsed
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


def without_level(k: Any, g: Tensor, level: Any) -> Tensor:
    """Return a cotangent of what all examples share, or of what has no tangent."""
    if level.__class__ is DualLevel:
        return collapsed(g, level)
    found: Tensor = k.sum(show(g, level, 0), (0,), False)
    return found


def summed(k: Any, gradient: Tensor, like: Any) -> Tensor:
    """Return the sum over the examples of ended levels that `like` does not have.

    An adjoint cotangent of what has no tangent becomes the gradient of a primal.
    """
    for level in unshared(gradient._array, like):
        gradient = without_level(k, gradient, level)
    return gradient
