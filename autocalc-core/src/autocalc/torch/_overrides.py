# SPDX-License-Identifier: MIT
"""``__torch_function__``: classes and contexts that override function calls.

A class that defines it is asked for each call that has one of its objects among the
arguments.  A subclass of `Tensor` inherits one, with which results keep the class. A
`TorchFunctionMode` is asked for every call inside its ``with`` block.

`_gates` puts a `Gate` in front of each function, when the first such class is used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from autocalc import Tensor, nn
from autocalc._ops._operator.method import is_foreign
from autocalc.errors import DTypeError

NAME = "__torch_function__"

#: Classes of arguments that need no check.
_PLAIN = frozenset(
    {Tensor, nn.Parameter, int, float, bool, str, type(None), slice, type(...), type}
)


class _State(threading.local):
    """The settings of a thread: what is switched on and off."""

    def __init__(self) -> None:
        self.classes = self.everything = True
        self.modes: list[Any] = []


state = _State()


class _Off:
    """A ``with`` block in which classes are not asked, or neither classes nor modes."""

    _everything = False

    def __enter__(self) -> None:
        self._before = state.classes, state.everything
        state.classes = False
        state.everything = state.everything and not self._everything

    def __exit__(self, *_: object) -> None:
        state.classes, state.everything = self._before


class DisableTorchFunctionSubclass(_Off):
    """A ``with`` block in which no class takes over calls; modes do."""


class DisableTorchFunction(_Off):
    """A ``with`` block in which nothing takes over calls."""

    _everything = True


class Gate:
    """The replacement of a function, which asks the classes that override it.

    A gate of the kind "operator" leaves foreign operands to Python. Only modes override
    functions of the kind "copy", which make plain tensors.
    """

    def __init__(self, function: Any, run: Callable[..., Any], kind: str) -> None:
        self.function, self.run, self.kind = function, run, kind

    def __call__(self, *args: Any, **words: Any) -> Any:
        if not words and not state.modes and _PLAIN.issuperset(map(type, args)):
            return self.run(*args)
        if not state.everything:
            return self.run(*args, **words)
        asked: list[Any] = []
        if self.kind != "copy":
            asked = [*overloaded(args), *overloaded(words.values())]
        if not asked and not state.modes:
            return self.run(*args, **words)
        try:
            return take_over(self.function, asked, args, words)
        except TypeError:
            if self.kind == "operator" and is_foreign(args[1]) and not asks(args[1]):
                return NotImplemented
            raise


def asks(value: Any) -> bool:
    """Return whether the class of a value overrides calls."""
    kind = type(value)
    if kind in _PLAIN or not state.classes:
        return False
    return getattr(kind, NAME, disabled) is not disabled


def overloaded(values: Any) -> Iterator[Any]:
    """Yield the values, including those in lists, whose classes override calls."""
    for value in values:
        kind = value.__class__
        if kind in _PLAIN:
            continue
        if kind is list or kind is tuple:
            yield from overloaded(value)
        elif asks(value):
            yield value


def take_over(function: Any, asked: list[Any], args: Any, words: Any) -> Any:
    """Return the result of the mode or of the first class that overrides a call."""
    each: dict[type, Any] = {}
    for value in asked:
        each.setdefault(type(value), value)
    # Ask a subclass before its base class, and otherwise the first argument first.
    order: list[type] = []
    for kind in each:
        later = [i for i, other in enumerate(order) if issubclass(kind, other)]
        order.insert(later[0] if later else len(order), kind)
    given = function, tuple(each), args, words
    if state.modes:
        mode = state.modes.pop()
        try:
            result = mode.__torch_function__(*given)
        finally:
            state.modes.append(mode)
        if result is not NotImplemented:
            return result
    for kind in order:
        result = getattr(each[kind], NAME)(*given)
        if result is not NotImplemented:
            return result
    names = [kind.__qualname__ for kind in order]
    raise DTypeError(
        f"{function.__name__}: __torch_function__ of {names} returned NotImplemented. "
        f"It must return the result, or the function cannot be called with them."
    )


def disabled(
    function: Any,
    types: Any,  # noqa: ARG001  the protocol's
    args: Any = (),
    kwargs: Any = None,
) -> Any:
    """Run the function as on plain tensors, for classes that override nothing."""
    with DisableTorchFunctionSubclass():
        return function(*args, **(kwargs or {}))


def keep_class(
    cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """Run a function as on plain tensors; convert its results to the class."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if func in PLAIN_RESULTS or cls is Tensor else _as(cls, result)


#: Functions whose results keep the class that they have.
PLAIN_RESULTS: set[Any] = set()


def _as(cls: Any, result: Any) -> Any:
    """Return the tensors in a result converted to a class."""
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[_as(cls, one) for one in result])
    if result.__class__ is tuple or result.__class__ is list:
        return result.__class__([_as(cls, one) for one in result])
    return result
