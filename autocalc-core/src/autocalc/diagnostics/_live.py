# SPDX-License-Identifier: MIT
"""Live tensors, the largest first, and the operators that made them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autocalc._dispatch._callers import UserLine
from autocalc._graph._frozen import frozen_objects
from autocalc._graph._node import Leaf, Node, Output
from autocalc._program._views import owner_of
from autocalc._tensor import Tensor
from autocalc.diagnostics._arguments import check_count
from autocalc.diagnostics._origins import origin_of, saved_by
from autocalc.diagnostics._table import Report, Row, place, size, sizes
from autocalc.nn import Module
from autocalc.nn.parameter import is_lazy
from autocalc.optim import Optimizer

#: Kinds, the most informative first; an array gets the first that applies.
KINDS = ("parameter", "gradient", "buffer", "optimizer", "tensor", "saved")


@dataclass
class Held:
    """The memory of one array and all its views.

    Attributes
    ----------
    kind
        ``"parameter"``, ``"gradient"``, ``"buffer"``, ``"optimizer"`` (its state),
        ``"tensor"``, or ``"saved"`` for memory that only the graph holds, for the
        backward pass.
    name
        The name of a parameter, its gradient, a buffer or an optimizer's state; "" for
        other tensors.
    shape, dtype, bytes
        The shape, dtype and size in bytes of the memory.
    tensors
        The number of tensors that share the memory.
    operator, layer
        The origin: the last recorded operator, or the kernel and layer in a block of
        `memory.trace`; "" if unknown.
    saved_for
        The operators that saved the memory for their backward rules.
    line
        The line of the user's program; None if it was not recorded.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(7, 11, 13)
    >>> rows = ac.memory.snapshot(limit=10**6).rows
    >>> (row,) = [row for row in rows if row.shape == (7, 11, 13)]
    >>> row.kind, row.dtype, row.bytes, row.tensors
    ('tensor', 'float32', 4004, 1)
    """

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    tensors: int = 0
    operator: str = ""
    layer: str = ""
    saved_for: list[str] = field(default_factory=list)
    line: UserLine | None = None


@dataclass(repr=False)
class Snapshot(Report):
    """The live tensors; `memory.snapshot` returns it.

    Attributes
    ----------
    rows : list of Held
        The largest allocations, the largest first.
    bytes, count
        The total size in bytes of all arrays, and the number of arrays.
    by_kind : dict
        Bytes of all arrays, by kind.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(1000, 1000)
    >>> snapshot = ac.memory.snapshot()
    >>> snapshot.by_kind["parameter"] >= 4 * 1001 * 1000
    True
    """

    rows: list[Held]
    bytes: int
    count: int
    by_kind: dict[str, int]

    def _title(self) -> str:
        return f"{self.count} arrays are alive: {size(self.bytes)}"

    def _columns(self) -> Row:
        return "bytes", "kind", "shape", "dtype", "name", "made by", "layer", "line"

    def _cells(self) -> list[Row]:
        return [
            (size(r.bytes), r.kind, sizes(r.shape), r.dtype, r.name,
             r.operator or _for(r), r.layer, place(r.line))
            for r in self.rows
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        parts = [f"{kind} {size(n)}" for kind, n in self.by_kind.items()]
        notes = ["By kind: " + ", ".join(parts) + "."] if parts else []
        if not any(row.line for row in self.rows):
            notes.append("memory.trace() around the program names the lines.")
        return notes


def _for(row: Held) -> str:
    return f"(saved for {row.saved_for[0]})" if row.saved_for else ""


def snapshot(limit: int = 10) -> Snapshot:
    """See `memory.snapshot`."""
    check_count("memory.snapshot", "limit", limit)
    rows = _Census().rows()
    by_kind = {kind: sum(r.bytes for r in rows if r.kind == kind) for kind in KINDS}
    return Snapshot(
        rows[:limit],
        sum(row.bytes for row in rows),
        len(rows),
        {kind: n for kind, n in by_kind.items() if n},
    )


class _Census:
    """Live arrays, grouped by the array that owns the memory."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[Any, Held]] = {}
        things = gc.get_objects() + frozen_objects()
        tensors = [x for x in things if _has_array(x)]
        self.names = _names(things, tensors)
        for tensor in tensors:
            self.count(tensor)
        for thing in things:
            if issubclass(type(thing), Node):
                self.keep(thing)

    def entry(self, array: Any, kind: str) -> Held:
        """Return the entry of an array's memory."""
        owner = owner_of(array)
        known = self.held.get(id(owner))
        if known is not None:
            return known[1]
        shape, dtype = tuple(owner.shape), str(owner.dtype)
        held = Held(kind, "", shape, dtype, int(owner.nbytes))
        origin = origin_of(owner)
        if origin is not None:
            held.operator, held.layer, held.line = origin
        self.held[id(owner)] = owner, held
        return held

    def count(self, tensor: Tensor) -> None:
        """Add a tensor."""
        held = self.entry(tensor._array, "tensor")
        held.tensors += 1
        kind, name = self.names.get(id(tensor), ("tensor", ""))
        if KINDS.index(kind) < KINDS.index(held.kind):
            held.kind, held.name = kind, name
        edge = tensor._edge
        node = edge.node if isinstance(edge, Output) else edge
        if isinstance(node, Node) and not node.op.is_view and not held.operator:
            held.operator = node.op.name
            line = getattr(node, "line", None)
            if line is not None:
                held.line, held.layer = line, line.layer

    def keep(self, node: Node) -> None:
        """Add the arrays that a node saves."""
        for array in saved_by(node):
            self.entry(array, "saved").saved_for.append(node.op.name)

    def rows(self) -> list[Held]:
        """Return all entries, the largest first."""
        found = (held for _, held in self.held.values())
        return sorted(found, key=lambda held: (-held.bytes, held.name))


def _has_array(thing: Any) -> bool:
    """Return whether this is a tensor with values; lazy parameters have none."""
    return _is(thing, Tensor) and not is_lazy(thing)


def _is(thing: Any, kind: type) -> bool:
    """Return `isinstance` by the type alone, because a dead weak proxy raises."""
    return issubclass(type(thing), kind)


def _names(things: list[Any], tensors: list[Tensor]) -> dict[int, tuple[str, str]]:
    """Return the kind and name of model and optimizer tensors, by id."""
    names: dict[int, tuple[str, str]] = {}
    modules = [x for x in things if _is(x, Module) and "_names" in vars(x)]
    inner = {id(child) for module in modules for child in module.children()}
    for module in modules:
        if id(module) not in inner:
            names.update(_of_module(module))
    for thing in things:
        if _is(thing, Optimizer) and "state" in vars(thing):
            names.update(_of_optimizer(thing, names))
    for tensor in tensors:  # gradients of leaves outside of modules
        edge = tensor._edge
        if isinstance(edge, Leaf) and edge.grad is not None:
            names.setdefault(id(edge.grad), ("gradient", ""))
    return names


def _of_module(module: Module) -> Iterator[tuple[int, tuple[str, str]]]:
    for name, param in module.named_parameters():
        yield id(param), ("parameter", name)
        if param.grad is not None:
            yield id(param.grad), ("gradient", f"{name}.grad")
    for name, buffer in module.named_buffers():
        yield id(buffer), ("buffer", name)


def _of_optimizer(
    optimizer: Optimizer, names: dict[int, tuple[str, str]]
) -> Iterator[tuple[int, tuple[str, str]]]:
    for param, state in optimizer.state.items():
        owner = names.get(id(param), ("", ""))[1]
        for key, value in state.items():
            if isinstance(value, Tensor):
                yield id(value), ("optimizer", f"{owner}: {key}".removeprefix(": "))
