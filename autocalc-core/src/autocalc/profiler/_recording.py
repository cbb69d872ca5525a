# SPDX-License-Identifier: MIT
"""Record the events of a profile in a list.

Recording uses dispatch: a selection of kernels whose decisions are wrapped.  Without a
profile, it therefore costs nothing.  Events are plain tuples; `_account` evaluates them
after the profile:

==========================================  ==========================================
event                                       what it is
==========================================  ==========================================
(begin, end, clock, kernel, site, serial)   a kernel ran between two readings of a
                                            `PoolClock`; `serial` is the number of the
                                            node whose rule called it, or -1; in a
                                            compiled program, the module's name
(time, serial, module or None)              a module was called, or returned
(time, asked for)                           a step ended
(time,)                                     the time of Python up to here belongs to
                                            the module, not to the next kernel
==========================================  ==========================================

Kernels evict other data from the caches, so all code and data that is used between two
kernels takes time.  For that reason, as little as possible is done there; `ended` does
the work later.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from threading import get_ident
from time import perf_counter_ns
from types import CodeType
from typing import Any, NamedTuple

from autocalc._dispatch._callers import GRADIENT_SUM, Site, site_of
from autocalc._dispatch.selection.select import Entry, Selection
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, least_work
from autocalc._graph._node import next_serial
from autocalc._kernels.kernel_set import PoolTimes
from autocalc._kernels.spec import KernelSpec, Meta, Work, meta_of
from autocalc.profiler._clocks import Clocks


class Kernel(NamedTuple):
    """A kernel and the operands that it was called with.

    In compiled programs, `names` are the names of the kernels that it replaces.
    """

    name: str
    chosen: str
    operands: str
    dtype: str
    work: Work
    names: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name of the kernel in a table."""
        if self.name == "elementwise_chain":
            return ", ".join(self.names) or self.name
        return self.name


class KernelCall(NamedTuple):
    """A kernel's call, as evaluated after the profile."""

    times: PoolTimes
    kernel: Kernel
    site: Site
    serial: int | str


class Recording:
    """The events of one thread, from the beginning of a profile to its end.

    Attributes
    ----------
    closed
        Whether recording has ended, because the profile has ended or is full.
    muted
        Whether kernels and modules are not recorded, because they are part of a
        compiled call.
    is_full
        Whether it closed because it had no more room.
    pending
        Whether the running compiled call is a step.
    site, serial
        The site and the serial number of the running backward rule.
    clocks
        The clocks of the kernel sets, which give waiting times and phases.
    caller, caller_at
        The Python caller of the last rule: the code of its frame and the position in
        it.
    """

    __slots__ = (
        *("caller", "caller_at", "closed", "events", "inner", "is_full", "key_of"),
        *("last", "limit", "muted", "pending", "selection", "serial", "site", "steps"),
        *("clocks", "stop_after", "thread"),
    )

    def __init__(self, base: Selection, limit: int, stop_after: int | None) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.thread = get_ident()
        self.closed = self.muted = self.is_full = self.pending = False
        self.site: Site | None = None
        self.serial = self.last = -1
        self.caller: CodeType | None = None
        self.caller_at = -1
        self.limit, self.stop_after, self.steps = limit, stop_after, 0
        self.inner = base.wrap
        self.clocks = Clocks(base)
        self.key_of: Callable[..., Any] = base.key_of
        self.selection = base.derive(wrap=self.wrap)

    def is_elsewhere(self) -> bool:
        """Return whether the running code does not belong to this recording."""
        return self.closed or self.muted or get_ident() != self.thread

    # This is a single frame, because it runs in each call of a kernel.
    def wrap(self, spec: KernelSpec, name: str, function: Entry) -> Callable[..., None]:
        """Return `function` of the set `name`, wrapped to time each call."""
        run = function if self.inner is None else self.inner(spec, name, function)
        end = len(spec.outputs) + len(spec.inputs)
        known: dict[Any, Kernel] = {}
        append, key_of = self.events.append, self.key_of
        clock = self.clocks.of(name)
        now = clock.now

        def call(*args: Any) -> None:
            if self.closed or get_ident() != self.thread:
                run(*args)
                return
            begin = now()
            run(*args)
            stop = now()
            key = key_of(*args[:end])
            kernel = known.get(key)
            if kernel is None:
                kernel = known[key] = described(spec, name, args)
            site, serial = self.site, self.serial
            if site is None:
                site = site_of(_getframe(1), self.caller, self.caller_at)
                if site is GRADIENT_SUM:
                    serial = self.last
            append((begin, stop, clock, kernel, site, serial))
            if len(self.events) >= self.limit:
                self.fill()

        return call

    def ended(self) -> list[tuple[Any, ...]]:
        """End the recording; return the events, with a `KernelCall` for each call."""
        self.closed = True
        events = self.events
        for i, event in enumerate(events):
            if len(event) == _CALL:
                begin, end, clock, *about = event
                events[i] = KernelCall(clock.between(begin, end), *about)
        return events

    def fill(self) -> None:
        """Stop recording, because there is no more room."""
        self.closed = self.is_full = True

    def enter(self, module: Any) -> tuple[Any, ...]:
        """Record the call of a module; return the data that `leave` needs."""
        self.events.append((perf_counter_ns(), next_serial(), module))
        before = self.site, self.serial
        self.site, self.serial = None, -1
        return before

    def leave(self, before: tuple[Any, ...]) -> None:
        """Record the return of the module."""
        self.site, self.serial = before
        if not self.closed:
            self.events.append((perf_counter_ns(), next_serial(), None))

    def step(self, *, asked: bool) -> None:
        """Record the end of a step; close the recording after the last wanted step."""
        if self.is_elsewhere():
            return
        self.events.append((perf_counter_ns(), asked))
        self.steps += 1
        if self.stop_after is not None and self.steps >= self.stop_after:
            self.closed = True


#: The length of the event of a kernel's call.
_CALL = 6


def described(spec: KernelSpec, name: str, args: tuple[Any, ...]) -> Kernel:
    """Return the description of a call, with the work by its spec."""
    n = len(spec.outputs)
    end = n + len(spec.inputs)
    outputs, inputs = [tuple(map(meta_of, some)) for some in (args[:n], args[n:end])]
    attributes = args[end : len(args) - bool(spec.accumulates)]
    held = [
        meta
        for meta, output in zip(outputs, spec.outputs, strict=True)
        if output.name in spec.writes
    ]
    first = outputs[0]
    free = first if spec.free and isinstance(first, Meta) else None
    work = least_work(spec, (*held, *inputs), attributes, free)
    return Kernel(spec.name, name, words(inputs or outputs), dtype(args[:end]), work)


def words(metas: tuple[Any, ...]) -> str:
    """Return shapes as text, ``256x784 784x1024``; a list is shown by its length."""
    return " ".join(_word(meta) for meta in metas if meta is not None)


def _word(meta: Any) -> str:
    if isinstance(meta, Meta):
        return "x".join(map(str, meta.shape)) or "scalar"
    return f"[{len(meta)}]"


def dtype(operands: tuple[Any, ...]) -> str:
    """Return the dtype of the first floating-point operand, or of the first operand."""
    flat = [
        x
        for operand in operands
        for x in ((operand,) if hasattr(operand, "dtype") else operand or ())
    ]
    floats = [x for x in flat if x.dtype.kind in FLOAT_KINDS]
    return str((floats or flat)[0].dtype) if flat else ""
