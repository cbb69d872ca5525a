# SPDX-License-Identifier: MIT
"""How work gains from threads: measured on those there are, predicted for others.

A prediction runs the work on one core.  Each job that threads would share is cut as for
n threads, its parts run one after another and are timed, and

::

    T_n = serial + sum over jobs (longest part + hand-off of n threads)

is the critical path: what ran outside of jobs, and each job's longest part.  It takes
each of n cores for as fast as one alone: neither do clocks fall nor do caches and
memory run short.  The hand-off grows with the depth of the tree in which threads wake
each other.
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

#: Seconds of a turn, in which one number of threads is timed.
TURN = 0.02

#: How often jobs are recorded: of each part the least time counts.
RECORDINGS = 5

#: Parts of a job whose sum is its time on one thread: short ones run undisturbed.
FINE = 8

#: Seconds for a level of the tree, at least: where a worker had no core to come from,
#: an empty job takes next to nothing.
LEAST_LEVEL = 0.5e-6


@dataclass(frozen=True)
class Point:
    """The time of work with a number of threads."""

    threads: int
    seconds: float
    #: On one thread, measured alike.
    alone: float
    predicted: bool = False
    #: Of a prediction: jobs, tasks of the median job, seconds outside of jobs.
    jobs: int = 0
    tasks: float = 0
    serial: float = 0.0

    @property
    def speed_up(self) -> float:
        """How many times as fast as one thread."""
        return self.alone / self.seconds

    @property
    def serial_share(self) -> float:
        """The serial share s of Amdahl's law, T_n = T_1 (s + (1 - s) / n).

        It is what speed-up S leaves (Karp, Flatt 1990): (1 / S - 1 / n) / (1 - 1 / n).
        """
        return (1 / self.speed_up - 1 / self.threads) / (1 - 1 / self.threads)


def measured(work: Work, threads: Sequence[int], seconds: float) -> list[Point]:
    """Time `work` with each number of threads, 1 first; they take turns."""
    before = chosen_budget()
    times: dict[int, list[float]] = {n: [] for n in threads}
    try:
        repeats = _repeats(work)
        end = perf_counter() + seconds
        while not all(times.values()) or perf_counter() < end:
            for n in threads:
                apply_budget(n)
                work()  # threads wake, scratch memory is there
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
    """Return a recorder of the jobs of the kernels in use, if they have a pool."""
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

    `level` is what the hand-off takes for each level of the tree.
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
    """Tasks of a job, and the seconds of each part."""

    tasks: int
    parts: tuple[float, ...]


def _recorded(
    work: Work, recorder: JobRecorder, threads: int
) -> tuple[list[_Job], float]:
    """Return the jobs, and the seconds outside of them; the least of several times."""
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
        work()  # memory is there
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
