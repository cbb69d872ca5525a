# SPDX-License-Identifier: MIT
"""The loader: samples in some order, batch by batch, from workers if asked."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain, islice, repeat
from typing import Any

from autocalc._tensor.checks import check_flags, check_switches
from autocalc.data._iterable import IterableDataset
from autocalc.data._samplers import (
    BatchSampler,
    RandomSampler,
    SeededSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    check_batch_size,
    count_batches,
)
from autocalc.data._shuffle import Seeding, draw_seed
from autocalc.data._worker import End, Job, Task, Worker
from autocalc.data._worker_pool import WorkerPool
from autocalc.errors import ArgumentError, CheckpointError

#: Indices that are made at once where each is a batch.
_PIECE = 1 << 16
#: Samplers that tell an epoch's order in pieces.  A class derived from one of them may
#: iterate otherwise, so it is asked sample by sample.
_KNOWN = {SequentialSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler}


class DataLoader:
    """Iterates over a data set in batches; each loop over it is one epoch.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        Anything with `__len__` and `__getitem__`, or an iterable data set.
    batch_size : int or None, default 1
        Samples in a batch; None gives the samples one by one, as they are.
    shuffle : bool, default False
        A new random order in each epoch.
    sampler : iterable of int, optional
        Gives the order, instead of `shuffle`.
    batch_sampler : iterable of lists of int, optional
        Gives whole batches, instead of `batch_size`, `shuffle`, `sampler`, `drop_last`.
    num_workers : int, default 0
        Workers that make batches ahead of time, in order; 0 makes them in the caller's
        thread.
    collate_fn : callable, optional
        Makes a batch of a list of samples.  Without it, a data set whose samples are in
        arrays makes the batch by one gather; others go through `default_collate`.
    pin_memory : bool, default False
        Has no effect on a CPU; accepted so that programs carry over.
    drop_last : bool, default False
        Leave out the last batch if it is smaller than the others.
    timeout : float, default 0
        Seconds to wait for a worker's batch; 0 waits for ever.
    worker_init_fn : callable, optional
        Called in each worker, with its number, before it makes its first batch.
    multiprocessing_context : str or context, optional
        None makes the workers threads, no more of which work at a time than the thread
        budget allows.  ``"fork"``, ``"spawn"``, ``"forkserver"`` or a context of
        `multiprocessing` makes them processes, each with one thread for its kernels;
        they are worth it where samples are made by Python code, which threads run only
        one at a time.
    generator : Generator or int, optional
        Where the seed comes from; an int is the seed.  By default the process's
        generator, which `manual_seed` sets.
    prefetch_factor : int, optional
        Batches in advance for each worker; by default 2.
    persistent_workers : bool, default False
        Let the workers wait for the next epoch, instead of starting new ones.
    pin_memory_device, in_order
        Have no effect: batches always come in order.

    Notes
    -----
    The seed is drawn once, by the first loop.  An epoch's order follows from the seed
    and the epoch's number; what a batch's samples draw from the default generator (in
    transforms, say) follows from these and the batch's number.  So neither depends on
    how many workers there are, `state_dict` is four numbers, and resuming is exact.

    A worker process that raises or dies is a `DataError` with what it said; what a
    thread raises is raised as it is.

    Examples
    --------
    >>> import autocalc as ac
    >>> data = ac.data.TensorDataset(ac.zeros(10, 3))
    >>> [x.shape for (x,) in ac.data.DataLoader(data, batch_size=4)]
    [autocalc.Size([4, 3]), autocalc.Size([4, 3]), autocalc.Size([2, 3])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Seeding = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        check_switches("DataLoader", shuffle=shuffle)
        check_flags(
            "DataLoader",
            pin_memory=pin_memory,
            drop_last=drop_last,
            persistent_workers=persistent_workers,
            in_order=in_order,
        )
        del pin_memory, pin_memory_device, in_order
        if batch_size is not None:
            check_batch_size("DataLoader", batch_size)
        _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        _check_count("num_workers", num_workers, 0)
        _check_count("timeout", timeout, 0)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = _checked_context(
            multiprocessing_context, num_workers
        )
        self.generator = generator
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        _check_count("prefetch_factor", self.prefetch_factor, 1)
        self.persistent_workers = persistent_workers
        self.collate_fn = collate_fn
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        self.sampler: Any = self._make_sampler(shuffle) if sampler is None else sampler
        self.batch_sampler = batch_sampler
        self._epoch = 0
        self._position = 0
        self._begun = False
        self._runs = 0
        self._seed: int | None = None
        self._pool: WorkerPool | None = None

    def _make_sampler(self, shuffle: bool | None) -> Any:
        if self._iterable:
            return None
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]  # its own error
        samples = len(self.dataset if self._iterable else self.sampler)
        if self.batch_size is None:
            return samples
        return count_batches(samples, self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch, or go on inside the one that was loaded."""
        if self._begun:  # the last loop was left early: that epoch is over
            self._epoch, self._position = self._epoch + 1, 0
        self._begun = True
        self._runs += 1
        return self._count(self._runs, self._batches(self._epoch, self._position))

    def _count(
        self, run: int, batches: Generator[Any, None, None]
    ) -> Generator[Any, None, None]:
        """Pass `batches` on, counting what the caller got (not what was prefetched)."""
        with closing(batches):
            for batch in batches:
                if self._runs == run:
                    self._position += 1
                yield batch
        if self._runs == run:
            self._epoch, self._position, self._begun = self._epoch + 1, 0, False

    def _batches(self, epoch: int, start: int) -> Generator[Any, None, None]:
        tasks = self._tasks(epoch)
        if self._iterable:  # what was got before has to be read again
            return _without(start, self._made(tasks, self._job(epoch)))
        return self._made(islice(tasks, start, None), self._job(epoch))

    def _made(self, tasks: Iterator[Task], job: Job) -> Generator[Any, None, None]:
        if self.num_workers == 0:
            yield from _made_here(Worker(job, None), tasks)
            return
        pool = self._acquire(job)
        pool.busy = True
        finished = False
        try:
            yield from pool.batches(tasks)
            finished = True
        except GeneratorExit:
            finished = True
            raise
        finally:
            pool.busy = False
            if not (finished and pool is self._pool):
                self._shutdown(pool)

    def _acquire(self, job: Job) -> WorkerPool:
        """Return the pool of the last epoch if it waits, else a new one."""
        if self._pool is not None and not self._pool.busy:
            return self._pool
        pool = self._new_pool(job)
        if self.persistent_workers and self._pool is None:
            self._pool = pool
            weakref.finalize(self, pool.close)
        return pool

    def _new_pool(self, job: Job) -> WorkerPool:
        if self.multiprocessing_context is None:
            from autocalc.data._threads import ThreadPool

            return ThreadPool(job, self.prefetch_factor, self.timeout)
        from autocalc.data._processes import ProcessPool, context_of

        context = context_of(self.multiprocessing_context)
        return ProcessPool(job, self.prefetch_factor, self.timeout, context)

    def _shutdown(self, pool: WorkerPool) -> None:
        pool.close()
        if pool is self._pool:
            self._pool = None

    def _job(self, epoch: int) -> Job:
        return Job(
            dataset=self.dataset,
            collate_fn=self.collate_fn,
            batched=self.batch_size is not None or self.batch_sampler is not None,
            batch_size=self.batch_size or 1,
            drop_last=self.drop_last,
            seed=self.seed,
            epoch=epoch,
            num_workers=self.num_workers,
            worker_init_fn=self.worker_init_fn,
        )

    def _tasks(self, epoch: int) -> Iterator[Task]:
        """Return an iterator over an epoch's tasks, endless where only workers know."""
        run = self._runs
        keys = repeat(None) if self._iterable else self._keys(epoch)
        return (Task(run, epoch, number, key) for number, key in enumerate(keys))

    def _keys(self, epoch: int) -> Iterator[Any]:
        """Return an iterator over the indices of each batch."""
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        size = self.batch_size
        if type(self.sampler) not in _KNOWN:
            if size is None:
                return iter(self.sampler)
            return iter(BatchSampler(self.sampler, size, self.drop_last))
        if size is None:
            pieces = self.sampler.pieces(epoch, _PIECE)
            return chain.from_iterable(piece.tolist() for piece in pieces)
        return islice(self.sampler.pieces(epoch, size), len(self))

    @property
    def seed(self) -> int:
        """The number that all that is random in the epochs follows from."""
        if isinstance(self.sampler, SeededSampler):
            return self.sampler.seed
        if self._seed is None:
            self._seed = draw_seed(self.generator)
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        self._seed = value

    def state_dict(self) -> dict[str, int | None]:
        """Return the position of the loader, as plain numbers.

        ``position`` counts the batches that the caller has got in ``epoch``.  A sampler
        of the user's own is skipped forward by that count when the state is loaded, and
        an iterable data set is read up to there; their own state, if they have any, is
        the user's to keep.
        """
        return {
            "epoch": self._epoch,
            "position": self._position,
            "batch_size": self.batch_size,
            "seed": self.seed,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next loop go on after the batch where `state` was taken."""
        missing = {"epoch", "position", "batch_size"} - state.keys()
        if missing:
            message = (
                f"DataLoader.load_state_dict: {sorted(missing)} missing; give what "
                f"`state_dict()` of a loader returned."
            )
            raise CheckpointError(message)
        if state["batch_size"] != self.batch_size and state["position"]:
            message = (
                f"DataLoader.load_state_dict: the state was taken inside an epoch of "
                f"batches of {state['batch_size']}, this loader makes batches of "
                f"{self.batch_size}; use the same `batch_size` to go on there."
            )
            raise CheckpointError(message)
        if "seed" in state:
            owner = self.sampler if isinstance(self.sampler, SeededSampler) else self
            owner.seed = state["seed"]
        if self._pool is not None:  # it has the earlier seed
            self._shutdown(self._pool)
        self._epoch, self._position = state["epoch"], state["position"]
        self._begun, self._runs = False, self._runs + 1


def _made_here(worker: Worker, tasks: Iterator[Task]) -> Generator[Any, None, None]:
    for task in tasks:
        batch = worker(task)
        if batch is End:
            return
        yield batch


def _without(
    first: int, batches: Generator[Any, None, None]
) -> Generator[Any, None, None]:
    with closing(batches):
        yield from islice(batches, first, None)


def _checked_context(context: Any, workers: int) -> Any:
    if context is not None and workers == 0:
        message = (
            f"DataLoader: `multiprocessing_context` is {context!r}, but `num_workers` "
            f"is 0; it says how workers start, so ask for at least one."
        )
        raise ArgumentError(message)
    return context


def _check_count(name: str, value: float, least: int) -> None:
    if value >= least:
        return
    message = f"DataLoader: `{name}` is {value}; it must be at least {least}."
    raise ArgumentError(message)


def _check_iterable(shuffle: object, sampler: object, batch_sampler: object) -> None:
    if shuffle or sampler is not None or batch_sampler is not None:
        message = (
            "DataLoader: an IterableDataset gives its own order; leave out `shuffle`, "
            "`sampler` and `batch_sampler`."
        )
        raise ArgumentError(message)


def _check_order(
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    drop: bool,
) -> None:
    if sampler is not None and shuffle:
        message = (
            "DataLoader: `sampler` and `shuffle=True` both give an order; pass one."
        )
        raise ArgumentError(message)
    if batch_size is None and (drop or batch_sampler is not None):
        message = (
            "DataLoader: `batch_size=None` makes no batches; leave out `drop_last` and "
            "`batch_sampler`."
        )
        raise ArgumentError(message)
    if batch_sampler is None:
        return
    if batch_size != 1 or shuffle or sampler is not None or drop:
        message = (
            "DataLoader: `batch_sampler` gives whole batches; leave out `batch_size`, "
            "`shuffle`, `sampler` and `drop_last`."
        )
        raise ArgumentError(message)
