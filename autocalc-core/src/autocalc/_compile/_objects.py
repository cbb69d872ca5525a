# SPDX-License-Identifier: MIT
"""The contents of objects by their types: elements, attributes, snapshots."""

from __future__ import annotations

import contextvars
import decimal
import functools
import gc
import io
import random
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter, methodcaller
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from autocalc._compile._guards import Same
from autocalc._compile._places import MISSING
from autocalc._compile._tracked import given
from autocalc._compile._whose import is_own, is_users

#: Containers whose elements are compared one by one.
CONTAINERS = (dict, list, set, deque)

#: Generators of random numbers.
DRAWS = (random.Random, np.random.Generator, np.random.RandomState)

#: Functions that cache their results.
CACHED: Any = type(functools.lru_cache(lambda: None))

_EMPTY: dict[Any, Any] = {}
_VIEWS = (type(_EMPTY.keys()), type(_EMPTY.values()), type(_EMPTY.items()))

#: The flag of classes whose attributes can be set.
HEAP = 1 << 9


def dict_of(value: Any) -> Any:
    """Return an object's dict of attributes; None where it has none."""
    try:
        if isinstance(value, threading.local):  # each thread has its own dict
            return value.__dict__
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def is_open(value: Any) -> bool:
    """Return whether code can read an object's elements without calling its methods."""
    kinds = *CONTAINERS, tuple, Mapping, Sequence, AbstractSet, np.random.BitGenerator
    return isinstance(value, kinds)


def may_be_read(value: Any) -> bool:
    """Return whether Python's library may read something from an argument."""
    kind = type(value)
    if is_users(kind) or issubclass(kind, (*CONTAINERS, tuple)):
        return True
    return not is_own(kind) and (dict_of(value) is not None or bool(slots_of(kind)))


def holds_values(value: Any) -> bool:
    """Return whether calling an object or its methods uses the values that it holds."""
    kind = type(value)
    if isinstance(value, FunctionType):
        return hasattr(value, "registry")  # functools.singledispatch
    if is_users(kind) or isinstance(value, (type, ModuleType)):
        return False
    return not str(kind.__module__).startswith("autocalc")


def kept_in_class(kind: type, name: str) -> tuple[type | None, Any]:
    """Return the class that has an attribute, and the attribute as it stores it."""
    for base in kind.__mro__:
        found = vars(base).get(name, MISSING)
        if found is not MISSING:
            return base, found
    return None, MISSING


def slots_of(kind: type) -> list[str]:
    """Return the names of the slots that a class adds."""
    return [k for k, v in vars(kind).items() if isinstance(v, MemberDescriptorType)]


def values_in(thing: type | ModuleType) -> set[str]:
    """Return the names in a user's class or module, except those of modules."""
    return {
        name
        for kept in _kept_in(thing)
        for name, value in list(kept.items())
        if not isinstance(value, ModuleType)
        and (name[:2] != "__" or name == "__annotations__")
    }


def _kept_in(thing: type | ModuleType) -> list[Any]:
    bases: list[Any] = [thing]
    if isinstance(thing, type):
        bases = [*thing.__mro__, *type.mro(type(thing))]
    return [vars(base) for base in bases if is_users(base)]


def picture_of_elements(value: Any) -> Any:
    """Return the elements of a container, and of tuples in it, for comparisons."""
    parts = (value, value.values()) if isinstance(value, dict) else (value,)
    return [[_element(one) for one in part] for part in parts]


def _element(value: Any) -> Any:
    return picture_of_elements(value) if type(value) is tuple else Same(given(value))


def picture_of_names(thing: type | ModuleType) -> Any:
    """Return the names that a user's class or module has, for comparisons."""
    return [set(kept) for kept in _kept_in(thing)]


def is_iterator(value: Any) -> bool:
    """Return whether code takes elements from an object; a replay would not."""
    kind = type(value)
    takes = hasattr(kind, "__next__") and hasattr(kind, "__iter__")
    return takes and not (isinstance(value, io.IOBase) or "__next__" in _users(kind))


def _users(kind: type) -> set[str]:
    """Return the attributes that a class has from the user's own classes."""
    return {name for base in kind.__mro__ if is_users(base) for name in vars(base)}


def elements_of(value: Any) -> list[Any]:
    """Return the elements of a container, even if its class overrides `__iter__`."""
    kinds: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
    kind = next(kind for kind in kinds if isinstance(value, kind))
    return list(kind.__iter__(value))


def held_by(value: Any) -> list[Any]:
    """Return the elements of a container, or the attributes of an object."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (*CONTAINERS, tuple)):
        return elements_of(value)
    if isinstance(value, (ModuleType, FunctionType, type)) or is_own(type(value)):
        return []
    slots = (name for base in type(value).__mro__ for name in slots_of(base))
    kept = [getattr(value, name, None) for name in slots]
    return [*(dict_of(value) or {}).values(), *kept]


def parts_of(value: Any) -> list[Any]:
    """Return the objects that a method, partial function, view or iterator holds."""
    if isinstance(value, (MethodType, BuiltinMethodType, MethodWrapperType)):
        return [value.__self__]
    if isinstance(value, FunctionType):
        kept = getattr(value, "registry", None)  # functools.singledispatch
        return [value.__defaults__, value.__kwdefaults__, kept]
    if isinstance(value, functools.singledispatchmethod):
        return [value.dispatcher, value.func]
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return list(value.ravel().tolist())
    if isinstance(value, contextvars.Context):
        return list(value.values())
    if isinstance(value, contextvars.ContextVar):
        return [value.get(None)]
    if isinstance(value, CACHED):
        return _kept_results(value)
    if isinstance(value, CellType):
        return gc.get_referents(value)
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, (MappingProxyType, *_VIEWS)) or is_iterator(value):
        return gc.get_referents(value)
    return []


def _kept_results(value: Any) -> list[Any]:
    """Return the results that a function caches, or the dict in which they are."""
    own = vars(value)
    return [x for x in gc.get_referents(value) if x is not own]


#: Functions that take the name of an attribute as an argument.
_BY_NAME = (getattr, hasattr, setattr, delattr)


def names_in(value: Any) -> list[str]:
    """Return the names of the attributes that a function of C reads."""
    if isinstance(value, functools.partial) and value.func in _BY_NAME:
        return [name for name in value.args if isinstance(name, str)]
    if isinstance(value, MethodWrapperType):
        of: Any = value.__self__
        if value.__name__ == "__getattribute__":
            return list(dict_of(of) or ())
        if hasattr(type(of), "__get__"):
            return [of.__name__]  # the name of a slot: ``Kind.rate.__get__``
    if isinstance(value, (attrgetter, methodcaller)):
        return [name for name in re.findall(r"\w+", repr(value)) if name.isidentifier()]
    return []


def _picture_of_array(value: Any) -> Any:
    if value.dtype.hasobject:
        return value.shape, value.dtype, list(map(id, value.flat))
    return value.shape, value.dtype, value.tobytes()


def picture_of_layout(value: Any) -> Any:
    """Return the properties of an array that do not depend on its elements."""
    return value.shape, value.dtype, value.strides, value.flags.num


def _bytes_of(value: Any) -> Any:
    return memoryview(value).tobytes()


def _is_locked(value: Any) -> Any:
    return value.locked()


def _text_of(value: Any) -> Any:
    return repr(value)


def picture_of_decimals(value: Any) -> Any:
    """Return the settings of a context for decimal numbers."""
    return [getattr(value, name) for name in _OF_DECIMALS], dict(value.traps)


_OF_DECIMALS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _state_of(value: Any) -> Any:
    return repr(value.state)


def _picture_of_context(value: Any) -> Any:
    return {variable: Same(one) for variable, one in value.items()}


def picture_for(value: Any) -> Callable[[Any], Any] | None:
    """Return the function that takes a snapshot of an object's contents."""
    for kind, take in _PICTURES:
        if isinstance(value, kind):
            return take
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    return _bytes_of  # for bytearrays, NumPy's records, and what `ctypes` makes


def _picture_of_variable(value: Any) -> Any:
    return Same(value.get(MISSING))


def _picture_of_reference(value: Any) -> Any:
    return id(weakref.ref.__call__(value))  # works for a `WeakMethod`, too


def _picture_of_cache(value: Any) -> Any:
    info = value.cache_info()
    return info.misses, info.currsize


def picture_of_generator(value: Any) -> Any:
    """Return the state of a generator of random numbers, for comparisons."""
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, np.random.RandomState):
        return numpy_state(value)
    return repr(value.bit_generator.state)


def numpy_state(value: Any = np.random) -> Any:
    """Return the state of one of NumPy's older generators, for comparisons."""
    state = value.get_state()
    return state[1].tobytes(), state[2:]


_PICTURES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (np.ndarray, _picture_of_array),
    (contextvars.ContextVar, _picture_of_variable),
    (contextvars.Context, _picture_of_context),
    (weakref.ref, _picture_of_reference),
    (type(threading.Lock()), _is_locked),
    (type(threading.RLock()), _text_of),
    (decimal.Context, picture_of_decimals),
    (np.random.BitGenerator, _state_of),
    (CACHED, _picture_of_cache),
)

#: Attributes of an array that do not depend on its elements.
LAYOUT = frozenset(
    {"shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags"}
)
