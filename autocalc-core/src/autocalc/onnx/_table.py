# SPDX-License-Identifier: MIT
"""The tables in which writers of kernels and readers of nodes are registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

#: Maps a kernel to ``writer(k, *inputs, *attributes)``, which returns values of the
#: graph.
WRITERS: dict[str, Callable[..., Any]] = {}


class Reader(NamedTuple):
    """The reader that runs nodes of one kind.

    Attributes
    ----------
    function
        ``function(node, *inputs)`` returns a tensor, or a tuple of tensors.  If the
        node has blocks, they are keyword arguments: functions of values that return a
        list of values.
    numbers
        The positions of inputs that are passed as lists of Python numbers.
    unused
        Attributes that do not change the result, at least if `function` does not read
        them.  A node with any other attribute is refused.
    only
        Maps an attribute to the values that are supported; the first is the default.
        A node with another value is refused when the file is loaded.
    refuses
        ``refuses(node)`` returns why a node is not supported, or "".
    """

    function: Callable[..., Any]
    numbers: tuple[int, ...] = ()
    unused: tuple[str, ...] = ()
    only: Mapping[str, tuple[Any, ...]] = {}
    refuses: Callable[[Any], str] | None = None


#: Maps the name of an operator to its reader.
READERS: dict[str, Reader] = {}


def writes(*names: str) -> Callable[[Function], Function]:
    """Register a function as the writer of kernels."""

    def enter(function: Function) -> Function:
        WRITERS.update(dict.fromkeys(names, function))
        return function

    return enter


def reads(
    *names: str,
    numbers: tuple[int, ...] = (),
    unused: tuple[str, ...] = (),
    only: Mapping[str, tuple[Any, ...]] | None = None,
    refuses: Callable[[Any], str] | None = None,
) -> Callable[[Function], Function]:
    """Register a function as the reader of operators."""

    def enter(function: Function) -> Function:
        reader = Reader(function, numbers, unused, only or {}, refuses)
        READERS.update(dict.fromkeys(names, reader))
        return function

    return enter
