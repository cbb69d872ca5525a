# SPDX-License-Identifier: MIT
"""Methods that turn a tensor into a view of itself: ``x.t_()``, ``x.squeeze_(0)``.

Nothing is written; the tensor sees its memory in another shape from then on.  Where
others see it too, a tensor that nobody holds takes over as the base of all of them.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._state import current
from autocalc._graph._node import Leaf
from autocalc._ops._view_tracker import ViewTracker, base_of
from autocalc._tensor import Tensor, make
from autocalc.errors import GradError


def view_(name: str, x: Tensor, *args: Any) -> Tensor:
    """Let `x` become what the function `name`, which makes views, gives of it."""
    where = f"{name}_"
    if x._edge.__class__ is Leaf and current().grad:
        message = (
            f"{where}: a leaf of shape {x.shape} that requires a gradient cannot be "
            f"changed in place while gradients are recorded. Do it under ac.no_grad(), "
            f"or use {name}()."
        )
        raise GradError(message)
    if x._edge.__class__ is Leaf:
        turned = getattr(Tensor, name)(x.detach(), *args)
        x._array, x._edge.shape = turned._array, turned.shape
        return x
    if base_of(x) is x and (x._edge is not None or x._view is not None):
        _hand_over(x)
    seen: Tensor = getattr(Tensor, name)(x, *args)
    if seen is x:
        return x
    alone = base_of(seen) is x
    x._array, x._edge = seen._array, seen._edge
    x._view = None if alone else seen._view
    return x


def _hand_over(x: Tensor) -> None:
    """Give what `x` is the base of to a new tensor, and make `x` a view of that."""
    base = make(x._array, x._edge)
    base._version = x._cell()
    base._view = family = x._view or ViewTracker()
    for one in family.views:
        view = one()
        if view is not None and base_of(view) is x:
            view._view = base, view._view[1]
    x._view = base, None
    family.add(x)
