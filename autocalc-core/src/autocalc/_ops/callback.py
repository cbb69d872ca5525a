# SPDX-License-Identifier: MIT
"""User functions that a compiled step calls at their place in each replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any
from weakref import ref

from autocalc._dispatch.device.addresses import address, repeats
from autocalc._dispatch.selection.state import current, enter, leave, recorder
from autocalc._graph._node import Leaf
from autocalc._ops._operator.coerce import check_tensor
from autocalc._ops._operator.view_tracker import base_of
from autocalc._program._form import UserCall
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import sequence
from autocalc.errors import ArgumentError, DTypeError, GradError

#: Types whose values distinguish functions; other objects count by identity.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def callback(
    function: Callable[..., Any],
    *tensors: Tensor,
    mutates: Tensor | Sequence[Tensor] = (),
) -> None:
    """Call ``function(*tensors)`` now, and again in each replay of a compiled step.

    While `ac.compile` records a step, it records only kernels; other Python code does
    not run in later replays.  A callback is the exception: a replay stops, calls
    `function` with tensors that share the program's memory, and then continues.  With a
    callback, Python can start and await communication between kernels, log values, or
    exchange data with other libraries.  Outside of compiled functions, this is an
    ordinary call.

    A replay calls `function` as soon as `tensors` have been computed, which may be
    earlier than its position in the Python code.  A callback without tensors is called
    at its position.  Callbacks keep their order, and each of them is called.  If
    `mutates` names a tensor, its uses before and after the callback keep their order,
    too.

    `function` runs without recording gradients.  It receives the parameters themselves.
    For each other tensor, it receives a tensor that shares the memory and has no
    gradient history.  The attribute ``.grad`` of a parameter holds its value from
    before the step; pass the gradient itself to read it.  The return value of
    `function` is ignored.  A change of the Python values that `function` uses does not
    cause a new recording, so it may read, print and count.

    `function` may keep the tensors, also in other threads.  The memory of a tensor that
    the step has made is not reused while anything refers to this tensor.

    If `function` raises an error in a replay, the step ends with that error.  The
    kernels before the callback have run, and those after it do not run.  The gradients
    that the step would compute are None.  The program can run again afterwards.

    Parameters
    ----------
    function
        The function to call. A replay calls the function that was recorded, in which
        the local variables of the step have their values from the recording.
    *tensors
        The arguments of `function`, of any shapes and dtypes.
    mutates
        One tensor or several that `function` writes in place, passes to other code that
        writes them, or waits for. They need not be among `tensors`.

    Raises
    ------
    DTypeError
        If `function` is not callable, or an argument is not a tensor.
    ArgumentError
        If several elements of a tensor in `mutates` share one place in memory.
    GradError
        If gradients are recorded, and a tensor in `mutates` has a gradient history or
        requires a gradient.
    CompileError
        If `function` uses a variable of the step that holds a new tensor in each call.

    Examples
    --------
    >>> import autocalc as ac
    >>> seen = []
    >>> @ac.compile
    ... def step(x):
    ...     y = x * 2
    ...     ac.callback(lambda t: seen.append(t.tolist()), y)
    ...     return y + 1
    >>> for i in range(4):
    ...     y = step(ac.full((2,), i))
    >>> seen[-1], y
    ([6, 6], tensor([7, 7]))
    """
    _check_function(function)
    for tensor in tensors:
        check_tensor("callback", tensor)
    written = _writable(mutates)
    recording = recorder()
    if recording is not None:
        recording.callback(function, tensors, written)
        return
    given = [x if x.is_leaf else x.detach() for x in tensors]
    try:
        _call(function, given)
    finally:
        for tensor in written:
            tensor._bump()


def _check_function(function: Any) -> None:
    if not callable(function):
        kind = type(function).__name__
        raise DTypeError(f"callback: `function` is a {kind}; it must be a function.")


def _writable(mutates: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors that the function writes; raise if one must not be written."""
    if isinstance(mutates, Tensor):
        mutates = [mutates]
    tensors: list[Tensor] = sequence("callback", "mutates", mutates)
    for x in tensors:
        check_tensor("callback", x)
        if repeats(x._array):
            raise ArgumentError(
                f"callback: a tensor of shape {x.shape} in `mutates` is expanded or "
                "has overlapping windows: several of its elements share one place in "
                "memory. Call clone() on it first."
            )
        recorded = x._edge is not None or base_of(x)._edge is not None
        if recorded and current().grad:
            raise GradError(
                f"callback: a tensor of shape {x.shape} in `mutates` takes part in "
                "gradients, but backward does not see what `function` writes. Make "
                "the call under ac.no_grad(), or give a tensor without gradient "
                "history (detach)."
            )
    return tensors


def _call(function: Callable[..., Any], tensors: Iterable[Tensor]) -> None:
    """Call a function without recording gradients."""
    token = enter(grad=False)
    try:
        function(*tensors)
    finally:
        leave(token)


class Callback(UserCall):
    """A recorded callback, which passes tensors on arrays to the user's function.

    Attributes
    ----------
    function
        The user's function.
    leaves
        The leaves whose gradients the program makes.  They lose their gradients if the
        function raises an error.
    """

    __slots__ = ("_parameters", "function")

    def __init__(
        self, function: Callable[..., Any], tensors: Iterable[Tensor] = ()
    ) -> None:
        self.function = function
        self.leaves: Sequence[Leaf] = ()
        self._parameters = [
            ref(x) if x._edge.__class__ is Leaf else None for x in tensors
        ]

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def __call__(self, arrays: Sequence[Any]) -> None:
        """Call the function with tensors on the memory of `arrays`."""
        pairs = zip(arrays, self._parameters, strict=True)
        given = [_tensor(array, parameter) for array, parameter in pairs]
        try:
            _call(self.function, given)
        except BaseException:
            for leaf in self.leaves:
                leaf.grad = None
            raise

    def key(self) -> Any:
        """Return a key that is equal for functions that do the same."""
        return _key(self.function, ())

    def held(self) -> Iterator[Tensor]:
        """Yield the tensors among the variables of the function itself."""
        return (x for x in _variables(self.function, ()) if isinstance(x, Tensor))


def _tensor(array: Any, parameter: ref[Tensor] | None) -> Tensor:
    """Return the parameter that owns the memory of an array, or else a new tensor.

    A new tensor gets its own view of the array.  So whatever keeps the tensor counts as
    a user of the memory.
    """
    known = None if parameter is None else parameter()
    if known is not None:
        own = known._array
        same = address(own) == address(array)
        if same and (own.shape, own.strides) == (array.shape, array.strides):
            return known
    return make(array.view(), None)


def _parts(function: Any) -> tuple[Any, list[Any]] | None:
    """Return the code of a function and the values that it holds; None if unknown."""
    if isinstance(function, MethodType):
        return function.__func__, [function.__self__]
    if isinstance(function, BuiltinMethodType):
        return function.__name__, [function.__self__]
    if isinstance(function, partial):
        words = function.keywords
        return tuple(words), [function.func, *function.args, *words.values()]
    if isinstance(function, FunctionType):
        words = function.__kwdefaults__ or {}
        values = [*(function.__defaults__ or ()), *words.values()]
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # the cell is empty
                values.append(cell.cell_contents)
        return (function.__code__, tuple(words)), values
    return None


def _key(value: Any, outer: tuple[int, ...]) -> Any:
    """Return a key that is equal for equal values and for equivalent functions."""
    for kind in _PLAIN:  # subclasses count as these
        if isinstance(value, kind):
            return kind, value
    parts = _parts(value)
    if parts is None or id(value) in outer:
        return id(value) if parts is None else outer.index(id(value))
    code, values = parts
    inner = (*outer, id(value))
    return type(value), code, tuple([_key(x, inner) for x in values])


def _variables(value: Any, outer: tuple[int, ...]) -> Iterator[Any]:
    """Yield the values that a function holds, also those inside lists and tuples."""
    parts = _parts(value)
    values = value if isinstance(value, (list, tuple)) else parts and parts[1]
    if not values or id(value) in outer:
        return
    for x in values:
        yield x
        yield from _variables(x, (*outer, id(value)))
