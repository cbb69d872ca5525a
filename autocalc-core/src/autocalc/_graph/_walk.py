# SPDX-License-Identifier: MIT
"""The backward walk: take the newest node that the loss can reach, apply its rule.

Serial numbers are a topological order, so when a node is the newest of those reached,
all its cotangents have arrived.  The walk is iterative and knows no operator and no
kernel: rules compute in the namespace `k` that the caller hands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from autocalc._graph._node import FREED, Edge, Leaf, Node, Output, Partial
from autocalc.errors import GradError

Hook = Callable[..., Any]


class Cotangent:
    """The sum of what has arrived at one output, and whether the walk owns it."""

    __slots__ = ("owned", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.owned = False

    def add(self, k: Any, value: Any, owned: bool) -> None:
        """Add `value`; write only into memory that nobody else can see."""
        if self.value is None:
            self.value, self.owned = value, owned
        elif self.owned:
            self.value = k.add_into(self.value, value)
        else:
            self.value, self.owned = k.add(self.value, value), True

    def add_part(self, k: Any, part: Partial, shape: Any) -> None:
        """Add into a slice of a buffer that is made at the first part."""
        if self.value is None:
            self.value = k.zeros_like_part(part.value, shape)
            self.owned = True
        elif not self.owned:
            self.value, self.owned = k.copy(self.value), True
        self.value = k.add_into_slice(self.value, part.index, part.value)


class NodeView:
    """A node as a rule sees it in a walk with a purpose of its own.

    `needs` looks at what is asked for, and saved arrays come wrapped as tensors where
    the walk itself is recorded.
    """

    __slots__ = ("attributes", "dtype", "needed", "node", "saved", "shapes")

    def __init__(self, node: Node, saved: Any, needed: set[Any] | None) -> None:
        self.node = node
        self.saved = saved
        self.needed = needed
        self.shapes = node.shapes
        self.dtype = node.dtype
        self.attributes = node.attributes

    def needs(self, i: int) -> bool:
        """Return whether anybody wants the gradient of input `i`."""
        return leads(self.node.edges[i], self.needed)


def target(edge: Edge) -> Node | Leaf | None:
    """Return what an edge leads to, whichever output it means."""
    return edge.node if edge.__class__ is Output else edge  # type: ignore[union-attr, return-value]


def leads(edge: Edge, needed: set[Any] | None) -> bool:
    """Return whether a walk follows this edge."""
    return edge is not None and (needed is None or target(edge) in needed)


def reaching(roots: Iterable[Edge], wanted: set[Any]) -> set[Any]:
    """Return every node from which one of `wanted` can be reached, and `wanted`."""
    seen: dict[int, Node] = {}
    stack = [target(root) for root in roots]
    while stack:
        node = stack.pop()
        if node.__class__ is Node and node.serial not in seen:
            seen[node.serial] = node
            stack.extend(map(target, node.edges))
    needed = set(wanted)
    for serial in sorted(seen):
        if any(target(edge) in needed for edge in seen[serial].edges):
            needed.add(seen[serial])
    return needed


class Walk:
    """One backward walk.

    Parameters
    ----------
    k
        The namespace in which rules compute: `arrays`, or `tensors` to record.
    keep
        Whether saved arrays stay for another walk.
    needed
        Nodes and leaves to visit; None visits all.
    saved
        ``saved(node)`` gives a rule's saved arrays; None takes them as they are.
    hooked
        ``hooked(hooks, cotangent)`` runs users' hooks.
    """

    def __init__(
        self,
        k: Any,
        *,
        keep: bool,
        needed: set[Any] | None = None,
        saved: Callable[[Node], Any] | None = None,
        hooked: Callable[[dict[int, Hook], Any], Any],
    ) -> None:
        self.k = k
        self.keep = keep
        self.needed = needed
        self.saved = saved
        self.hooked = hooked
        self.plain = needed is None and saved is None
        self.heap: list[int] = []
        self.reached: dict[int, tuple[Node, list[Cotangent]]] = {}
        self.leaves: dict[Leaf, Cotangent] = {}
        self.captured: dict[tuple[Node, int], Any] = {}

    def run(
        self,
        roots: Sequence[Edge],
        cotangents: Sequence[Any],
        capture: Iterable[tuple[Node, int]] = (),
    ) -> None:
        """Walk back from `roots`; then `leaves` and `captured` hold the gradients."""
        wanted = set(capture)
        for root, cotangent in zip(roots, cotangents, strict=True):
            self.place(root).add(self.k, cotangent, owned=False)
        heap = self.heap
        while heap:
            node, arrived = self.reached.pop(-heappop(heap))
            if node.hooks is not None:
                self.run_hooks(node, arrived)
            for slot, cotangent in enumerate(arrived):
                if (node, slot) in wanted:
                    self.captured[node, slot] = cotangent.value
            if self.needed is None or any(leads(e, self.needed) for e in node.edges):
                self.visit(node, arrived)

    def place(self, edge: Edge) -> Cotangent:
        """Return the sum for the output that `edge` means; reach its node."""
        if edge.__class__ is Leaf:
            return self.leaves.setdefault(edge, Cotangent())  # type: ignore[arg-type]
        node, slot = (edge, 0) if edge.__class__ is Node else (edge.node, edge.slot)  # type: ignore[union-attr]
        try:
            return self.reached[node.serial][1][slot]  # type: ignore[union-attr]
        except KeyError:
            arrived = [Cotangent() for _ in range(node.op.n_outputs)]  # type: ignore[union-attr]
            self.reached[node.serial] = (node, arrived)  # type: ignore[union-attr, assignment]
            heappush(self.heap, -node.serial)  # type: ignore[union-attr]
            return arrived[slot]

    def visit(self, node: Node, arrived: list[Cotangent]) -> None:
        """Apply the node's rule and hand its results to the inputs."""
        check_saved(node)
        n: Any = node
        if not self.plain:
            saved = node.saved if self.saved is None else self.saved(node)
            n = NodeView(node, saved, self.needed)
        single = len(arrived) == 1
        g = arrived[0].value if single else tuple(c.value for c in arrived)
        results = node.op.rule(self.k, n, g)
        if results.__class__ is not tuple:
            results = (results,)
        incoming = [c.value for c in arrived if c.value is not None]
        for i, (edge, result) in enumerate(zip(node.edges, results, strict=True)):
            if result is None or not leads(edge, self.needed):
                continue
            if result.__class__ is Partial:
                self.place(edge).add_part(self.k, result, node.shapes[i])
            else:
                owned = self.is_fresh(result, incoming, results, i)
                self.place(edge).add(self.k, result, owned)
        if not self.keep and node.saved:
            node.saved = FREED

    def is_fresh(
        self, result: Any, incoming: list[Any], results: tuple[Any, ...], i: int
    ) -> bool:
        """Return whether nobody but the walk can see the memory of `result`."""
        if any(self.k.is_view(result, g) for g in incoming):
            return False
        return all(result is not r for j, r in enumerate(results) if j != i)

    def run_hooks(self, node: Node, arrived: list[Cotangent]) -> None:
        """Let users see and replace the cotangents of a node's outputs."""
        assert node.hooks is not None
        for slot, hooks in node.hooks.items():
            cotangent = arrived[slot]
            if cotangent.value is not None:
                cotangent.value = self.hooked(hooks, cotangent.value)
                cotangent.owned = False


def check_saved(node: Node) -> None:
    """Raise if a walk has freed the node's arrays, or if they were overwritten."""
    if node.saved is FREED:
        message = (
            f"backward: the arrays that `{node.op.name}` saved were freed by an earlier "
            f"backward through the same graph. Pass retain_graph=True to the earlier "
            f"call, or compute the loss again."
        )
        raise GradError(message)
    for cell, count, array in zip(node.cells, node.counts, node.saved, strict=True):
        if cell is not None and cell.count != count:
            message = (
                f"backward: an array of shape {tuple(array.shape)} that "
                f"`{node.op.name}` needs was changed in place after it was saved: "
                f"version {cell.count}, saved at version {count}. Use the operation "
                f"that returns a new tensor, or clone() before the change."
            )
            raise GradError(message)
