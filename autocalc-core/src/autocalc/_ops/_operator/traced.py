# SPDX-License-Identifier: MIT
"""Functions that always run the same kernels for the same shapes.

::

    @method("roll")
    @traced
    def roll(input, shifts, dims=None): ...

Such a function is a few checks, views and kernels.  The dtypes, shapes and strides of
its tensors and its other arguments decide what it runs; the elements never do.  It
writes only new memory, or its first argument, which it then returns.  A call that comes
often is recorded as a *short program* (`short_calls.py`), which runs from then on.
Calls that lead to a gradient run the function itself, and so do all calls that no short
program can repeat.

The native engine makes the key of the arguments of a call, and runs the program.
Without the native engine the Python code here does both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from types import EllipsisType, NoneType
from typing import Any, overload

from autocalc._dispatch.engine.eager import CallT, accelerated, paused
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._kernels.kernel_set import MAX_DIMS
from autocalc._kernels.rules import DTYPES, FLOATS
from autocalc._ops._operator.declared import declared, unseen
from autocalc._ops._operator.short_calls import ShortProgram, record, record_write
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.dtypes import DType
from autocalc._tensor.size import Size

#: A call is recorded once it has come this often: recording takes as long as a hundred
#: calls.
OFTEN = 32

#: If a selection has more keys than this, its table is cleared.
MAX_KEYS = 4096

#: Arguments that the key distinguishes by class and value.
_VALUES = frozenset({bool, int, str, NoneType, EllipsisType, DType})
_SEQUENCES = frozenset({list, tuple, Size})


# All of this is one frame: a call on 16 elements takes no longer than a few frames.
def _replaying(definition: Any, record: Any, in_place: bool) -> Any:  # noqa: C901
    """Return a function that runs the definition, or a short program in its place."""

    @wraps(definition)
    def call(*args: Any, **keywords: Any) -> Any:  # noqa: C901
        state = current()
        table: Any = state.selection.remembered
        if table is None or paused:
            return definition(*args, **keywords)
        grad = state.grad
        key: list[Any] = [definition, dtypes.get_default_dtype()]
        tensors: list[Any] = []
        for x in args:
            if x.__class__ is Tensor:
                if grad and x._edge is not None:
                    return definition(*args, **keywords)
                a = x._array
                key += (a.dtype, a.shape, a.strides)
                tensors.append(x)
            elif x.__class__ in _VALUES:
                key += (x.__class__, x)
            elif not _put(key, tensors, x, grad):
                return definition(*args, **keywords)
        for name, x in keywords.items():
            key.append(name)
            if not _put(key, tensors, x, grad):
                return definition(*args, **keywords)
        if len(tensors) > 1 and not _put_twice(key, tensors):
            return definition(*args, **keywords)
        if in_place:
            first: Any = args[0] if args else None
            if not (tensors and tensors[0] is first and _may_write(tensors)):
                return definition(*args, **keywords)
            key.append(tensors[0]._version is None)
        known = tuple(key)
        found = table.get(known, 0)
        if found.__class__ is int:
            if found < OFTEN - 1:
                if not found and len(table) >= MAX_KEYS:
                    table.clear()
                table[known] = found + 1
                return definition(*args, **keywords)
            return _learn(table, known, record, definition, args, keywords, tensors)
        if found is None:
            return definition(*args, **keywords)
        return found(tensors, definition, args, keywords)

    return call


def _put(
    key: list[Any], tensors: list[Any], x: Any, grad: bool, depth: int = 3
) -> bool:
    """Add an argument to a key; return False if a key cannot distinguish it."""
    cls = x.__class__
    if cls is Tensor:
        if grad and x._edge is not None:
            return False
        a = x._array
        key += (a.dtype, a.shape, a.strides)
        tensors.append(x)
        return True
    if cls in _VALUES:
        key += (cls, x)
        return True
    if cls is float:
        key += (cls, x.hex())  # 0.0 == -0.0, so the key takes the bits
        return True
    if cls is slice:
        x = (x.start, x.stop, x.step)
    elif cls not in _SEQUENCES or depth == 0:
        return False
    key += (cls, len(x))
    return all(_put(key, tensors, one, grad, depth - 1) for one in x)


def _put_twice(key: list[Any], tensors: list[Any]) -> bool:
    """Note repeated tensors in the key and drop them; False if two share an array."""
    places: dict[int, int] = {}
    for x in tensors:
        places.setdefault(id(x), len(places))
    if len(places) < len(tensors):
        key.append(tuple([places[id(x)] for x in tensors]))
        tensors[:] = {id(x): x for x in tensors}.values()
    return len({id(x._array) for x in tensors}) == len(tensors)


def _may_write(tensors: list[Any]) -> bool:
    """Return whether the first tensor may be written while the others are read."""
    a = tensors[0]._array
    if not (a.flags.c_contiguous and a.flags.writeable and a.dtype in FLOATS):
        return False
    return not any(arrays.may_overlap(a, x._array) for x in tensors[1:])


def _learn(
    table: dict[Any, Any],
    key: Any,
    record: Any,
    definition: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    tensors: list[Any],
) -> Any:
    """Run the definition, and store what runs in its place: a program, or None."""
    inputs = tuple([x._array for x in tensors])
    if not all(map(_is_common, inputs)):
        table[key] = None
        return definition(*args, **keywords)
    result, call = record(definition, args, keywords, inputs)
    table[key] = None if call is None else ShortProgram(call, inputs).run
    return result


def _is_common(a: Any) -> bool:
    """Return whether programs accept an array.

    The array must be writeable, because a view that a program makes of it must be as
    writeable as the view that the function makes.
    """
    return a.dtype in DTYPES and a.size and a.ndim <= MAX_DIMS and a.flags.writeable


#: The traced functions, by module and name.
FUNCTIONS: dict[str, Any] = {}


@overload
def traced(
    function: CallT,
    *,
    writes: bool | None = None,
    light: bool = False,
    views: bool = False,
    declares: bool = True,
) -> CallT: ...
@overload
def traced(
    function: None = None,
    *,
    writes: bool | None = None,
    light: bool = False,
    views: bool = False,
    declares: bool = True,
) -> Callable[[CallT], CallT]: ...
def traced(
    function: CallT | None = None,
    *,
    writes: bool | None = None,
    light: bool = False,
    views: bool = False,
    declares: bool = True,
) -> CallT | Callable[[CallT], CallT]:
    """Mark a function whose kernel calls depend on dtypes and shapes, not on elements.

    Where the function itself runs, it also does what `declared` does for its signature.

    Parameters
    ----------
    function
        A function that runs kernels and reads no element.
    writes
        Whether the function writes its first argument and nothing else, and returns it.
        By default this is true for functions whose names end with "_".
    light
        Whether the Python code of the function takes less time than computing a key of
        its arguments, 1.5 us, as for a view or one kernel.  Without the native engine
        such a function is left unchanged.
    views
        Whether the function is light and returns a view of its tensor in most calls.
        If the tensor leads to a gradient, the native engine then makes the node, too.
    declares
        False if the function itself does everything that `declared` would do for it.
    """
    if function is None:
        return partial(
            traced, writes=writes, light=light, views=views, declares=declares
        )
    if writes is None:
        writes = function.__name__.endswith("_")
    body = _declared(function) if declares else function
    call = traced_call(body, writes=writes, light=light, views=views)
    FUNCTIONS[f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"] = call
    return call


def traced_call(
    definition: CallT, *, writes: bool, light: bool, views: bool = False
) -> CallT:
    """Return a function that runs a definition, or a short program in its place."""
    recording = record_write if writes else record
    call = accelerated("traced", definition, _native(recording), writes, views)
    if call is not definition or light or views:
        return call
    made: CallT = _replaying(definition, recording, writes)
    return made


def _declared(function: CallT) -> CallT:
    """Apply `declared` to a function, unless all that it declares are optional flags.

    The function itself checks flags that may be None: they are deprecated, or None in
    nearly every call.
    """
    kinds = inspect.unwrap(function).__annotations__
    if "bool" in kinds.values() or unseen(kinds):
        return declared(function)
    return function


def _native(record: Any) -> Any:
    """Return the function that records a call for the native engine."""

    def recording(
        definition: Any, args: Any, inputs: Any, /, **keywords: Any
    ) -> tuple[Any, Any]:
        result, call = record(definition, args, keywords, inputs)
        return result, None if call is None else call.native()

    return recording
