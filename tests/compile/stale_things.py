# SPDX-License-Identifier: MIT
"""Containers and objects that hold a value, and what puts another one there."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from autocalc import nn


class Thing:
    """An object with attributes."""

    def __init__(self, v: Any) -> None:
        self.v = v


class Slots:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


class Inherited(Slots):
    """A class with a dict whose base has slots."""


class Open(dict[str, Any]):
    """A dict whose elements are attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


@dataclasses.dataclass
class Record:
    v: Any
    other: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: Any


class Pair(NamedTuple):
    v: Any
    other: int = 0


class Owner(nn.Module):
    """A module with settings."""

    def __init__(self, v: Any) -> None:
        super().__init__()
        self.kept = [v]

    def forward(self) -> Any:
        return self.kept[0]


class Lazy:
    """An object whose value is read by methods."""

    def __init__(self, v: Any) -> None:
        self._v = [v]

    @property
    def v(self) -> Any:
        return self._v[0]

    def get(self) -> Any:
        return self._v[0]

    def __call__(self) -> Any:
        return self._v[0]

    def __getitem__(self, place: int) -> Any:
        return self._v[place]

    def __len__(self) -> int:
        return len(self._v)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._v)

    def __enter__(self) -> Any:
        return self._v[0]

    def __exit__(self, *error: object) -> None:
        pass

    def walk(self) -> Iterator[Any]:
        yield from self._v


class Dynamic:
    """An object with attributes that no dict of the object has."""

    def __init__(self, v: Any) -> None:
        self.__dict__["kept"] = {"v": v}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["kept"][name]
        except KeyError:
            raise AttributeError(name) from None


class Described:
    """A descriptor, which keeps values by itself."""

    def __init__(self) -> None:
        self.kept: dict[int, Any] = {}

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        try:
            return self.kept[id(thing)]
        except KeyError:
            raise AttributeError from None

    def __set__(self, thing: Any, v: Any) -> None:
        self.kept[id(thing)] = v

    def __delete__(self, thing: Any) -> None:
        del self.kept[id(thing)]


def described(v: Any) -> Any:
    made = type("WithADescriptor", (), {"v": Described()})()
    made.v = v
    return made


class Kept(Mapping[str, Any]):
    """A mapping of one's own."""

    def __init__(self, v: Any) -> None:
        self.inside = {"v": v}

    def __getitem__(self, key: str) -> Any:
        return self.inside[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.inside)

    def __len__(self) -> int:
        return len(self.inside)


class Late:
    """An object whose value is computed once."""

    def __init__(self, v: Any) -> None:
        self.source = v

    @functools.cached_property
    def v(self) -> Any:
        return self.source


class MyList(list[Any]):
    pass


class Indirect:
    """An object that holds another one."""

    def __init__(self, v: Any) -> None:
        self.inner = Thing(v)

    def __getattribute__(self, name: str) -> Any:
        if name == "v":
            return self.inner.v
        return super().__getattribute__(name)


# ---- what makes, puts and drops ------------------------------------------------------


def put_attribute(thing: Any, v: Any) -> None:
    thing.v = v


def drop_attribute(thing: Any) -> None:
    del thing.v


def put_key(thing: Any, v: Any) -> None:
    thing["v"] = v


def drop_key(thing: Any) -> None:
    del thing["v"]


def put_first(thing: Any, v: Any) -> None:
    if len(thing):
        thing[0] = v
    else:
        thing.append(v)


def drop_all(thing: Any) -> None:
    thing.clear()


def on(name: str, put: Callable[..., None]) -> Callable[..., None]:
    """Return a function that changes an attribute of an object."""
    return lambda thing, *v: put(getattr(thing, name), *v)


def on_class(put: Callable[..., None]) -> Callable[..., None]:
    return lambda thing, *v: put(type(thing), *v)


def a_dict(v: Any) -> Any:
    return {"v": v, "other": 0}


def a_default_dict(v: Any) -> Any:
    return defaultdict(list, v=v)


def a_proxy(v: Any) -> Any:
    kept = {"v": v}
    return types.MappingProxyType(kept), kept


def a_class(v: Any) -> Any:
    return type("Made", (), {"v": v})


def of_a_class(v: Any) -> Any:
    return type("Made", (), {"v": v})()


def of_a_base(v: Any) -> Any:
    base = type("Base", (), {"v": v})
    return type("Made", (type("Middle", (base,), {}),), {})()


def put_on_base(thing: Any, v: Any) -> None:
    base: Any = type(thing).__mro__[2]
    base.v = v


def of_a_metaclass(v: Any) -> Any:
    return type("Meta", (type,), {"v": v})("Made", (), {})


def a_module(v: Any) -> Any:
    module: Any = types.ModuleType("conf")
    module.v = v
    return module


def a_function(v: Any) -> Any:
    def function() -> Any:
        return function.v  # type: ignore[attr-defined]

    function.v = v  # type: ignore[attr-defined]
    return function


def a_closure(v: Any) -> Any:
    def get() -> Any:
        return v

    def put(new: Any) -> None:
        nonlocal v
        v = new

    get.put = put  # type: ignore[attr-defined]
    return get


def closures(v: Any) -> Any:
    def outer() -> Callable[[], Any]:
        def get() -> Any:
            return v

        return get

    def put(new: Any) -> None:
        nonlocal v
        v = new

    outer.put = put  # type: ignore[attr-defined]
    return outer


def a_default(v: Any) -> Any:
    def get(value: Any = v) -> Any:
        return value

    return get


def put_default(function: Any, v: Any) -> None:
    function.__defaults__ = (v,)


def a_word(v: Any) -> Any:
    def get(*, v: Any = v) -> Any:
        return v

    return get


def a_partial(v: Any) -> Any:
    return functools.partial(lambda v: v[0], [v])


def a_word_of_a_partial(v: Any) -> Any:
    return functools.partial(lambda *, v: v, v=v)


class WithPartial:
    def __init__(self, v: Any) -> None:
        self.kept = [v]

    def _get(self, place: int) -> Any:
        return self.kept[place]

    get = functools.partialmethod(_get, 0)


def a_variable(v: Any) -> Any:
    made: ContextVar[Any] = ContextVar("made")
    made.set(v)
    return made


def a_reference(v: Any) -> Any:
    thing = Thing(v)
    return [weakref.ref(thing), thing]


Numbered: Any = enum.Enum


def an_enum(v: Any) -> Any:
    found: Any = Numbered("Made", {"FIRST": 1})
    found.FIRST.v = v
    return found


def a_cached_function(v: Any) -> Any:
    kept = [v]

    @functools.lru_cache
    def get() -> Any:
        return kept[0]

    get.kept = kept  # type: ignore[attr-defined]
    return get


def put_cached(get: Any, v: Any) -> None:
    get.kept[0] = v
    get.cache_clear()


def with_attribute(kind: type, value: Any) -> Callable[[Any], Any]:
    own: Any = type("Own", (kind,), {})

    def make(v: Any) -> Any:
        made = own(value)
        made.v = v
        return made

    return make


def array_of_objects(v: Any) -> Any:
    array = np.empty(1, object)
    array[0] = v
    return array


def default_of_a_data_class(v: Any) -> Any:
    made = dataclasses.make_dataclass("Made", ["v"])
    made.__init__.__defaults__ = (v,)  # type: ignore[misc]
    return made


def put_source(thing: Any, v: Any) -> None:
    thing.source = v
    vars(thing).pop("v", None)
