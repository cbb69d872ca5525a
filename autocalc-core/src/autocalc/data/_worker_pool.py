# SPDX-License-Identifier: MIT
"""A pool of workers that make batches in advance and return them in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from autocalc.data._worker import End, Task
from autocalc.errors import DataError


class WorkerPool(ABC):
    """A pool of workers; each one answers its tasks one after the other.

    The workers get tasks in turn, and the answers are read in the same turn.  The
    batches therefore come in order, even if some workers are faster.

    Parameters
    ----------
    workers : int
        The number of workers.
    ahead : int
        The number of tasks that a worker can have at a time.
    timeout : float
        The seconds to wait for a batch; 0 waits without limit.
    """

    def __init__(self, workers: int, ahead: int, timeout: float) -> None:
        self._workers = workers
        self._ahead = ahead
        self._timeout = timeout or None
        self._waiting: deque[int] = deque()  # workers whose answers are pending
        self.busy = False

    @abstractmethod
    def send(self, worker: int, task: Task) -> None:
        """Give `task` to `worker`, without waiting."""

    @abstractmethod
    def receive(self, worker: int) -> Any:
        """Wait for the next answer of `worker`, which may be `Failed`."""

    @abstractmethod
    def close(self) -> None:
        """End the workers and drop their open tasks; a second call does nothing."""

    def batches(self, tasks: Iterator[Task]) -> Generator[Any, None, None]:
        """Yield the batch of each task, in order."""
        while self._waiting:  # answers for a loop that ended early
            self.receive(self._waiting.popleft())
        turn = deque(range(self._workers))
        self._fill(turn, tasks)
        while self._waiting:
            worker = self._waiting.popleft()
            batch = self.receive(worker)
            if batch is not End:
                yield batch
            elif worker in turn:
                turn.remove(worker)
            self._fill(turn, tasks)

    def _fill(self, turn: deque[int], tasks: Iterator[Task]) -> None:
        """Send tasks to the workers in turn until the next worker has enough tasks."""
        while turn and self._waiting.count(turn[0]) < self._ahead:
            task = next(tasks, None)
            if task is None:
                return
            self.send(turn[0], task)
            self._waiting.append(turn[0])
            turn.rotate(-1)

    def timeout_error(self, worker: int) -> DataError:
        """Return the error of a worker that takes too long."""
        message = (
            f"DataLoader: worker {worker} did not return a batch within "
            f"{self._timeout:g} s; pass a larger `timeout`, or 0 to wait without a "
            "limit."
        )
        return DataError(message)
