# SPDX-License-Identifier: MIT
"""Guards the values that code finds along its paths.

A value that does not escape is followed along the attributes that the code reads.  For
a value that escapes, everything that the code can reach from it is guarded, to any
depth: the elements of containers, and all attributes whose names occur in the code.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from enum import Enum
from threading import local
from types import (
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any
from weakref import ref

import numpy as np

from autocalc._compile._classes import (
    absent,
    methods_of,
    of_relatives,
    registered,
    special_methods,
)
from autocalc._compile._functions import Functions, contents
from autocalc._compile._guards import PLAIN, AnyGuard, Elements, Guard, Inside
from autocalc._compile._insides import refuse_kept_in_c, surroundings, without_elements
from autocalc._compile._objects import (
    CONTAINERS,
    LAYOUT,
    dict_of,
    elements_of,
    holds_values,
    is_open,
    kept_in_class,
    names_in,
    parts_of,
    picture_of_elements,
    picture_of_layout,
    picture_of_names,
    slots_of,
    values_in,
)
from autocalc._compile._places import (
    MISSING,
    Attribute,
    Element,
    Held,
    HeldWeakly,
    OfClass,
    Place,
    Variable,
)
from autocalc._compile._reads import ESCAPES, Path, Reads
from autocalc._compile._weak import keep_weakly, target_of
from autocalc._compile._whose import is_own, is_standard, is_users
from autocalc._graph._node import Leaf, Node, Output
from autocalc._tensor import Tensor

#: Scalars of NumPy, except those that are views: `np.void`.
_SCALARS = (np.number, np.bool_, np.datetime64, np.character)

_OPAQUE = (*PLAIN, *_SCALARS, Tensor, Node, Leaf, Output, CodeType, np.dtype)

#: In larger containers a number is guarded with the other elements, and is no input.
MAX_NUMBERS = 256

#: How classes of Python's library store or compute an attribute.
_COMPUTED = (GetSetDescriptorType, MemberDescriptorType, property)

#: Attributes of functions from which a function reads the names it uses when it runs.
_READ_WHEN_RUN = frozenset({"__builtins__", "__closure__", "__globals__"})

#: Attributes that Python keeps for a class outside the class's dict.
_OF_TYPES = frozenset(
    name for name, kept in vars(type).items() if isinstance(kept, GetSetDescriptorType)
) | {"__base__", "__basicsize__", "__flags__"}


class Found:
    """The guards of all values that were found.

    Attributes
    ----------
    guards
        One guard for each place and container.
    functions
        The functions that were found on the way.
    is_old
        Whether values found now existed before the recorded function ran.
    catches
        Whether code that runs may continue after an attribute was missing.
    """

    def __init__(self) -> None:
        self.guards: list[AnyGuard] = []
        self.functions = Functions()
        self.is_old = True
        self.catches = False
        self._seen: set[Any] = set()
        self._things: list[Any] = []  # keeps objects alive whose ids are in `_seen`
        self._held: dict[int, Held] = {}
        self._elements: dict[int, Elements] = {}

    @contextmanager
    def perhaps_made(self) -> Iterator[None]:
        """Treat values found in this block as perhaps made by the recorded function."""
        before, self.is_old = self.is_old, False
        try:
            yield
        finally:
            self.is_old = before

    def held(self, thing: Any) -> Held:
        """Return the one reference through which all guards hold an object."""
        found = self._held.get(id(thing))
        if found is None:
            found = self._held[id(thing)] = Held(thing, self.is_old)
        found.is_old |= self.is_old
        return found

    def hold_weakly(self, thing: Any) -> None:
        """Let guards hold an object weakly, only as long as others hold it."""
        self._held.setdefault(id(thing), HeldWeakly(thing, self.is_old))

    def first(self, thing: Any, key: Any) -> bool:
        """Return whether an object is seen for the first time under a key."""
        seen = id(thing), key
        if seen in self._seen:
            return False
        self._seen.add(seen)
        self._things.append(thing)
        return True

    def forget_the_dead(self) -> None:
        """Drop guards of objects that the function made and that no longer exist."""
        self._things.clear()
        self._seen.clear()
        self._elements.clear()
        self.functions.forget()
        while True:
            held = self._held.items()
            dead = [key for key, one in held if one.is_dead()]
            gone = {id(self._held.pop(key)) for key in dead}
            if not gone:
                return
            self.guards[:] = [g for g in self.guards if id(_held(g)) not in gone]

    # ---- values --------------------------------------------------------------------

    def look(
        self, what: str, value: Any, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard the values that code finds along a path from a value."""
        value = target_of(self, what, value, code)
        if isinstance(value, Tensor):
            self.tensor(what, value, path, reads, code)
        surroundings(self, value, code)
        refuse_kept_in_c(self, value, code)
        if is_opaque(value):
            return
        self.functions.know(value)
        if isinstance(value, type):
            special_methods(self, value, code)
        if path.escapes or (path.called and holds_values(value)) or is_open(value):
            self.inside(what, value, reads, code)
        elif isinstance(value, np.ndarray) and path:
            self._array(what, value, path, reads, code)
        if isinstance(value, Enum):
            self._key(f"{what}.value", vars(value), "_value_", ESCAPES, reads, code)
        for name, further in path.items():
            self.attribute(what, value, name, further, reads, code, named=True)

    def _array(
        self, what: str, value: Any, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard the attributes that code reads from an array."""
        if not path.keys() <= LAYOUT:
            self.inside(what, value, reads, code)
        elif self.first(value, "layout"):
            self.guards.append(Inside(what, self.held(value), picture_of_layout, code))

    def inside(
        self,
        what: str,
        value: Any,
        reads: Reads,
        code: CodeType,
        *,
        temporary: bool = False,
    ) -> None:
        """Guard everything that code can reach from a value that escapes.

        A container that may be `temporary` gets no guard itself; its elements do.
        """
        value = target_of(self, what, value, code)
        if isinstance(value, Tensor):
            self.tensor(what, value, ESCAPES, reads, code)
        seen = id(reads), temporary, self.catches
        if is_opaque(value) or not self.first(value, seen):
            return
        self.functions.know(value)
        refuse_kept_in_c(self, value, code)
        if isinstance(value, (*CONTAINERS, tuple, frozenset)):
            self._container(what, value, reads, code, temporary)
        elif isinstance(value, (ModuleType, type)):
            self._names_of(what, value, reads, code)
            return
        else:
            if not temporary:
                without_elements(self, what, value, code)
            self._parts(what, value, reads, code)
        if not isinstance(value, (MethodType, functools.partial)):
            self._attributes(what, value, reads, code)

    def _names_of(
        self, what: str, value: type | ModuleType, reads: Reads, code: CodeType
    ) -> None:
        """Guard the attributes that code may read from a class or a module."""
        if isinstance(value, type):
            registered(self, what, value, code)
            special_methods(self, value, code)
        names = reads.names
        if reads.dynamic:
            names = names | values_in(value)
            self._names(what, value, code)
        for name in names:
            self.attribute(what, value, name, ESCAPES, reads, code)

    def _parts(self, what: str, value: Any, reads: Reads, code: CodeType) -> None:
        """Guard the objects that can be reached from an object without elements."""
        reads.names.update(names_in(value))
        if isinstance(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self._kept_in_c(what, value, name, ESCAPES, reads, code)
        if isinstance(value, CellType):
            self.place(what, Variable(self.held(value)), contents(value), code)
        for part in parts_of(value):
            if isinstance(value, ref):
                keep_weakly(self, what, part, code)
            self.inside(what, part, reads, code)

    def _container(
        self, what: str, value: Any, reads: Reads, code: CodeType, temporary: bool
    ) -> None:
        of = None
        if not (temporary or isinstance(value, (tuple, frozenset))):
            of = self.elements(what, value, code)
        if isinstance(value, defaultdict):
            self._kept_in_c(what, value, "default_factory", ESCAPES, reads, code)
        inner = {"temporary": temporary}
        if isinstance(value, dict):
            pairs = list(dict.items(value))
            for key, _ in pairs:
                if not is_opaque(key):
                    self.inside(f"a key of {what}", key, reads, code, **inner)
        else:
            pairs = list(enumerate(elements_of(value)))
        may_be_inputs = len(pairs) <= MAX_NUMBERS and isinstance(value, (dict, list))
        for key, one in pairs:
            if not isinstance(one, PLAIN) or is_users(type(one)):
                if isinstance(one, Tensor) or not is_opaque(one):
                    self.inside(f"{what}[{_name(key)}]", one, reads, code, **inner)
            elif of is not None and isinstance(one, (int, float)) and may_be_inputs:
                place = Element(self.held(value), key)
                self.place(f"{what}[{_name(key)}]", place, one, code, of)

    def unchanged(self, what: str, value: Any, code: CodeType) -> None:
        """Guard that the function does not change containers among its arguments."""
        if not isinstance(value, (*CONTAINERS, tuple)):
            return
        if not isinstance(value, tuple):
            given = what, self.held(value), picture_of_elements, code
            self.guards.append(Inside(*given, only_effects=True))
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            self.unchanged(f"{what}[{_name(key)}]", one, code)

    def elements(self, what: str, value: Any, code: CodeType | None) -> Elements:
        """Guard the elements of a container."""
        found = self._elements.get(id(value))
        if found is None:
            found = Elements(what, self.held(value), code)
            self._elements[id(value)] = found
            self.guards.append(found)
        return found

    def _attributes(self, what: str, value: Any, reads: Reads, code: CodeType) -> None:
        """Guard the attributes of a value that code names, or all if it may read any.

        Collections of Python's library keep their elements in attributes.
        """
        kind = type(value)
        own = dict_of(value)
        self._class(what, value, code)
        if is_users(kind) and not is_own(kind):
            for name in reads.names & {"__name__", "__qualname__"}:
                place = Attribute(self.held(kind), name)
                self.place(f"{what}.{name}", place, getattr(kind, name), code)
        names = set(reads.names)
        if isinstance(own, dict):
            library = is_standard(value) and isinstance(
                value, (Mapping, Sequence, AbstractSet)
            )
            if library or (reads.dynamic and not is_own(kind)):
                self.elements(f"the attributes of {what}", own, code)
                names |= {name for name in own if isinstance(name, str)}
                for name, one in list(own.items()):  # a property may hide it
                    self.inside(f"{what}.{name}", one, reads, code)
        if reads.dynamic:
            names |= {name for base in kind.__mro__ for name in slots_of(base)}
            if not isinstance(value, (ModuleType, FunctionType)):
                names |= values_in(kind)
                self._names(f"the class of {what}", kind, code)
        for name in names:
            self.attribute(what, value, name, ESCAPES, reads, code)

    def _names(self, what: str, value: type | ModuleType, code: CodeType) -> None:
        """Guard which names a class or module has."""
        if self.first(value, "names"):
            self.guards.append(Inside(what, self.held(value), picture_of_names, code))

    # ---- attributes ----------------------------------------------------------------

    def tensor(
        self, what: str, value: Tensor, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard the attributes of a tensor that the user has set."""
        own = vars(value)
        named = {name for name in path if not hasattr(type(value), name)}
        further = {name for name in own if reads.dynamic or name in reads.names}
        if reads.tests:
            further |= {x for x in reads.constants if not hasattr(type(value), x)}
        for name in named | (further if path.escapes else set()):
            on = path.get(name, ESCAPES)
            self.key(f"{what}.{name}", own, name, on, reads, code)
            if not hasattr(Tensor, name):
                place = OfClass(self.held(Tensor), name)
                self.place(f"Tensor.{name}", place, MISSING, code)
        if is_users(type(value)):
            self._class(what, value, code)
            for name in path.keys() | (reads.names if path.escapes else set()):
                base, _ = kept_in_class(type(value), name)
                if base is not None and is_users(base):
                    on = path.get(name, ESCAPES)
                    self.attribute(what, value, name, on, reads, code, named=True)
        for name in path.keys() - named:  # methods that the user has replaced
            base, method = kept_in_class(type(value), name)
            if isinstance(method, FunctionType) and is_users(method):
                place = OfClass(self.held(base), name)
                self.place(f"{what}.{name}", place, method, code)

    def _class(self, what: str, value: Any, code: CodeType) -> None:
        """Guard the methods of an object's class, and the class if it may change."""
        kind = type(value)
        special_methods(self, value if isinstance(value, type) else kind, code)
        if is_users(kind) and not isinstance(value, type):
            place = Attribute(self.held(value), "__class__")
            self.place(f"the class of {what}", place, kind, code)
            own = dict_of(value)
            if own is not None:
                place = Attribute(self.held(value), "__dict__")
                self.place(f"the attributes of {what}", place, own, code)
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
        """Guard an attribute, and the values that code finds beyond it.

        `named`: the code reads the attribute from this value.  Otherwise it may read it
        from this value or from another one.
        """
        label = f"{what}.{name}"
        if self._of_module(what, value, name, path, reads, code, named):
            return
        kind = value if isinstance(value, type) else type(value)
        own = None if kind is value else dict_of(value)
        self._class(what, value, code)
        of_relatives(self, label, value, name, reads, code)
        if kind is value and issubclass(kind, Enum) and name in kind.__members__:
            self.look(label, kind.__members__[name], path, reads, code)
            return
        base, of_class = kept_in_class(kind, name)
        special_methods(self, type(of_class), code)  # it may become a descriptor
        if _is_kept_in_c(value, base, name):
            self._kept_in_c(label, value, name, path, reads, code)
            return
        if base is None and kind is value and is_users(type(value)):
            absent(self, label, value, None, name, code)
            kind = type(value)  # look for the attribute in the metaclass
            base, of_class = kept_in_class(kind, name)
        is_data = of_class is not MISSING and hasattr(type(of_class), "__set__")
        if isinstance(own, dict) and name in own and not is_data:
            self._key(label, own, name, path, reads, code)
            return
        if not path.is_read:
            return
        asked = reads.tests or self.catches
        asked = asked and (is_users(kind) or isinstance(own, dict))
        if of_class is MISSING and not (named or path.tested or asked):
            return
        if base is not None and not (named or is_users(base)):
            self._of_python(label, value, name, of_class, path, reads, code)
            return
        if isinstance(own, dict) and not is_data:
            self.place(label, Element(self.held(own), name), MISSING, code)
        absent(self, label, kind, base, name, code)
        if base is not None:
            if is_users(base):  # other classes are assumed not to change
                self.place(label, OfClass(self.held(base), name), of_class, code)
            self.from_class(label, value, name, of_class, path, reads, code)

    def _of_module(
        self,
        what: str,
        value: Any,
        name: str,
        path: Path,
        reads: Reads,
        code: CodeType,
        named: bool,
    ) -> bool:
        """Guard an attribute of a Python module, or its absence if it may be absent.

        Returns whether `value` is a module and the attribute is not one of its class.
        """
        if not isinstance(value, ModuleType):
            return False
        may_lack = named or path.tested or reads.tests or self.catches
        if name == "__dict__":
            self.inside(what, value, reads, code)
        if is_users(value):
            place = Attribute(self.held(value), "__class__")
            self.place(f"the class of {what}", place, type(value), code)
            if may_lack and name not in vars(value):
                of = f"{what}.__getattr__", vars(value), "__getattr__"
                self.key(*of, ESCAPES, reads, code)
        take = self.key if may_lack and is_users(value) else self._key
        take(f"{what}.{name}", vars(value), name, path, reads, code)
        return name in vars(value) or not is_users(type(value))

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
        """Continue from an attribute that a class has, or that a slot of it holds."""
        self.functions.know(of_class)
        if isinstance(of_class, property) and is_standard(value):
            self._kept_in_c(label, value, name, path, reads, code)
        if isinstance(of_class, (property, staticmethod, classmethod)):
            function: Any = getattr(of_class, "__func__", None)
            if isinstance(value, type) and function and not is_users(function):
                methods_of(self, value, code)
            return
        if isinstance(of_class, FunctionType) and not is_users(of_class):
            return
        if isinstance(of_class, MemberDescriptorType) and not isinstance(value, type):
            now = getattr(value, name, MISSING)
            self.place(label, Attribute(self.held(value), name), now, code)
            self.look(label, now, path, reads, code)
        elif hasattr(type(of_class), "__set__") and not is_users(type(of_class)):
            self._kept_in_c(label, value, name, path, reads, code)
        else:
            self.look(label, of_class, path, reads, code)

    def _of_python(
        self,
        label: str,
        value: Any,
        name: str,
        of_class: Any,
        path: Path,
        reads: Reads,
        code: CodeType,
    ) -> None:
        """Continue from an attribute of an object of Python: an error, a function."""
        is_one = is_standard(value) and not isinstance(value, (type, MethodType))
        is_kept = isinstance(of_class, _COMPUTED) and name not in _READ_WHEN_RUN
        if is_one and is_kept:
            self._kept_in_c(label, value, name, path, reads, code)

    def _kept_in_c(
        self,
        label: str,
        value: Any,
        name: str,
        path: Path,
        reads: Reads,
        code: CodeType,
    ) -> None:
        """Continue from an attribute kept in C, unless each read makes a new object."""
        now = getattr(value, name, MISSING)
        if isinstance(now, PLAIN) or getattr(value, name, MISSING) is now:
            self.place(label, Attribute(self.held(value), name), now, code)
        self.look(label, now, path, reads, code)

    def key(
        self, what: str, where: Any, name: str, path: Path, reads: Reads, code: CodeType
    ) -> None:
        """Guard a global or an attribute in an object's dict, or its absence."""
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


def is_opaque(value: Any) -> bool:
    """Return whether a value holds no further values, like numbers and tensors."""
    if isinstance(value, PLAIN):
        return not is_users(type(value))
    return isinstance(value, _OPAQUE)


def _is_kept_in_c(value: Any, base: type | None, name: str) -> bool:
    """Return whether Python keeps an attribute for a class or a thread."""
    if isinstance(value, local):
        return base is None or name in value.__dict__
    return base is None and isinstance(value, type) and name in _OF_TYPES


def _held(guard: AnyGuard) -> Held | None:
    return getattr(guard, "held", None)


def _name(key: Any) -> str:
    """Return the text of a key if it is plain, else the name of its class."""
    return repr(key) if isinstance(key, PLAIN) else type(key).__name__
