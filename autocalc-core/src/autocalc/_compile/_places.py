# SPDX-License-Identifier: MIT
"""Places where values are found: an element, a variable, an attribute."""

from __future__ import annotations

import gc
from collections import defaultdict
from sys import getrefcount
from typing import Any, Protocol
from weakref import ref

from autocalc._compile._together import Together

#: The value of a place where there is none.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: "nothing"})()


#: References to an object that only its `Held` refers to: that one, and the argument of
#: `getrefcount`.
_ALONE = 2


class Held:
    """The one reference of all guards to an object, which is dead if it has no other.

    `is_old`: the object existed before the function ran.  If it is False, this is
    unknown.
    """

    __slots__ = ("is_old", "thing")

    def __init__(self, thing: Any, is_old: bool) -> None:
        self.thing, self.is_old = thing, is_old

    def is_dead(self) -> bool:
        """Return whether nothing else refers to the object."""
        return getrefcount(self.thing) <= _ALONE


class HeldWeakly(Held):
    """A weak reference to an object that the step itself reaches weakly.

    `thing` is `MISSING` when the object is dead.
    """

    __slots__ = ("_reference",)

    def __init__(self, thing: Any, is_old: bool) -> None:
        self._reference, self.is_old = ref(thing), is_old

    @property
    def thing(self) -> Any:
        found = self._reference()
        return MISSING if found is None else found

    def is_dead(self) -> bool:
        """Return whether the object no longer exists."""
        return self._reference() is None


class Place(Protocol):
    """A place where a value is found.

    `source` is equal for equal places.  `is_writable` says whether `put` works.  `join`
    lets a group compare the value, and returns whether the group does so.
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
        if type(where) not in {dict, defaultdict}:  # their `get` adds no element
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
    """An attribute that no dict holds: it is in a slot, or Python itself keeps it."""

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
    """The result of a call without arguments, as of a function that returns a setting.

    With a name, it is the result of a method.
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
