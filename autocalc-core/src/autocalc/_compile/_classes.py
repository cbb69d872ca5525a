# SPDX-License-Identifier: MIT
"""Attributes of bases and subclasses that code reads; `found` collects guards."""

from __future__ import annotations

import abc
from types import CodeType, FunctionType
from typing import Any

from autocalc._compile._guards import Inside
from autocalc._compile._objects import HEAP, kept_in_class
from autocalc._compile._places import MISSING, OfClass
from autocalc._compile._reads import Path, Reads
from autocalc._compile._whose import is_users

_ESCAPES = Path()
_ESCAPES.escapes = True


#: Methods that Python's own operations call, and do without where a class has none.
_SPECIAL = ("__bool__", "__call__", "__contains__", "__eq__", "__format__",
            "__getattr__", "__getattribute__", "__hash__", "__len__", "__repr__",
            "__str__")  # fmt: skip


def special_methods(found: Any, kind: type, code: CodeType) -> None:
    """Guard which methods a class has that operations look for: `bool`, `==`, `str`."""
    if not found.first(kind, "special"):
        return
    for name in _SPECIAL:
        base, of_class = kept_in_class(kind, name)
        label = f"{kind.__name__}.{name}"
        absent(found, label, kind, base, name, code)
        if base is not None and is_users(base):
            found.place(label, OfClass(found.held(base), name), of_class, code)


def absent(
    found: Any, label: str, kind: type, base: type | None, name: str, code: CodeType
) -> None:
    """Guard that no class has an attribute that comes before that of `base`."""
    for one in kind.__mro__:
        if one is base:
            return
        if one.__flags__ & HEAP and is_users(one):
            found.place(label, OfClass(found.held(one), name), MISSING, code)


def registered(found: Any, what: str, kind: type, code: CodeType) -> None:
    """Guard which classes an abstract class has as its own by `register`."""
    if isinstance(kind, abc.ABCMeta) and found.first(abc, "registered"):
        what = f"the classes registered for {what}"
        found.guards.append(Inside(what, found.held(kind), _registrations, code))


def _registrations(kind: type) -> object:
    del kind  # they are counted for all together
    return abc.get_cache_token()


def methods_of(found: Any, kind: type, code: CodeType) -> None:
    """Guard the functions of a user's class, of which a class of AutoCalc's calls some.

    `autograd.Function.apply` does so.
    """
    for base in filter(is_users, kind.__mro__):
        for name, kept in list(vars(base).items()):
            if isinstance(kept, (FunctionType, staticmethod, classmethod)):
                place = OfClass(found.held(base), name)
                found.place(f"{base.__name__}.{name}", place, kept, code)


def of_relatives(
    found: Any, label: str, value: Any, name: str, reads: Reads, code: CodeType
) -> None:
    """Guard what other classes have, where code comes to them by an attribute."""
    kind = value if isinstance(value, type) else type(value)
    if "super" in reads.globals:
        _of_bases(found, label, value, name, reads, code)
    if name == "__subclasses__" and kind is value and is_users(kind):
        _subclasses(found, label, kind, reads, code)


def _of_bases(
    found: Any, label: str, value: Any, name: str, reads: Reads, code: CodeType
) -> None:
    """Guard an attribute of each class of a value: `super` passes over some of them."""
    kind = value if isinstance(value, type) else type(value)
    for base in filter(is_users, kind.__mro__):
        of_class = vars(base).get(name, MISSING)
        found.place(label, OfClass(found.held(base), name), of_class, code)
        if of_class is not MISSING:
            found.from_class(label, value, name, of_class, _ESCAPES, reads, code)


def _subclasses(
    found: Any, label: str, kind: type, reads: Reads, code: CodeType
) -> None:
    """Guard which subclasses a class has, and what code reads of them."""
    if found.first(kind, (id(reads), "subclasses")):
        held = found.held(kind)
        found.guards.append(Inside(label, held, type.__subclasses__, code))
        one: type
        for one in type.__subclasses__(kind):
            found.inside(f"{label}()", one, reads, code)
