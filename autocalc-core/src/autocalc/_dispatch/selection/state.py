# SPDX-License-Identifier: MIT
"""The state of a context: whether gradients are recorded, and which kernels run.

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
    """The settings of the running context."""

    __slots__ = ("grad", "selection")

    def __init__(self, grad: bool, selection: Selection) -> None:
        self.grad = grad
        self.selection = selection


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
    draws: Any = None,
) -> None:
    """Run Python that fills `arrays`; where it is recorded, each replay runs it again.

    `reads` and `draws` are those of `Recorder.on_host`.
    """
    recording = recorder()
    if recording is None:
        write()
    else:
        recording.on_host(write, arrays, reads=reads, draws=draws)


def refuse_reading(what: str) -> None:
    """Raise where the running context is recorded: no replay would read the value."""
    recording = recorder()
    if recording is not None:
        recording.refuse(what)


bind(State=State, Selection=Selection, Decomposed=Decomposed, state_variable=_STATE)


def enter(
    *, grad: bool | None = None, selection: Selection | None = None
) -> Token[State]:
    """Make a state that differs from the current one; give it back with `leave`."""
    now = current()
    return _STATE.set(
        State(
            now.grad if grad is None else grad,
            now.selection if selection is None else selection,
        )
    )


def leave(token: Token[State]) -> None:
    """Return to the state before `enter`."""
    _STATE.reset(token)
