# SPDX-License-Identifier: MIT
"""Samplers, which define the order in which a loader reads samples.

For the samplers here, `indices(epoch)` returns the whole order as one array, and
`pieces(epoch, size)` iterates over its batches.  The batches are drawn when they are
needed, because an epoch may have more indices than fit into memory.  A user's sampler
needs `__iter__` and, for `len(loader)`, `__len__`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain
from types import GenericAlias
from typing import Any

import numpy as np
import numpy.typing as npt

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, plain
from autocalc.data._arrays import Array, Indices, as_array, as_indices
from autocalc.data._shuffle import DrawnSeed, Seeding, choices, permutation, units
from autocalc.errors import ArgumentError


class Sampler:
    """The base class of samplers: an iterable of indices that has a length.

    Examples
    --------
    >>> import autocalc as ac
    >>> class EveryOther(ac.data.Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(range(0, len(self.data), 2))
    >>> list(EveryOther("abcde"))
    [0, 2, 4]
    """

    #: Allows annotations such as ``Sampler[int]``, which name the type of an index.
    __class_getitem__: Any = classmethod(GenericAlias)

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the indices of one epoch."""
        message = f"{type(self).__name__}: a sampler needs an `__iter__` method."
        raise NotImplementedError(message)


class SequentialSampler(Sampler):
    """A sampler that returns the indices in their natural order: 0, 1, 2 and so on.

    Examples
    --------
    >>> import autocalc as ac
    >>> list(ac.data.SequentialSampler("abcde"))
    [0, 1, 2, 3, 4]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __len__(self) -> int:
        """Return the number of indices of an epoch."""
        return len(self.data_source)

    def __iter__(self) -> Iterator[int]:
        """Return an iterator over 0, 1, ..."""
        return iter(range(len(self)))

    def indices(self, epoch: int) -> Indices:
        """Return the indices of an epoch; they are the same in each epoch."""
        del epoch
        return np.arange(len(self), dtype=np.int64)

    def pieces(self, epoch: int, size: int) -> Iterator[Indices]:
        """Return an iterator over the batches of `size` indices in an epoch."""
        del epoch
        stop = len(self)
        for start in range(0, stop, size):
            yield np.arange(start, min(start + size, stop), dtype=np.int64)


class SeededSampler(Sampler):
    """The base class of samplers whose order is determined by a seed and the epoch."""

    def __init__(self, generator: Seeding) -> None:
        self.drawn = DrawnSeed(generator)
        self._epoch = 0

    @property
    def seed(self) -> int:
        """The seed that determines all orders of this sampler."""
        return self.drawn.value

    @seed.setter
    def seed(self, value: int) -> None:
        self.drawn.value = value

    def __iter__(self) -> Iterator[int]:
        """Return an iterator over the next epoch's indices."""
        if self.drawn.renew():
            self._epoch = 0
        runs = self._runs(self._epoch)
        self._epoch += 1
        return chain.from_iterable(run.tolist() for run in runs)

    def pieces(self, epoch: int, size: int) -> Iterator[Indices]:
        """Return an iterator over the batches of `size` indices in an epoch."""
        return cut(self._runs(epoch), size)

    def _runs(self, epoch: int) -> Iterator[Indices]:
        """Return an iterator over arrays; together they are the order of `epoch`."""
        return iter((self.indices(epoch),))

    def indices(self, epoch: int) -> Indices:
        """Return all indices of an epoch, in order."""
        message = f"{type(self).__name__}: a seeded sampler needs an `indices` method."
        raise NotImplementedError(message)


class RandomSampler(SeededSampler):
    """A sampler that returns all indices in a new random order in each epoch.

    Parameters
    ----------
    data_source : sized
        The data set.  Only its length is used.
    replacement : bool, default False
        True to draw with replacement, so that an index can occur several times.
    num_samples : int, optional
        The number of indices in an epoch.  The default is ``len(data_source)``.
    generator : Generator or int, optional
        The random number generator that draws the seed, or the seed itself.  The seed
        is drawn when it is first needed, and again after each `manual_seed`.  None
        means the default generator.

    Examples
    --------
    >>> import autocalc as ac
    >>> sampler = ac.data.RandomSampler("abcde", generator=0)
    >>> list(sampler), list(sampler)
    ([0, 2, 1, 4, 3], [3, 2, 4, 1, 0])
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Seeding = None,
    ) -> None:
        if not isinstance(plain(replacement), bool):
            raise ArgumentError(
                "RandomSampler: replacement should be a boolean value, but got "
                f"replacement={replacement!r}; `replacement` must be True or False."
            )
        super().__init__(generator)
        if num_samples is not None:
            _check_samples("RandomSampler", num_samples)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """The number of indices in an epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __len__(self) -> int:
        """Return the number of indices of an epoch."""
        return self.num_samples

    def indices(self, epoch: int) -> Indices:
        """Return all indices of an epoch, in order."""
        return np.concatenate([as_indices([]), *self._runs(epoch)])

    def _runs(self, epoch: int) -> Iterator[Indices]:
        total, left = len(self.data_source), len(self)
        if self.replacement:
            yield from choices(left, total, self.seed, epoch)
            return
        rounds = -(-left // total) if total else 0
        for i in range(rounds):
            yield permutation(total, self.seed, epoch * rounds + i)[:left]
            left -= total


class SubsetRandomSampler(SeededSampler):
    """A sampler that returns given indices in a new random order in each epoch.

    Parameters
    ----------
    indices : sequence of int
        The indices, as a sequence of integers.
    generator : Generator or int, optional
        The random number generator, or its seed; see `RandomSampler`.

    Examples
    --------
    >>> import autocalc as ac
    >>> sorted(ac.data.SubsetRandomSampler([3, 1, 5]))
    [1, 3, 5]
    """

    def __init__(
        self, indices: Sequence[int] | Array, generator: Seeding = None
    ) -> None:
        super().__init__(generator)
        self._chosen = as_indices(indices)

    def __len__(self) -> int:
        """Return the number of indices of an epoch."""
        return len(self._chosen)

    def indices(self, epoch: int) -> Indices:
        """Return all indices of an epoch, in order."""
        return self._chosen[permutation(len(self), self.seed, epoch)]


class WeightedRandomSampler(SeededSampler):
    """A sampler that draws indices with probabilities proportional to `weights`.

    Without replacement, each index i gets the number ``-log(u) / weights[i]``, where u
    is uniform on (0, 1).  The indices with the smallest numbers are taken.

    Efraimidis, Spirakis: Weighted random sampling with a reservoir, Information
    Processing Letters 97 (2006).

    Parameters
    ----------
    weights : sequence of float
        The weight of each index.  Weights are 0 or more, and not all of them are 0.
    num_samples : int
        The number of indices in an epoch.
    replacement : bool, default True
        True to draw with replacement, so that an index can occur several times.
    generator : Generator or int, optional
        The random number generator, or its seed; see `RandomSampler`.

    Examples
    --------
    >>> import autocalc as ac
    >>> set(ac.data.WeightedRandomSampler([0.0, 2.0, 0.0], 5))
    {1}
    """

    def __init__(
        self,
        weights: Sequence[float] | Tensor | Array,
        num_samples: int,
        replacement: bool = True,
        generator: Seeding = None,
    ) -> None:
        check_flags("WeightedRandomSampler", replacement=replacement)
        super().__init__(generator)
        _check_samples("WeightedRandomSampler", num_samples)
        self.weights = _checked_weights(weights)
        possible = int(np.count_nonzero(self.weights))
        if not replacement and num_samples > possible:
            raise ArgumentError(
                f"WeightedRandomSampler: {num_samples} different indices are "
                f"requested, but only {possible} have a weight above 0; request fewer, "
                "or pass `replacement=True`."
            )
        self.num_samples = num_samples
        self.replacement = replacement

    def __len__(self) -> int:
        """Return the number of indices of an epoch."""
        return self.num_samples

    def indices(self, epoch: int) -> Indices:
        """Return all indices of an epoch, in order."""
        return np.concatenate([as_indices([]), *self._runs(epoch)])

    def _runs(self, epoch: int) -> Iterator[Indices]:
        if self.replacement:
            ends = np.cumsum(self.weights)
            for drawn in units(self.num_samples, self.seed, epoch):
                places = np.searchsorted(ends, drawn * ends[-1], side="right")
                yield as_indices(places)
            return
        (drawn,) = units(len(self.weights), self.seed, epoch, len(self.weights))
        with np.errstate(divide="ignore"):  # log(0), and weights of 0
            waits = -np.log(drawn) / self.weights
        yield as_indices(np.argsort(waits, kind="stable")[: self.num_samples])


def cut(runs: Iterable[Indices], size: int) -> Iterator[Indices]:
    """Cut consecutive arrays into arrays of `size`; the last one may be shorter."""
    rest = as_indices([])
    for run in runs:
        joined = np.concatenate([rest, run]) if rest.size else run
        whole = len(joined) // size * size
        for start in range(0, whole, size):
            yield joined[start : start + size]
        rest = joined[whole:]
    if rest.size:
        yield rest


def _checked_weights(weights: Any) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = np.asarray(
        as_array(weights) if isinstance(weights, Tensor) else weights, np.float64
    )
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise ArgumentError(
            f"WeightedRandomSampler: `weights` of shape {values.shape} were given; "
            f"give one finite number of at least 0 for each sample."
        )
    if not values.any():
        raise ArgumentError(
            "WeightedRandomSampler: no sample has a weight above 0; at least one "
            "weight must be above 0."
        )
    return values


def _check_samples(where: str, num_samples: object) -> None:
    if isinstance(num_samples, (int, np.integer)) and num_samples >= 1:
        return
    raise ArgumentError(f"{where}: `num_samples` is {num_samples!r}; use 1 or more.")


class BatchSampler(Sampler):
    """A sampler that groups the indices of another sampler into batches.

    Parameters
    ----------
    sampler
        An iterable of indices.
    batch_size
        The number of indices in a batch; 1 or more.
    drop_last
        True to leave out the last batch if it has fewer indices than the others.

    Examples
    --------
    >>> import autocalc as ac
    >>> list(ac.data.BatchSampler(ac.data.SequentialSampler("abcde"), batch_size=2))
    [[0, 1], [2, 3], [4]]
    >>> list(ac.data.BatchSampler([4, 0, 3], batch_size=2, drop_last=True))
    [[4, 0]]
    """

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool = False
    ) -> None:
        check_flags("BatchSampler", drop_last=drop_last)
        check_batch_size("BatchSampler", batch_size)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __len__(self) -> int:
        """Return the number of batches."""
        return count_batches(
            len(self.sampler),  # type: ignore[arg-type]  # raises its own error
            self.batch_size,
            self.drop_last,
        )

    def __iter__(self) -> Iterator[list[int]]:
        """Return an iterator over lists of indices."""
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


def check_batch_size(where: str, batch_size: object) -> None:
    """Raise an error unless `batch_size` is a positive int."""
    if isinstance(batch_size, (int, np.integer)) and batch_size >= 1:
        return
    message = f"{where}: `batch_size` is {batch_size!r}; use an int of at least 1."
    raise ArgumentError(message)


def count_batches(samples: int, batch_size: int, drop_last: bool) -> int:
    """Return how many batches `samples` make."""
    return samples // batch_size if drop_last else -(-samples // batch_size)
