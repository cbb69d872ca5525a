# SPDX-License-Identifier: MIT
"""Data sets whose samples are combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc.data._arrays import Indices
from autocalc.data._dataset import Dataset, checked_index, take
from autocalc.data._iterable import IterableDataset
from autocalc.errors import ArgumentError


class StackDataset(Dataset):
    """Combines several data sets; sample `i` consists of all their samples `i`.

    Parameters
    ----------
    *args : Dataset
        Data sets of the same length.  The combined samples are tuples.
    **kwargs : Dataset
        Data sets of the same length, by name.  The combined samples are dicts.

    Attributes
    ----------
    datasets : tuple or dict of Dataset
        The data sets, as a tuple or as a dict.

    Raises
    ------
    ArgumentError
        If no data sets are given, if only some of them are given by name, if their
        lengths differ, or if one of them has no `__getitem__`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.data.StackDataset([1, 2, 3], "abc")[1]
    (2, 'b')
    >>> named = ac.data.StackDataset(image=[1, 2, 3], text="abc")
    >>> len(named), named[-1]
    (3, {'image': 3, 'text': 'c'})
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not (args or kwargs):
            raise ArgumentError("StackDataset: At least one dataset should be passed.")
        if args and kwargs:
            raise ArgumentError(
                "StackDataset: Supported either data sets by position or data sets by "
                f"name, but {len(args)} were given by position and {len(kwargs)} by "
                "name."
            )
        self.datasets = args or kwargs
        self._length = _common_length(args or tuple(kwargs.values()))

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._length

    def __getitem__(self, index: int) -> Any:
        """Return sample `index` of each data set."""
        place = checked_index("StackDataset", index, len(self))
        if isinstance(self.datasets, dict):
            return {name: one[place] for name, one in self.datasets.items()}
        return tuple(one[place] for one in self.datasets)

    def __getitems__(self, indices: Indices) -> list[Any]:
        """Return the samples at `indices`.

        Data sets with a method ``__getitems__`` are asked once for all samples.
        """
        if isinstance(self.datasets, dict):
            columns = [_several(one, indices) for one in self.datasets.values()]
            rows = zip(*columns, strict=True)
            return [dict(zip(self.datasets, row, strict=True)) for row in rows]
        columns = [_several(one, indices) for one in self.datasets]
        return list(zip(*columns, strict=True))

    def take(self, indices: Indices) -> Any:
        """Return a batch: the samples at `indices`, one batch for each data set."""
        if isinstance(self.datasets, dict):
            return {name: take(one, indices) for name, one in self.datasets.items()}
        return tuple(take(one, indices) for one in self.datasets)


def _several(dataset: Any, indices: Indices) -> Sequence[Any]:
    """Return some samples of one data set."""
    places = [checked_index("StackDataset", i, len(dataset)) for i in indices]
    found = getattr(dataset, "__getitems__", None)
    if found is None:
        return [dataset[i] for i in places]
    samples: Sequence[Any] = found(places)
    if len(samples) != len(places):
        raise ArgumentError(
            f"StackDataset: Nested dataset's output size mismatch. Expected "
            f"{len(places)}, got {len(samples)}."
        )
    return samples


def _common_length(datasets: tuple[Any, ...]) -> int:
    """Return the length that all data sets have."""
    for one in datasets:
        finds = hasattr(one, "__getitem__") and hasattr(one, "__len__")
        if isinstance(one, IterableDataset) or not finds:
            raise ArgumentError(
                f"StackDataset: a {type(one).__name__} cannot return a sample by its "
                "index, or has no length; give data sets that support both."
            )
    lengths = [len(one) for one in datasets]
    if len(set(lengths)) > 1:
        message = f"StackDataset: Size mismatch between datasets: lengths {lengths}."
        raise ArgumentError(message)
    return lengths[0]
