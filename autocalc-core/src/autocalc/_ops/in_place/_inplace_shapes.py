# SPDX-License-Identifier: MIT
"""Methods that turn a tensor into a view of itself: ``x.t_()``, ``x.squeeze_(0)``.

Nothing is written.  The tensor only sees its memory in another shape from then on.  If
other tensors see the memory too, a new tensor that no user holds becomes the base of
all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Leaf
from autocalc._ops._operator.arguments import NeededDim
from autocalc._ops._operator.coerce import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.view_tracker import ViewTracker, base_of
from autocalc._ops.views import view
from autocalc._tensor import Tensor, make
from autocalc.errors import GradError


def _view_in_place(function: Callable[..., Tensor], x: Tensor, *args: Any) -> Tensor:
    """Turn `x` into the view that ``function(x, ...)`` returns."""
    name = function.__name__
    where = f"{name}_"
    if check_tensor(where, x)._edge.__class__ is Leaf and current().grad:
        raise GradError(
            f"{where}: a leaf of shape {x.shape} that requires a gradient cannot be "
            f"changed in place while gradients are recorded. Do it under ac.no_grad(), "
            f"or use {name}()."
        )
    if x._edge.__class__ is Leaf:
        turned = function(x.detach(), *args)
        x._array, x._edge.shape = turned._array, turned.shape
        return x
    if base_of(x) is x and (x._edge is not None or x._view is not None):
        _hand_over(x)
    seen = function(x, *args)
    if seen is x:
        return x
    alone = base_of(seen) is x
    x._array, x._edge = seen._array, seen._edge
    x._view = None if alone else seen._view
    return x


def _hand_over(x: Tensor) -> None:
    """Make a new tensor the base of all views of `x`, and make `x` one of its views."""
    base = make(x._array, x._edge)
    base._version = x._cell()
    base._view = family = x._view or ViewTracker()
    for one in family.views:
        view = one()
        if view is not None and base_of(view) is x:
            view._view = base, view._view[1]
    x._view = base, None
    family.views.append(ref(x))


@method("squeeze_")
@declared
def squeeze_(x: Tensor, dim: Any = ..., *, axis: Any = None) -> Tensor:
    """Remove dimensions of size 1, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(1, 3, 1).squeeze_(0).shape
    autocalc.Size([3, 1])
    """
    return _view_in_place(view.squeeze, x, dim)


@method("unsqueeze_")
@declared
def unsqueeze_(x: Tensor, dim: NeededDim = None, *, axis: Any = None) -> Tensor:
    """Insert a dimension of size 1, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(3).unsqueeze_(0).shape
    autocalc.Size([1, 3])
    """
    return _view_in_place(view.unsqueeze, x, dim)


@method("transpose_ swapaxes_ swapdims_")
def transpose_(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3, 4).transpose_(0, 2).shape
    autocalc.Size([4, 3, 2])
    """
    return _view_in_place(view.transpose, x, dim0, dim1)


@method("t_")
def t_(x: Tensor) -> Tensor:
    """Transpose a matrix, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([[1.0, 2.0], [3.0, 4.0]]).t_()
    tensor([[1., 3.],
            [2., 4.]])
    """
    return _view_in_place(view.t, x)
