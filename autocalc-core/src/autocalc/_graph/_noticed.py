# SPDX-License-Identifier: MIT
"""Functions that are called with each node that is recorded.

While there is such a function, `Node.__init__` is replaced, and calls run in Python.
Without one, programs are not slowed down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.engine.eager import pause
from autocalc._graph._node import Node

_plain_init: Any = Node.__init__

#: The functions to call with each new node, in order.
_listeners: list[Callable[[Node], None]] = []


def _init(node: Node, *args: Any) -> None:
    _plain_init(node, *args)
    for listener in tuple(_listeners):
        listener(node)


def listen(listener: Callable[[Node], None]) -> None:
    """Call ``listener(node)`` for each node from now on."""
    _listeners.append(listener)
    _switch()


def stop(listener: Callable[[Node], None]) -> None:
    """Stop calling `listener`."""
    _listeners.remove(listener)
    _switch()


def is_listening(listener: Callable[[Node], None]) -> bool:
    """Return whether `listener` is being called."""
    return listener in _listeners


def listened() -> bool:
    """Return whether any function waits for nodes; compiled programs make none."""
    return bool(_listeners)


def _switch() -> None:
    changed: Any = Node
    changed.__init__ = _init if _listeners else _plain_init
    pause(_listeners, bool(_listeners))
