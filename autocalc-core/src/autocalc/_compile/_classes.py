# SPDX-License-Identifier: MIT
"""Guards the attributes of classes that code reads; `found` collects the guards."""

from __future__ import annotations

import abc
import gc
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

from autocalc._compile._guards import Inside
from autocalc._compile._objects import HEAP, kept_in_class
from autocalc._compile._places import MISSING, Attribute, Held, HeldWeakly, OfClass
from autocalc._compile._reads import ESCAPES, Reads
from autocalc._compile._together import Together
from autocalc._compile._whose import is_users


class OfClasses(Inside):
    """A guard of a picture that a function takes of a class and some of its bases.

    A group compares all attributes of the classes, which is fast.
    """

    __slots__ = ("_classes",)

    def __init__(
        self,
        what: str,
        held: Held,
        take: Callable[[Any], Any],
        classes: Iterable[type],
        code: CodeType | None,
    ) -> None:
        super().__init__(what, held, take, code)
        self._classes = [(kept, dict(kept)) for kept in map(_dict_of, classes)]

    def holds(self) -> bool:
        """Return whether the picture is unchanged; if so, the group gets new copies."""
        if not super().holds():
            return False
        for now, copy in self._classes:
            copy.clear()
            copy.update(now)
        return True

    def join(self, group: Together) -> bool:
        """Let a group compare the classes' attributes."""
        if isinstance(self.held, HeldWeakly):
            return False
        group.dicts += self._classes
        return True


def _dict_of(kind: type) -> Any:
    return gc.get_referents(vars(kind))[0]


def _changeable(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__flags__ & HEAP and is_users(base)]


def _special(kind: Any) -> Any:
    """Return the special methods, and the descriptors that precede own attributes."""
    if kind is MISSING:  # the class is gone
        return None
    return [
        {name: id(kept) for name, kept in own.items() if _is_special(name, kept)}
        for own in map(dict, map(vars, _changeable(kind)))
    ]


def _is_special(name: str, kept: Any) -> bool:
    of = type(kept)
    if hasattr(of, "__set__") or hasattr(of, "__delete__"):
        return True
    is_method = callable(kept) or kept is None or hasattr(of, "__get__")
    return name == "__match_args__" or (name[:2] == "__" and is_method)


def special_methods(found: Any, kind: type, code: CodeType) -> None:
    """Guard the methods of a class that operations such as `bool` or `==` look up."""
    if is_users(kind) and found.first(kind, "special"):
        what = f"special methods of {kind.__name__}"
        given = what, found.held(kind), _special, _changeable(kind), code
        found.guards.append(OfClasses(*given))
        bases = Attribute(found.held(kind), "__mro__")
        found.place(f"the bases of {kind.__name__}", bases, kind.__mro__, code)
        special_methods(found, type(kind), code)


def method_of(found: Any, kind: type, name: str) -> None:
    """Guard a method that objects of one of AutoCalc's classes get from it."""
    base, kept = kept_in_class(kind, name)
    if isinstance(kept, FunctionType):
        place: Any = Attribute if base is not kind else OfClass  # compared in C
        label = f"{kind.__name__}.{name}"
        found.place(label, place(found.held(kind), name), kept, None)


def absent(
    found: Any, label: str, kind: type, base: type | None, name: str, code: CodeType
) -> None:
    """Guard that no class before `base` in the method order has an attribute."""
    for one in kind.__mro__:
        if one is base:
            return
        if one.__flags__ & HEAP and is_users(one):
            found.place(label, OfClass(found.held(one), name), MISSING, code)


def registered(found: Any, what: str, kind: type, code: CodeType) -> None:
    """Guard which classes are registered with an abstract class."""
    if isinstance(kind, abc.ABCMeta) and found.first(abc, "registered"):
        what = f"the classes registered for {what}"
        found.guards.append(Inside(what, found.held(kind), _registrations, code))


def _registrations(kind: type) -> object:
    del kind  # Python counts the registrations of all classes together
    return abc.get_cache_token()


def methods_of(found: Any, kind: type, code: CodeType) -> None:
    """Guard the functions of a user's class, because a class of AutoCalc calls some.

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
    """Guard attributes of related classes that code reaches, as by ``super``."""
    kind = value if isinstance(value, type) else type(value)
    if "super" in reads.globals:
        _of_bases(found, label, value, name, reads, code)
    if name == "__subclasses__" and kind is value and is_users(kind):
        _subclasses(found, label, kind, reads, code)


def _of_bases(
    found: Any, label: str, value: Any, name: str, reads: Reads, code: CodeType
) -> None:
    """Guard an attribute of every class of a value: `super` skips some of them."""
    kind = value if isinstance(value, type) else type(value)
    for base in filter(is_users, kind.__mro__):
        of_class = vars(base).get(name, MISSING)
        found.place(label, OfClass(found.held(base), name), of_class, code)
        if of_class is not MISSING:
            found.from_class(label, value, name, of_class, ESCAPES, reads, code)


def _subclasses(
    found: Any, label: str, kind: type, reads: Reads, code: CodeType
) -> None:
    """Guard which subclasses a class has, and which of their attributes code reads."""
    if found.first(kind, (id(reads), "subclasses")):
        held = found.held(kind)
        found.guards.append(Inside(label, held, type.__subclasses__, code))
        one: type
        for one in type.__subclasses__(kind):
            found.inside(f"{label}()", one, reads, code)
