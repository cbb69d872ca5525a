# SPDX-License-Identifier: MIT
"""Worker processes, which run Python code in parallel.

A worker ends when the process that started it asks it to.  It also checks regularly
whether that process still exists, even while it makes a batch, and ends if not.
Workers ignore Ctrl-C, which the system sends to all processes; the caller handles it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import time
import traceback
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.plugins.threads import set_num_threads
from autocalc._graph._grad_mode import is_grad_enabled, set_grad_enabled
from autocalc.data._shared import Packed, SharedFile, pack, unpack
from autocalc.data._worker import Failed, Job, Task, Worker
from autocalc.data._worker_pool import WorkerPool
from autocalc.errors import ArgumentError, DataError

_LOOK = 1.0  # seconds between two checks of the parent process
_GRACE = 1.0  # seconds for workers to finish their current batch


class _Order(NamedTuple):
    """A task, the place of its answer, and whether gradients are enabled."""

    task: Task
    slot: int
    grad: bool


class _Failure(NamedTuple):
    """The error of a worker as text, because not every error can be pickled."""

    error: str
    trace: str


# ------------------------------------------------------------------ in the worker


def _serve(job: Job, number: int, pipe: Connection, files: list[SharedFile]) -> None:
    """Run a worker process: answer orders until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # fork copies the caller's handler
    orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, orders), daemon=True).start()
    set_num_threads(1)  # workers and the training run in parallel
    worker: Worker | None = None
    while (order := orders.get()) is not None:
        try:
            if worker is None:
                worker = _begin(job, number)
            with set_grad_enabled(order.grad):
                answer: Any = pack(worker(order.task), files[order.slot])
        except BaseException as error:  # raised again by the caller
            answer = _Failure(
                f"{type(error).__name__}: {error}", traceback.format_exc()
            )
        try:
            pipe.send(answer)
        except OSError:  # the caller has ended
            return


def _begin(job: Job, number: int) -> Worker:
    info = job.info(number)
    random.seed(info.seed)
    np.random.seed(info.seed % 2**32)  # noqa: NPY002  # samples may use it
    return Worker(job, info)


def _listen(pipe: Connection, orders: queue.SimpleQueue[_Order | None]) -> None:
    """Receive orders even while a batch is made, so the caller never waits to send.

    None drops the waiting orders.  Workers that were forked later hold copies of the
    parent's ends of the pipes.  A closed pipe is therefore not a reliable sign that the
    parent has ended.
    """
    parent, home = multiprocessing.parent_process(), os.getppid()
    assert parent is not None
    sources: list[Any] = [parent.sentinel, pipe]
    while os.getppid() == home:
        ready = wait(sources, _LOOK)
        if parent.sentinel in ready:
            break
        if pipe not in ready:
            continue
        try:
            order = pipe.recv()
        except (EOFError, OSError):
            break
        if order is None:
            sources.remove(pipe)
            while not orders.empty():
                orders.get()
        orders.put(order)
    os._exit(1)  # the parent has ended; drop the current batch


# ------------------------------------------------------------------ in the caller


class _Process:
    """The caller's handle of a worker process."""

    def __init__(self, context: Any, job: Job, number: int, slots: int) -> None:
        self.number = number
        self._files = [SharedFile() for _ in range(slots)]
        self._sent = self._received = 0
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(job, number, theirs, self._files),
            name=f"autocalc-data-{number}",
            daemon=True,
        )
        try:
            self._process.start()
        except BaseException:
            self._release()
            raise
        finally:
            theirs.close()

    def send(self, task: Task) -> None:
        slot = self._sent % len(self._files)
        self._sent += 1
        try:
            self._pipe.send(_Order(task, slot, is_grad_enabled()))
        except OSError:
            raise self._death() from None

    def answer(self, timeout: float | None) -> Any:
        """Return the next batch; raise TimeoutError if it does not come in time."""
        if not wait([self._pipe, self._process.sentinel], timeout):
            raise TimeoutError
        try:
            answer = self._pipe.recv() if self._pipe.poll() else None
        except (EOFError, OSError):
            answer = None
        if answer is None:
            raise self._death()
        slot = self._received % len(self._files)
        self._received += 1
        if isinstance(answer, _Failure):
            return Failed(self._failure(answer))
        return unpack(Packed(*answer), self._files[slot])

    def _death(self) -> DataError:
        self._process.join(_GRACE)
        code = self._process.exitcode
        how = "closed its pipe" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
        message = (
            f"DataLoader: worker process {self.number} {how} before its batch was "
            "ready. Read its output on standard error. SIGKILL often means that memory "
            "ran out: use fewer workers. With `num_workers=0`, errors show where they "
            "occur."
        )
        return DataError(message)

    def _failure(self, failure: _Failure) -> DataError:
        message = (
            f"DataLoader: worker process {self.number} raised {failure.error}\n"
            f"Traceback in the worker process:\n{failure.trace}"
        )
        return DataError(message)

    def dismiss(self) -> None:
        with contextlib.suppress(OSError):  # it has ended already
            self._pipe.send(None)

    def end(self, deadline: float) -> None:
        """Wait until `deadline` for the process to end, then kill it."""
        self._process.join(max(deadline - time.monotonic(), 0))
        if self._process.exitcode is None:
            self._process.terminate()
            self._process.join(_GRACE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self._process.close()
        self._release()

    def _release(self) -> None:
        self._pipe.close()
        for file in self._files:
            file.close()


class ProcessPool(WorkerPool):
    """Workers that are processes."""

    def __init__(self, job: Job, ahead: int, timeout: float, context: Any) -> None:
        super().__init__(job.num_workers, ahead, timeout)
        self._owner = os.getpid()
        self._processes: list[_Process] = []
        try:
            for number in range(job.num_workers):
                self._processes.append(_Process(context, job, number, ahead))
        except BaseException as error:
            self.close()
            if isinstance(error, AttributeError | TypeError | pickle.PicklingError):
                raise _unsendable(context, error) from error
            raise

    def send(self, worker: int, task: Task) -> None:
        """Give `task` to `worker`, without waiting."""
        self._processes[worker].send(task)

    def receive(self, worker: int) -> Any:
        """Wait for the next answer of `worker`, which may be `Failed`."""
        try:
            return self._processes[worker].answer(self._timeout)
        except TimeoutError:
            raise self.timeout_error(worker) from None

    def close(self) -> None:
        """End the processes; kill those that still make a batch after 1 s."""
        if os.getpid() != self._owner:  # a fork's copy of the pool
            return
        for process in self._processes:
            process.dismiss()
        deadline = time.monotonic() + _GRACE
        for process in self._processes:
            process.end(deadline)
        self._processes = []


def _unsendable(context: Any, error: Exception) -> ArgumentError:
    message = (
        f"DataLoader: the data set, `collate_fn` or `worker_init_fn` cannot be sent to "
        f"a process started by {context.get_start_method()!r} ({error}). Define them "
        f"at the top of a module, or use worker threads "
        f"(`multiprocessing_context=None`)."
    )
    return ArgumentError(message)


def context_of(given: Any) -> Any:
    """Return the `multiprocessing` context, given itself or its name."""
    if not hasattr(os, "getppid") or os.name == "nt":
        raise ArgumentError(
            "DataLoader: worker processes need Linux or macOS; use worker threads "
            "(`multiprocessing_context=None`)."
        )
    if not isinstance(given, str):
        return given
    methods = multiprocessing.get_all_start_methods()
    if given not in methods:
        raise ArgumentError(
            f"DataLoader: `multiprocessing_context` is {given!r}; this system has "
            f"{', '.join(methods)}."
        )
    return multiprocessing.get_context(given)
