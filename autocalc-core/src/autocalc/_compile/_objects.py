# SPDX-License-Identifier: MIT
"""The contents of objects, by their types: elements, attributes, snapshots."""

from __future__ import annotations

import array
import contextvars
import functools
import gc
import io
import random
import re
import threading
import weakref
from collections import deque, namedtuple
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter, methodcaller
from types import (
    BuiltinMethodType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from autocalc._compile._guards import PLAIN, Same
from autocalc._compile._places import MISSING
from autocalc._compile._whose import is_users

#: Containers whose elements are compared one by one.
CONTAINERS = (dict, list, set, deque)

#: Generators of random numbers.
DRAWS = (random.Random, np.random.Generator, np.random.RandomState)

#: Functions that keep their results.
CACHED: Any = type(functools.lru_cache(lambda: None))

_EMPTY: dict[Any, Any] = {}
_VIEWS = (type(_EMPTY.keys()), type(_EMPTY.values()), type(_EMPTY.items()))

#: Of classes whose attributes can be set.
HEAP = 1 << 9

#: The type of the attributes of named tuples.
FIELD: Any = type(vars(namedtuple("_Pair", "a b"))["a"])  # noqa: PYI024  for its type


def dict_of(value: Any) -> Any:
    """Return the attributes that an object keeps in a dict; None where it has none."""
    try:
        if isinstance(value, threading.local):  # each thread has one
            return value.__dict__
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def is_open(value: Any) -> bool:
    """Return whether an object's elements are read without a function of its own."""
    return isinstance(value, (*CONTAINERS, tuple, Mapping, Sequence, AbstractSet))


def holds_values(value: Any) -> bool:
    """Return whether a call of an object, or of its method, uses what it holds."""
    kind = type(value)
    if is_users(kind) or isinstance(value, (FunctionType, type, ModuleType)):
        return False
    return not str(kind.__module__).startswith("autocalc")


def kept_in_class(kind: type, name: str) -> tuple[type | None, Any]:
    """Return the class that has an attribute, and the attribute as it is kept there."""
    for base in kind.__mro__:
        found = vars(base).get(name, MISSING)
        if found is not MISSING:
            return base, found
    return None, MISSING


def slots_of(kind: type) -> list[str]:
    """Return the names of the slots that a class adds."""
    return [k for k, v in vars(kind).items() if isinstance(v, MemberDescriptorType)]


def values_in(thing: type | ModuleType) -> set[str]:
    """Return the names of plain values and containers in a user's class or module."""
    bases = getattr(thing, "__mro__", (thing,))
    return {
        name
        for base in filter(is_users, bases)
        for name, value in list(vars(base).items())
        if isinstance(value, (*PLAIN, *CONTAINERS, tuple)) and name[:2] != "__"
    }


def is_iterator(value: Any) -> bool:
    """Return whether elements are taken from an object, which no replay would do."""
    kind = type(value)
    takes = hasattr(kind, "__next__") and hasattr(kind, "__iter__")
    return takes and not (isinstance(value, io.IOBase) or "__next__" in _users(kind))


def _users(kind: type) -> set[str]:
    """Return the attributes that a class has of the user's own classes."""
    return {name for base in kind.__mro__ if is_users(base) for name in vars(base)}


def parts_of(value: Any) -> list[Any]:
    """Return the parts of a method, a partial function, a view or an iterator."""
    if isinstance(value, (MethodType, BuiltinMethodType)):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, FunctionType):
        return [value.__defaults__, value.__kwdefaults__]
    if isinstance(value, contextvars.ContextVar):
        return [value.get(None)]
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, (MappingProxyType, *_VIEWS)) or is_iterator(value):
        return gc.get_referents(value)
    return []


def names_in(value: Any) -> list[str]:
    """Return the names of the attributes that a function of `operator` takes."""
    if isinstance(value, (attrgetter, methodcaller)):
        return [name for name in re.findall(r"\w+", repr(value)) if name.isidentifier()]
    return []


def _picture_of_array(value: Any) -> Any:
    if value.dtype.hasobject:
        return value.shape, value.dtype, list(map(id, value.flat))
    return value.shape, value.dtype, value.tobytes()


def _picture_of_variable(value: Any) -> Any:
    return Same(value.get(MISSING))


def _picture_of_reference(value: Any) -> Any:
    return id(value())


def _picture_of_cache(value: Any) -> Any:
    info = value.cache_info()
    return info.misses, info.currsize


def picture_of_generator(value: Any) -> Any:
    """Return the state of a generator of random numbers, to be compared."""
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, np.random.RandomState):
        return numpy_state(value)
    return repr(value.bit_generator.state)


def numpy_state(value: Any = np.random) -> Any:
    """Return the state of a generator of NumPy's older kind, to be compared."""
    state = value.get_state()
    return state[1].tobytes(), state[2:]


#: Functions that take a snapshot of an object's contents, by its type.
PICTURES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (np.ndarray, _picture_of_array),
    ((array.array, bytearray, memoryview), bytes),
    (contextvars.ContextVar, _picture_of_variable),
    (weakref.ref, _picture_of_reference),
    (CACHED, _picture_of_cache),
)
