# SPDX-License-Identifier: MIT
"""Several processes that run one function; the first error ends all of them."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import traceback
from collections.abc import Callable
from typing import Any


class ProcessException(Exception):
    """A process has ended without returning from its function."""

    def __init__(self, msg: str, error_index: int, pid: int | None) -> None:
        super().__init__(msg)
        self.error_index = error_index
        self.error_pid = pid


class ProcessRaisedException(ProcessException):
    """The function of a process has raised an error."""


class ProcessExitedException(ProcessException):
    """A process was terminated."""


def _run(fn: Callable[..., Any], rank: int, args: tuple[Any, ...], errors: Any) -> None:
    try:
        fn(rank, *args)
    except Exception:
        errors.put(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """The processes that `spawn` or `start_processes` has started."""

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes = processes
        self._errors = errors

    def pids(self) -> list[int | None]:
        """Return the ids of the processes."""
        return [process.pid for process in self.processes]

    def join(
        self, timeout: float | None = None, grace_period: float | None = None
    ) -> bool:
        """Wait until a process ends; return whether all have, or raise its error."""
        running = {p.sentinel: p for p in self.processes if p.exitcode is None}
        if running:  # waiting for none would never end
            multiprocessing.connection.wait(list(running), timeout)
        for index, process in enumerate(self.processes):
            if process.exitcode not in (None, 0):
                self._end(index, process)
        return all(process.exitcode == 0 for process in self.processes)

    def _end(self, index: int, failed: Any) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        if failed.exitcode == 1 and not self._errors[index].empty():
            text = f"process {index} raised:\n{self._errors[index].get()}"
            raise ProcessRaisedException(text, index, failed.pid)
        text = f"process {index} ended with exit code {failed.exitcode}"
        raise ProcessExitedException(text, index, failed.pid)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(rank, *args)`` in `nprocs` processes."""
    kind: Any = multiprocessing.get_context(start_method)
    errors = [kind.SimpleQueue() for _ in range(nprocs)]
    processes = [
        kind.Process(target=_run, args=(fn, rank, args, errors[rank]), daemon=daemon)
        for rank in range(nprocs)
    ]
    for process in processes:
        process.start()
    context = ProcessContext(processes, errors)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(rank, *args)`` in `nprocs` new processes of Python."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
