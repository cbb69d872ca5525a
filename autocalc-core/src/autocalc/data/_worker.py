# SPDX-License-Identifier: MIT
"""Make batches, in the caller's thread, a worker thread or a process."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from autocalc._tensor.generator import drawing_from
from autocalc.data._arrays import as_indices
from autocalc.data._collate import default_collate, default_convert
from autocalc.data._dataset import take
from autocalc.data._iterable import IterableDataset
from autocalc.data._shuffle import generator_of_batch


@dataclass(frozen=True)
class WorkerInfo:
    """Information about a worker of a loader, available inside the worker.

    Attributes
    ----------
    id : int
        The number of the worker, from 0.
    num_workers : int
        The number of workers of the loader.
    seed : int
        A seed that is different for each worker.  In worker processes, `random` and
        `numpy.random` are seeded with it.
    dataset : Dataset
        The copy of the data set that belongs to this worker.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Workers(ac.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return ac.data.get_worker_info().num_workers
    >>> loader = ac.data.DataLoader(Workers(), batch_size=2, num_workers=2)
    >>> [batch.tolist() for batch in loader]
    [[2, 2], [2, 2]]
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


#: The random numbers of workers follow those of the batches of their first epoch.
_INIT = 2**32

_info: ContextVar[WorkerInfo | None] = ContextVar("autocalc_worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """Return the `WorkerInfo` of the running worker, or None outside of a worker.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Shared(ac.data.IterableDataset):
    ...     def __iter__(self):
    ...         info = ac.data.get_worker_info()
    ...         return iter(range(info.id, 6, info.num_workers))
    >>> loader = ac.data.DataLoader(Shared(), batch_size=2, num_workers=2)
    >>> [batch.tolist() for batch in loader]
    [[0, 2], [1, 3], [4], [5]]
    """
    return _info.get()


class Task(NamedTuple):
    """A batch to make."""

    run: int  #: the number of the loop over the loader
    epoch: int
    number: int  #: the number of the batch in the epoch
    keys: Any  #: the keys of the samples; None for an iterable data set


class End:
    """A worker's answer when its iterable data set has no more samples."""


class Failed:
    """A worker's answer when it could not make a batch."""

    def __init__(self, error: Exception) -> None:
        self._errors = [error]

    def taken(self) -> Exception:
        """Return the error and forget it: its traceback keeps the workers alive."""
        return self._errors.pop()


@dataclass(frozen=True)
class Job:
    """The settings that all workers of a loader share."""

    dataset: Any
    collate_fn: Callable[[Any], Any] | None
    batched: bool  #: whether samples are collated at all
    batch_size: int  #: for iterable data sets; otherwise the keys define it
    drop_last: bool
    seed: int
    epoch: int  #: the epoch in which the workers start
    num_workers: int
    worker_init_fn: Callable[[int], Any] | None

    def info(self, number: int) -> WorkerInfo:
        """Return the information for worker `number`."""
        dataset = self.dataset
        if isinstance(dataset, IterableDataset):
            dataset = copy.copy(dataset)
        own = generator_of_batch(self.seed, self.epoch, _INIT + number)
        seed = own.initial_seed() % 2**63
        return WorkerInfo(number, self.num_workers, seed, dataset)


class Worker:
    """Makes batches one after the other; it is created in its thread or process."""

    def __init__(self, job: Job, info: WorkerInfo | None) -> None:
        self._job = job
        self._known = info
        self._dataset = job.dataset if info is None else info.dataset
        self._run: int | None = None
        self._rest: Iterator[Any] = iter(())
        if info is not None and job.worker_init_fn is not None:
            with self._alone(job.epoch, _INIT + info.id):
                job.worker_init_fn(info.id)

    def __call__(self, task: Task) -> Any:
        """Return the batch of `task`, or `End`."""
        with self._alone(task.epoch, task.number):
            if isinstance(self._dataset, IterableDataset):
                return self._read_on(task.run)
            if not self._job.batched:
                return self._convert(self._dataset[task.keys])
            return self._gather(task.keys)

    @contextmanager
    def _alone(self, epoch: int, number: int) -> Iterator[None]:
        """Set this worker's identity and one batch's random numbers for the block."""
        token = _info.set(self._known)
        try:
            own = partial(generator_of_batch, self._job.seed, epoch, number)
            with drawing_from(own):
                yield
        finally:
            _info.reset(token)

    def _read_on(self, run: int) -> Any:
        if run != self._run:
            self._run, self._rest = run, iter(self._dataset)
        size = self._job.batch_size if self._job.batched else 1
        samples = list(islice(self._rest, size))
        if not samples or (self._job.drop_last and len(samples) < size):
            return End
        if self._job.batched:
            return self._collate(samples)
        return self._convert(samples[0])

    def _gather(self, keys: Any) -> Any:
        if self._job.collate_fn is None and _are_positions(keys):
            return take(self._dataset, as_indices(keys))
        if isinstance(keys, np.ndarray):
            keys = keys.tolist()
        return self._collate([self._dataset[key] for key in keys])

    def _collate(self, samples: list[Any]) -> Any:
        collate = self._job.collate_fn
        return default_collate(samples) if collate is None else collate(samples)

    def _convert(self, sample: Any) -> Any:
        convert = self._job.collate_fn
        return default_convert(sample) if convert is None else convert(sample)


def _are_positions(keys: Any) -> bool:
    """Return whether the keys are ints; a user's sampler may return any keys."""
    return isinstance(keys, np.ndarray) or all(
        isinstance(key, int | np.integer) for key in keys
    )
