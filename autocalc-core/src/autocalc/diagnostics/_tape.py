# SPDX-License-Identifier: MIT
"""The graph of a loss, as a table and as a picture."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autocalc._dispatch._callers import UserLine
from autocalc._graph._node import FREED, Leaf, Node, Output
from autocalc._graph._walk import target
from autocalc._program._views import owner_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.diagnostics import _drawing
from autocalc.diagnostics._arguments import check_model, check_path
from autocalc.diagnostics._drawing import Box
from autocalc.diagnostics._origins import saved_by
from autocalc.diagnostics._table import Report, Row, place, size, sizes
from autocalc.errors import ArgumentError, DataError, DTypeError, GradError
from autocalc.nn import Module

#: The most boxes in a picture; with more it could not be read.
MAX_BOXES = 1000


@dataclass(frozen=True)
class Entry:
    """One recorded operation.

    Attributes
    ----------
    serial
        The position of the operation in the order of recording.
    operator, kind
        The name of the operator, and its kind: ``"primitive"``, ``"composite"`` or
        ``"standalone"`` for kernels, ``"view"``, or ``"other"``.
    fused
        Whether the operation is a composite kernel, which does the work of several
        primitives.
    inputs
        For each input, the source: ``"#12"`` is the operation with serial 12,
        ``"#12.1"`` is the second output of that operation, and other texts are names of
        leaves.  It is "" if no gradient flows to the input.
    input_shapes, output_shape
        The shapes.  `output_shape` is None if no later operation records it.
    saved_bytes
        The bytes of the arrays that the backward rule saves; 0 after a backward pass
        has freed them.
    freed
        Whether a backward pass has freed the saved arrays.
    line
        The source line of the operation; it is recorded only inside
        `autograd.set_detect_anomaly` and inside blocks of diagnostics.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.ones(3, requires_grad=True)
    >>> entry = ac.diagnostics.tape((w * w).sum()).entries[0]
    >>> entry.operator, entry.kind, entry.input_shapes, entry.saved_bytes
    ('mul', 'primitive', ((3,), (3,)), 24)
    """

    serial: int
    operator: str
    kind: str
    fused: bool
    inputs: tuple[str, ...]
    input_shapes: tuple[tuple[int, ...], ...]
    output_shape: tuple[int, ...] | None
    saved_bytes: int
    freed: bool
    line: UserLine | None


@dataclass(repr=False)
class Tape(Report):
    """The operations of a loss, in the order of recording; `tape` returns it.

    Attributes
    ----------
    entries : list of Entry
        The recorded operations, in order.
    leaves : dict
        The shapes of the leaves that receive a gradient, by name.
    saved_bytes
        The bytes that all operations save; an array that several save counts once.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.ones(3, requires_grad=True)
    >>> found = ac.diagnostics.tape((w * w).sum())
    >>> len(found), found.leaves, found.saved_bytes
    (2, {'leaf0': (3,)}, 12)
    """

    entries: list[Entry]
    leaves: dict[str, tuple[int, ...]]
    saved_bytes: int

    def __len__(self) -> int:
        return len(self.entries)

    def _title(self) -> str:
        kept = size(self.saved_bytes)
        return f"Tape: {len(self.entries)} operations, {kept} saved for backward"

    def _columns(self) -> Row:
        return ("serial", "operator", "fused", "inputs", "input shapes", "output",
                "saved", "line")  # fmt: skip

    def _cells(self) -> list[Row]:
        return [
            (f"#{e.serial}", e.operator, "yes" if e.fused else "",
             ", ".join(one or "-" for one in e.inputs),
             " ".join(map(sizes, e.input_shapes)), sizes(e.output_shape),
             "freed" if e.freed else size(e.saved_bytes), place(e.line))
            for e in self.entries
        ]  # fmt: skip

    def _boxes(self) -> list[Box]:
        """Return the leaves and operations as boxes of a drawing."""
        boxes = [
            Box(name, (name, sizes(s)), (), True) for name, s in self.leaves.items()
        ]
        for e in self.entries:
            edges = tuple(
                one if one in self.leaves else one.partition(".")[0]
                for one in e.inputs
                if one
            )
            kept = f"keeps {size(e.saved_bytes)}" if e.saved_bytes else ""
            words = (e.operator, f"{sizes(e.output_shape)} {kept}".strip())
            boxes.append(Box(f"#{e.serial}", words, edges, False))
        return boxes

    def dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""
        return _drawing.dot(self._boxes())

    def svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the graph as an SVG picture; also write it to `path`, if given.

        The inputs are at the top.  No external program is needed.

        Raises
        ------
        DTypeError
            If `path` is not a path.
        ArgumentError
            If there are more than 1000 operations and leaves.
        DataError
            If the file cannot be written.
        """
        boxes = self._boxes()
        if len(boxes) > MAX_BOXES:
            raise ArgumentError(
                f"tape.svg: the graph has {len(boxes)} boxes, and a picture can show "
                f"at most {MAX_BOXES}; give the loss of a part of the model, or use "
                "dot()."
            )
        picture = _drawing.svg(boxes)
        if path is not None:
            file = check_path("tape.svg", "path", path)
            try:
                file.write_text(picture, encoding="utf-8")
            except OSError as error:
                why = error.strerror or error
                message = f"tape.svg: {path} cannot be written: {why}."
                raise DataError(message) from error
        return picture

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self.entries) + len(self.leaves) <= MAX_BOXES else None


def tape(loss: Tensor | Iterable[Tensor], model: Module | None = None) -> Tape:
    """Return the operations that computed a loss, in the order in which they ran.

    Call it before `backward` to see the saved arrays.  The operations of a compiled
    program are not recorded, because its results have no history.

    Parameters
    ----------
    loss
        A tensor with a history, or several of them.
    model
        A module; leaves that are its parameters get their names from it.

    Raises
    ------
    DTypeError
        If `loss` is not a tensor, or `model` is not a module.
    GradError
        If no tensor has a history.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.ones(3, requires_grad=True)
    >>> found = ac.diagnostics.tape((w * w).exp().sum())
    >>> [(entry.operator, entry.saved_bytes) for entry in found.entries]
    [('mul', 24), ('exp', 12), ('sum', 0)]
    """
    losses = [loss] if isinstance(loss, Tensor) else loss
    many = losses if isinstance(losses, (list, tuple)) else None
    if many is None or not all(isinstance(one, Tensor) for one in many):
        message = f"tape: `loss` is {short(loss)}; give a tensor or a list of them."
        raise DTypeError(message)
    roots = [one for one in many if one.grad_fn is not None]
    if not roots:
        raise GradError(
            "tape: nothing was recorded: the loss has no gradient history. It was "
            "computed without gradients, or by a compiled program, which does not "
            "record a graph; call the function without ac.compile."
        )
    names = {} if model is None else _names(check_model("tape", model))
    return _tape(roots, names)


def _names(model: Module) -> dict[int, str]:
    return {id(param._edge): name for name, param in model.named_parameters()}


def _tape(roots: list[Tensor], names: dict[int, str]) -> Tape:
    nodes = _reached(root._edge for root in roots)
    shapes: dict[tuple[int, int], tuple[int, ...]] = {}
    for root in roots:
        shapes[_key(root._edge)] = tuple(root.shape)
    for node in nodes:
        for edge, shape in zip(node.edges, node.shapes, strict=True):
            if isinstance(edge, (Node, Output)):
                shapes[_key(edge)] = tuple(shape)
    leaves: dict[str, tuple[int, ...]] = {}
    named: dict[int, str] = {}
    entries = []
    for node in nodes:
        inputs = tuple(_input(edge, names, named, leaves) for edge in node.edges)
        entries.append(_entry(node, inputs, shapes))
    owners = {id(o): o for node in nodes for o in map(owner_of, saved_by(node))}
    kept = sum(owner.nbytes for owner in owners.values())
    return Tape(entries, leaves, kept)


def _reached(edges: Iterable[Any]) -> list[Node]:
    """Return all nodes reachable from the edges, the oldest first."""
    seen: dict[int, Node] = {}
    stack = [target(edge) for edge in edges]
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node.serial not in seen:
            seen[node.serial] = node
            stack.extend(map(target, node.edges))
    return [seen[serial] for serial in sorted(seen)]


def _key(edge: Any) -> tuple[int, int]:
    return (
        (edge.node.serial, edge.slot) if isinstance(edge, Output) else (edge.serial, 0)
    )


def _input(
    edge: Any, names: dict[int, str], named: dict[int, str], leaves: dict[str, Any]
) -> str:
    """Return the name of the operation or leaf that an edge leads to."""
    if edge is None:
        return ""
    if isinstance(edge, Output):
        return f"#{edge.node.serial}.{edge.slot}"
    if isinstance(edge, Node):
        return f"#{edge.serial}"
    assert isinstance(edge, Leaf)
    name = named.get(id(edge))
    if name is None:
        name = named[id(edge)] = names.get(id(edge), f"leaf{len(named)}")
        leaves[name] = tuple(edge.shape)
    return name


def _entry(
    node: Node, inputs: tuple[str, ...], shapes: dict[tuple[int, int], Any]
) -> Entry:
    spec = getattr(node.op, "spec", None)
    kind = "other" if spec is None else spec.kind
    if getattr(node.op, "is_view", False):
        kind = "view"
    return Entry(
        node.serial,
        node.op.name,
        kind,
        kind == "composite",
        inputs,
        tuple(tuple(shape) for shape in node.shapes),
        shapes.get((node.serial, 0)),
        sum(a.nbytes for a in saved_by(node)),
        node.saved is FREED,
        getattr(node, "line", None),
    )
