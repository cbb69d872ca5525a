# SPDX-License-Identifier: MIT
"""Guards: the Python values that a recorded function read, as they were then.

`_watch.py` finds the values.  There are four kinds of guards:

- `Guard`: the value at a place;
- `Elements`: the elements of a container;
- `Inside`: the contents of an object without elements and attributes;
- `Attributes`: all attributes of an AutoCalc object.

A group (`Together`) can compare most guards at once.  A guard enters a group by `join`,
which returns whether the group compares it.

The guards of ``def step(x): return x * beta + cfg.rate * len(cfg.steps)`` are::

    Guard     beta        0.5      in the globals of `step`
    Guard     cfg.rate    0.1      in the class of `cfg`
    Guard     cfg.rate    MISSING  in the dict of `cfg`, which has precedence
    Elements  cfg.steps   [1, 2]

They are compared before a replay.  If one differs, the function is recorded again.  A
value that the function itself changed is an effect.  It leads to an error that names
the guard's `what`.
"""

from __future__ import annotations

import dis
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from autocalc._compile._places import MISSING, Held, Place
from autocalc._compile._together import Together
from autocalc._compile._tracked import given
from autocalc._dispatch._callers import UserLine
from autocalc._tensor import Tensor

PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Guard:
    """One value, its place, and what it was when it was recorded.

    Attributes
    ----------
    what
        The name of the value in messages: ``"self.beta"``.
    place
        Where the value is.
    value
        The value before the function ran; `MISSING` where there was none.
    code
        The code that names the value.
    source
        A key that guards of the same place share.
    of
        The guard of the container's elements, if it covers this value as well.
    """

    __slots__ = ("code", "of", "place", "source", "value", "what")

    def __init__(
        self,
        what: str,
        place: Place,
        value: Any,
        code: CodeType | None,
        of: Elements | None = None,
    ) -> None:
        self.what, self.place, self.code, self.of = what, place, code, of
        self.value = given(value)
        self.source = place.source

    @property
    def held(self) -> Held:
        """The reference that keeps the object alive in which the value is."""
        return self.place.held

    def get(self) -> Any:
        """Return the current value."""
        return self.place.get()

    def holds(self) -> bool:
        """Return whether the value is unchanged."""
        now = self.place.get()
        return now is self.value or equal(now, self.value)

    def join(self, group: Together) -> bool:
        """Let a group compare the value; return whether the group does so."""
        return self.of is not None or self.place.join(group, self.value)

    @property
    def is_number(self) -> bool:
        """Whether the value is a number that a program may take as an input."""
        return self.value.__class__ in {int, float} and self.place.is_writable


def equal(a: Any, b: Any) -> bool:
    """Return whether two plain values are interchangeable; 0.0 and -0.0 are not."""
    a = given(a)
    kind = a.__class__
    if kind not in PLAIN or kind is not b.__class__:
        return False
    if a == b:
        return bool(a and kind is not complex) or repr(a) == repr(b)
    return bool(a != a and b != b)  # noqa: PLR0124  NaN


class Elements:
    """The elements of a list, a dict, a set, or an object of one of their subclasses.

    Numbers that are inputs of a program are not compared: `linked` holds their sources.
    """

    __slots__ = ("_copy", "_keys", "code", "held", "linked", "source", "what")

    is_number = False

    def __init__(self, what: str, held: Held, code: CodeType | None) -> None:
        self.what, self.code, self.held = what, code, held
        self.source = id(held.thing), ""
        self.linked: frozenset[Any] = frozenset()
        keys, values = _parts(held.thing)
        self._keys, self._copy = keys, list(map(given, values))

    def values(self) -> list[Any]:
        """Return the elements as they were recorded."""
        return self._copy

    def holds(self) -> bool:
        """Return whether the elements are the same objects, or equal plain values."""
        keys, values = _parts(self.held.thing)
        if keys != self._keys or len(values) != len(self._copy):
            return False
        return all(
            now is was or equal(now, was) or self._is_linked(place)
            for place, (now, was) in enumerate(zip(values, self._copy, strict=True))
        )

    def _is_linked(self, place: int) -> bool:
        key = place if self._keys is None else self._keys[place].key
        return (self.source[0], key) in self.linked

    def join(self, group: Together) -> bool:
        """Let a group compare the elements, unless some of them are linked."""
        thing = self.held.thing
        if self.linked and any(source[0] == id(thing) for source in self.linked):
            return False
        if isinstance(thing, dict) and not isinstance(thing, OrderedDict):
            keys = [one.key for one in self._keys]
            group.dicts.append((thing, dict(zip(keys, self._copy, strict=True))))
        elif type(thing) is list:
            group.lists.append((thing, self._copy))
        else:
            return False
        return True


class Same:
    """A key of a dict that equals the same object, and equal plain values."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and (
            self.key is other.key or equal(self.key, other.key)
        )

    __hash__ = None  # type: ignore[assignment]  # nothing hashes it


def _parts(thing: Any) -> tuple[Any, list[Any]]:
    """Return the keys in order (None for a list), and the values in order."""
    if isinstance(thing, dict):
        kind = OrderedDict if isinstance(thing, OrderedDict) else dict  # their order
        return list(map(Same, kind.keys(thing))), list(kind.values(thing))
    if isinstance(thing, list):
        return None, list(list.__iter__(thing))
    if isinstance(thing, set):
        return None, sorted(set.__iter__(thing), key=id)
    return None, list(thing)  # a deque


class Inside:
    """A guard of an object's contents, by a function that takes a picture of them.

    `only_effects`: the function itself must not change the contents, but others may.
    """

    __slots__ = ("_picture", "_take", "code", "held", "line", "only_effects", "source",
                 "what")  # fmt: skip

    is_number = False

    def __init__(
        self,
        what: str,
        held: Held,
        take: Callable[[Any], Any],
        code: CodeType | None = None,
        *,
        only_effects: bool = False,
    ) -> None:
        self.what, self.code, self.only_effects = what, code, only_effects
        self.held = held
        self.source = id(held.thing), ""
        self.line: UserLine | None = None
        self._take = take
        self._picture = take(held.thing)

    def is_like(self, other: Inside) -> bool:
        """Return whether another guard has the same picture."""
        return bool(self._picture == other._picture)

    def holds(self) -> bool:
        """Return whether the picture is unchanged."""
        return bool(self._take(self.held.thing) == self._picture)

    def join(self, group: Together) -> bool:
        """Return False: no group compares this guard."""
        del group
        return False


class Drawn:
    """A value that Python drew, which a replay would not draw again: an effect.

    `reads`: the call changes nothing, but reads something outside of the program.
    `at_once`: one such recording is enough to give up.
    """

    is_number = False
    only_effects = True

    def __init__(
        self,
        what: str,
        line: UserLine | None,
        held: Held | None = None,
        code: CodeType | None = None,
        *,
        reads: bool = False,
        at_once: bool = False,
    ) -> None:
        self.what, self.line, self.code, self.reads = what, line, code, reads
        self.at_once = at_once
        self.held = held
        self.source = "drawn", what

    def holds(self) -> bool:
        """Return False: it never holds."""
        return False


class Attributes:
    """All attributes of one of AutoCalc's own objects, compared at once.

    `==` compares the dicts.  That takes a tenth of the time of a loop where all values
    are the same objects.  Tensors must be the same objects: equal elements are not
    enough.
    """

    __slots__ = ("_but", "_copy", "_now", "_tensors", "code", "held", "source", "what")

    is_number = False

    def __init__(self, held: Held, but: Iterable[str] = ()) -> None:
        thing = held.thing
        self.source = id(thing)
        self.what = f"an attribute of {type(thing).__name__}"
        self.code, self.held = None, held
        self._now = thing if isinstance(thing, dict) else vars(thing)
        self._but = tuple(but)
        self._copy = {key: given(value) for key, value in self._now.items()}
        values = self._copy.items()
        self._tensors = [(k, v) for k, v in values if isinstance(v, Tensor)]

    def values(self) -> list[Any]:
        """Return the attributes as they were recorded."""
        return list(self._copy.values())

    def leave_out(self, keys: Iterable[Any]) -> None:
        """Stop comparing these keys."""
        self._but = tuple({*self._but, *keys})

    def join(self, group: Together) -> bool:
        """Let a group compare the attributes that matter."""
        if not self._but:
            group.dicts.append((self._now, self._copy))
            return True
        for key in self._copy.keys() - set(self._but):
            group.entries.append((self._now, key, self._copy[key]))
        return True

    def holds(self) -> bool:
        """Return whether all attributes are equal, and tensors the same objects."""
        now = self._now
        for name in self._but:  # the values of these do not matter
            self._copy[name] = now.get(name)
        for name, tensor in self._tensors:
            if now.get(name) is not tensor and name not in self._but:
                return False
        try:
            return bool(now == self._copy)
        except Exception:  # a comparison of two objects may raise anything
            return False


#: The guards of a recording.
AnyGuard = Guard | Elements | Inside | Attributes | Drawn


def leave_out(guards: Iterable[Any], settings: Iterable[tuple[int, Any]]) -> None:
    """Drop guards of settings, given as (dict's id, key), that each replay reads."""
    keys: dict[int, list[Any]] = {}
    for where, key in settings:
        keys.setdefault(where, []).append(key)
    for guard in guards:
        if isinstance(guard, Attributes) and guard.source in keys:
            guard.leave_out(keys[guard.source])


def changed(guards: Iterable[AnyGuard]) -> Iterator[AnyGuard]:
    """Yield the guards that no longer hold."""
    return (guard for guard in guards if not guard.holds())


def thing_of(guard: Any) -> Any:
    """Return the object that a guard is about; None if there is no single one."""
    held = getattr(guard, "held", None)
    return None if held is None else held.thing


def is_effect(guard: Any, before: Iterable[Any]) -> bool:
    """Return whether the object of a failed guard existed before the function ran.

    `before` holds the living objects that an earlier recording found.
    """
    held = getattr(guard, "held", None)
    return held is None or held.is_old or any(held.thing is one for one in before)


def assigned_at(guard: AnyGuard) -> str:
    """Return a text that says where code assigns a value, as far as it is known."""
    line = getattr(guard, "line", None)
    if line is not None:
        return f" It is at {line}"
    code = guard.code
    if code is None:
        return ""
    name = guard.what.rsplit(".", 1)[-1]
    number = code.co_firstlineno
    for step in dis.get_instructions(code):
        number = getattr(step, "line_number", step.starts_line) or number
        if step.opname.startswith("STORE_") and step.argval == name:
            return f" It is set at {UserLine(code.co_filename, number, code.co_name)}"
    where = UserLine(code.co_filename, code.co_firstlineno, code.co_name)
    return f" It is used in {where}"


__all__ = ["MISSING", "PLAIN", "AnyGuard", "Attributes", "Drawn", "Elements", "Guard",
           "Inside", "assigned_at", "changed", "equal"]  # fmt: skip
