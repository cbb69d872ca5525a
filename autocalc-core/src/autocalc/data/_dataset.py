# SPDX-License-Identifier: MIT
"""Data sets with a length, which return samples or whole batches by index."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from itertools import accumulate
from types import GenericAlias
from typing import Any

from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import Array, Indices, as_array, needs_gradient
from autocalc.data._collate import default_collate, of_fields, stack
from autocalc.data._iterable import IterableDataset
from autocalc.data._overrides import overrides
from autocalc.errors import ArgumentError, DimensionError, ShapeError


class Dataset:
    """The base class of data sets that have a length and return a sample for an index.

    A subclass defines `__len__` and `__getitem__`.  It can also define `take`, which
    returns a whole batch at once.  This is faster if the samples are stored in arrays.
    The loader uses `take` if it has no `collate_fn`.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Squares(ac.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index, index * index
    >>> [y.numpy().tolist() for x, y in ac.data.DataLoader(Squares(), batch_size=3)]
    [[0, 1, 4], [9]]
    """

    #: Allows annotations such as ``Dataset[int]``, which name the type of a sample.
    __class_getitem__: Any = classmethod(GenericAlias)

    def __len__(self) -> int:
        """Return the number of samples."""
        message = f"{type(self).__name__}: a data set needs a `__len__` method."
        raise NotImplementedError(message)

    def __getitem__(self, index: int) -> Any:
        """Return the sample at `index`."""
        message = f"{type(self).__name__}: a data set needs a `__getitem__` method."
        raise NotImplementedError(message)

    def take(self, indices: Indices) -> Any:
        """Return the batch of the samples at `indices`, in that order."""
        return default_collate([self[int(i)] for i in indices])

    def __add__(self, other: Any) -> Any:
        """Return a data set of these samples, followed by the samples of `other`."""
        return ConcatDataset([self, other])


def take(dataset: Any, indices: Indices) -> Any:
    """Return a collated batch of `dataset`, from its own `take` if that is safe.

    A subclass may override only `__getitem__`, for example to augment the samples.  The
    inherited `take` would ignore this override.  The samples of such a data set are
    therefore read one by one.
    """
    if isinstance(dataset, Dataset) and overrides(type(dataset), "take", "__getitem__"):
        batch = dataset.take(indices)
        return of_fields(batch, batch) if isinstance(batch, tuple) else batch
    return default_collate([dataset[int(i)] for i in indices])


def checked_index(where: str, index: int, length: int) -> int:
    """Return `index` counted from 0; raise if it is not in the data set."""
    if -length <= index < length:
        return index % length
    raise DimensionError(
        f"{where}: index {index} is out of range for {length} samples; "
        f"use {-length} to {length - 1}."
    )


class ConcatDataset(Dataset):
    """Concatenates several data sets.

    Parameters
    ----------
    datasets : iterable of Dataset
        The data sets; at least one.  Each of them has a length.

    Attributes
    ----------
    cumulative_sizes : list of int
        The cumulative sums of the lengths of the data sets.

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
            raise ArgumentError(
                "ConcatDataset: an IterableDataset cannot return a sample by its "
                "index; use ChainDataset for iterable data sets."
            )
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


class TensorDataset(Dataset):
    """A data set of tensors; sample `i` is the tuple of row `i` of each tensor.

    Parameters
    ----------
    *tensors : Tensor or numpy.ndarray
        Tensors of shape (samples, ...) with the same number of samples.  They are
        shared, not copied.

    Examples
    --------
    >>> import autocalc as ac
    >>> data = ac.data.TensorDataset(ac.zeros(5, 2), ac.ones(5))
    >>> len(data), data[0][0].shape
    (5, autocalc.Size([2]))
    """

    def __init__(self, *tensors: Tensor | Array) -> None:
        if not tensors:
            message = "TensorDataset: no tensors were given; at least one is needed."
            raise ArgumentError(message)
        shapes = [tuple(tensor.shape) for tensor in tensors]
        if any(shape[:1] != shapes[0][:1] or not shape for shape in shapes):
            raise ShapeError(
                f"TensorDataset: shapes {', '.join(map(str, shapes))} were given; all "
                "need the same first size, the number of samples."
            )
        self.tensors = tuple(
            t if isinstance(t, Tensor) else from_numpy(t) for t in tensors
        )
        self._arrays = tuple(as_array(tensor) for tensor in self.tensors)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._arrays[0])

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return row `index` of each tensor, or the rows of a slice or a list."""
        if isinstance(index, int):
            index = checked_index("TensorDataset", index, len(self))
        return tuple(tensor[index] for tensor in self.tensors)

    def take(self, indices: Indices) -> tuple[Tensor, ...]:
        """Return the rows `indices` of each tensor."""
        return tuple(
            stack([tensor[int(i)] for i in indices])
            if needs_gradient(tensor)
            else from_numpy(array.take(indices, axis=0))
            for tensor, array in zip(self.tensors, self._arrays, strict=True)
        )
