# SPDX-License-Identifier: MIT
"""The gain of work from threads: measured up to the cores, predicted beyond.

A prediction runs the work on one core.  Each job that threads would share is split as
for n threads.  Its parts run one after another and are timed.  Then

::

    T_n = serial + sum over jobs (longest part + hand-off of n threads)

is the critical path: the time outside of jobs, plus the longest part of each job.  It
assumes that each of n cores is as fast as a single one: clocks do not fall, and caches
and memory are sufficient.  The hand-off grows with the depth of the tree in which
threads wake each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import NamedTuple

from autocalc._dispatch.engine import native
from autocalc._dispatch.machine.thread_budget import chosen_budget
from autocalc._dispatch.plugins.threads import apply_budget
from autocalc._dispatch.selection.select import first_of
from autocalc._dispatch.selection.state import current
from autocalc._kernels.kernel_set import JobRecorder

Work = Callable[[], object]

#: The seconds of a turn, in which one number of threads is timed.
TURN = 0.02

#: How often jobs are recorded; for each part the shortest time counts.
RECORDINGS = 5

#: A job is timed on one thread as the sum of this many parts, because short parts run
#: undisturbed.
FINE = 8

#: The least seconds for a level of the tree.  If a worker has no core of its own, an
#: empty job takes almost no time.
LEAST_LEVEL = 0.5e-6


@dataclass(frozen=True)
class Point:
    """The time of work with a number of threads."""

    threads: int
    seconds: float
    #: The time on one thread, measured in the same way.
    alone: float
    predicted: bool = False
    #: For a prediction: the jobs, the tasks of the median job, and the seconds outside
    #: of jobs.
    jobs: int = 0
    tasks: float = 0
    serial: float = 0.0

    @property
    def speed_up(self) -> float:
        """How many times as fast as with one thread."""
        return self.alone / self.seconds

    @property
    def serial_share(self) -> float:
        """The serial share s of Amdahl's law, T_n = T_1 (s + (1 - s) / n).

        It follows from the speed-up S (Karp, Flatt 1990): (1 / S - 1 / n) / (1 - 1 /
        n).
        """
        return (1 / self.speed_up - 1 / self.threads) / (1 - 1 / self.threads)


def measured(work: Work, threads: Sequence[int], seconds: float) -> list[Point]:
    """Time `work` with each number of threads, beginning with 1, in turns."""
    before = chosen_budget()
    times: dict[int, list[float]] = {n: [] for n in threads}
    try:
        repeats = _repeats(work)
        end = perf_counter() + seconds
        while not all(times.values()) or perf_counter() < end:
            for n in threads:
                apply_budget(n)
                work()  # wakes threads, allocates memory
                times[n].append(_seconds(work, repeats))
    finally:
        apply_budget(before)
    seconds_of = {n: median(times[n]) for n in threads}
    return [Point(n, seconds_of[n], seconds_of[threads[0]]) for n in threads]


def _repeats(work: Work) -> int:
    work()
    return max(1, round(TURN / max(_seconds(work, 1), 1e-7)))


def _seconds(work: Work, repeats: int) -> float:
    started = perf_counter()
    for _ in range(repeats):
        work()
    return (perf_counter() - started) / repeats


def job_recorder() -> JobRecorder | None:
    """Return a recorder of the jobs of the kernels in use, or None without a pool."""
    clock = first_of(current().selection, "pool_clock") or native.clock
    return clock if isinstance(clock, JobRecorder) else None


def hand_off(recorder: JobRecorder, cores: int) -> float:
    """Return the seconds that each level of the tree of threads takes."""
    if cores < 2:
        return LEAST_LEVEL
    before = chosen_budget()
    try:
        apply_budget(cores)
        level = recorder.hand_off_ns(2000) / 1e9 / math.log2(cores)
        return max(level, LEAST_LEVEL)
    finally:
        apply_budget(before)


def predicted(
    work: Work, recorder: JobRecorder, threads: Sequence[int], level: float
) -> list[Point]:
    """Return the critical path of `work` for each number of threads.

    `level` is the hand-off time of each level of the tree.
    """
    jobs, serial = _recorded(work, recorder, FINE)
    alone = serial + sum(sum(job.parts) for job in jobs)
    return [_path(work, recorder, n, level, alone) for n in threads]


def _path(
    work: Work, recorder: JobRecorder, threads: int, level: float, alone: float
) -> Point:
    jobs, serial = _recorded(work, recorder, threads)
    shared = sum(job.tasks > 1 for job in jobs)
    path = serial + sum(max(job.parts) for job in jobs)
    path += shared * level * math.log2(threads)
    tasks = median(job.tasks for job in jobs) if jobs else 0
    return Point(threads, path, alone, True, len(jobs), tasks, serial)


class _Job(NamedTuple):
    """The number of tasks of a job, and the seconds of each part."""

    tasks: int
    parts: tuple[float, ...]


def _recorded(
    work: Work, recorder: JobRecorder, threads: int
) -> tuple[list[_Job], float]:
    """Return the jobs and the seconds outside of them; the least of several runs."""
    passes = [_recorded_once(work, recorder, threads) for _ in range(RECORDINGS)]
    alike = [jobs for jobs, _ in passes if _cuts(jobs) == _cuts(passes[-1][0])]
    jobs = [
        _Job(
            same[0].tasks,
            tuple(map(min, zip(*(job.parts for job in same), strict=True))),
        )
        for same in zip(*alike, strict=True)
    ]
    return jobs, min(outside for _, outside in passes)


def _cuts(jobs: list[_Job]) -> list[tuple[int, int]]:
    return [(job.tasks, len(job.parts)) for job in jobs]


def _recorded_once(
    work: Work, recorder: JobRecorder, threads: int
) -> tuple[list[_Job], float]:
    recorder.record_jobs(threads)
    try:
        work()  # allocates memory
        recorder.record_jobs(threads)
        started = perf_counter()
        work()
        passed = perf_counter() - started
        records = recorder.job_records()
    finally:
        recorder.record_jobs(0)
    inside = sum(whole for _, _, whole in records) / 1e9
    jobs = [_Job(n, tuple(ns / 1e9 for ns in parts)) for n, parts, _ in records]
    return jobs, passed - inside
