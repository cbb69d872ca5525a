# SPDX-License-Identifier: MIT
"""The state of a context: whether gradients are recorded, which kernels run, autocast.

One object in one context variable, so that an operator looks at one place.  A state
is never changed once others can see it; `derive` makes the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from typing import Any

from autocalc._dispatch.engine.eager import bind
from autocalc._dispatch.selection.select import Decomposed, Selection


class State:
    """The settings of the running context.

    Attributes
    ----------
    grad
        Whether gradients are recorded.
    selection
        Which kernels run.
    autocast
        What `ac.autocast` asks for, or None.
    """

    __slots__ = ("autocast", "grad", "selection")

    def __init__(self, grad: bool, selection: Selection, autocast: Any = None) -> None:
        self.grad = grad
        self.selection = selection
        self.autocast = autocast


#: The process's own selection: `use` outside a ``with`` changes it in place.
PROCESS = Selection()

_STATE: ContextVar[State] = ContextVar(
    "autocalc",
    default=State(True, PROCESS),  # noqa: B039  PROCESS is meant to be shared
)

#: `current()` is the state of the running context; it costs one C call.
current = _STATE.get

#: Recordings of `ac.compile` under way, in all threads: empty is quick to see.
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
    """Run Python that fills `arrays`; where it is recorded, each replay runs it again.

    `reads`, `writes` and `draws` are those of `Recorder.on_host`.
    """
    recording = recorder()
    if recording is None:
        write()
    else:
        recording.on_host(write, arrays, reads=reads, writes=writes, draws=draws)


def check_values(check: Callable[..., None], *arrays: Any) -> None:
    """Let a function look at the values of arrays, and raise where they make no sense.

    Where it is recorded, each replay runs it again, at this place among the kernels.
    """
    recording = recorder()
    if recording is None:
        check(*arrays)
    else:
        recording.check(check, arrays)


def host_numbers(
    compute: Callable[[], tuple[float, ...]],
    arrays: Sequence[Any] = (),
    *,
    reads: Sequence[tuple[Any, Any]] = (),
) -> tuple[float, ...]:
    """Return numbers that Python computes; where it is recorded, each replay does too.

    In a recording they keep how they are computed: operators take them as other
    numbers, and nothing may be decided by them.  They are computed of `arrays`, and of
    the settings that `reads` names, as for `on_host`.
    """
    recording = recorder()
    if recording is None:
        return compute()
    numbers: tuple[float, ...] = recording.host_numbers(compute, arrays, reads)
    return numbers


def rereads(settings: Callable[[], tuple[Any, ...]], where: Any) -> None:
    """Note that the last kernel's attributes are settings, which may change.

    `where` is the dict that `settings` reads its numbers in.
    """
    recording = recorder()
    if recording is not None:
        recording.rereads(settings, where)


def decided(question: Callable[[], bool]) -> bool:
    """Return an answer; where it is recorded, a program is for calls with the same one.

    It is asked before a replay.  So if a call does not begin with another answer, the
    call must not come to another one.
    """
    recording = recorder()
    return question() if recording is None else recording.decided(question)


def refuse_reading(what: str, instead: str = "") -> None:
    """Raise where the running context is recorded: no replay would read the value.

    `instead` says what to do; left out, it is what helps with any tensor.
    """
    recording = recorder()
    if recording is not None:
        recording.refuse(what, instead)


bind(State=State, Selection=Selection, Decomposed=Decomposed, state_variable=_STATE)


#: An argument of `enter` that is not given.
_SAME: Any = object()


def enter(
    *, grad: bool = _SAME, selection: Selection = _SAME, autocast: Any = _SAME
) -> Token[State]:
    """Make a state that differs from the current one; give it back with `leave`."""
    now = current()
    return _STATE.set(
        State(
            now.grad if grad is _SAME else grad,
            now.selection if selection is _SAME else selection,
            now.autocast if autocast is _SAME else autocast,
        )
    )


def leave(token: Token[State]) -> None:
    """Return to the state before `enter`."""
    _STATE.reset(token)
