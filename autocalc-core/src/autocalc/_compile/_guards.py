# SPDX-License-Identifier: MIT
"""Python values that a recorded function looked at: a replay looks at none.

While a function is recorded, each Python function that runs is seen.  What its code
names, and could change before the next call, is guarded: global names, variables of
enclosing functions, attributes of its arguments; of AutoCalc's modules and optimizers,
all attributes.  A value that has changed leads to a new recording; one that the
function itself changes is an effect, which no replay would repeat.
"""

from __future__ import annotations

import dis
import gc
import sys
import sysconfig
from collections.abc import Callable, Container, Iterable, Iterator
from operator import is_
from sys import getrefcount
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from autocalc._compile._unchanged import Copied, Entry
from autocalc._graph._frozen import frozen_objects
from autocalc._graph._lines import Line, users_line
from autocalc._graph._node import Leaf, Node, Output
from autocalc._tensor import Tensor

#: AutoCalc's own files begin with this; those of models are read as users' are.
_OWN = __file__[: -len("_compile/_guards.py")]

#: Where tensors are asked for their sizes, and how.
_TENSORS = "_tensor/tensor.py"
_SIZES = frozenset(
    {"shape", "size", "numel", "__len__", "nbytes", "stride", "is_contiguous"}
)

#: Python's library and NumPy are taken not to change.
_LIBRARY = (sysconfig.get_path("stdlib"), "<frozen", "<__array_function__")

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_OPAQUE = (ModuleType, FunctionType, MethodType, Tensor, Node, Leaf, Output)

#: A container of more elements is guarded by its identity and size alone.
MAX_ELEMENTS = 256

#: How far attributes of attributes are followed.
MAX_DEPTH = 4

#: References to a dict that nobody but its `_Container` holds: that of the container,
#: and the argument of `getrefcount`.
_ALONE = 2

_MISSING = object()


class Guard:
    """One value, where it is found, and what it was.

    Attributes
    ----------
    what
        In words, for messages: ``"self.beta"``.
    get
        Returns the value as it is now.
    value
        What it was before the function ran.
    code
        The code that names it.
    source
        The same for guards of the same place.
    elements
        Those of a container, before the function ran; None of other values.
    """

    __slots__ = ("code", "elements", "get", "source", "value", "what")

    def __init__(
        self,
        what: str,
        get: Callable[[], Any],
        value: Any,
        code: CodeType | None,
        source: Any,
    ) -> None:
        self.what = what
        self.source = source
        self.get = get
        self.value = value
        self.code = code
        self.elements = _copied(value)

    def holds(self) -> bool:
        """Return whether the value is what it was."""
        now = self.get()
        if now is not self.value:
            return now.__class__ in _PLAIN and _equal(now, self.value)
        return self.elements is None or _same_elements(now, self.elements)

    @property
    def entry(self) -> Entry | None:
        """Where a dict holds it: told at once, if that is all that matters."""
        if self.elements is not None:
            return None
        where, key = getattr(self.get, "where", None), getattr(self.get, "key", None)
        if type(where) is not dict or where.get(key, _MISSING) is not self.value:
            return None
        return where, key, self.value

    @property
    def is_number(self) -> bool:
        """Whether it is a number, which a program may take as an input."""
        return self.value.__class__ in {int, float}


def _equal(a: Any, b: Any) -> bool:
    return a.__class__ is b.__class__ and (a == b or (a != a and b != b))  # noqa: PLR0124  NaN


def _copied(value: Any) -> Any:
    """Return the elements of a container, to be compared; None for other values."""
    kind = value.__class__
    if kind in {list, set} and len(value) <= MAX_ELEMENTS:
        return tuple(value)
    if isinstance(value, dict) and len(value) <= MAX_ELEMENTS:
        return tuple(value.items())
    return None


def _same_elements(value: Any, copy: tuple[Any, ...]) -> bool:
    if len(value) != len(copy):
        return False
    if not isinstance(value, dict):
        return all(map(is_, value, copy))
    pairs = zip(value.items(), copy, strict=True)
    return all(
        k is i and (v is j or (v.__class__ in _PLAIN and _equal(v, j)))
        for (k, v), (i, j) in pairs
    )


class Attributes:
    """All attributes of one of AutoCalc's own objects, compared at once.

    Dicts are compared by `==`, which takes a tenth of a loop where all values are the
    same objects; of tensors, the same elements are not enough.
    """

    __slots__ = ("_but", "_copy", "_now", "_tensors", "code", "source", "what")

    is_number = False

    def __init__(self, thing: Any, but: Iterable[str] = ()) -> None:
        self.source = id(thing)
        self.what = f"an attribute of {type(thing).__name__}"
        self.code = None
        self._now = thing if isinstance(thing, dict) else vars(thing)
        self._but = tuple(but)
        self._copy = self._now.copy()
        values = self._copy.items()
        self._tensors = [(k, v) for k, v in values if isinstance(v, Tensor)]

    @property
    def copied(self) -> Copied | None:
        """The dict of the attributes and a copy, if the values of all matter."""
        return None if self._but else (self._now, self._copy)

    def holds(self) -> bool:
        """Return whether every attribute is the same tensor, or an equal object."""
        now = self._now
        for name in self._but:  # whose value does not matter
            self._copy[name] = now.get(name)
        for name, tensor in self._tensors:
            if now.get(name) is not tensor and name not in self._but:
                return False
        try:
            return bool(now == self._copy)
        except Exception:  # whatever a comparison of two objects does
            return False


class _Container:
    """The one reference to a dict that guards have: without others it is dead."""

    __slots__ = ("guards", "where")

    def __init__(self, where: Any) -> None:
        self.where = where
        self.guards: list[Guard] = []


class Watch:
    """A ``with`` block in which Python functions are seen.

    Attributes
    ----------
    guards
        Of everything that was looked at.
    prints
        Lines that print.
    registered
        Parameters and buffers of the modules that ran.
    sizes
        The shapes that the user's code asked tensors for.
    """

    def __init__(self, refreshed: set[tuple[int, Any]]) -> None:
        self.guards: list[Guard | Attributes] = []
        self.prints: list[Line] = []
        self.registered: list[Tensor] = []
        self.sizes: list[Any] = []
        self._refreshed = refreshed
        self._seen: set[tuple[int, Any]] = set()
        self._free: dict[tuple[CodeType, str], tuple[Any, Any]] = {}
        self._things: list[Any] = []  # that ids in `_seen` belong to
        self._containers: dict[int, _Container] = {}
        # What runs when garbage is collected is no part of the function.
        codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
        self._kinds: dict[CodeType, str] = {code: "" for code in codes if code}
        self._passes_on: dict[CodeType, set[str]] = {}

    def numbers(self) -> dict[Any, Any]:
        """Return the guarded numbers by their source."""
        guards = (g for g in self.guards if isinstance(g, Guard) and g.is_number)
        return {guard.source: guard.value for guard in guards}

    def __enter__(self) -> Watch:
        self._before: Any = sys.getprofile()
        sys.setprofile(self._event)
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self._before, "enable"):  # cProfile's, which is no function
            sys.setprofile(None)
            self._before.enable()
        else:
            sys.setprofile(self._before)
        if self._free:
            self._guard_cells()
        self._forget_the_dead()

    def _forget_the_dead(self) -> None:
        """Drop guards of objects that the function made and that are gone."""
        self._free.clear()
        again = True
        while again:
            again = False
            for key, container in list(self._containers.items()):
                if getrefcount(container.where) <= _ALONE:
                    dead = set(map(id, container.guards))
                    self.guards = [g for g in self.guards if id(g) not in dead]
                    container.guards.clear()
                    container.where = None
                    del self._containers[key]
                    again = True

    # ---- what runs ---------------------------------------------------------------

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            if arg is print and (line := users_line()) not in self.prints:
                assert line is not None
                self.prints.append(line)
            return
        if event != "call":
            return
        code = frame.f_code
        kind = self._kinds.get(code)
        if kind is None:
            kind = self._kinds[code] = _kind_of(code)
        if kind == "users":
            self._users_frame(frame, code)
        elif kind == "sizes":
            self._asked(frame)
        elif kind == "own":
            thing: Any = frame.f_locals.get("self")
            if hasattr(thing, "_names") and hasattr(thing, "training"):
                if (id(thing), "") not in self._seen:
                    for module in thing.modules():  # some run as parts of others
                        self._module(module)
            elif hasattr(thing, "param_groups"):
                self._optimizer(thing)

    def _asked(self, frame: FrameType) -> None:
        """Note a shape, if it is the user's code that asks for it."""
        asks, tensor = frame.f_back, frame.f_locals.get("self")
        if asks is not None and isinstance(tensor, Tensor):
            code = asks.f_code
            kind = self._kinds.get(code) or _kind_of(code)
            if kind == "users":
                self.sizes.append(tuple(tensor._array.shape))

    def _users_frame(self, frame: FrameType, code: CodeType) -> None:
        for name in code.co_names:
            if name in frame.f_globals:
                where = frame.f_globals
                self._key(name, where, name, code, 0)
        values = frame.f_locals
        for name in code.co_freevars:
            if name in values:
                if (code, name) not in self._free:
                    self._free[code, name] = values[name], _copied(values[name])
                if name not in self._passed_on(code):
                    self._inside(name, values[name], code, 0)
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            if name in values:
                self._inside(name, values[name], code, 0)

    def _first(self, thing: Any, key: Any) -> bool:
        """Return whether this is seen for the first time."""
        seen = (id(thing), key)
        if seen in self._seen:
            return False
        self._seen.add(seen)
        self._things.append(thing)
        return True

    # ---- what is guarded ------------------------------------------------------------

    def _key(self, what: str, where: Any, key: str, code: CodeType, depth: int) -> None:
        """Guard an element of a dict, and look into it."""
        value = where.get(key, _MISSING)
        if value is _MISSING or isinstance(value, ModuleType):
            return
        if (id(where), key) in self._refreshed:
            return
        if (id(where), key) not in self._seen:
            self._seen.add((id(where), key))
            container = self._containers.get(id(where))
            if container is None:
                container = self._containers[id(where)] = _Container(where)
            get = _Element(container, key)
            guard = Guard(what, get, value, code, (id(where), key))
            container.guards.append(guard)
            self.guards.append(guard)
        self._inside(what, value, code, depth)

    def _inside(self, what: str, value: Any, code: CodeType, depth: int) -> None:
        """Guard those attributes of a value that the code names."""
        if depth == MAX_DEPTH or isinstance(value, (*_PLAIN, *_OPAQUE)):
            return
        if isinstance(value, (list, tuple)) and len(value) <= MAX_ELEMENTS:
            for i, one in enumerate(value):
                self._inside(f"{what}[{i}]", one, code, depth + 1)
            return
        if isinstance(value, dict):
            if len(value) <= MAX_ELEMENTS and value is not vars(sys):
                for key, one in list(value.items()):
                    self._inside(f"{what}[{key!r}]", one, code, depth + 1)
            return
        attributes = getattr(value, "__dict__", None)
        if attributes is None:
            return
        for name in code.co_names:
            if name in attributes:
                where = attributes
                self._key(f"{what}.{name}", where, name, code, depth + 1)
            elif not isinstance(value, type):
                self._of_class(what, value, name, code)

    def _of_class(self, what: str, value: Any, name: str, code: CodeType) -> None:
        for kind in type(value).__mro__:
            given = kind.__dict__.get(name, _MISSING)
            if given is not _MISSING:
                if given.__class__ in _PLAIN and self._first(kind, name):
                    where = kind.__dict__
                    get = _getter(where, name)
                    source = (id(where), name)
                    self._add(f"{what}.{name}", get, given, code, source)
                return

    def _module(self, module: Any) -> None:
        if not self._first(module, ""):
            return
        values = [vars(module).get(name) for name in module._names]
        self.registered += [x for x in values if isinstance(x, Tensor)]
        if type(module).__module__.startswith("autocalc."):
            self.guards.append(Attributes(module))
            return
        for name in (*module._names, "training", "_hooks"):
            get = _Attribute(module, name)
            what = f"{type(module).__name__}.{name}"
            self._add(what, get, get(), None, (id(module), name))

    def _optimizer(self, optimizer: Any) -> None:
        if not self._first(optimizer, ""):
            return
        for group in optimizer.param_groups:
            but = [k for k in group if (id(group), k) in self._refreshed or k == "lr"]
            self.guards.append(Attributes(group, but))
            self._elements("params", group["params"])
        self._elements("param_groups", optimizer.param_groups)
        get = _Attribute(optimizer, "state")
        self._add("optimizer.state", get, get(), None, (id(optimizer), "state"))

    def _elements(self, what: str, value: Any) -> None:
        self._add(what, lambda: value, value, None, (id(value), ""))

    def _add(self, what: str, get: Any, value: Any, code: Any, source: Any) -> None:
        self.guards.append(Guard(what, get, value, code, source))

    def _passed_on(self, code: CodeType) -> set[str]:
        """Return enclosing functions' variables that code only gives to inner ones."""
        found = self._passes_on.get(code)
        if found is None:
            steps = dis.get_instructions(code)
            used = {step.argval for step in steps if step.opname.endswith("DEREF")}
            found = self._passes_on[code] = set(code.co_freevars) - used
        return found

    def _ran_inside(self, code: CodeType, name: str) -> bool:
        """Return whether a function ran that a code makes and gives a variable to."""
        return any(
            name in inner.co_freevars
            and (inner in self._kinds or self._ran_inside(inner, name))
            for inner in code.co_consts
            if isinstance(inner, CodeType)
        )

    def _guard_cells(self) -> None:
        """Guard the variables of enclosing functions, found by the functions' cells."""
        seen: dict[CodeType, dict[str, Any]] = {}
        for (code, name), (value, _) in self._free.items():
            if name not in self._passed_on(code) or self._ran_inside(code, name):
                seen.setdefault(code, {})[name] = value
        functions = _functions_of(seen, gc.get_objects())
        if len(functions) < len(seen):
            functions |= _functions_of(seen.keys() - functions, frozen_objects())
        for code, found in functions.items():
            function = max(found, key=lambda f: _alike(f, seen[code]))
            for name, cell in zip(
                code.co_freevars, function.__closure__ or (), strict=True
            ):
                if name in seen[code] and self._first(cell, ""):
                    source = (id(cell), "")
                    value, elements = self._free[code, name]
                    guard = Guard(name, _contents(cell), value, code, source)
                    guard.elements = elements
                    self.guards.append(guard)


def _functions_of(
    codes: Container[CodeType], objects: list[Any]
) -> dict[CodeType, list[FunctionType]]:
    """Return the functions among objects that have some code, by their code."""
    functions: dict[CodeType, list[FunctionType]] = {}
    for x in objects:
        if type(x) is FunctionType and x.__code__ in codes:
            functions.setdefault(x.__code__, []).append(x)
    return functions


def _alike(function: FunctionType, seen: dict[str, Any]) -> int:
    """Return how many of a function's cells hold what was seen: twins share code."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return sum(_contents(cell)() is seen.get(name, _MISSING) for name, cell in cells)


def _kind_of(code: CodeType) -> str:
    """Return whose code it is: the user's, AutoCalc's with a `self`, or another."""
    file = code.co_filename
    if file.startswith(_OWN):
        inside = file[len(_OWN) :]
        if inside.startswith("models"):
            return "users"
        if inside == _TENSORS and code.co_name in _SIZES:
            return "sizes"
        owns = inside.startswith(("nn", "optim")) and code.co_varnames[:1] == ("self",)
        return "own" if owns else ""
    if file.startswith(_LIBRARY) and "site-packages" not in file:
        return ""
    return "" if "site-packages/numpy" in file else "users"


class _Element:
    """Returns an element of a container's dict."""

    __slots__ = ("_container", "key")

    def __init__(self, container: _Container, key: str) -> None:
        self._container = container
        self.key = key

    @property
    def where(self) -> Any:
        return self._container.where

    def __call__(self) -> Any:
        return self._container.where.get(self.key, _MISSING)


def _getter(where: Any, key: str) -> Callable[[], Any]:
    return lambda: where.get(key, _MISSING)


class _Attribute:
    """Returns an attribute of a module or optimizer, most of which lie in its dict."""

    __slots__ = ("_thing", "key")

    def __init__(self, thing: Any, name: str) -> None:
        self._thing = thing
        self.key = name

    @property
    def where(self) -> Any:
        return vars(self._thing)

    def __call__(self) -> Any:
        return getattr(self._thing, self.key, _MISSING)


def _contents(cell: Any) -> Callable[[], Any]:
    def get() -> Any:
        try:
            return cell.cell_contents
        except ValueError:  # it is empty
            return _MISSING

    return get


def changed(guards: Iterable[Guard | Attributes]) -> Iterator[Guard | Attributes]:
    """Yield what no longer holds."""
    return (guard for guard in guards if not guard.holds())


def assigned_at(guard: Guard | Attributes) -> str:
    """Return where the code that names a value assigns it, as well as it is known."""
    code = guard.code
    if code is None:
        return ""
    name = guard.what.rsplit(".", 1)[-1]
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = step.starts_line or line
        if step.opname.startswith("STORE_") and step.argval == name:
            return f" It is set at {Line(code.co_filename, line, code.co_name)}"
    where = Line(code.co_filename, code.co_firstlineno, code.co_name)
    return f" It is used in {where}"
