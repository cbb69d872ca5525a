# SPDX-License-Identifier: MIT
"""The loader: samples in some order, batch by batch, from worker threads if asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any, cast

import numpy as np

from autocalc._dispatch._threads import get_num_threads
from autocalc.data._arrays import as_indices
from autocalc.data._collate import default_collate
from autocalc.data._dataset import take
from autocalc.data._prefetch import prefetch
from autocalc.data._samplers import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    check_batch_size,
    count_batches,
)
from autocalc.data._shuffle import Seeding
from autocalc.errors import ArgumentError, CheckpointError


class DataLoader:
    """Iterates over a data set in batches; each loop over it is one epoch.

    Parameters
    ----------
    dataset : Dataset
        Anything with `__len__` and `__getitem__`.
    batch_size : int, default 1
        Samples in a batch.
    shuffle : bool, default False
        A new random order in each epoch.
    sampler : iterable of int, optional
        Gives the order, instead of `shuffle`.
    batch_sampler : iterable of lists of int, optional
        Gives whole batches, instead of `batch_size`, `shuffle`, `sampler`, `drop_last`.
    num_workers : int, default 0
        Threads that make batches ahead of time, in order; 0 makes them in the caller's
        thread.  No more threads run than the thread budget allows.
    collate_fn : callable, optional
        Makes a batch of a list of samples.  Without it, a data set whose samples lie in
        arrays makes the batch by one gather; others go through `default_collate`.
    pin_memory : bool, default False
        Has no effect on a CPU; accepted so that programs carry over.
    drop_last : bool, default False
        Leave out the last batch if it is smaller than the others.
    generator : Generator or int, optional
        Where the seed of `shuffle` comes from; an int is the seed.  By default the
        process's generator, which `manual_seed` sets.
    prefetch_factor : int, default 2
        Batches in advance for each worker.
    persistent_workers : bool, default False
        Has no effect: threads start in 0.1 ms; accepted so that programs carry over.

    Notes
    -----
    The seed is drawn once.  The order of an epoch depends on the seed and the epoch's
    number alone, which makes `state_dict` four numbers and resuming exact.

    Examples
    --------
    >>> import autocalc as ac
    >>> data = ac.data.TensorDataset(ac.zeros(10, 3))
    >>> [x.shape for (x,) in ac.data.DataLoader(data, batch_size=4)]
    [(4, 3), (4, 3), (2, 3)]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Seeding = None,
        prefetch_factor: int = 2,
        persistent_workers: bool = False,
    ) -> None:
        del pin_memory, persistent_workers
        check_batch_size("DataLoader", batch_size)
        _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        _check_count("num_workers", num_workers, 0)
        _check_count("prefetch_factor", prefetch_factor, 1)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.collate_fn = collate_fn
        if sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self._epoch = 0
        self._position = 0
        self._begun = False
        self._run: object = None

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]  # its own error
        samples = len(self.sampler)  # type: ignore[arg-type]  # its own error
        return count_batches(samples, self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch, or go on inside the one that was loaded."""
        if self._begun:  # the last loop was left early: that epoch is over
            self._epoch, self._position = self._epoch + 1, 0
        self._begun = True
        self._run = run = object()
        return self._count(run, self._batches(self._epoch, self._position))

    def _count(
        self, run: object, batches: Generator[Any, None, None]
    ) -> Generator[Any, None, None]:
        """Pass `batches` on, counting what the caller got (not what was prefetched)."""
        with closing(batches):
            for batch in batches:
                if self._run is run:
                    self._position += 1
                yield batch
        if self._run is run:
            self._epoch, self._position, self._begun = self._epoch + 1, 0, False

    def _batches(self, epoch: int, start: int) -> Generator[Any, None, None]:
        requests = islice(self._requests(epoch), start, None)
        if self.num_workers == 0:
            return (self._fetch(request) for request in requests)
        return prefetch(
            self._fetch,
            requests,
            workers=min(self.num_workers, get_num_threads()),
            ahead=self.num_workers * self.prefetch_factor,
        )

    def _requests(self, epoch: int) -> Iterator[Any]:
        """Return an iterator over the indices of each batch."""
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        if type(self.sampler) not in {SequentialSampler, RandomSampler}:
            return iter(BatchSampler(self.sampler, self.batch_size, self.drop_last))
        order = cast("RandomSampler", self.sampler).indices(epoch)
        size = self.batch_size
        return (order[i * size : (i + 1) * size] for i in range(len(self)))

    def _fetch(self, request: Any) -> Any:
        if self.collate_fn is None and _are_positions(request):
            return take(self.dataset, as_indices(request))
        keys = request.tolist() if isinstance(request, np.ndarray) else request
        collate = default_collate if self.collate_fn is None else self.collate_fn
        return collate([self.dataset[key] for key in keys])

    def state_dict(self) -> dict[str, int]:
        """Return where the loader stands, as plain numbers.

        ``position`` counts the batches that the caller has got in ``epoch``.  A sampler
        of the user's own is skipped forward by that count when the state is loaded; its
        own state, if it has any, is the user's to keep.
        """
        state = {
            "epoch": self._epoch,
            "position": self._position,
            "batch_size": self.batch_size,
        }
        if isinstance(self.sampler, RandomSampler) and self.batch_sampler is None:
            state["seed"] = self.sampler.seed
        return state

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Make the next loop go on behind the batch where `state` was taken."""
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
        if "seed" in state and isinstance(self.sampler, RandomSampler):
            self.sampler.seed = state["seed"]
        self._epoch, self._position = state["epoch"], state["position"]
        self._begun, self._run = False, None


def _are_positions(request: Any) -> bool:
    """Tell whether a batch is asked for by ints; a user's sampler may give any keys."""
    return isinstance(request, np.ndarray) or all(
        isinstance(key, int | np.integer) for key in request
    )


def _check_count(name: str, value: int, least: int) -> None:
    if value >= least:
        return
    message = f"DataLoader: `{name}` is {value}; it must be at least {least}."
    raise ArgumentError(message)


def _check_order(
    batch_size: int, shuffle: bool, sampler: object, batch_sampler: object, drop: bool
) -> None:
    if sampler is not None and shuffle:
        message = (
            "DataLoader: `sampler` and `shuffle=True` both give an order; pass one."
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
