# SPDX-License-Identifier: MIT
"""Attributes of bases and subclasses that code reads; `found` collects guards."""

from __future__ import annotations

import abc
import gc
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

from autocalc._compile._guards import Inside
from autocalc._compile._objects import HEAP, kept_in_class
from autocalc._compile._places import MISSING, Attribute, Held, HeldWeakly, OfClass
from autocalc._compile._reads import Path, Reads
from autocalc._compile._together import Together
from autocalc._compile._whose import is_users

_ESCAPES = Path()
_ESCAPES.escapes = True


class OfClasses(Inside):
    """What a class and some of its bases have, by a function that takes a picture.

    A group compares all that the classes have, which is quick.
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
        """Return whether the picture is the same; the group forgets the old rest."""
        if not super().holds():
            return False
        for now, copy in self._classes:
            copy.clear()
            copy.update(now)
        return True

    def join(self, group: Together) -> bool:
        """Let a group compare the classes."""
        if isinstance(self.held, HeldWeakly):
            return False
        group.dicts += self._classes
        return True


def _dict_of(kind: type) -> Any:
    return gc.get_referents(vars(kind))[0]


def _changeable(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__flags__ & HEAP and is_users(base)]


def _special(kind: Any) -> Any:
    """Return special methods, and descriptors that come before objects' attributes."""
    if kind is MISSING:  # it is gone
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
    """Guard which methods a class has that operations look for: `bool`, `==`, `str`."""
    if is_users(kind) and found.first(kind, "special"):
        what = f"special methods of {kind.__name__}"
        given = what, found.held(kind), _special, _changeable(kind), code
        found.guards.append(OfClasses(*given))
        bases = Attribute(found.held(kind), "__mro__")
        found.place(f"the bases of {kind.__name__}", bases, kind.__mro__, code)
        special_methods(found, type(kind), code)


def method_of(found: Any, kind: type, name: str) -> None:
    """Guard that a class of AutoCalc gives its objects the method that it gave."""
    base, kept = kept_in_class(kind, name)
    if isinstance(kept, FunctionType):
        place: Any = Attribute if base is not kind else OfClass  # which C compares
        label = f"{kind.__name__}.{name}"
        found.place(label, place(found.held(kind), name), kept, None)


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
