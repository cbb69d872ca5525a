# SPDX-License-Identifier: MIT
"""Operators whose precision `ac.autocast` chooses.

::

    @method("mm")
    @autocasts("lower")
    @accelerate("product", ...)
    def mm(input, mat2): ...

Each such operator has a *gate*.  While an `autocast` context is open, the gate casts
the operands and then runs the operator with autocast switched off.  So all parts of the
operator compute in the precision that was chosen for the whole.  All other operators
compute in the dtypes of their operands.

While no thread is in such a context, the gates are open and cost nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar

from autocalc._dispatch.engine.eager import calls
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._graph._node import Leaf, Version
from autocalc._ops._operator.coerce import cast
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType, bfloat16, float16, float32
from autocalc._tensor.storage import is_exported

CallT = TypeVar("CallT", bound=Callable[..., Any])

#: Dtypes that autocast casts.  float64 is not among them: the user asked for it, so it
#: stays.
_CAST = frozenset({float32, float16, bfloat16})


class Kept(NamedTuple):
    """The cast of a leaf to lower precision, and the state of the leaf at that time."""

    leaf: Tensor
    array: Any
    version: Version
    grad: bool
    writes: int
    made: Tensor

    def holds(self, x: Tensor, array: Any, version: Version, grad: bool) -> bool:
        """Return whether the leaf is unchanged and is used in the same way."""
        return (
            x is self.leaf
            and array is self.array
            and version is self.version
            and version.count == self.writes
            and (self.grad or not grad)
        )


class Autocast(NamedTuple):
    """The settings of an `autocast` context.

    `kept` maps the id of a leaf to the cast of that leaf.
    """

    dtype: DType
    kept: dict[int, Kept] | None

    def emptied(self) -> Autocast:
        """Return the same settings with no casts kept."""
        return Autocast(self.dtype, None if self.kept is None else {})


def autocasts(
    policy: str | Callable[..., str], inside: Callable[..., Any] | None = None
) -> Callable[[CallT], CallT]:
    """Return a decorator that gives an operator its precision under `ac.autocast`.

    Parameters
    ----------
    policy
        ``"lower"`` for the dtype of the context, ``"float32"``, ``"widest"`` for the
        widest dtype among the operands, or ``"as given"`` for no cast.  It can also be
        a function that gets the operator's arguments and returns one of these.
    inside
        The function that runs instead of the operator while a context is open.
    """
    chosen = _by_arguments(policy) if callable(policy) else _POLICIES[policy]

    def declare(function: CallT) -> CallT:
        if calls is not None:
            gates: list[Any] = []

            def gate(call: Any) -> Any:
                gates.append(partial(_run, chosen, inside or call))
                return gates[0]

            made: CallT = calls.gate(function, gate)
            GATES[made] = gates[0]
            return made

        @wraps(function)
        def call(*args: Any, **words: Any) -> Any:
            if _open_contexts[0]:
                return _run(chosen, inside or function, *args, **words)
            return function(*args, **words)

        return call  # type: ignore[return-value]  # the same signature

    return declare


#: Maps each operator that has a gate to its gate.
GATES: dict[Callable[..., Any], Callable[..., Any]] = {}

#: The number of contexts that are open in all threads together.
_open_contexts = [0]

_lock = threading.Lock()


class Under:
    """A ``with`` block that sets an `Autocast`, or None; it may be entered again."""

    def __init__(self, mode: Callable[[], Autocast | None]) -> None:
        self._mode = mode
        self._tokens: list[tuple[Any, bool]] = []

    def __enter__(self) -> None:
        mode = self._mode()
        _count(mode is not None)
        self._tokens.append((enter(autocast=mode), mode is not None))

    def __exit__(self, *error: object) -> None:
        token, counted = self._tokens.pop()
        leave(token)
        _count(-counted)


def _count(more: int) -> None:
    with _lock:
        _open_contexts[0] += more
        if calls is not None:
            calls.shut_gates(_open_contexts[0] > 0)


def keep_shut() -> None:
    """Shut all gates for the rest of the process: gates were added from outside."""
    _count(1)


def _run(policy: Callable[..., Any], operator: Any, /, *args: Any, **words: Any) -> Any:
    """Run an operator on operands cast as its policy says."""
    mode = current().autocast
    if mode is None:
        return operator(*args, **words)
    if words.get("out") is not None:  # `out` fixes the dtype
        policy = _as_given
    convert = policy(mode, args, words)
    token = enter(autocast=None)
    try:
        args = tuple([_each(x, convert) for x in args])
        words = {name: _each(x, convert) for name, x in words.items()}
        return operator(*args, **words)
    finally:
        leave(token)


def _each(x: Any, convert: Callable[[Tensor], Tensor]) -> Any:
    """Convert a tensor, or the tensors in a list or tuple."""
    if isinstance(x, Tensor):
        return convert(x) if x.dtype in _CAST else x
    if x.__class__ is list or x.__class__ is tuple:
        return x.__class__([_each(one, convert) for one in x])
    if hasattr(x, "_fields"):  # a named tuple
        return x.__class__(*[_each(one, convert) for one in x])
    return x


def _by_arguments(policy: Callable[..., str]) -> Callable[..., Any]:
    """Return the policy whose name a function returns for each call."""
    return lambda mode, args, words: _POLICIES[policy(*args, **words)](
        mode, args, words
    )


def _lower(mode: Autocast, *_: Any) -> Callable[[Tensor], Tensor]:
    return partial(_kept, mode)


def _float32(*_: Any) -> Callable[[Tensor], Tensor]:
    return partial(cast, dtype=float32)


def _widest(_: Autocast, args: Any, words: Any) -> Callable[[Tensor], Tensor]:
    found: set[DType] = set()

    def note(x: Tensor) -> Tensor:
        found.add(x.dtype)
        return x

    _each([*args, *words.values()], note)
    return _as_given() if len(found) < 2 else _float32()


def _as_given(*_: Any) -> Callable[[Tensor], Tensor]:
    return lambda x: x


_POLICIES = {
    "lower": _lower,
    "float32": _float32,
    "widest": _widest,
    "as given": _as_given,
}


def _kept(mode: Autocast, x: Tensor) -> Tensor:
    """Return a tensor in lower precision; cast a leaf once, until it is written."""
    if x.dtype is mode.dtype:
        return x
    if mode.kept is None or x._edge.__class__ is not Leaf or is_exported(x):
        return cast(x, mode.dtype)
    version = x._cell()
    now = x._array, version, current().grad
    found = mode.kept.get(id(x))
    if found is not None and found.holds(x, *now):
        return found.made
    made = cast(x, mode.dtype)
    mode.kept[id(x)] = Kept(x, *now, version.count, made)
    return made
