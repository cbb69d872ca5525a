# SPDX-License-Identifier: MIT
"""A hook on several tensors, which runs once in each backward pass."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

from autocalc._graph._node import Leaf, Node
from autocalc._graph._walk import Walk, leads, target
from autocalc._tensor import RemovableHandle, Tensor, node_and_slot
from autocalc.autograd._early import watch
from autocalc.errors import ArgumentError, GradError


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once in each backward pass that computes gradients of `tensors`.

    Parameters
    ----------
    tensors
        Tensors that require gradients.
    fn
        The hook. In mode "all", it is called with a list of the gradients once the last
        one has arrived; the list has None for tensors that the pass does not reach. In
        mode "any", it is called with the first gradient that arrives.
    mode
        When the hook is called: "all" or "any".

    Returns
    -------
    RemovableHandle
        A handle whose `remove()` removes the hook.

    Raises
    ------
    ArgumentError
        If `mode` is neither "all" nor "any".
    GradError
        If a tensor does not require a gradient.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b, c = (ac.ones(1, requires_grad=True) for _ in range(3))
    >>> handle = ac.autograd.graph.register_multi_grad_hook((a, b, c), print)
    >>> (a * b * 2).backward()
    [tensor([2.]), tensor([2.]), None]
    """
    if mode not in ("all", "any"):
        raise ArgumentError(
            "register_multi_grad_hook: Expects mode to be one of ('all', 'any') but "
            f"got {mode}."
        )
    for i, x in enumerate(tensors):
        if getattr(x, "_edge", None) is None:
            raise GradError(
                f"register_multi_grad_hook: `tensors[{i}]` is not a tensor that "
                "requires a gradient."
            )
    return _MultiHook([x._edge for x in tensors], fn, mode == "any").register(tensors)


class _Handles(RemovableHandle):
    """Takes away several hooks."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        self._handles = list(handles)

    def remove(self) -> None:
        """Take them away; harmless if they are gone already."""
        for handle in self._handles:
            handle.remove()


class _Arrivals:
    """What has arrived in one backward pass."""

    def __init__(self, count: int) -> None:
        self.gradients: list[Any] = [None] * count
        self.missing: set[int] | None = None
        self.done = False


class _MultiHook:
    """One function on several tensors."""

    def __init__(self, edges: list[Any], fn: Callable[..., None], any_: bool) -> None:
        self._edges = edges
        self._fn = fn
        self._any = any_
        self._passes: WeakKeyDictionary[Walk, _Arrivals] = WeakKeyDictionary()
        self._current: Callable[[], Walk | None] = _nobody

    def register(self, tensors: Sequence[Tensor]) -> RemovableHandle:
        """Put hooks on the tensors, and on the nodes that made them."""
        for edge in self._edges:
            if edge.__class__ is not Leaf:
                watch(node_and_slot(edge)[0], self._come_to)
        return _Handles(
            x.register_hook(self._hook_of(i)) for i, x in enumerate(tensors)
        )

    def _come_to(self, walk: Walk, node: Node) -> None:
        """Note the pass that comes to a node, and what it has yet to visit."""
        self._current = ref(walk)
        found = self._arrivals(walk)
        if found.missing is None:
            found.missing = self._expected(walk, node)

    def _arrivals(self, walk: Walk) -> _Arrivals:
        return self._passes.setdefault(walk, _Arrivals(len(self._edges)))

    def _expected(self, walk: Walk, node: Node | None) -> set[int]:
        """Return the numbers of the tensors that the rest of a pass comes to."""
        starts = [arrived[0] for arrived in walk.reached.values()]
        reached = _reachable(walk, [*starts, *([] if node is None else [node])])
        reached.update(walk.leaves)
        return {i for i, edge in enumerate(self._edges) if target(edge) in reached}

    def _hook_of(self, i: int) -> Callable[[Tensor], None]:
        edge = self._edges[i]

        def hook(gradient: Tensor) -> None:
            is_leaf = edge.__class__ is Leaf
            walk = _pass_at(edge) if is_leaf else self._current()
            assert walk is not None, "a gradient arrives in a pass"
            found = self._arrivals(walk)
            if found.missing is None:
                found.missing = self._expected(walk, None)
            self._arrived(found, i, gradient)

        return hook

    def _arrived(self, found: _Arrivals, i: int, gradient: Tensor) -> None:
        found.gradients[i] = gradient
        assert found.missing is not None
        found.missing.discard(i)
        if found.done or (found.missing and not self._any):
            return
        found.done = True
        self._fn(gradient if self._any else found.gradients)


def _nobody() -> None:
    """Return None, as the reference to what is gone does."""


def _reachable(walk: Walk, nodes: list[Any]) -> set[Any]:
    """Return the nodes and leaves that a pass comes to from `nodes`, and these."""
    seen: set[Any] = set()
    while nodes:
        one = nodes.pop()
        if one not in seen:
            seen.add(one)
            edges = one.edges if isinstance(one, Node) else ()
            nodes += [target(edge) for edge in edges if leads(edge, walk.needed)]
    return seen


def _pass_at(leaf: Leaf) -> Walk | None:
    """Return the pass that brings a leaf its gradient.

    It is among the youngest objects: nothing is noted for hooks that there may be.
    """
    for generation in (0, 1, 2):
        for thing in reversed(gc.get_objects(generation)):
            if issubclass(type(thing), Walk) and leaf in thing.leaves:
                walk: Walk = thing
                return walk
    return None
