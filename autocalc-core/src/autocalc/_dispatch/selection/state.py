# SPDX-License-Identifier: MIT
"""The state of a context: whether gradients are recorded, which kernels run, autocast.

The state is one object in one context variable, so that an operator needs only one
look-up.  A state is never changed once others can see it; `derive` makes the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from typing import Any

from autocalc._dispatch.device.device import DeviceArray, by_example
from autocalc._dispatch.engine.eager import bind
from autocalc._dispatch.selection.select import Decomposed, Selection


class State:
    """The settings of the running context.

    Attributes
    ----------
    grad
        Whether gradients are recorded.
    selection
        The selection of the kernels that run.
    autocast
        The settings of `ac.autocast`, or None.
    """

    __slots__ = ("autocast", "grad", "selection")

    def __init__(self, grad: bool, selection: Selection, autocast: Any = None) -> None:
        self.grad = grad
        self.selection = selection
        self.autocast = autocast


#: The process's own selection; `use` outside of a ``with`` block changes it in place.
PROCESS = Selection()

_STATE: ContextVar[State] = ContextVar(
    "autocalc",
    default=State(True, PROCESS),  # noqa: B039  PROCESS is meant to be shared
)

#: `current()` is the state of the running context; it costs one C call.
current = _STATE.get

#: The active recordings of `ac.compile` in all threads; a fast test for there being
#: none.
recordings: list[Any] = []


def recorder() -> Any:
    """Return the recorder of the running context, or None."""
    return current().selection.recorder if recordings else None


def on_host(
    write: Callable[[], None],
    arrays: Sequence[Any] = (),
    *,
    reads: Sequence[tuple[Any, Any]] = (),
    writes: Sequence[tuple[Any, Any]] = (),
    draws: Any = None,
) -> None:
    """Run Python that fills `arrays`; if it is recorded, each replay runs it again.

    `reads`, `writes` and `draws` are those of `Recorder.on_host`.
    """
    recording = recorder()
    if recording is None:
        write()
    else:
        recording.on_host(write, arrays, reads=reads, writes=writes, draws=draws)


def check_values(check: Callable[..., None], *arrays: Any) -> None:
    """Let a function check the values of arrays, and raise if they are invalid.

    Under `vmap` it is called for each example.

    If it is recorded, each replay runs it again, at this place among the kernels.
    """
    recording = recorder()
    if recording is None:
        if all(a.__class__ is not DeviceArray for a in arrays):
            check(*arrays)
            return
        for example in by_example(*arrays):
            check(*example)
    else:
        recording.check(check, arrays)


def host_numbers(
    compute: Callable[[], tuple[float, ...]],
    arrays: Sequence[Any] = (),
    *,
    reads: Sequence[tuple[Any, Any]] = (),
) -> tuple[float, ...]:
    """Return numbers that Python computes, also in each replay of a recording.

    In a recording, the numbers remember how they are computed.  Operators accept them
    like other numbers, but no decision may depend on them.  They are computed from
    `arrays` and from the settings that `reads` names, as for `on_host`.
    """
    recording = recorder()
    if recording is None:
        return compute()
    numbers: tuple[float, ...] = recording.host_numbers(compute, arrays, reads)
    return numbers


def rereads(settings: Callable[[], tuple[Any, ...]], where: Any) -> None:
    """Note that the last kernel's attributes are settings, which may change.

    `where` is the dict from which `settings` reads its numbers.
    """
    recording = recorder()
    if recording is not None:
        recording.rereads(settings, where)


def decided(question: Callable[[], bool]) -> bool:
    """Return the answer to `question`; a recorded program is valid only for it.

    While a program runs, the question is not asked again.  It is only asked before the
    program runs, so the answer must not change during a call.
    """
    recording = recorder()
    return question() if recording is None else recording.decided(question)


def refuse_reading(what: str, instead: str = "") -> None:
    """Raise if the running context is recorded: a replay would not read the value.

    `instead` says what to do; without it, the advice suits any tensor.
    """
    recording = recorder()
    if recording is not None:
        recording.refuse(what, instead)


bind(State=State, Selection=Selection, Decomposed=Decomposed, state_variable=_STATE)


#: The default of an argument of `enter` that was not given.
_SAME: Any = object()


def enter(
    *, grad: bool = _SAME, selection: Selection = _SAME, autocast: Any = _SAME
) -> Token[State]:
    """Enter a state that differs from the current one; `leave` undoes this."""
    now = current()
    return _STATE.set(
        State(
            now.grad if grad is _SAME else grad,
            now.selection if selection is _SAME else selection,
            now.autocast if autocast is _SAME else autocast,
        )
    )


def leave(token: Token[State]) -> None:
    """Restore the state before `enter`."""
    _STATE.reset(token)
