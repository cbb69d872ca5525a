# SPDX-License-Identifier: MIT
"""A pool of workers that make batches ahead of time, handed out in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from autocalc.data._worker import End, Task
from autocalc.errors import DataError


class WorkerPool(ABC):
    """Workers, each of which answers its tasks one after the other.

    Tasks go to the workers in turn, and their answers are waited for in the same turn:
    so batches come in order, whichever worker is faster.

    Parameters
    ----------
    workers : int
        The number of workers.
    ahead : int
        Tasks that a worker can have at a time.
    timeout : float
        Seconds to wait for a batch; 0 waits for ever.
    """

    def __init__(self, workers: int, ahead: int, timeout: float) -> None:
        self._workers = workers
        self._ahead = ahead
        self._timeout = timeout or None
        self._waiting: deque[int] = deque()  # whose answers are still to come
        self.busy = False

    @abstractmethod
    def send(self, worker: int, task: Task) -> None:
        """Give `task` to `worker`, without waiting."""

    @abstractmethod
    def receive(self, worker: int) -> Any:
        """Wait for the next answer of `worker`, which may be `Failed`."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, dropping open tasks; a second call does nothing."""

    def batches(self, tasks: Iterator[Task]) -> Generator[Any, None, None]:
        """Yield the batch of each task, in order."""
        while self._waiting:  # of a loop that was left early
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
        """Give out tasks in turn until the next worker has enough of them."""
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
