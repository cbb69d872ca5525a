# SPDX-License-Identifier: MIT
"""Finds the user's lines that recorded a node or wrote into a storage.

The lines are known only while `tracing`, which changes the two classes for that time.
A program that does not ask for lines pays nothing for them.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._callers import users_line
from autocalc._graph._node import Node, Version
from autocalc._graph._noticed import is_listening, listen, stop


def recorded_at(node: Node) -> str:
    """Return a sentence that says where a node was recorded, or how to find out."""
    line = getattr(node, "line", None)
    if line is None:
        return "It was recorded outside of detect_anomaly(), so its line is not known."
    return f"It was recorded at {line}"


def written_at(cell: Version) -> str:
    """Return a sentence that says where a storage was last written, if known."""
    line = getattr(cell, "line", None)
    if line is None:
        return "autograd.detect_anomaly() around the program names the line of it."
    return f"The last change was at {line}"


def _note_line(node: Node) -> None:
    node.line = users_line()


def _set(cell: Version, name: str, value: Any) -> None:
    object.__setattr__(cell, name, value)
    if name == "count" and value:
        object.__setattr__(cell, "line", users_line())


def is_tracing() -> bool:
    """Return whether lines are noted."""
    return is_listening(_note_line)


def trace(on: bool) -> None:
    """Start or stop noting lines."""
    (listen if on else stop)(_note_line)
    if on:
        Version.__setattr__ = _set  # type: ignore[method-assign,assignment]  # see top
    elif "__setattr__" in vars(Version):
        del Version.__setattr__
