# SPDX-License-Identifier: MIT
"""Copies of tensors through Python's own protocols: `copy`, `deepcopy` and `pickle`.

A tensor's array belongs to a *storage*: the outermost array of which it is a view.  Two
tensors with one storage share memory.  Their copies do so too, if one call of
`deepcopy` or one pickle contains both.  As in PyTorch, `deepcopy` gives each parameter
its own memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.device.addresses import repeats
from autocalc._dispatch.device.device import DeviceArray, dtype_on
from autocalc._dispatch.device.no_memory import META
from autocalc._graph._node import Leaf, Version
from autocalc._tensor import dtypes

#: The attributes of tensors themselves; subclasses may have more.
_OWN = {"__weakref__", "__dict__", "_array", "_edge", "_version", "_view"}


def shallow_copy(x: Any) -> Any:
    """Return a tensor of the same class on the same memory, without history."""
    result = assemble(type(x), x._array, x.requires_grad)
    result._version = x._cell()
    _set_extras(result, *_extras(x))
    return result


def deep_copy(x: Any, memo: dict[Any, Any]) -> Any:
    """Return a leaf of the same class on new memory, and register it in `memo`.

    Its gradient and the user's attributes are copied as well.
    """
    from copy import deepcopy

    array, version = _copied(x._array, memo)
    memo[id(x)] = result = assemble(type(x), array, x.requires_grad)
    result._version = version
    grad = x.grad
    if grad is not None:
        result.grad = deepcopy(grad if grad.is_leaf else grad.detach(), memo)
    _set_extras(result, *(deepcopy(part, memo) for part in _extras(x)))
    return result


def own_copy(x: Any, memo: dict[Any, Any], *, whole: bool) -> Any:
    """Return a leaf of the same class whose memory it shares with no other tensor.

    Register it in `memo`. It has no gradient, and the user's attributes only with
    `whole`.
    """
    from copy import deepcopy

    array = x.detach().clone()._array
    memo[id(x)] = result = assemble(type(x), array, x.requires_grad)
    if whole:
        _set_extras(result, *(deepcopy(part, memo) for part in _extras(x)))
    return result


def reduce(x: Any) -> tuple[Any, ...]:
    """Return the data for `pickle`: the tensor's storage, and its place in it."""
    array = x._array
    if array.__class__ is DeviceArray:
        if x.is_meta:
            form = array.shape, array.dtype.numpy
            return (rebuild_meta, (type(x), *form, x.requires_grad), *_state(x))
        there = array.dtype.place, array.host(), x.requires_grad
        return (rebuild_on, (type(x), *there), *_state(x))
    storage = _storage(array)
    if not _is_within(array, storage):
        array = storage = array.copy()
    place = _offset(array, storage), array.shape, array.strides
    made_of = (type(x), storage, *place, x.requires_grad)
    return (rebuild, made_of, *_state(x))


def rebuild(
    cls: type,
    storage: Any,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool,
) -> Any:
    """Make a tensor from the data that `reduce` returned."""
    if not storage.flags.writeable:  # its bytes belong to another object
        storage = storage.copy(order="A")
    storage = storage.view(dtypes.of(storage.dtype).numpy)
    return assemble(cls, _view(storage, offset, shape, strides), requires_grad)


def rebuild_on(cls: type, place: str, array: Any, requires_grad: bool) -> Any:
    """Make a tensor that was on a device, on the same device again."""
    return assemble(cls, dtype_on(place, array.dtype).copied(array), requires_grad)


def rebuild_meta(cls: type, shape: Any, dtype: Any, requires_grad: bool) -> Any:
    """Make a tensor without elements."""
    return assemble(cls, dtype_on(META, dtype).empty(shape), requires_grad)


def assemble(cls: type, array: Any, requires_grad: bool) -> Any:
    """Make a leaf of some class around an array."""
    result: Any = object.__new__(cls)
    result._array = array
    result._edge = Leaf(array.shape, result) if requires_grad else None
    result._version = None
    result._view = None
    return result


# ---- storages ------------------------------------------------------------------------


def _storage(array: Any) -> Any:
    """Return the outermost array of which `array` is a view; it may be `array`."""
    found, base = array, array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            found = base
        base = getattr(base, "base", None)
    return found


def _offset(array: Any, storage: Any) -> int:
    return int(array.ctypes.data - storage.ctypes.data)


def _is_within(array: Any, storage: Any) -> bool:
    """Return whether `array` has the same place in a copy of its storage."""
    if not array.size or storage.dtype != array.dtype:
        return False
    if not (storage.flags.c_contiguous or storage.flags.f_contiguous):
        return False
    span = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
    last = int(storage.nbytes) - span - int(array.itemsize)
    return _offset(array, storage) in range(last + 1)


def _view(storage: Any, offset: int, shape: Any, strides: Any) -> Any:
    if (offset, shape, strides) == (0, storage.shape, storage.strides):
        return storage
    line = storage if storage.flags.c_contiguous else storage.T
    return np.ndarray(shape, storage.dtype, line, offset, strides)


def _copied(array: Any, memo: dict[Any, Any]) -> tuple[Any, Version]:
    """Return a copy of `array`, and the cell that counts writes to its storage."""
    if array.__class__ is DeviceArray:
        return array.copy(), Version()
    storage = _storage(array)
    if not _is_within(array, storage):
        return array.copy(), Version()
    key = (_copied, id(storage))
    if key not in memo:  # the storage is stored too, so that its id stays in use
        memo[key] = storage, storage.copy(order="A"), Version()
    _, copy, version = memo[key]
    view = _view(copy, _offset(array, storage), array.shape, array.strides)
    if not array.flags.writeable and view is not copy and repeats(array):
        view.flags.writeable = False
    return view, version


# ---- attributes of subclasses --------------------------------------------------------


def _extras(x: Any) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the user's attributes, from the dict and from a subclass's slots."""
    slots = {
        name: getattr(x, name)
        for cls in type(x).__mro__
        for name in _slots(cls)
        if name not in _OWN and hasattr(x, name)
    }
    return x.__dict__ or None, slots or None


def _state(x: Any) -> tuple[Any, ...]:
    """Return the attributes as `pickle` expects them; empty if there are none."""
    attributes, slots = _extras(x)
    if slots:
        return ((attributes, slots),)
    return (attributes,) if attributes else ()


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _set_extras(x: Any, *parts: dict[str, Any] | None) -> None:
    for part in parts:
        for name, value in (part or {}).items():
            object.__setattr__(x, name, value)
