# SPDX-License-Identifier: MIT
"""Worker threads, which share the data set, start in 0.1 ms and copy nothing."""

from __future__ import annotations

import contextvars
import threading
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc.data._worker import Failed, Job, Task, Worker
from autocalc.data._worker_pool import WorkerPool


class _Answer(NamedTuple):
    """A batch, or the error that was raised instead, with its traceback."""

    batch: Any
    error: BaseException | None


class _Thread:
    """One worker: a thread, its tasks and its answers."""

    def __init__(self, job: Job, number: int, room: threading.Semaphore) -> None:
        self._job = job
        self._number = number
        self._room = room  # limits the threads that work at the same time
        self._worker: Worker | None = None
        self._closing = False
        # Each task has the grad mode and the kernel selection of the caller.
        self._tasks: SimpleQueue[tuple[contextvars.Context, Task] | None] = (
            SimpleQueue()
        )
        self.answers: SimpleQueue[_Answer] = SimpleQueue()
        # A daemon, because a persistent pool is closed after Python joins other
        # threads.
        self._thread = threading.Thread(
            target=self._work, name=f"autocalc-data-{number}", daemon=True
        )
        self._thread.start()

    def send(self, task: Task) -> None:
        self._tasks.put((contextvars.copy_context(), task))

    def dismiss(self) -> None:
        self._closing = True
        self._tasks.put(None)

    def join(self) -> None:
        self._thread.join()

    def _work(self) -> None:
        while (item := self._tasks.get()) is not None and not self._closing:
            context, task = item
            with self._room:
                self.answers.put(context.run(self._answer, task))

    def _answer(self, task: Task) -> _Answer:
        try:
            if self._worker is None:
                self._worker = Worker(self._job, self._job.info(self._number))
            return _Answer(self._worker(task), None)
        except BaseException as error:  # raised again by the caller
            return _Answer(None, error)


class ThreadPool(WorkerPool):
    """Workers that are threads of this process."""

    def __init__(self, job: Job, ahead: int, timeout: float) -> None:
        super().__init__(job.num_workers, ahead, timeout)
        room = threading.Semaphore(get_num_threads())
        self._threads = [_Thread(job, n, room) for n in range(job.num_workers)]
        self._late: set[int] = set()

    def send(self, worker: int, task: Task) -> None:
        """Give `task` to `worker`, without waiting."""
        self._threads[worker].send(task)

    def receive(self, worker: int) -> Any:
        """Wait for the next answer of `worker`, which may be `Failed`."""
        try:
            answer = self._threads[worker].answers.get(timeout=self._timeout)
        except Empty:
            self._late.add(worker)
            raise self.timeout_error(worker) from None
        if isinstance(answer.error, Exception):
            return Failed(answer.error)
        if answer.error is not None:
            raise answer.error
        return answer.batch

    def close(self) -> None:
        """Join the threads after their current batches, except those that timed out."""
        for thread in self._threads:
            thread.dismiss()
        for number, thread in enumerate(self._threads):
            if number not in self._late:
                thread.join()
        self._threads = []
