# SPDX-License-Identifier: MIT
"""Finds the functions whose code runs, and their cells; frames do not give them."""

from __future__ import annotations

import functools
import gc
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from autocalc._compile._places import MISSING
from autocalc._compile._whose import is_users
from autocalc._graph._frozen import frozen_objects


class Functions:
    """The known functions, by their code.

    All functions that a recording can reach are registered before it runs.  An unknown
    function was made by the recorded function, or is searched for among all objects.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[FunctionType]] = {}
        self._seen: set[int] = set()
        self._things: list[Any] = []
        self._made: dict[int, dict[str, Any]] = {}
        self._partial: dict[int, list[Any]] = {}

    def forget(self) -> None:
        """Release all functions."""
        self._known.clear()
        self._seen.clear()
        self._things.clear()
        self._made.clear()
        self._partial.clear()

    def know(self, value: Any) -> None:
        """Register the function that a value is, and those it wraps or encloses."""
        todo = [value]
        while todo:
            one = todo.pop()
            if id(one) in self._seen or not isinstance(one, _WRAPPERS):
                continue
            self._seen.add(id(one))
            self._things.append(one)
            if isinstance(one, FunctionType):
                self._known.setdefault(id(one.__code__), []).append(one)
                todo += map(contents, one.__closure__ or ())
            if isinstance(one, functools.partial):
                code = getattr(
                    getattr(one.func, "__func__", one.func), "__code__", None
                )
                self._partial.setdefault(id(code), []).append(one)
            todo += _inside(one)

    def partial(self, code: CodeType) -> list[Any]:
        """Return the partial functions that pass arguments to code."""
        return self._partial.get(id(code), [])

    def know_methods(self, kind: type) -> None:
        """Register the methods of a class."""
        for base in kind.__mro__:
            if base is not object and id(base) not in self._seen:
                self._seen.add(id(base))
                self._things.append(base)
                for value in list(vars(base).values()):
                    self.know(value)

    def running(self, frame: FrameType) -> tuple[list[FunctionType], dict[str, Any]]:
        """Return the functions that may be running in a frame, and their cells by name.

        Closures that a factory made share their code.  Only those are returned whose
        variables have the values that the frame sees.
        """
        code = frame.f_code
        found = self._alike(frame)
        if not found and id(code) in self._made:
            cells = self._made[id(code)]
        else:
            if not found:
                self._look_for(frame)
                found = self._alike(frame) or self._known.get(id(code), [])
            cells = {}
            for function in found:
                cells |= zip(code.co_freevars, function.__closure__ or (), strict=True)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                names = inner.co_freevars
                self._made[id(inner)] = {n: cells[n] for n in names if n in cells}
        return found, cells

    def _alike(self, frame: FrameType) -> list[FunctionType]:
        known = self._known.get(id(frame.f_code))
        if not known:
            return []
        names, values = frame.f_code.co_freevars, frame.f_locals
        return [
            function
            for function in known
            if function.__code__ is frame.f_code
            and all(
                contents(cell) is values.get(name, MISSING)
                for name, cell in zip(names, function.__closure__ or (), strict=True)
            )
        ]

    def _look_for(self, frame: FrameType) -> None:
        """Search for the functions of a frame by its names, then among all objects."""
        code = frame.f_code
        self.know(frame.f_globals.get(code.co_name))
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        kind = first if isinstance(first, type) else type(first)
        if is_users(kind):
            self.know_methods(kind)
        if id(code) in self._known:
            return
        referrers = [x for x in gc.get_referrers(code) if type(x) is FunctionType]
        if not referrers:
            referrers = [x for x in frozen_objects() if type(x) is FunctionType]
        for function in referrers:
            if function.__code__ is code:
                self.know(function)


_CACHED: Any = type(functools.lru_cache(lambda: None))
_WRAPPERS = (FunctionType, MethodType, functools.partial, property, staticmethod,
             classmethod, functools.cached_property, _CACHED)  # fmt: skip


def _inside(value: Any) -> list[Any]:
    """Return the functions that a wrapper wraps."""
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    names = ("__func__", "func", "__wrapped__")
    found = [getattr(value, name, None) for name in names]
    if isinstance(value, functools.partial):
        found += [*value.args, *value.keywords.values()]
    return found


def contents(cell: Any) -> Any:
    """Return the content of a cell, or `MISSING` where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
