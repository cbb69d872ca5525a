# SPDX-License-Identifier: MIT
"""Gradients of leaves that are delivered while the backward pass still runs.

A leaf's gradient is complete once the pass has visited the oldest node that leads to
it. Training on several processes sends gradients then, and not at the end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

from autocalc._graph._node import Leaf, Node
from autocalc._graph._walk import WALK, Walk, leads, target


def watch(node: Node, hook: Callable[[Walk, Node], None]) -> None:
    """Call ``hook(walk, node)`` whenever a backward pass comes to `node`."""
    node.hooks = node.hooks or {}
    hooks = node.hooks.setdefault(WALK, {})
    hooks[max(hooks, default=0) + 1] = hook


class EarlyDelivery:
    """The nodes that a pass has yet to visit, and when leaves are complete.

    Parameters
    ----------
    walk, node
        The backward pass, and the node that it is about to visit.
    leaves
        The leaves that the pass looks for.

    Attributes
    ----------
    last
        The serial number of the oldest node that leads to each leaf that the pass may
        still reach.
    """

    def __init__(self, walk: Walk, node: Node, leaves: set[Leaf]) -> None:
        self._walk = walk
        self._nodes: dict[int, Node] = {}
        self.last: dict[Leaf, int] = {}
        self._look(node, leaves)
        self._waiting: list[Leaf] = []
        self._passed: Callable[[], None] = _nothing

    def _look(self, node: Node, leaves: set[Leaf]) -> None:
        nodes, last, needed = self._nodes, self.last, self._walk.needed
        stack = [node, *(arrived[0] for arrived in self._walk.reached.values())]
        while stack:
            one = stack.pop()
            if one.serial in nodes:
                continue
            nodes[one.serial] = one
            for edge in one.edges:
                if not leads(edge, needed):
                    continue
                to: Any = target(edge)
                if to.__class__ is Leaf:
                    if to in leaves:
                        last[to] = min(last.get(to, one.serial), one.serial)
                elif to.serial not in nodes:
                    stack.append(to)

    def start(self, done: Iterable[Leaf], passed: Callable[[], None]) -> None:
        """Hand out the gradients of leaves, each as soon as it is complete.

        Parameters
        ----------
        done
            The leaves whose gradient is complete already.
        passed
            A function that is called after each node whose gradients were delivered.
        """
        if self._walk.deliver is None:
            return
        self._passed = passed
        for leaf in done:
            self._deliver(leaf)
        self._waiting = sorted(self.last, key=self.last.__getitem__)
        serials = sorted(self._nodes)
        for serial in set(self.last.values()):
            before = bisect_left(serials, serial)
            if before > 0:
                watch(self._nodes[serials[before - 1]], self._on_node)

    def close(self) -> None:
        """Forget the graph, of which nodes that were never reached know this."""
        for node in self._nodes.values():
            if node.hooks and WALK in node.hooks:
                self._remove(node)
        self._nodes.clear()

    def _remove(self, node: Node) -> None:
        hooks = node.hooks or {}
        others = {k: h for k, h in hooks.get(WALK, {}).items() if h != self._on_node}
        hooks[WALK] = others

    def _on_node(self, walk: Walk, node: Node) -> None:
        """Hand out what no node from `node` on can add to."""
        self._remove(node)
        if walk is not self._walk:
            return  # an earlier pass over the same graph never came here
        while self._waiting and self.last[self._waiting[-1]] > node.serial:
            self._deliver(self._waiting.pop())
        self._passed()

    def _deliver(self, leaf: Leaf) -> None:
        arrived = self._walk.leaves.pop(leaf, None)
        if arrived is not None and self._walk.deliver is not None:
            self._walk.deliver(leaf, arrived[1], arrived[2])


def _nothing() -> None:
    pass
