# SPDX-License-Identifier: MIT
"""What `grad_fn` returns: the nodes of the graph with the names that PyTorch has.

A recorded node becomes one of these when it is first asked for, by a change of its
class: to record costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

from autocalc._graph import _node
from autocalc._graph._node import Leaf
from autocalc._graph._walk import METADATA, PRE
from autocalc._tensor.hooks import RemovableHandle, node_and_slot
from autocalc.autograd._node_hooks import (
    HookedOp,
    PreHook,
    check_hook,
    on_accumulation,
    on_arrival,
)
from autocalc.autograd._node_names import name_of


class Node:
    """An operation in the graph, as `Tensor.grad_fn` returns it.

    The name of its class describes the operation: after a product,
    ``type(y.grad_fn).__name__`` is ``"MulBackward0"``. If AutoCalc computes a function
    in other steps than PyTorch, the name is that of the last step.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> y = (x * 3).sum()
    >>> y.grad_fn.name(), isinstance(y.grad_fn, ac.autograd.graph.Node)
    ('SumBackward0', True)
    >>> [(node.name(), number) for node, number in y.grad_fn.next_functions]
    [('MulBackward0', 0)]
    """

    __slots__ = ()

    def name(self) -> str:
        """Return the name of the operation."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, its node (or None) and the index of that node's output."""
        raise NotImplementedError

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for your own notes about this node."""
        raise NotImplementedError

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node has computed gradients.

        Both arguments are tuples of tensors and None. The hook may return other
        `grad_inputs`. The handle that is returned has the method `remove()`.
        """
        raise NotImplementedError

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node computes gradients.

        The hook may return other gradients, which are used instead. The handle that is
        returned has the method `remove()`.
        """
        raise NotImplementedError


class RecordedNode(_node.Node, Node):
    """A node of an operator, when it was asked for."""

    __slots__ = ()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input its node, or None, and which output of that node it was."""
        return tuple(map(_next, self.edges))

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes of one's own on this node."""
        self.hooks = self.hooks or {}
        return self.hooks.setdefault(METADATA, {})

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node's rule has run."""
        check_hook("register_hook", fn)
        if not isinstance(self.op, HookedOp):
            self.op = HookedOp(self.op)
        return RemovableHandle(self.op.hooks, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node's rule runs."""
        check_hook("register_prehook", fn)
        self.hooks = self.hooks or {}
        return RemovableHandle(self.hooks.setdefault(PRE, {}), PreHook(fn))


class FunctionNode(RecordedNode):
    """The node of a user's `Function`: it has what `forward` left in the context."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "saved_tensors":
            return self.op.saved_of(self)
        return getattr(self.attributes[0], name)


class AccumulateGrad(Node):
    """The end of the graph at a leaf, which adds up its gradient.

    Attributes
    ----------
    variable
        The leaf whose gradient is summed.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> ((end, _), _) = (x * x).grad_fn.next_functions
    >>> end.variable is x
    True
    """

    __slots__ = ("__weakref__", "leaf", "metadata")

    metadata: dict[Any, Any]

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf
        self.metadata = {}

    def name(self) -> str:
        """Return the name, as PyTorch spells it."""
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Any:
        """The leaf, or None where it is gone."""
        return None if self.leaf.tensor is None else self.leaf.tensor()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Nothing: the graph ends here."""
        return ()

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn((), grad_outputs)`` when the gradient has been added."""
        check_hook("register_hook", fn)
        return on_accumulation(self.leaf, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the gradient is added."""
        check_hook("register_prehook", fn)
        return on_arrival(self.leaf, fn)


_ENDS: WeakValueDictionary[int, AccumulateGrad] = WeakValueDictionary()


def end_of(leaf: Leaf) -> AccumulateGrad:
    """Return the node of a leaf: the same object while something refers to it."""
    found = _ENDS.get(id(leaf))
    if found is None:
        found = _ENDS[id(leaf)] = AccumulateGrad(leaf)
    return found


def named(node: _node.Node) -> RecordedNode:
    """Set the class of a node to the one with the node's name; return the node."""
    found: Any = node
    if not isinstance(node, RecordedNode):
        is_function = node.op.__class__.__name__ == "_FunctionOp"
        base = FunctionNode if is_function else RecordedNode
        name = f"{node.op.name}Backward" if is_function else name_of(node)
        found.__class__ = _class_of(name, base)
    return found  # type: ignore[no-any-return]  # what it has become


@cache
def _class_of(name: str, base: type[RecordedNode]) -> type[RecordedNode]:
    parts = {"__slots__": (), "__module__": "autocalc.autograd.graph"}
    return type(name, (base,), {**parts, "__doc__": f"A node named {name}."})


def _next(edge: Any) -> tuple[Node | None, int]:
    if edge is None:
        return None, 0
    if edge.__class__ is Leaf:
        return end_of(edge), 0
    node, slot = node_and_slot(edge)
    return named(node), slot
