# SPDX-License-Identifier: MIT
"""Records a function, and replays it once two recordings in a row agree."""

from __future__ import annotations

import copy
import functools
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from autocalc._compile._agreement import compare, release_shared
from autocalc._compile._compiled_program import CompiledProgram
from autocalc._compile._followed import Followed
from autocalc._compile._guards import Guard, assigned_at
from autocalc._compile._motion import motion_of
from autocalc._compile._owners import uncollected
from autocalc._compile._passes._remaking import is_product
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._settings import read_again
from autocalc._compile._signature import Signature
from autocalc._compile._trace import Trace, finish, leaves_with_gradients
from autocalc._compile._tracked import untracked
from autocalc._compile._watch import FunctionWatch
from autocalc._dispatch.selection.state import current, recorder
from autocalc._graph import _noticed
from autocalc._graph._grad_mode import is_grad_enabled, set_grad_enabled
from autocalc._program._work import work_of
from autocalc.errors import CompileError, CompileWarning

#: Recordings of one signature that may fail to agree before compilation gives up.
MAX_IN_VAIN = 6

#: Earlier recordings of a signature with which a new one is compared.
MAX_RECENT = 3

#: Programs kept for one signature; beyond that, the oldest is dropped.
MAX_PROGRAMS = 8

#: Recordings of one signature in total.
MAX_RECORDINGS = 64

#: The number of temporaries that an error about the limit names.
OWNERS = 3

#: Signatures kept for one function; beyond that, the oldest is dropped.
MAX_SIGNATURES = 64

#: New signatures in a row, each with larger tensors than the last, before a warning.
MAX_GROWING = 8


class Entry:
    """The programs and recordings of one signature.

    Attributes
    ----------
    programs
        The programs, latest first.
    recent
        The last recordings, latest first; no two of them agree.
    numbers, captured
        The numbers among the arguments of the last recording, and its guards of other
        numbers.
    in_vain, recordings
        Recordings since the last program, and in total.
    eager
        Whether the signature runs eagerly from now on.
    """

    __slots__ = (
        *("captured", "eager", "held", "in_vain", "numbers", "programs", "recent"),
        "recordings",
    )

    def __init__(self, held: list[Any]) -> None:
        self.held = held
        self.programs: list[CompiledProgram] = []
        self.recent: list[Trace] = []
        self.numbers: dict[Any, Any] = {}
        self.captured: list[Guard] = []
        self.in_vain = self.recordings = 0
        self.eager = False


class Compiled:
    """A compiled function, as `ac.compile` makes it."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        fallback: bool = False,
        check: int = 0,
        limit: int | None = None,
        off: Iterable[str] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._fallback = fallback
        self._check = check
        self._limit = limit
        self._off = frozenset(off)
        self._entries: dict[Any, Entry] = {}
        self._lock = threading.RLock()
        self._replays = 0
        self._warned = False
        self._shapes: list[Any] = []
        self._growing = 0

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function or module."""
        if name == "_function":  # it is not set yet while a copy is made
            raise AttributeError(name)
        return getattr(self._function, name)

    def _options(self) -> dict[str, Any]:
        """Return the options that it was made with."""
        names = ("fallback", "check", "limit", "off")
        return {name: getattr(self, f"_{name}") for name in names}

    def __reduce__(self) -> Any:
        """Copy the function and the options; the copy makes its own recordings."""
        return functools.partial(Compiled, **self._options()), (self._function,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        """Copy the function as well: a module may hold this object among its parts."""
        new = memo[id(self)] = Compiled.__new__(Compiled)
        Compiled.__init__(new, copy.deepcopy(self._function, memo), **self._options())
        return new

    def __repr__(self) -> str:
        return f"<compiled {self._name}: {len(self.programs)} programs>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions do."""
        return self if instance is None else functools.partial(self, instance)

    @property
    def _name(self) -> str:
        return getattr(self._function, "__qualname__", repr(self._function))

    @property
    def programs(self) -> list[CompiledProgram]:
        """All programs, one or more for each signature."""
        return [p for entry in self._entries.values() for p in entry.programs]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay the program of this signature, or record it."""
        if recorder() is not None or _noticed.listened():
            return self._function(*args, **kwargs)
        call = Signature(args, kwargs)
        with self._lock:
            entry = self._entries.get(call.key)
            if entry is None:
                entry = self._enter(call)
            # Programs of one signature differ in the values of their guards. The newest
            # is first.
            for program in entry.programs:
                if program.holds(call):
                    return self._replay(program, call)
            if entry.eager:
                return self._function(*args, **kwargs)
            with uncollected():
                return self._record(entry, call)

    def _enter(self, call: Signature) -> Entry:
        if len(self._entries) >= MAX_SIGNATURES:
            del self._entries[next(iter(self._entries))]
        entry = self._entries[call.key] = Entry(call.held)
        shapes = [x._array.shape for x in call.tensors]
        self._growing = self._growing + 1 if _grew(self._shapes, shapes) else 0
        self._shapes = shapes
        if self._growing == MAX_GROWING:
            warnings.warn(self._about_growth(), CompileWarning, stacklevel=3)
        return entry

    def _about_growth(self) -> str:
        return (
            f"compile: {self._name} was called {MAX_GROWING} times in a row with "
            f"larger tensors than before, as a cache that grows by `cat`; each size is "
            f"recorded again. Make the memory once, for the longest, give the position "
            f"as a number among the arguments, and slice by it: `cache[:, t] = new`, "
            f"`cache[:, : t + 1]`; then one program holds for all positions."
        )

    def _replay(self, program: CompiledProgram, call: Signature) -> Any:
        self._replays += 1
        if self._check and self._replays % self._check == 0:
            return program.checked(call, self._function)
        return program.run(call)

    # ---- recording -----------------------------------------------------------------

    def _record(self, entry: Entry, call: Signature) -> Any:
        """Record the function; make a program if two recordings agree."""
        empty = current().selection.empty
        had_gradients = set(leaves_with_gradients())
        earlier = [thing for trace in entry.recent for thing in trace.things()]
        recording = StepRecorder(call.tensors, lenient=self._fallback)
        # 1. Run the function while it is recorded and watched. Numbers that have varied
        # are followed, so that comparisons with them are seen.
        with Followed() as following:
            args, kwargs = call.followed(entry.numbers, following)
            following.captured(entry.captured)
            spans = following.spans
            watch = FunctionWatch(recording, self._function, following)
            with recording, watch:
                result = self._function(*args, **kwargs)
            del args, kwargs
        entry.recordings += 1  # a call that raises is not counted
        entry.in_vain += 1
        if watch.records is not is_grad_enabled():  # leaving the recording reset it
            set_grad_enabled(watch.records)
        result = untracked(result)
        entry.numbers, entry.captured = call.numbers, watch.numbers
        # 2. Describe what ran: the calls over slots, and the role of each slot.
        about = had_gradients, watch, spans, earlier
        trace = finish(recording, call, result, *about)
        if watch.prints and not self._warned:
            self._warned = True
            message = (
                f"compile: {self._name} prints text, or writes to a file or stream. "
                "This happens only while the function is recorded; replays do not "
                "repeat it. Print outside of the compiled function. The call is at "
                f"{watch.prints[0]}"
            )
            warnings.warn(message, CompileWarning, stacklevel=4)
        # 3. Compare with earlier recordings. This gives the reason why there is no
        # program yet, or the constants that are input numbers. Where an integer varied,
        # three recordings may agree although two do not: then offsets and sizes depend
        # on it.
        why, links = self._agree(entry, trace)
        motion = None
        if call.integers & spans.keys() and not trace.effects:
            motion, moved = motion_of((trace, *entry.recent), call.tensors)
            if motion is not None:
                why, links = _stray(trace), moved
            elif why:
                why += _ABOUT_NUMBERS
        why = recording.failure or why
        too_large = ""
        if not why:
            before = [other.instructions for other in entry.recent]
            trace.again = read_again(trace.instructions, before, recording.rewritten)
            made = trace, links, recording, empty, self._off, motion, self._limit
            program = CompiledProgram(*made)
            why = too_large = self._over(program)
        if not why:
            self._warn_of_products(program)
            trace.changed.clear()
            entry.programs = [program, *entry.programs[: MAX_PROGRAMS - 1]]
            if call.numbers and not links and motion is None:
                entry.recent = [trace, *entry.recent]  # needed to compare three
            entry.recent, entry.in_vain = entry.recent[:MAX_RECENT], 0
            return result
        trace.memory.let_go()
        entry.recent = [trace, *entry.recent[: MAX_RECENT - 1]]
        given_up = entry.in_vain >= MAX_IN_VAIN or entry.recordings >= MAX_RECORDINGS
        if recording.failure or too_large or given_up or _lasting(entry):
            self._give_up(entry, why)
        return result

    def _over(self, program: CompiledProgram) -> str:
        """Describe how far a program's memory exceeds the limit; "" if it fits."""
        memory, limit = program.memory, self._limit
        if limit is None or memory.peak <= limit:
            return ""
        return (
            f"its temporaries need {memory.needed:,} bytes, `limit` is {limit:,}; "
            f"{memory.peak:,} are reached by recomputation. At least "
            f"{memory.lower_bound:,} live at one time: {memory.owners(OWNERS)}. Use "
            f"smaller batches, or a limit of {memory.peak:,} or more."
        )

    def _warn_of_products(self, program: CompiledProgram) -> None:
        """Warn that products are computed twice, which costs more than other passes."""
        again = [i for i in program.instructions if i.recomputed and is_product(i)]
        if not again:
            return
        names = ", ".join(sorted({i.name for i in again}))
        flops = sum(work_of(i).flops for i in again) / 1e9
        message = (
            f"compile: to stay below `limit`, {self._name} computes {len(again)} "
            f"products a second time ({names}), which takes {flops:.3g} GFLOP more in "
            "each call. With a larger limit, fewer products are computed again."
        )
        warnings.warn(message, CompileWarning, stacklevel=5)

    def _agree(self, entry: Entry, trace: Trace) -> tuple[str, dict[int, Any]]:
        """Return the links, and why there is no program yet; "" if there can be one."""
        if trace.effects:
            return _stray(trace) or _effect(trace), {}
        reason = "it was recorded once"
        for other in entry.recent:
            why, links = compare(other, trace)
            if not why:
                release_shared(trace, other)
                return _stray(trace), links
            reason = why
        return reason, {}

    def _give_up(self, entry: Entry, why: str) -> None:
        """Warn once and run eagerly from now on, or raise."""
        message = f"compile: {self._name} cannot be replayed: {why}"
        if not self._fallback:
            entry.recent, entry.in_vain, entry.recordings = [], 0, 0
            raise CompileError(message)
        entry.eager = True
        warnings.warn(f"{message} It runs eagerly.", CompileWarning, stacklevel=5)


def _grew(before: list[Any], now: list[Any]) -> bool:
    """Return whether shapes of the same ranks grew: some sizes larger, none smaller."""
    if list(map(len, before)) != list(map(len, now)) or before == now:
        return False
    pairs = zip(before, now, strict=True)
    return all(n <= m for a, b in pairs for n, m in zip(a, b, strict=True))


#: Appended to the differences between recordings whose numbers differ.
_ABOUT_NUMBERS = (
    " An integer among the arguments varied. One program holds for many of its values "
    "where offsets and sizes of operands grow evenly with one such number. No result's "
    "shape may depend on it, nor one that the function asks a tensor for."
)


def _lasting(entry: Entry) -> bool:
    """Return whether the last two recordings in a row had problems."""
    if any(getattr(guard, "at_once", False) for guard in entry.recent[0].effects):
        return True
    last = entry.recent[:2]
    return entry.in_vain >= 3 and all(trace.effects or trace.stray for trace in last)


def _effect(trace: Trace) -> str:
    guard = trace.effects[0]
    if getattr(guard, "reads", False):
        return (
            f"it reads {guard.what}, which a replay would not. Read it outside, and "
            f"give what follows from it as an argument.{assigned_at(guard)}"
        )
    advice = "Keep what changes in tensors, written in place, or change it outside."
    if any(i.callback for i in trace.instructions):
        advice += " What a callback changes, let callbacks alone look at."
    return (
        f"it changes {guard.what}, a Python value, which a replay would not. {advice}"
        f"{assigned_at(guard)}"
    )


def _stray(trace: Trace) -> str:
    """Describe a tensor that lives on without being returned; "" if there is none."""
    if not trace.stray:
        return ""
    slot = trace.stray[0]
    array = slot.array
    shape = "" if array is None else f" of shape {array.shape}"
    return (
        f"a tensor{shape} that it makes is kept when it returns: by an attribute, a "
        f"list, or the graph of a tensor that it returns. Return it, or copy it into "
        f"one that exists; run backward inside, or record no graph (no_grad, detach). "
        f"It is made at {trace.line_of(slot.index)}"
    )
