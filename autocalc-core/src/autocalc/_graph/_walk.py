# SPDX-License-Identifier: MIT
"""The backward pass: repeatedly apply the rule of the newest reachable node.

Serial numbers are a topological order.  When a node is the newest of those reached, all
its cotangents have therefore arrived.  The pass is iterative, and depends on no
operator and no kernel: rules compute in the namespace `k` that the caller gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from autocalc._dispatch._callers import marks
from autocalc._dispatch.device.dual_parts import adjoint_levels
from autocalc._dispatch.device.levels import levels_of
from autocalc._dispatch.engine.eager import bind
from autocalc._dispatch.selection.upcast import HALVES
from autocalc._graph._halves import rule_in_float32
from autocalc._graph._lines import written_at
from autocalc._graph._node import FREED, Edge, Leaf, Node, Output, Partial
from autocalc.errors import GradError

Hook = Callable[..., Any]


class NodeView:
    """A node as a rule sees it in a pass for some of the gradients.

    `needs` considers only the wanted gradients.  If the pass itself is recorded, saved
    arrays are wrapped as tensors.
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
        """Return whether the gradient of input `i` is wanted."""
        return leads(self.node.edges[i], self.needed)


def target(edge: Edge) -> Node | Leaf | None:
    """Return the node or leaf of an edge, for any output."""
    return edge.node if edge.__class__ is Output else edge  # type: ignore[return-value]  # an Output


def leads(edge: Edge, needed: set[Any] | None) -> bool:
    """Return whether a backward pass follows this edge."""
    return edge is not None and (needed is None or target(edge) in needed)


def reaching(roots: Iterable[Edge], wanted: set[Any]) -> set[Any]:
    """Return all nodes that lead to one of `wanted`, and `wanted` themselves."""
    seen: dict[int, Node] = {}
    # A node older than every wanted node cannot lead to one. Leaves have no age.
    oldest = min((x.serial if isinstance(x, Node) else 0 for x in wanted), default=0)
    stack = [target(root) for root in roots]
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node.serial >= oldest and node.serial not in seen:
            seen[node.serial] = node
            stack.extend(map(target, node.edges))
    needed = set(wanted)
    for serial in sorted(seen):
        if not needed.isdisjoint(map(target, seen[serial].edges)):
            needed.add(seen[serial])
    return needed


BORROWED, FRESH, OWNED, PARTS = 0, 1, 2, 3

#: The key, in place of an output's number, of a node's hooks that are called with the
#: pass when it reaches the node.
WALK = -1

#: Like `WALK`; these hooks receive the cotangents, after the hooks of the outputs.
PRE = -2

#: The key, in place of hooks, of the notes that users store with the node.
METADATA = -3


class Parts:
    """Cotangents of parts of one array, which wait until all of them have arrived.

    Then they may already be adjacent in memory, as those of queries, keys and values
    are, or they may fill the whole array without a gap.
    """

    __slots__ = ("held", "remaining", "shape")

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.held: list[tuple[Any, Any]] = []
        #: The elements that may still wait. Together they are at most as many as the
        #: array has, so that a loop over overlapping slices does not hold them all.
        self.remaining = math.prod(shape)


class Walk:
    """One backward pass.

    The cotangents that arrive at a node or leaf are a flat list
    ``[node, sum, fresh, ...]`` with a pair for each output: the sum of its cotangents,
    and a code for its memory.  `BORROWED` is the incoming cotangent itself, which is
    never written.  `FRESH` came from a rule and may be written, unless `k` says that it
    is a view.  `OWNED` was made by the pass itself.  For `PARTS`, the sum is a `Parts`.

    Parameters
    ----------
    k
        The namespace in which rules compute: `arrays`, or `tensors` to record the pass.
    keep
        Whether saved arrays are kept for another pass.
    needed
        The nodes and leaves to visit; None visits all.
    saved
        ``saved(node)`` returns the saved arrays for a rule; None uses those of the
        node.
    hooked
        ``hooked(hooks, cotangent)`` runs users' hooks.
    deliver
        ``deliver(leaf, gradient, memory)`` adds to a leaf's gradient; None where leaves
        receive theirs only at the end.
    """

    __slots__ = (
        *("__weakref__", "captured", "deliver", "heap", "hooked", "k", "keep"),
        *("leaves", "needed", "parted", "reached", "saved"),
    )

    def __init__(
        self,
        k: Any,
        *,
        keep: bool,
        needed: set[Any] | None = None,
        saved: Callable[[Node], Any] | None = None,
        hooked: Callable[[dict[int, Hook], Any], Any],
        deliver: Callable[[Leaf, Any, int], None] | None = None,
    ) -> None:
        self.k = k
        self.keep = bool(keep)
        self.needed = needed
        self.saved = saved
        self.hooked = hooked
        self.deliver = deliver
        self.heap: list[int] = []
        self.reached: dict[int, list[Any]] = {}
        self.leaves: dict[Leaf, list[Any]] = {}
        self.captured: dict[tuple[Node, int], Any] = {}
        #: The number of sums that are `PARTS`.
        self.parted = 0

    def run(
        self,
        roots: Sequence[Edge],
        cotangents: Sequence[Any],
        capture: Iterable[tuple[Node, int]] = (),
    ) -> None:
        """Run from `roots`; afterwards `leaves` and `captured` hold the gradients."""
        for root, cotangent in zip(roots, cotangents, strict=True):
            self.add(root, cotangent, BORROWED)
        wanted = list(capture)
        heap, reached = self.heap, self.reached
        while heap:
            arrived = reached.pop(-heappop(heap))
            node = arrived[0]
            if self.parted:
                self.join_all(arrived)
            if node.hooks is not None:
                self.run_hooks(node, arrived)
            for captured, slot in wanted:
                if captured is node:
                    self.captured[node, slot] = arrived[1 + 2 * slot]
                    arrived[2 + 2 * slot] = BORROWED
            if self.needed is None or any(leads(e, self.needed) for e in node.edges):
                self.visit(node, arrived)

    @marks("rule")
    def visit(self, node: Node, arrived: list[Any]) -> None:
        """Apply the node's rule and pass its results to the inputs."""
        if node.saved:
            check_saved(node)
        needed = self.needed
        n: Any = node
        if needed is not None or self.saved is not None:
            saved = node.saved if self.saved is None else self.saved(node)
            n = NodeView(node, saved, needed)
        single = len(arrived) == 3
        g = arrived[1] if single else tuple(arrived[1::2])
        if node.dtype in HALVES:
            results = rule_in_float32(self.k, n, g)
        else:
            results = node.op.rule(self.k, n, g)
        if results.__class__ is not tuple:
            results = (results,)
        edges = node.edges
        # The pass does not own an array that was passed on, or that is returned twice.
        alone = len(edges) < 2 or results[0] is not results[1]
        ids = list(map(id, results)) if len(edges) > 2 else None
        for i, edge in enumerate(edges):
            result = results[i]
            if edge is None or result is None:
                continue
            if needed is not None and target(edge) not in needed:
                continue
            if result.__class__ is Partial:
                self.add_part(edge, result, node.shapes[i], arrived)
            else:
                new = result is not g if single else _is_new(result, g)
                if ids is not None:
                    alone = ids.count(id(result)) == 1
                self.add(edge, result, FRESH if new and alone else BORROWED)
        if not self.keep and node.saved:
            node.saved = FREED

    def place(self, edge: Any) -> tuple[list[Any], int]:
        """Return where the cotangents for `edge` are summed; reach its node."""
        if edge.__class__ is Leaf:
            return self.leaves.setdefault(edge, [edge, None, BORROWED]), 1
        node, at = (edge, 1)
        if edge.__class__ is Output:
            node, at = edge.node, 1 + 2 * edge.slot
        arrived = self.reached.get(node.serial)
        if arrived is None:
            arrived = [node, *(None, BORROWED) * node.op.n_outputs]
            self.reached[node.serial] = arrived
            heappush(self.heap, -node.serial)
        return arrived, at

    @marks("sum")
    def add(self, edge: Any, value: Any, memory: int) -> None:
        """Add a cotangent; write only into memory that nothing else can see."""
        at = 1
        if edge.__class__ is Node:  # a node with one output
            arrived = self.reached.get(edge.serial)
            if arrived is None:
                self.reached[edge.serial] = [edge, value, memory]
                heappush(self.heap, -edge.serial)
                return
        elif edge.__class__ is Leaf:
            arrived = self.leaves.get(edge)
            if arrived is None:
                self.leaves[edge] = [edge, value, memory]
                return
        else:
            arrived, at = self.place(edge)
        total = arrived[at]
        if total is None:
            arrived[at], arrived[at + 1] = value, memory
            return
        known = arrived[at + 1]
        if known == PARTS:
            self.join(arrived, at)
            total, known = arrived[at : at + 2]
        if known == OWNED or (known == FRESH and not self.k.is_view(total)):
            arrived[at] = self.k.add_into(total, value)
        elif memory == FRESH and not self.k.is_view(value):
            arrived[at] = self.k.add_into(value, total)
        else:
            arrived[at] = self.k.plus(total, value)
        arrived[at + 1] = OWNED

    @marks("sum")
    def add_part(
        self, edge: Edge, part: Partial, shape: Any, cotangent: list[Any]
    ) -> None:
        """Let a part wait for the others, or add it into a slice of their sum."""
        k = self.k
        if part.index is None:
            _, g, known = cotangent
            own = known == OWNED or (known == FRESH and not k.is_view(g))
            self.add(edge, part.value(g, own), FRESH)
            return
        arrived, at = self.place(edge)
        total = arrived[at]
        if total is None and not k.records and edge.__class__ is not Leaf:
            total = arrived[at] = Parts(shape)
            arrived[at + 1] = PARTS
            self.parted += 1
        if arrived[at + 1] == PARTS:
            total.held.append((part.index, part.value))
            total.remaining -= math.prod(part.value.shape)
            if total.remaining < 0:
                self.join(arrived, at)
            return
        if total is None:
            total = k.zeros(shape, k.dtype(part.value))
        elif arrived[at + 1] != OWNED:
            total = k.copy(total)
        arrived[at] = k.add_into_slice(total, part.index, part.value)
        arrived[at + 1] = OWNED

    @marks("sum")
    def join(self, arrived: list[Any], at: int) -> None:
        """Replace the parts by their sum."""
        parts = arrived[at]
        value, owned = self.k.joined(parts.shape, parts.held)
        arrived[at], arrived[at + 1] = value, OWNED if owned else BORROWED
        self.parted -= 1

    def join_all(self, arrived: list[Any]) -> None:
        """Replace parts by sums, for all outputs of a node."""
        for at in range(1, len(arrived), 2):
            if arrived[at + 1] == PARTS:
                self.join(arrived, at)

    def run_hooks(self, node: Node, arrived: list[Any]) -> None:
        """Let the user's hooks see and replace the cotangents of a node's outputs."""
        assert node.hooks is not None
        for hook in list(node.hooks.get(WALK, {}).values()):
            hook(self, node)
        for slot, hooks in (node.hooks or {}).items():
            at = 1 + 2 * slot
            if slot >= 0 and arrived[at] is not None:
                g = self.of_shared(node, arrived[at])
                arrived[at] = self.hooked(hooks, g)
                arrived[at + 1] = BORROWED
        for hook in list((node.hooks or {}).get(PRE, {}).values()):
            hook(self, arrived)

    def of_shared(self, node: Node, g: Any) -> Any:
        """Return a cotangent, summed over the examples of `vmap` that share its value.

        A node that is older than the call of `vmap` belongs to such a value.  Inside of
        a call that still runs, each example keeps its own cotangent.
        """
        for level in levels_of(g._array if self.k.records else g):
            if node.serial < level.start and not level.active:
                g = self.k.without_level(g, level)
        for level in adjoint_levels(g._array if self.k.records else g):
            if node.serial < level.start:
                g = self.k.without_level(g, level)
        return g


bind(Walk=Walk)


def _is_new(result: Any, incoming: tuple[Any, ...]) -> bool:
    return all(result is not g for g in incoming)


def check_saved(node: Node) -> None:
    """Raise if a pass has freed the node's arrays, or if they were overwritten."""
    if node.saved is FREED:
        raise GradError(
            f"backward: the arrays that `{node.op.name}` saved were freed by an "
            f"earlier backward through the same graph. Specify retain_graph=True in "
            f"the earlier call, or compute the loss again."
        )
    versions = node.versions
    for i in range(0, len(versions), 2):
        if versions[i] is not None and versions[i].count != versions[i + 1]:
            raise _changed(node, i // 2)


def _changed(node: Node, i: int) -> GradError:
    cell, count = node.versions[2 * i : 2 * i + 2]
    return GradError(
        f"backward: an array of shape {tuple(node.saved[i].shape)} that "
        f"`{node.op.name}` needs was changed in place after it was saved: version "
        f"{cell.count}, saved at version {count}; one of the variables needed for "
        f"gradient computation has been modified by an inplace operation. Use the "
        f"operation that returns a new tensor, or clone() before the change. "
        f"{written_at(cell)}"
    )
