# SPDX-License-Identifier: MIT
"""Parts of data sets: selected samples, and random splits."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from autocalc.data._arrays import Array, Indices, as_indices
from autocalc.data._dataset import Dataset, checked_index, take
from autocalc.data._shuffle import Seeding, draw_seed, permutation
from autocalc.errors import ArgumentError


class Subset(Dataset):
    """The part of a data set that consists of the samples at `indices`, in that order.

    Parameters
    ----------
    dataset
        The data set.
    indices
        The indices of the samples, as a sequence of integers.

    Examples
    --------
    >>> import autocalc as ac
    >>> some = ac.data.Subset("abcdef", [4, 0])
    >>> len(some), some[0], some[1]
    (2, 'e', 'a')
    """

    def __init__(self, dataset: Any, indices: Sequence[int] | Array) -> None:
        self.dataset = dataset
        self.indices = as_indices(indices)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.indices)

    def __getitem__(self, index: int | slice | list[int]) -> Any:
        """Return the sample at ``indices[index]``.

        A slice or a list of places asks the data set for a list of indices, which not
        all data sets take.
        """
        if isinstance(index, (slice, list)):
            return self.dataset[self.indices[index].tolist()]
        place = checked_index("Subset", index, len(self))
        return self.dataset[int(self.indices[place])]

    def take(self, indices: Indices) -> Any:
        """Return the batch of the samples at ``self.indices[indices]``."""
        return take(self.dataset, self.indices[indices])


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Seeding = None
) -> list[Subset]:
    """Split a data set at random into parts that do not overlap.

    Parameters
    ----------
    dataset : Dataset
        The data set to split.
    lengths : sequence of int or of float
        The number of samples of each part; the sum is ``len(dataset)``.  Alternatively,
        the shares of the parts, whose sum is 1.  If the shares do not divide the length
        evenly, the first parts get one more sample.
    generator : Generator or int, optional
        The random number generator, or its seed.  None means the default generator,
        which `manual_seed` seeds.

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
    if (
        all(isinstance(length, Integral) for length in lengths)
        and sum(lengths) == total
    ):
        return [int(length) for length in lengths]
    if not np.isclose(sum(lengths), 1.0):
        raise ArgumentError(
            f"random_split: the sum of the lengths {list(lengths)} is {sum(lengths)}; "
            f"it must be {total}, the number of samples, or 1 if they are shares."
        )
    counts = [int(total * share) for share in lengths]
    for part in range(total - sum(counts)):
        counts[part % len(counts)] += 1
    return counts
