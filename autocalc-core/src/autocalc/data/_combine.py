# SPDX-License-Identifier: MIT
"""Data sets made of others: parts of one, and several in a row."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from autocalc.data._arrays import Array, Indices, as_indices
from autocalc.data._dataset import Dataset, checked_index, take
from autocalc.data._iterable import IterableDataset
from autocalc.data._shuffle import Seeding, draw_seed, permutation
from autocalc.errors import ArgumentError


class Subset(Dataset):
    """Those samples of `dataset` that `indices` names, in that order."""

    def __init__(self, dataset: Any, indices: Sequence[int] | Array) -> None:
        self.dataset = dataset
        self.indices = as_indices(indices)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        """Return the sample at ``indices[index]``."""
        place = checked_index("Subset", index, len(self))
        return self.dataset[int(self.indices[place])]

    def take(self, indices: Indices) -> Any:
        """Return the batch of the samples at ``self.indices[indices]``."""
        return take(self.dataset, self.indices[indices])


class ConcatDataset(Dataset):
    """The samples of several data sets, one data set after the other.

    Parameters
    ----------
    datasets : iterable of Dataset
        At least one; each with a length.

    Attributes
    ----------
    cumulative_sizes : list of int
        For each data set, how many samples it and those before it have.

    Examples
    --------
    >>> import autocalc as ac
    >>> both = ac.data.ConcatDataset(["abc", "de"])
    >>> len(both), both[3], both[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            message = "ConcatDataset: no data sets were given; at least one is needed."
            raise ArgumentError(message)
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            message = (
                "ConcatDataset: an IterableDataset finds no sample by its index; use "
                "ChainDataset for those."
            )
            raise ArgumentError(message)
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        """Return the number of samples of all data sets."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        """Return the sample at `index`, counted through all data sets."""
        place = checked_index("ConcatDataset", index, len(self))
        part = bisect.bisect_right(self.cumulative_sizes, place)
        before = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][place - before]


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Seeding = None
) -> list[Subset]:
    """Split `dataset` at random into parts that do not overlap.

    Parameters
    ----------
    dataset : Dataset
        What to split.
    lengths : sequence of int or of float
        The parts' lengths, whose sum is ``len(dataset)``; or their shares, whose sum
        is 1 (what rounding leaves over goes to the first parts, one each).
    generator : Generator or int, optional
        Where the order comes from; an int is a seed.  By default the process's
        generator, which `manual_seed` sets.

    Examples
    --------
    >>> import autocalc as ac
    >>> data = ac.data.TensorDataset(ac.zeros(10))
    >>> [len(part) for part in ac.data.random_split(data, [0.8, 0.2], generator=0)]
    [8, 2]
    """
    counts = _part_lengths(len(dataset), lengths)
    order = permutation(len(dataset), draw_seed(generator), 0)
    ends = np.cumsum(counts)
    return [
        Subset(dataset, order[end - count : end])
        for end, count in zip(ends, counts, strict=True)
    ]


def _part_lengths(total: int, lengths: Sequence[float]) -> list[int]:
    if any(length < 0 for length in lengths):
        message = f"random_split: lengths {list(lengths)} must not be negative."
        raise ArgumentError(message)
    if all(isinstance(length, int) for length in lengths) and sum(lengths) == total:
        return [int(length) for length in lengths]
    if not np.isclose(sum(lengths), 1.0):
        message = (
            f"random_split: lengths {list(lengths)} add up to {sum(lengths)}; they "
            f"must add up to the {total} samples, or to 1 if they are shares."
        )
        raise ArgumentError(message)
    counts = [int(total * share) for share in lengths]
    for part in range(total - sum(counts)):
        counts[part % len(counts)] += 1
    return counts
