# SPDX-License-Identifier: MIT
"""Add up the times of the steps from the events of a recording.

Each nanosecond of a step belongs to exactly one segment.  A segment is a kernel, the
Python code before it, the Python code after the last kernel of a module, or the Python
code at the end of the step.  For that reason, the times of all rows of a table add up
to the time of the steps for any grouping.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from autocalc._compile._function import Compiled
from autocalc._dispatch._callers import Site
from autocalc._kernels.kernel_set import PoolTimes
from autocalc.profiler._clocks import rest, summed
from autocalc.profiler._recording import Kernel, KernelCall


class ModuleCall:
    """A module within a call of another module; the root is code outside of modules."""

    __slots__ = ("children", "label", "module", "parent")

    def __init__(self, module: Any, parent: ModuleCall | None) -> None:
        self.module = module
        self.parent = parent
        self.children: dict[int | str, ModuleCall] = {}
        self.label = ""

    def within(self, module: Any) -> ModuleCall:
        """Return the call of a module inside this one."""
        found = self.children.get(id(module))
        if found is None:
            found = self.children[id(module)] = ModuleCall(module, self)
        return found

    def named(self, name: str) -> ModuleCall:
        """Return the call of a module in a compiled program, by its dotted name."""
        place, words = self, name.split(".") if name else []
        for i in range(len(words)):
            label = ".".join(words[: i + 1])
            found = place.children.get(label)
            if found is None:
                found = place.children[label] = ModuleCall(None, place)
                found.label = label
            place = found
        return place

    def path(self) -> Iterator[ModuleCall]:
        """Yield this call and the outer calls, without the root."""
        place: ModuleCall = self
        while place.parent is not None:
            yield place
            place = place.parent


class Key(NamedTuple):
    """The key of calls with common sums; kernel None is Python after the last one."""

    kernel: Kernel | None
    site: Site | None
    place: ModuleCall


class Sums:
    """Times of calls, in nanoseconds.

    `total` includes the kernels that a kernel calls; `own` does not.  `python` is the
    time of the Python code before the kernel.  `waited` is the waiting time of all
    threads during the kernel's own time.  `worked` is the working time of all threads
    in the calls that reported their phases, and `phases` divides this time into the
    phases.
    """

    __slots__ = ("calls", "own", "phases", "python", "total", "waited", "worked")

    def __init__(self) -> None:
        self.calls = self.total = self.own = self.python = self.waited = 0
        self.worked = 0
        self.phases: dict[str, int] = {}


class KernelSpan(NamedTuple):
    """A kernel's call in a trace: its times and its phases, in nanoseconds."""

    start: int
    stop: int
    key: Key
    phases: Mapping[str, int]


class ModuleSpan(NamedTuple):
    """A module's call in a trace."""

    start: int
    stop: int
    place: ModuleCall


class StepSpan(NamedTuple):
    """The times of one step, in nanoseconds."""

    start: int
    stop: int


class Account:
    """The times in a recording, added up.

    Attributes
    ----------
    steps
        The counted steps.
    left_out
        The number of warm-up steps before them.
    sums
        The sums of times, by kernel, operator and module.
    spans, calls
        The calls of kernels and of modules in all steps, in order.
    threads
        The number of threads; None if the waiting times are not known.
    """

    def __init__(
        self,
        events: list[tuple[Any, ...]],
        start: int,
        stop: int,
        warmup: int,
        threads: int | None = None,
    ) -> None:
        self.threads = threads
        steps = _steps(events, start, stop)
        self.left_out = min(warmup, len(steps) - 1)
        self.steps = steps[self.left_out :]
        self.sums: dict[Key, Sums] = {}
        self.spans: list[KernelSpan] = []
        self.calls: list[ModuleSpan] = []
        self._root = self._place = ModuleCall(None, None)
        self._open: list[tuple[int, ModuleCall]] = []
        #: The serial numbers at which the running module changed, and the new modules.
        self._serials: list[int] = []
        self._places: list[ModuleCall] = []
        #: The end of the last segment.
        self._last = start
        self._read(events)
        #: Whether compiled functions ran.
        self.has_compiled = any(
            isinstance(event[2], Compiled) for event in events if len(event) == 3
        )
        self._python(self.steps[-1].stop)
        _name(self._root)
        for call in self._open:
            self.calls.append(ModuleSpan(call[0], stop, call[1]))

    @property
    def nanoseconds(self) -> int:
        """The time of all steps together."""
        return sum(step.stop - step.start for step in self.steps)

    def _read(self, events: list[tuple[Any, ...]]) -> None:
        own, nested = _nesting(events)
        for i, event in enumerate(events):
            if isinstance(event, KernelCall):
                self._kernel(event, own[i], nested[i])
            elif len(event) == 3:
                self._module(event)
            else:
                self._python(event[0])

    def _counts(self, time: int) -> bool:
        return self.steps[0].start <= time < self.steps[-1].stop

    def _sums(
        self, kernel: Kernel | None, site: Site | None, place: ModuleCall
    ) -> Sums:
        key = Key(kernel, site, place)
        found = self.sums.get(key)
        if found is None:
            found = self.sums[key] = Sums()
        return found

    def _python(self, until: int) -> None:
        """Add the time since the last segment to the running module."""
        gap, self._last = self._gap(until), max(self._last, until)
        if gap:
            self._sums(None, None, self._place).python += gap

    def _gap(self, until: int) -> int:
        """Return the time since the last segment that belongs to counted steps."""
        first, end = self.steps[0].start, self.steps[-1].stop
        return max(0, min(until, end) - max(self._last, first))

    def _kernel(self, call: KernelCall, own: Own, nested: bool) -> None:
        times, kernel, site, serial = call
        start, stop = times.start, times.stop
        if isinstance(serial, str):
            place = self._place.named(serial)
        else:
            place = self._place if serial < 0 else self._of_node(serial)
        self.spans.append(KernelSpan(start, stop, Key(kernel, site, place), own.phases))
        gap = 0 if nested else self._gap(start)
        if not nested:
            self._last = max(self._last, stop)
        if not self._counts(start):
            return
        sums = self._sums(kernel, site, place)
        sums.calls += 1
        sums.total += stop - start
        sums.own += own.time
        sums.waited += own.waited
        sums.python += gap
        if own.phases:
            sums.worked += own.time + own.helped
            summed(sums.phases, own.phases)

    def _of_node(self, serial: int) -> ModuleCall:
        """Return the module that recorded a node, or the running module if unknown."""
        at = bisect_right(self._serials, serial)
        found = self._places[at - 1] if at else self._root
        return self._place if found is self._root else found

    def _module(self, event: tuple[Any, ...]) -> None:
        time, serial, module = event
        self._python(time)
        if module is not None:
            self._place = self._place.within(module)
            self._open.append((time, self._place))
        elif self._open:
            began, place = self._open.pop()
            self.calls.append(ModuleSpan(began, time, place))
            self._place = place.parent or self._root
        self._serials.append(serial)
        self._places.append(self._place)


def _steps(events: list[tuple[Any, ...]], start: int, stop: int) -> list[StepSpan]:
    """Return the steps that the user marked, otherwise the steps of optimizers.

    Without marks, the whole recording is one step.  Events after the last mark do not
    belong to a step.
    """
    marks = [event for event in events if len(event) == 2]
    asked = [time for time, by_user in marks if by_user]
    ends = asked or [time for time, _ in marks] or [stop]
    begins = [start, *ends[:-1]]
    return [StepSpan(a, b) for a, b in zip(begins, ends, strict=True)]


class Own(NamedTuple):
    """The time of a kernel's call without the kernels that it called."""

    time: int
    waited: int
    helped: int
    phases: Mapping[str, int]

    @classmethod
    def of(cls, times: PoolTimes) -> Own:
        """Return the time of a call, including the kernels that it called."""
        start, stop, waited, helped, phases = times
        return cls(stop - start, waited, helped, phases)

    def without(self, times: PoolTimes) -> Own:
        """Return the time minus `times`, the times of an inner call."""
        part = Own.of(times)
        return Own(
            self.time - part.time,
            self.waited - part.waited,
            self.helped - part.helped,
            rest(self.phases, part.phases),
        )


def _nesting(events: list[tuple[Any, ...]]) -> tuple[list[Own], list[bool]]:
    """Return each kernel's own time, and whether another kernel called it.

    The events are in the order of their ends.
    """
    own, nested = [Own(0, 0, 0, {})] * len(events), [False] * len(events)
    done: list[tuple[int, PoolTimes]] = []
    for i, event in enumerate(events):
        if not isinstance(event, KernelCall):
            done.clear()  # no kernel contains the call of a module
            continue
        own[i] = Own.of(event.times)
        while done and done[-1][1].start >= event.times.start:
            child, times = done.pop()
            own[i] = own[i].without(times)
            nested[child] = True
        done.append((i, event.times))
    return own, nested


def _name(root: ModuleCall) -> None:
    """Name calls by their modules' names in the outermost one; release the modules."""
    taken: dict[str, int] = {}
    labels: dict[int, str] = {}
    held = [top.module for top in root.children.values() if top.module is not None]
    for module in held:
        if id(module) in labels:
            continue
        label = _title(module)
        taken[label] = taken.get(label, 0) + 1
        label += f" #{taken[label]}" * (taken[label] > 1)
        labels[id(module)] = label
        for name, one in getattr(module, "named_modules", list)():
            labels.setdefault(id(one), f"{label}.{name}")
    pending = list(root.children.values())
    while pending:
        place = pending.pop()
        pending += place.children.values()
        if not place.label:
            place.label = labels.get(id(place.module)) or _title(place.module)
    pending = [root]
    while pending:  # later: ids are valid while all modules live
        place = pending.pop()
        pending += place.children.values()
        place.module = None


def _title(module: Any) -> str:
    if isinstance(module, Compiled):
        return f"compiled {module._name}"
    return type(module).__name__
