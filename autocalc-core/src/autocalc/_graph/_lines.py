# SPDX-License-Identifier: MIT
"""Lines of users' programs that recorded a node or wrote into a storage.

They are known only while `tracing`: the two classes are changed for that time, so that
a program which does not ask for lines pays nothing for them.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from autocalc._dispatch._eager import pause
from autocalc._graph._node import Node, Version

#: AutoCalc's own files begin with this.
_OWN = __file__[: -len("_graph/_lines.py")]


class Line(NamedTuple):
    """A place in a user's program, and in which layer of a model, if that is asked."""

    file: str
    number: int
    function: str
    layer: str = ""

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}, in {self.function}: `{text}`."


#: Say in which layer of a model the running code is, while somebody asks for it.
layer_of: list[Callable[[], str]] = []


def users_line() -> Line | None:
    """Return the innermost line outside of AutoCalc that leads to this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code
    layer = layer_of[-1]() if layer_of else ""
    return Line(code.co_filename, frame.f_lineno, code.co_name, layer)


def recorded_at(node: Node) -> str:
    """Return where a node was recorded, as a sentence; or how to know."""
    line = getattr(node, "line", None)
    if line is None:
        return "It was recorded outside of detect_anomaly(), so its line is not known."
    return f"It was recorded at {line}"


def written_at(cell: Version) -> str:
    """Return where a storage was last written, as a sentence; or how to know."""
    line = getattr(cell, "line", None)
    if line is None:
        return "autograd.detect_anomaly() around the program names the line of it."
    return f"The last change was at {line}"


_plain_init: Any = Node.__init__


def _init(node: Node, *args: Any) -> None:
    _plain_init(node, *args)
    node.line = users_line()


def _set(cell: Version, name: str, value: Any) -> None:
    object.__setattr__(cell, name, value)
    if name == "count" and value:
        object.__setattr__(cell, "line", users_line())


def is_tracing() -> bool:
    """Return whether lines are noted."""
    return Node.__init__ is _init


def trace(on: bool) -> None:
    """Note lines from now on, or no longer."""
    pause(on)
    changed: Any = Node
    changed.__init__ = _init if on else _plain_init
    if on:
        Version.__setattr__ = _set  # type: ignore[method-assign,assignment]  # see top
    elif "__setattr__" in vars(Version):
        del Version.__setattr__
