# SPDX-License-Identifier: MIT
"""Data sets that return their samples one after the other, without an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from types import GenericAlias
from typing import Any

from autocalc.errors import ArgumentError


class IterableDataset:
    """The base class of data sets that are read from front to back, like streams.

    A subclass defines `__iter__`.  Each worker of a loader iterates over a copy of the
    data set.  With `get_worker_info`, `__iter__` can select the samples of its worker.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Countdown(ac.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3, 0, -1))
    >>> [x.tolist() for x in ac.data.DataLoader(Countdown(), batch_size=2)]
    [[3, 2], [1]]
    """

    #: Allows annotations such as ``IterableDataset[int]``, which name a sample's type.
    __class_getitem__: Any = classmethod(GenericAlias)

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the samples."""
        message = f"{type(self).__name__}: an iterable data set needs `__iter__`."
        raise NotImplementedError(message)

    def __add__(self, other: Any) -> ChainDataset:
        """Return a data set of these samples, followed by the samples of `other`."""
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Concatenates several iterable data sets.

    Parameters
    ----------
    datasets : iterable of IterableDataset
        The data sets.  Each data set is opened after the data set before it has ended.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Letters(ac.data.IterableDataset):
    ...     def __init__(self, text):
    ...         self.text = text
    ...     def __iter__(self):
    ...         return iter(self.text)
    >>> list(ac.data.ChainDataset([Letters("ab"), Letters("c")]))
    ['a', 'b', 'c']
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError(
                    f"ChainDataset: got {type(dataset).__name__}; an IterableDataset "
                    "is needed. Use ConcatDataset for data sets with an index."
                )

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over all samples."""
        return chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        """Return the number of samples, if every data set has a length."""
        return sum(len(dataset) for dataset in self.datasets)
