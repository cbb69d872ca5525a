# SPDX-License-Identifier: MIT
"""The origins of live arrays, recorded while `memory.trace` is active."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from autocalc._dispatch._callers import UserLine, caller
from autocalc._graph._node import FREED, Node
from autocalc._program._views import owner_of
from autocalc.diagnostics._blocks import Block
from autocalc.diagnostics._calls import Seen
from autocalc.diagnostics._layers import Layers, layer_text


class ArrayOrigin(NamedTuple):
    """The operator, the layer and the user's line that made an array."""

    operator: str
    layer: str
    line: UserLine | None


#: Origins by the id of the array that owns the memory; an entry is removed with its
#: array.
_origins: dict[int, tuple[Any, ArrayOrigin]] = {}


def saved_by(node: Node) -> list[Any]:
    """Return the arrays that a node saves for its backward rule."""
    held = () if node.saved is FREED or node.saved is None else node.saved
    found = held if isinstance(held, (tuple, list)) else (held,)
    return [a for a in found if isinstance(a, np.ndarray)]


def origin_of(owner: Any) -> ArrayOrigin | None:
    """Return the origin of an array; None if `memory.trace` was off."""
    known = _origins.get(id(owner))
    return None if known is None or known[0]() is not owner else known[1]


class Trace(Block):
    """A block that records what makes each array; `memory.trace` returns it."""

    def __init__(self) -> None:
        super().__init__("memory.trace", Layers())

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        run()
        new = [o for o in map(owner_of, _flat(seen.outputs)) if not origin_of(o)]
        if not new:
            return
        found = caller()
        operator, line = found.site.operator or seen.spec.name, found.line
        layer = layer_text(*self._layers.of(found.modules))
        if found.node is not None:
            operator += ", backward"
            noted = getattr(found.node, "line", None)
            layer, line = (noted.layer, noted) if noted else ("", line)
        origin = ArrayOrigin(operator, layer, line)
        for owner in new:
            _note(owner, origin)


def _note(owner: Any, origin: ArrayOrigin) -> None:
    key = id(owner)

    def forget(gone: Any) -> None:
        if key in _origins and _origins[key][0] is gone:
            del _origins[key]

    _origins[key] = ref(owner, forget), origin


def _flat(operands: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for x in operands:
        found += _flat(x) if isinstance(x, (list, tuple)) else [] if x is None else [x]
    return found
