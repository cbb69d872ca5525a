# SPDX-License-Identifier: MIT
"""`profile`, a block that times kernels, operators and modules."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from autocalc._dispatch.machine.cpu import cpu_name
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.selection.state import current, enter, leave, recorder
from autocalc._tensor.checks import as_int, check_flags, check_type, require
from autocalc.errors import ConfigError, DTypeError
from autocalc.profiler._account import Account
from autocalc.profiler._advice import Advice, advice_of
from autocalc.profiler._html import page
from autocalc.profiler._instruments import Instruments
from autocalc.profiler._peaks import peaks
from autocalc.profiler._recording import KernelCall, Recording
from autocalc.profiler._roofline import write_picture
from autocalc.profiler._rows import GROUPS, Row, rows_of
from autocalc.profiler._table import LIMIT, Table
from autocalc.profiler._trace import write_trace

#: The default of `max_events`: about 400 MB of memory, and 600 MB at the end.
MAX_EVENTS = 1_000_000

#: If the mean step takes this many times the median, a note shows the median, because
#: other programs probably ran.
DISTURBED = 1.2

#: The running profile; there is only one, because it replaces methods of classes.
_running: list[profile] = []


class profile:
    """Time kernels, operators and modules in a ``with`` block.

    Only the thread that runs the block is recorded: its eager calls, and each
    instruction of its compiled programs.  Call `step` at the end of each step.  If you
    do not call `step`, a step ends with each step of an optimizer, and with each
    compiled call that updates parameters.  If the block contains neither of the two,
    the whole block is one step.  In the block, each kernel takes some microseconds
    longer; after the block, there is no cost.

    Parameters
    ----------
    warmup
        The number of steps at the beginning that do not count, if more steps follow.
        The first step takes longer, because it selects kernels.
    steps
        The number of steps to record; None for no limit.
    max_events
        The largest number of calls to record, which limits the memory.
    activities, record_shapes, profile_memory, with_stack, with_flops, with_modules
        Accepted so that programs for PyTorch run; they have no effect.  Shapes, FLOPs
        and modules are always recorded.

    Attributes
    ----------
    steps
        The duration of each counted step, in seconds.
    is_full
        Whether the recording has stopped because `max_events` was reached.

    Raises
    ------
    ArgumentError
        If `warmup` is negative, or if `steps` or `max_events` is below 1.
    DTypeError
        If a number is not an integer.
    ConfigError
        If another profile is running, or `ac.compile` is recording.

    Examples
    --------
    >>> import autocalc as ac
    >>> net, x = ac.nn.Linear(64, 64), ac.randn(32, 64)
    >>> with ac.profiler.profile() as prof:
    ...     for _ in range(3):
    ...         y = net(x).relu().sum()
    ...         prof.step()
    >>> len(prof.steps)
    2
    >>> sorted(row.name for row in prof.table("module").rows)
    ['(outside of modules)', 'Linear']
    """

    def __init__(
        self,
        *,
        warmup: int = 1,
        steps: int | None = None,
        max_events: int = MAX_EVENTS,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
    ) -> None:
        del activities
        check_flags(
            "profile",
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
        )
        self._warmup = _at_least("warmup", warmup, 0)
        self._wanted = None if steps is None else _at_least("steps", steps, 1)
        self._max_events = _at_least("max_events", max_events, 1)
        self._recording: Recording | None = None
        self._account: Account | None = None
        self._start = 0
        self._machine = ""
        self.is_full = False

    def __enter__(self) -> profile:
        if _running:
            raise ConfigError("profile: another profile is running; end it first.")
        if recorder() is not None:
            raise ConfigError(
                "profile: ac.compile is recording this function; put the profile "
                "around the calls of the compiled function."
            )
        if self._account is not None:
            raise ConfigError("profile: this profile has ended; make a new one.")
        base = current().selection
        last = None if self._wanted is None else self._wanted + self._warmup
        recording = self._recording = Recording(base, self._max_events, last)
        self._instruments = Instruments(recording, base)
        self._instruments.install()
        recording.clocks.measure(True)
        self._token = enter(selection=recording.selection)
        _running.append(self)
        self._start = perf_counter_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stop = perf_counter_ns()
        recording = self._recording
        assert recording is not None
        _running.remove(self)
        self._instruments.remove()
        recording.clocks.measure(False)
        leave(self._token)
        was_closed = recording.closed  # it is full, or has all steps
        events = recording.ended()
        if was_closed:
            last = events[-1]
            stop = last.times.stop if isinstance(last, KernelCall) else last[0]
        self.is_full = recording.is_full
        count = get_num_threads()
        threads = None if recording.clocks.first is None else count
        self._account = Account(events, self._start, stop, self._warmup, threads)
        self._machine = f"{cpu_name()}, {count} thread{'s' * (count > 1)}"
        self._recording = None
        del self._instruments

    def __repr__(self) -> str:
        if self._account is None:
            return "<profile: it has not ended>"
        seconds = self._account.nanoseconds / 1e9
        return f"<profile of {len(self.steps)} steps, {seconds:.4g} s>"

    def step(self) -> None:
        """Mark the end of a step.

        Raises
        ------
        ConfigError
            If the profile is not running.
        """
        if self not in _running or self._recording is None:
            message = (
                "profile.step: the profile is not running; call it inside of the "
                "`with` block."
            )
            raise ConfigError(message)
        self._recording.step(asked=True)

    # ---- results --------------------------------------------------------------------

    @property
    def _ended(self) -> Account:
        """The added-up times of the recording."""
        if self._account is None:
            message = (
                "profile: there are no results before the end of the `with` block."
            )
            raise ConfigError(message)
        return self._account

    @property
    def steps(self) -> list[float]:
        return [(step.stop - step.start) / 1e9 for step in self._ended.steps]

    def table(self, by: str = "kernel", *, limit: int | None = LIMIT) -> Table:
        """Return a table of times.

        Parameters
        ----------
        by
            The kind of the rows: ``"kernel"``, ``"operator"`` (forward, backward and
            optimizers are separate), or ``"module"`` (forward and backward together).
        limit
            The number of rows to show; None for all.

        Raises
        ------
        ArgumentError
            If `by` is not ``"kernel"``, ``"operator"`` or ``"module"``, or if `limit`
            is less than 1.
        ConfigError
            If the profile has not ended.
        """
        require("table", "by", by, by in GROUPS, f"one of {_listed()}")
        if limit is not None:
            limit = _at_least("limit", limit, 1)
        rows = self._rows(by)
        return Table(by, rows, len(self.steps), self._notes(), limit)

    def _rows(self, by: str) -> list[Row]:
        return rows_of(self._ended, by, peaks())

    def _notes(self) -> list[str]:
        """Return the lines below a table."""
        account, steps = self._ended, len(self.steps)
        mean, middle = sum(self.steps) / steps, median(self.steps)
        line = f"{steps} step{'s' * (steps > 1)} of {1e3 * mean:.3f} ms"
        if mean > DISTURBED * middle:
            line += f" in the mean (median {1e3 * middle:.3f})"
        line += f" on {self._machine}"
        if account.left_out:
            line += f"; {account.left_out} before, to warm up, left out"
        notes = [line + "."]
        if self.is_full:
            notes.append(f"It stopped to record after {self._max_events:,} calls.")
        return [*notes, *self._about_peaks()]

    def _about_peaks(self) -> list[str]:
        if peaks() is not None:
            return []
        note = (
            "The roof is not known: ac.profiler.measure_peaks(), or autocalc profile "
            "--peaks, measures this machine."
        )
        return [note]

    def advice(self) -> Advice:
        """Return suggestions for making the program faster, the largest saving first.

        A suggestion for a kernel is ranked by the time that the kernel would save if it
        reached the peak performance of this machine, which `measure_peaks` measures.
        The Python code around the kernels is ranked, too.

        Raises
        ------
        ConfigError
            If the profile has not ended.
        """
        rows = self._rows("kernel")
        compiled = self._ended.has_compiled
        notes = self._about_peaks()
        return advice_of(rows, len(self.steps), notes, compiled=compiled)

    def chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace of all calls, for https://ui.perfetto.dev or Chrome.

        Parameters
        ----------
        path
            The JSON file to write.

        Raises
        ------
        DTypeError
            If `path` is not a path.
        ConfigError
            If the profile has not ended.
        """
        write_trace(self._ended, self._start, _path("chrome_trace", path))

    def html(self, path: str | os.PathLike[str], *, title: str = "Profile") -> None:
        """Write an HTML page with the steps, the advice, the roofline and the tables.

        The page has no references to other files, so it can be stored and sent.

        Parameters
        ----------
        path
            The path of the file to write.
        title
            The title of the page.

        Raises
        ------
        DTypeError
            If `path` is not a path, or `title` is not a string.
        ConfigError
            If the profile has not ended.
        """
        given: Any = title
        require("html", "title", title, isinstance(given, str), "a text", DTypeError)
        where = _path("html", path)
        rows = self._rows("kernel")
        tables = [self.table(by) for by in GROUPS]
        facts = {"machine": self._machine}
        text = page(self._ended, tables, self.advice(), rows, peaks(), facts, title)
        where.write_text(text, encoding="utf-8")

    def roofline(self, path: str | os.PathLike[str]) -> None:
        """Draw the kernels in a roofline plot of this machine.

        Parameters
        ----------
        path
            The file to write: .svg, or .png or .pdf if matplotlib is installed.

        Raises
        ------
        DTypeError
            If `path` is not a path.
        PluginError
            If the format needs matplotlib, or is unknown.
        ConfigError
            If the profile has not ended.
        """
        where = _path("roofline", path)
        write_picture(self._rows("kernel"), peaks(), where)


def step() -> None:
    """Mark the end of a step for the running profile, if there is one.

    It is for programs that the command ``autocalc profile`` runs.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.profiler.step()
    """
    if _running:
        _running[0].step()


def _at_least(name: str, value: Any, least: int) -> int:
    number = as_int("profile", name, value)
    require("profile", name, number, number >= least, f"{least} or more")
    return number


def _path(where: str, path: Any) -> Path:
    check_type(where, "path", path, (str, os.PathLike), "a file's name")
    return Path(path)


def _listed() -> str:
    return ", ".join(map(repr, GROUPS))
