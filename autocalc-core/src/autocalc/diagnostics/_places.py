# SPDX-License-Identifier: MIT
"""Where a kernel call comes from: the user's line, the layer, the node of a walk.

All of it stands in the frames of Python; they are looked at where something is found.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from autocalc._graph._lines import Line, users_line
from autocalc._graph._node import Node
from autocalc._graph._walk import Walk
from autocalc.nn import Module

_CALL = Module.__call__.__code__
_VISIT = Walk.visit.__code__


class Place(NamedTuple):
    """Where a call comes from.

    `modules` are those that are running, the innermost first; `node` is the one whose
    backward rule runs, None in a forward pass.
    """

    line: Line | None
    modules: tuple[Module, ...]
    node: Node | None


def here() -> Place:
    """Return where the calling code runs."""
    modules, node = _frames(sys._getframe(1))
    return Place(users_line(), modules, node)


def _frames(frame: FrameType | None) -> tuple[tuple[Module, ...], Node | None]:
    modules: list[Module] = []
    node: Node | None = None
    while frame is not None:
        if frame.f_code is _CALL:
            modules.append(frame.f_locals["self"])
        elif frame.f_code is _VISIT and node is None:
            node = frame.f_locals["node"]
        frame = frame.f_back
    return tuple(modules), node


class Layers:
    """The names of modules, in a model or in the outermost one that runs."""

    def __init__(self, model: Module | None = None) -> None:
        self.model = model
        self._names: dict[int, tuple[Any, dict[int, str]]] = {}

    def of(self, modules: Sequence[Module]) -> tuple[str, str]:
        """Return the dotted name and the class of the innermost of running modules."""
        if not modules:
            return "", ""
        inner = modules[0]
        name = None if self.model is None else self._below(self.model, inner)
        if name is None:
            name = self._below(modules[-1], inner)
        return name or "", type(inner).__name__

    def _below(self, root: Module, inner: Module) -> str | None:
        known = self._names.get(id(root))
        if known is None or id(inner) not in known[1]:
            names = {id(one): name for name, one in root.named_modules()}
            known = self._names[id(root)] = root, names
        return known[1].get(id(inner))

    def here(self) -> str:
        """Return the layer that runs now, as text; "" outside of modules."""
        return layer_text(*self.of(_frames(sys._getframe(1))[0]))


def layer_text(name: str, kind: str) -> str:
    """Return name and class of a module as ``"layers.0 (Linear)"``."""
    return f"{name} ({kind})" if name else kind


def layer_of_text(text: str) -> tuple[str, str]:
    """Return the name and the class that `layer_text` has put together."""
    name, _, kind = text.removesuffix(")").rpartition(" (")
    return name, kind
