# SPDX-License-Identifier: MIT
"""`compile`: a function that is recorded once and replayed without Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from autocalc._compile._agreement import difference
from autocalc._compile._build import build
from autocalc._compile._passes import optimize
from autocalc._compile._plan import plan
from autocalc._compile._recorder import Recorder
from autocalc._compile._replay import Replay
from autocalc._compile._signature import Call
from autocalc._compile._trace import Trace, finish
from autocalc._dispatch._state import current, recorder
from autocalc.errors import CompileError

#: Recordings of one signature after which two in a row must have agreed.
MAX_RECORDINGS = 6


class Entry:
    """What is known of one signature: the last recording, and programs."""

    __slots__ = ("held", "last", "programs", "recordings", "why")

    def __init__(self, held: list[Any]) -> None:
        self.held = held
        self.last: Trace | None = None
        self.programs: list[Replay] = []
        self.recordings = 0
        self.why = ""


class Compiled:
    """A compiled function; see `compile`."""

    def __init__(
        self, function: Callable[..., Any], *, off: Iterable[str] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        self._off = frozenset(off)
        self._function = function
        self._entries: dict[Any, Entry] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the program of this signature, or record it."""
        if recorder() is not None:
            return self._function(*args, **kwargs)
        call = Call(args, kwargs)
        entry = self._entries.get(call.key)
        if entry is None:
            entry = self._entries[call.key] = Entry(call.held)
        for program in entry.programs:
            if program.holds():
                return program.run(call.tensors)
        return self._record(entry, call)

    @property
    def programs(self) -> list[Replay]:
        """All programs, one for each signature."""
        return [p for entry in self._entries.values() for p in entry.programs]

    def _record(self, entry: Entry, call: Call) -> Any:
        """Run the function, recorded; make a program if it did as the last time."""
        if entry.recordings >= MAX_RECORDINGS:
            message = (
                f"compile: {entry.recordings} recordings of "
                f"`{self._function.__qualname__}` differ: {entry.why}"
            )
            raise CompileError(message)
        empty = current().selection.empty
        entry.recordings += 1
        recording = Recorder()
        with recording:
            result = self._function(*call.args, **call.kwargs)
        trace = finish(recording, call, result)
        last, entry.last = entry.last, trace
        if last is None:
            return result
        entry.why = difference(last, trace) or ""
        if not entry.why:
            program = optimize(build(trace), off=self._off)
            entry.programs.append(Replay(program, plan(program), trace, empty))
            entry.last = None
        return result
