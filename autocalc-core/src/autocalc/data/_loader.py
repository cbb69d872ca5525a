# SPDX-License-Identifier: MIT
"""The loader, which makes batches of samples, optionally with workers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain, islice, repeat
from types import GenericAlias
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
from autocalc.data._shuffle import DrawnSeed, Seeding
from autocalc.data._worker import End, Failed, Job, Task, Worker
from autocalc.data._worker_pool import WorkerPool
from autocalc.errors import ArgumentError, CheckpointError

#: The number of indices that are made at once if batches are single samples.
_PIECE = 1 << 16
#: Samplers that return an epoch's order in pieces.  A subclass of these may override
#: the iteration, so its indices are read one by one.
_KNOWN = {SequentialSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler}


class DataLoader:
    """Iterates over a data set in batches; each loop over the loader is one epoch.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        An object with `__len__` and `__getitem__`, or an `IterableDataset`.
    batch_size : int or None, default 1
        The number of samples in a batch.  None returns single samples instead of
        batches.
    shuffle : bool, default False
        True for a new random order in each epoch.
    sampler : iterable of int, optional
        The order of the samples.  It cannot be combined with `shuffle`.
    batch_sampler : iterable of lists of int, optional
        The batches, as lists of indices.  They replace `batch_size`, `shuffle`,
        `sampler` and `drop_last`.
    num_workers : int, default 0
        The number of workers that prepare batches in advance.  0 means that the loop
        itself makes each batch.
    collate_fn : callable, optional
        A function that makes a batch from a list of samples.  The default is the method
        `take` of the data set if it has one, otherwise `default_collate`.
    pin_memory : bool, default False
        Accepted for compatibility with PyTorch.  It has no effect on a CPU.
    drop_last : bool, default False
        True to leave out the last batch if it has fewer samples than the others.
    timeout : float, default 0
        The largest time in seconds to wait for a batch of a worker.  0 waits without
        limit.
    worker_init_fn : callable, optional
        A function that is called once in each worker, with the number of the worker as
        its argument.
    multiprocessing_context : str or context, optional
        The kind of the workers.  None means threads; at most `get_num_threads` threads
        work at the same time.  ``"fork"``, ``"spawn"``, ``"forkserver"`` or a context
        of `multiprocessing` means processes with one kernel thread each.  Use processes
        if the samples are made by Python code, because only one thread can run Python
        code at a time.
    generator : Generator or int, optional
        The random number generator that draws the seed of the epochs, or the seed
        itself.  None means the default generator, which `manual_seed` seeds.
    prefetch_factor : int, optional
        The number of batches that each worker prepares in advance.  The default is 2.
    persistent_workers : bool, default False
        True to keep the workers between two epochs.  False to start new ones for each
        epoch.
    pin_memory_device, in_order
        Accepted for compatibility with PyTorch.  They have no effect; batches always
        come in order.

    Notes
    -----
    The first loop draws a seed, and so does the first loop after a new `manual_seed`.
    Then the epochs are counted from 0 again.

    The order of the samples depends only on the seed and the number of the epoch.
    Random transforms also depend on the number of the batch.  For that reason, the
    number of workers does not change the results, `state_dict` holds only four numbers,
    and a resumed epoch continues exactly.

    If a worker process fails, a `DataError` with its message is raised.  The error of a
    worker thread is raised unchanged.

    Examples
    --------
    >>> import autocalc as ac
    >>> data = ac.data.TensorDataset(ac.zeros(10, 3))
    >>> [x.shape for (x,) in ac.data.DataLoader(data, batch_size=4)]
    [autocalc.Size([4, 3]), autocalc.Size([4, 3]), autocalc.Size([2, 3])]
    """

    #: Allows annotations such as ``DataLoader[int]``, which name the type of a batch.
    __class_getitem__: Any = classmethod(GenericAlias)

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
        if isinstance(self.sampler, SeededSampler):
            self._drawn = self.sampler.drawn
        else:
            self._drawn = DrawnSeed(generator)
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
        """Start the next epoch, or continue the epoch of a loaded state."""
        if self._begun:  # the last loop ended early: count its epoch
            self._epoch, self._position = self._epoch + 1, 0
        if self._drawn.renew():
            self._epoch, self._position = 0, 0
            self._end_pool()
        self._begun = True
        self._runs += 1
        made = self._batches(self._epoch, self._position)
        return Batches(self._count(self._runs, made))

    def _count(
        self, run: int, batches: Generator[Any, None, None]
    ) -> Generator[Any, None, None]:
        """Yield `batches`; count those that the caller got, not the prefetched ones."""
        with closing(batches):
            for batch in batches:
                if self._runs == run:
                    self._position += 1
                yield batch
        if self._runs == run:
            self._epoch, self._position, self._begun = self._epoch + 1, 0, False

    def _batches(self, epoch: int, start: int) -> Generator[Any, None, None]:
        tasks = self._tasks(epoch)
        if self._iterable:  # read the earlier batches again
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
        """Return the pool of the last epoch if it is idle, otherwise a new one."""
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

    def _end_pool(self) -> None:
        """End idle workers, because they have an older seed."""
        if self._pool is not None:
            self._shutdown(self._pool)

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
        """Return the tasks of an epoch; endless if only workers know the end."""
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
        """The seed of all random numbers of the epochs."""
        return self._drawn.value

    @seed.setter
    def seed(self, value: int) -> None:
        self._drawn.value = value

    def state_dict(self) -> dict[str, int | None]:
        """Return the position of the loader, as a dict of numbers.

        ``position`` is the number of batches of ``epoch`` that the caller has received.
        When the state is loaded, your own sampler is advanced by that number of
        batches, and an iterable data set is read up to the same position.  The states
        of the sampler and of the data set are not stored.
        """
        return {
            "epoch": self._epoch,
            "position": self._position,
            "batch_size": self.batch_size,
            "seed": self.seed,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next loop continue after the last batch that `state` counts."""
        missing = {"epoch", "position", "batch_size"} - state.keys()
        if missing:
            raise CheckpointError(
                f"DataLoader.load_state_dict: {sorted(missing)} missing; give a state "
                "that `state_dict()` of a loader has returned."
            )
        if state["batch_size"] != self.batch_size and state["position"]:
            raise CheckpointError(
                "DataLoader.load_state_dict: the state was saved within an epoch with "
                f"batches of {state['batch_size']} samples, but this loader makes "
                f"batches of {self.batch_size}; use the same `batch_size` to continue "
                "the epoch."
            )
        if "seed" in state:
            self.seed = state["seed"]
        self._end_pool()
        self._epoch, self._position = state["epoch"], state["position"]
        self._begun, self._runs = False, self._runs + 1


class Batches(Iterator[Any]):
    """The iterator of a loader; it can continue after the error of a batch."""

    def __init__(self, made: Generator[Any, None, None]) -> None:
        self._made = made

    def __next__(self) -> Any:
        """Return the next batch, or raise the error of its worker."""
        batch = next(self._made)
        if batch.__class__ is Failed:
            del self  # the traceback would keep it
            raise batch.taken()
        return batch

    def close(self) -> None:
        """End the loop early."""
        self._made.close()


def _made_here(worker: Worker, tasks: Iterator[Task]) -> Generator[Any, None, None]:
    for task in tasks:
        try:
            batch = worker(task)
        except Exception as error:
            batch = Failed(error)
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
        raise ArgumentError(
            f"DataLoader: `multiprocessing_context` is {context!r}, but `num_workers` "
            "is 0; it determines how workers are started, so set `num_workers` to 1 "
            "or more."
        )
    return context


def _check_count(name: str, value: float, least: int) -> None:
    if value >= least:
        return
    message = f"DataLoader: `{name}` is {value}; it must be at least {least}."
    raise ArgumentError(message)


def _check_iterable(shuffle: object, sampler: object, batch_sampler: object) -> None:
    if shuffle or sampler is not None or batch_sampler is not None:
        raise ArgumentError(
            "DataLoader: an IterableDataset determines its own order; do not give "
            "`shuffle`, `sampler` or `batch_sampler`."
        )


def _check_order(
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    drop: bool,
) -> None:
    if sampler is not None and shuffle:
        raise ArgumentError(
            "DataLoader: `sampler` and `shuffle=True` both determine the order; pass "
            "only one of them."
        )
    if batch_size is None and (drop or batch_sampler is not None):
        raise ArgumentError(
            "DataLoader: with `batch_size=None` there are no batches; do not give "
            "`drop_last` or `batch_sampler`."
        )
    if batch_sampler is None:
        return
    if batch_size != 1 or shuffle or sampler is not None or drop:
        raise ArgumentError(
            "DataLoader: `batch_sampler` already yields whole batches; do not give "
            "`batch_size`, `shuffle`, `sampler` or `drop_last`."
        )
