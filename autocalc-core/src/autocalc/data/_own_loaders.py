# SPDX-License-Identifier: MIT
"""PyTorch's private classes that custom loaders of other libraries use."""

from __future__ import annotations

from itertools import islice
from typing import Any

__all__: list[str] = []


class _DatasetKind:
    """How a loader reads its data set: by index, or one element after the other."""

    Map = 0
    Iterable = 1


class _SingleProcessDataLoaderIter:
    """An iterator over the batches of a loader, made in this process.

    Parameters
    ----------
    loader
        An object with the attributes `dataset`, `collate_fn`, `drop_last`,
        `_dataset_kind` and `_index_sampler`.  It also has `_auto_collation`, which says
        whether batches are made of single elements.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._places = iter(loader._index_sampler)
        one_by_one = loader._dataset_kind == _DatasetKind.Iterable
        self._elements = iter(loader.dataset) if one_by_one else None

    def __iter__(self) -> _SingleProcessDataLoaderIter:
        return self

    def __next__(self) -> Any:
        places = next(self._places)
        return self._loader.collate_fn(self._read(places))

    def _read(self, places: Any) -> Any:
        loader, elements = self._loader, self._elements
        if elements is None:
            if not loader._auto_collation:
                return loader.dataset[places]
            return [loader.dataset[place] for place in places]
        if not loader._auto_collation:
            return next(elements)
        found = list(islice(elements, len(places)))
        if not found or (loader.drop_last and len(found) < len(places)):
            raise StopIteration
        return found
