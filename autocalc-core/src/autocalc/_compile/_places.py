# SPDX-License-Identifier: MIT
"""Places in which values are found: an element, a variable, an attribute."""

from __future__ import annotations

import gc
from collections import defaultdict
from sys import getrefcount
from typing import Any, Protocol
from weakref import ref

from autocalc._compile._together import Together

#: In a place where there is no value.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: "nothing"})()


#: References to an object that only its `Held` has: that one, and the argument of
#: `getrefcount`.
_ALONE = 2


class Held:
    """The one reference to an object that guards have: without others it is dead.

    `is_old`: it was there before the function ran; of others that is not known.
    """

    __slots__ = ("is_old", "thing")

    def __init__(self, thing: Any, is_old: bool) -> None:
        self.thing, self.is_old = thing, is_old

    def is_dead(self) -> bool:
        """Return whether nothing else refers to the object."""
        return getrefcount(self.thing) <= _ALONE


class HeldWeakly(Held):
    """The reference to an object that the step finds by a weak reference.

    It is `MISSING` when the object is dead.
    """

    __slots__ = ("_reference",)

    def __init__(self, thing: Any, is_old: bool) -> None:
        self._reference, self.is_old = ref(thing), is_old

    @property
    def thing(self) -> Any:
        found = self._reference()
        return MISSING if found is None else found

    def is_dead(self) -> bool:
        """Return whether the object is gone."""
        return self._reference() is None


class Place(Protocol):
    """Where a value is found.

    `source` is the same for the same place; `is_writable` says that `put` works;
    `join` lets a group compare the value, and returns whether it does.
    """

    held: Held
    source: Any
    is_writable: bool

    def get(self) -> Any: ...
    def put(self, value: Any) -> None: ...
    def join(self, group: Together, value: Any) -> bool: ...


class Element:
    """An element of a dict or a list."""

    __slots__ = ("_is_dict", "held", "key", "source")

    is_writable = True

    def __init__(self, held: Held, key: Any) -> None:
        self.held, self.key = held, key
        self.source = id(held.thing), key
        self._is_dict = isinstance(held.thing, dict)

    def get(self) -> Any:
        if self._is_dict:
            return dict.get(self.held.thing, self.key, MISSING)
        try:
            return list.__getitem__(self.held.thing, self.key)
        except IndexError:
            return MISSING

    def put(self, value: Any) -> None:
        if self._is_dict:
            dict.__setitem__(self.held.thing, self.key, value)
        else:
            list.__setitem__(self.held.thing, self.key, value)

    def join(self, group: Together, value: Any) -> bool:
        where = self.held.thing
        if type(where) not in {dict, defaultdict}:  # `get` makes no element
            return False
        if value is MISSING:
            group.absent.append((where, self.key))
        elif where.get(self.key, MISSING) is value:
            group.entries.append((where, self.key, value))
        else:
            return False
        return True


class Variable:
    """A variable of an enclosing function, in its cell."""

    __slots__ = ("held", "source")

    is_writable = True

    def __init__(self, held: Held) -> None:
        self.held = held
        self.source = id(held.thing), ""

    def get(self) -> Any:
        try:
            return self.held.thing.cell_contents
        except ValueError:  # it is empty
            return MISSING

    def put(self, value: Any) -> None:
        self.held.thing.cell_contents = value

    def join(self, group: Together, value: Any) -> bool:
        if value is MISSING:
            return False
        group.attributes.append((self.held.thing, "cell_contents", value))
        return True


class Attribute:
    """An attribute that is kept in no dict: in a slot, or by Python itself."""

    __slots__ = ("held", "name", "source")

    is_writable = False

    def __init__(self, held: Held, name: str) -> None:
        self.held, self.name = held, name
        self.source = id(held.thing), name

    def get(self) -> Any:
        return getattr(self.held.thing, self.name, MISSING)

    def put(self, value: Any) -> None:
        setattr(self.held.thing, self.name, value)

    def join(self, group: Together, value: Any) -> bool:
        if value is MISSING or isinstance(self.held, HeldWeakly):
            return False
        if self.name == "__class__":
            group.classes.append((self.held.thing, value))
        else:
            group.attributes.append((self.held.thing, self.name, value))
        return True


class Result:
    """The result of a call without arguments: a setting that is asked for.

    It is that of a method if there is a name.
    """

    __slots__ = ("held", "name", "source")

    is_writable = False

    def __init__(self, held: Held, name: str = "__call__") -> None:
        self.held, self.name = held, name
        self.source = id(held.thing), f"{name}()"

    def get(self) -> Any:
        return getattr(self.held.thing, self.name)()

    def put(self, value: Any) -> None:
        raise NotImplementedError

    def join(self, group: Together, value: Any) -> bool:
        del group, value
        return False


class OfClass:
    """An attribute of a class."""

    __slots__ = ("held", "key", "source")

    is_writable = True

    def __init__(self, held: Held, name: str) -> None:
        self.held, self.key = held, name
        self.source = id(held.thing), name

    def get(self) -> Any:
        return vars(self.held.thing).get(self.key, MISSING)

    def put(self, value: Any) -> None:
        type.__setattr__(self.held.thing, self.key, value)

    def join(self, group: Together, value: Any) -> bool:
        if isinstance(self.held, HeldWeakly):
            return False
        [where] = gc.get_referents(vars(self.held.thing))  # the dict of the class
        if value is MISSING:
            group.absent.append((where, self.key))
        else:
            group.entries.append((where, self.key, value))
        return True
