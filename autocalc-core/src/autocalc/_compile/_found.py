# SPDX-License-Identifier: MIT
"""Values that code finds on its paths: each of them gets a guard.

A value that does not escape is followed along the attributes that the code takes.  Of
one that escapes everything is guarded that the code can come to, to any depth: elements
of containers, and those attributes that the code names anywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from sys import getrefcount
from threading import local
from types import (
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from autocalc._compile._classes import of_relatives
from autocalc._compile._functions import Functions, contents
from autocalc._compile._guards import (
    PLAIN,
    AnyGuard,
    Drawn,
    Elements,
    Guard,
    Inside,
)
from autocalc._compile._objects import (
    CACHED,
    CONTAINERS,
    DRAWS,
    FIELD,
    HEAP,
    PICTURES,
    dict_of,
    holds_values,
    is_iterator,
    is_open,
    kept_in_class,
    names_in,
    parts_of,
    picture_of_generator,
    slots_of,
    values_in,
)
from autocalc._compile._places import (
    MISSING,
    Attribute,
    Element,
    Held,
    OfClass,
    Place,
    Variable,
)
from autocalc._compile._reads import Path, Reads, reads_of
from autocalc._compile._whose import is_standard, is_users
from autocalc._graph._node import Leaf, Node, Output
from autocalc._tensor import Tensor

_OPAQUE = (*PLAIN, Tensor, Node, Leaf, Output, CodeType, np.dtype, np.generic)

#: In containers of more elements a number is guarded with the others, and no input.
MAX_NUMBERS = 256

#: References to an object that only its `Held` has: that one, and the argument of
#: `getrefcount`.
_ALONE = 2

_ESCAPES = Path()
_ESCAPES.escapes = True


class Found:
    """Guards of everything that was found.

    Attributes
    ----------
    guards
        One for each place and container.
    functions
        Those that were found on the way.
    is_old
        Whether what is found now was there before the recorded function ran.
    """

    def __init__(self) -> None:
        self.guards: list[AnyGuard] = []
        self.functions = Functions()
        self.is_old = True
        self._seen: set[Any] = set()
        self._things: list[Any] = []  # that ids in `_seen` belong to
        self._held: dict[int, Held] = {}
        self._elements: dict[int, Elements] = {}

    def held(self, thing: Any) -> Held:
        """Return the one reference that guards have to an object."""
        found = self._held.get(id(thing))
        if found is None:
            found = self._held[id(thing)] = Held(thing, self.is_old)
        found.is_old |= self.is_old
        return found

    def first(self, thing: Any, key: Any) -> bool:
        """Return whether this is seen for the first time."""
        seen = id(thing), key
        if seen in self._seen:
            return False
        self._seen.add(seen)
        self._things.append(thing)
        return True

    def forget_the_dead(self) -> None:
        """Drop guards of objects that the function made and that are gone."""
        self._things.clear()
        self._seen.clear()
        self._elements.clear()
        self.functions.forget()
        while True:
            held = self._held.items()
            dead = [key for key, one in held if getrefcount(one.thing) <= _ALONE]
            gone = {id(self._held.pop(key)) for key in dead}
            if not gone:
                return
            self.guards[:] = [g for g in self.guards if id(_held(g)) not in gone]

    # ---- values --------------------------------------------------------------------

    def look(
        self, what: str, value: Any, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard what code finds when it follows a path from a value."""
        if isinstance(value, _OPAQUE):
            return
        self.functions.know(value)
        if path.escapes or (path.called and holds_values(value)) or is_open(value):
            self.inside(what, value, reads, code)
        if isinstance(value, Enum):
            self._key(f"{what}.value", vars(value), "_value_", _ESCAPES, reads, code)
        for name, further in path.items():
            self.attribute(what, value, name, further, reads, code, named=True)

    def inside(
        self,
        what: str,
        value: Any,
        reads: Reads,
        code: CodeType,
        *,
        temporary: bool = False,
    ) -> None:
        """Guard everything that code can come to from a value that escapes.

        A container that may be `temporary` is only looked through.
        """
        if isinstance(value, _OPAQUE) or not self.first(value, (id(reads), temporary)):
            return
        self.functions.know(value)
        if isinstance(value, (*CONTAINERS, tuple)):
            self._container(what, value, reads, code, temporary)
        elif isinstance(value, (ModuleType, type)):
            for name in reads.names | (values_in(value) if reads.dynamic else set()):
                self.attribute(what, value, name, _ESCAPES, reads, code)
            return
        else:
            if not temporary:
                self._without_elements(what, value, code)
            for part in parts_of(value):
                self.inside(what, part, reads, code)
            reads.names.update(names_in(value))
        if not isinstance(value, (MethodType, functools.partial)):
            self._attributes(what, value, reads, code)

    def _container(
        self, what: str, value: Any, reads: Reads, code: CodeType, temporary: bool
    ) -> None:
        of = None
        if not (temporary or isinstance(value, tuple)):
            of = self.elements(what, value, code)
        inner = {"temporary": temporary}
        if isinstance(value, dict):
            pairs = list(dict.items(value))
            for key, _ in pairs:
                if not isinstance(key, _OPAQUE):
                    self.inside(f"a key of {what}", key, reads, code, **inner)
        else:
            pairs = list(enumerate(value))
        may_be_inputs = len(pairs) <= MAX_NUMBERS and isinstance(value, (dict, list))
        for key, one in pairs:
            if not isinstance(one, PLAIN):
                if not isinstance(one, _OPAQUE):
                    self.inside(f"{what}[{_name(key)}]", one, reads, code, **inner)
            elif of is not None and isinstance(one, (int, float)) and may_be_inputs:
                place = Element(self.held(value), key)
                self.place(f"{what}[{_name(key)}]", place, one, code, of)

    def elements(self, what: str, value: Any, code: CodeType | None) -> Elements:
        """Guard the elements of a container."""
        found = self._elements.get(id(value))
        if found is None:
            found = Elements(what, self.held(value), code)
            self._elements[id(value)] = found
            self.guards.append(found)
        return found

    def _without_elements(self, what: str, value: Any, code: CodeType) -> None:
        """Guard what an object has inside that is kept in no attribute."""
        take = next((take for kind, take in PICTURES if isinstance(value, kind)), None)
        if isinstance(value, CACHED):
            self._not_run(value.__wrapped__)
        if take is not None:
            self.guards.append(Inside(what, self.held(value), take, code))
        elif isinstance(value, DRAWS):
            held = self.held(value)
            drawn = f"the random numbers that {what} draws; draw with AutoCalc's"
            given = drawn, held, picture_of_generator, code
            self.guards.append(Inside(*given, only_effects=True))
        elif is_iterator(value):
            taken = f"{what}, from which it takes elements"
            self.guards.append(Drawn(taken, None, self.held(value), code))

    def _not_run(self, function: Any) -> None:
        """Guard what a function reads that may not run, as its result is kept."""
        if isinstance(function, FunctionType):
            code = function.__code__
            reads, where = reads_of(code), function.__globals__
            for name, path in reads.globals.items():
                if name in where:
                    self._key(name, where, name, path, reads, code)
            cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
            for name, cell in cells:
                value = contents(cell)
                self.place(name, Variable(self.held(cell)), value, code)
                self.look(name, value, reads.locals.get(name, _ESCAPES), reads, code)

    def _attributes(self, what: str, value: Any, reads: Reads, code: CodeType) -> None:
        """Guard those attributes of a value that code names; all, if it may take any.

        Of collections of Python's library the elements are kept in attributes.
        """
        kind = type(value)
        own = dict_of(value)
        self._class(what, value, code)
        names = set(reads.names)
        if isinstance(own, dict):
            library = is_standard(value) and isinstance(
                value, (Mapping, Sequence, AbstractSet)
            )
            if library or (reads.dynamic and is_users(kind)):
                self.elements(f"the attributes of {what}", own, code)
                names |= {name for name in own if isinstance(name, str)}
        if reads.dynamic:
            names |= {name for base in kind.__mro__ for name in slots_of(base)}
        for name in names:
            self.attribute(what, value, name, _ESCAPES, reads, code)

    # ---- attributes ----------------------------------------------------------------

    def _class(self, what: str, value: Any, code: CodeType) -> None:
        """Guard the class of an object, if it may be another one."""
        kind = type(value)
        if is_users(kind) and not isinstance(value, type):
            place = Attribute(self.held(value), "__class__")
            self.place(f"the class of {what}", place, kind, code)
            self.functions.know_methods(kind)

    def attribute(
        self,
        what: str,
        value: Any,
        name: str,
        path: Path,
        reads: Reads,
        code: CodeType,
        *,
        named: bool = False,
    ) -> None:
        """Guard an attribute, and what code finds when it goes on from there.

        `named`: the code takes it of this value; else it may, or of another one.
        """
        label = f"{what}.{name}"
        if isinstance(value, ModuleType):
            self._key(label, vars(value), name, path, reads, code)
            return
        kind = value if isinstance(value, type) else type(value)
        own = None if kind is value else dict_of(value)
        self._class(what, value, code)
        of_relatives(self, label, value, name, reads, code)
        if kind is value and issubclass(kind, Enum) and name in kind.__members__:
            self.look(label, kind.__members__[name], path, reads, code)
            return
        base, of_class = kept_in_class(kind, name)
        if isinstance(value, local) and (base is None or name in value.__dict__):
            now = getattr(value, name, MISSING)  # of this thread
            self.place(label, Attribute(self.held(value), name), now, code)
            self.look(label, now, path, reads, code)
            return
        is_data = of_class is not MISSING and hasattr(type(of_class), "__set__")
        if isinstance(own, dict) and name in own and not is_data:
            self._key(label, own, name, path, reads, code)
            return
        if not path.is_read:
            return
        asked = path.tested or (named and hasattr(kind, "__getattr__"))
        if of_class is MISSING and not (asked or (reads.tests and is_users(kind))):
            return
        if base is not None and not (named or is_users(base)):
            return
        if isinstance(own, dict) and not is_data:
            self.place(label, Element(self.held(own), name), MISSING, code)
        self._absent(label, kind, base, name, code)
        if base is not None:
            if is_users(base):  # AutoCalc's and Python's own are taken not to change
                self.place(label, OfClass(self.held(base), name), of_class, code)
            self.from_class(label, value, name, of_class, path, reads, code)

    def _absent(
        self, label: str, kind: type, base: type | None, name: str, code: CodeType
    ) -> None:
        """Guard that no class has an attribute that comes before that of `base`."""
        for one in kind.__mro__:
            if one is base:
                return
            if one.__flags__ & HEAP and is_users(one):
                self.place(label, OfClass(self.held(one), name), MISSING, code)

    def from_class(
        self,
        label: str,
        value: Any,
        name: str,
        of_class: Any,
        path: Path,
        reads: Reads,
        code: CodeType,
    ) -> None:
        """Go on from an attribute that a class has, or that one of its slots holds."""
        self.functions.know(of_class)
        if isinstance(of_class, (property, FunctionType, staticmethod, classmethod)):
            return
        if isinstance(value, type) or not hasattr(type(of_class), "__get__"):
            self.look(label, of_class, path, reads, code)
        elif isinstance(of_class, MemberDescriptorType):
            now = getattr(value, name, MISSING)
            self.place(label, Attribute(self.held(value), name), now, code)
            self.look(label, now, path, reads, code)
        elif isinstance(of_class, (GetSetDescriptorType, FIELD)):
            self.look(label, getattr(value, name, None), path, reads, code)

    def key(
        self, what: str, where: Any, name: str, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard a global, or an attribute in an object's dict; or that it is absent."""
        if name in where:
            self._key(what, where, name, path, reads, code)
        else:
            self.place(what, Element(self.held(where), name), MISSING, code)

    def _key(
        self, what: str, where: Any, name: str, path: Path, reads: Reads, code: CodeType
    ) -> None:
        value = where.get(name, MISSING)
        if value is not MISSING:
            self.place(what, Element(self.held(where), name), value, code)
            self.look(what, value, path, reads, code)

    def place(
        self,
        what: str,
        place: Place,
        value: Any,
        code: CodeType | None,
        of: Elements | None = None,
    ) -> None:
        """Guard the value at a place."""
        if self.first(place.held.thing, (place.source, "")):
            self.guards.append(Guard(what, place, value, code, of))


def _held(guard: AnyGuard) -> Held | None:
    return getattr(guard, "held", None)


def _name(key: Any) -> str:
    """Return a key as it is written, if that is short."""
    return repr(key) if isinstance(key, PLAIN) else type(key).__name__
