# SPDX-License-Identifier: MIT
"""Tensors and their views: the tensors that a recorded write must reach.

A view keeps its *base* and its *view chain*, the view operators that lead from the base
to it.  The base keeps a `ViewTracker` with weak references to its views, so there are
no reference cycles.  A write into any of them gives the base a new edge, and gives
every view an edge that leads there.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from autocalc._dispatch.engine.eager import accelerated, bind
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node, Version
from autocalc._tensor import Tensor
from autocalc._tensor.hooks import keep_retaining

#: (previous chain, operator, attributes, shape of its input), or None for the base
#: itself.
ViewChain = Any


class ViewTracker:
    """The views of one base that are alive.

    `opaque` says that a tensor without a known view chain, such as a result of a user's
    Function, sees some of the memory.  Recorded writes are refused then.
    """

    __slots__ = ("limit", "opaque", "views")

    def __init__(self) -> None:
        self.views: list[ref[Any]] = []
        self.limit = 32
        self.opaque = False

    def forget_dead(self) -> list[ref[Any]]:
        """Return `views` without the dead ones; called when the list has doubled."""
        self.views = views = [one for one in self.views if one() is not None]
        self.limit = max(32, 2 * len(views))
        return views


_new = object.__new__


# This is one frame because every view passes here.  Separate calls for the version
# cell, the tensor, the tracker and its list took half of the time.
def view_of(x: Any, array: Any, op: Any, attributes: Any) -> Tensor:
    """Return `array`, which the view operator `op` made of `x`, as a view of `x`.

    The view is recorded in the graph if `x` has a history.  The base tracks the view in
    any case: a recorded write into one of its views must reach all of them.
    """
    view: Any = _new(Tensor)
    view._array = array
    cell = x._version
    if cell is None:
        x._version = cell = Version()
    view._version = cell
    shape = x._array.shape
    edge = x._edge
    if edge is not None and current().grad:
        view._edge = Node(op, (edge,), (), (), (shape,), array.dtype, attributes)
    else:
        view._edge = None
    held = x._view
    base, view_chain = held if held.__class__ is tuple else (x, None)
    view._view = base, (view_chain, op, attributes, shape)
    family = base._view
    if family is None:
        family = base._view = ViewTracker()
    views = family.views
    if len(views) >= family.limit:
        views = family.forget_dead()
    views.append(ref(view))
    return view  # type: ignore[no-any-return]  # a Tensor


bind(ViewTracker=ViewTracker)
view_of = accelerated("view_of", view_of)


def base_of(x: Any) -> Any:
    """Return the tensor that `x` is a view of, or `x` itself."""
    return x._view[0] if x._view.__class__ is tuple else x


def view_chain_of(x: Any) -> ViewChain:
    """Return the view chain from the base to `x`, or None if `x` is the base."""
    return x._view[1] if x._view.__class__ is tuple else None


def steps(view_chain: ViewChain) -> list[tuple[Any, Any, Any]]:
    """Return (operator, attributes, shape of the input) of each step from the base."""
    found = []
    while view_chain is not None:
        view_chain, *step = view_chain
        found.append(tuple(step))
    found.reverse()
    return found


def leave_base(x: Any) -> None:
    """Make `x` independent: it is no view of another tensor, and has no views."""
    x._view = None


def is_alone(x: Any) -> bool:
    """Return whether `x` is not a view and has no views that are alive."""
    family = x._view
    if family is None:
        return True
    if family.__class__ is tuple or family.opaque:
        return False
    return all(one() is None for one in family.views)


def mark_opaque(x: Any) -> None:
    """Note that a tensor without a view chain sees the memory of `x`."""
    base = base_of(x)
    if base._view is None:
        base._view = ViewTracker()
    base._view.opaque = True


def rebase_history(base: Any) -> None:
    """Give every view of `base` an edge that leads to the current edge of `base`."""
    family = base._view
    if family is None:
        return
    for one in family.views:
        view = one()
        if view is not None and base_of(view) is base:
            follow(view)


def follow(view: Any) -> None:
    """Give a view an edge that leads to the current edge of its base."""
    (base, view_chain), before = view._view, view._edge
    edge = base._edge
    for op, attributes, shape in steps(view_chain) if edge else ():
        edge = Node(op, (edge,), (), (), (shape,), base._array.dtype, attributes)
    view._edge = edge
    keep_retaining(view, before)
