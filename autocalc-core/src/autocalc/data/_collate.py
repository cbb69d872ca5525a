# SPDX-License-Identifier: MIT
"""Functions that combine samples into a batch."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from autocalc._ops.arranging.joining import stack as stack_tensors
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import as_array, needs_gradient
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def stack(samples: Sequence[Any]) -> Tensor:
    """Stack tensors or arrays of one shape along a new first dimension."""
    shapes = {tuple(sample.shape) for sample in samples}
    if len(shapes) > 1:
        found = " and ".join(map(str, sorted(shapes)[:2]))
        raise ShapeError(
            f"collate: samples of shapes {found} cannot be joined into one batch; give "
            "all samples the same shape in the data set, or pass `collate_fn`."
        )
    if any(needs_gradient(sample) for sample in samples):
        return stack_tensors(list(samples))
    return from_numpy(np.stack([as_array(sample) for sample in samples]))


def default_collate(samples: Sequence[Any]) -> Any:
    """Combine a list of samples into a batch, as PyTorch's function of this name does.

    Tensors and arrays are stacked along a new first dimension.  Numbers become a tensor
    of dtype float64, int64 or bool.  Tuples and lists are combined position by
    position, and a tuple becomes a list.  Dicts are combined key by key.  Strings and
    bytes remain a list.

    Parameters
    ----------
    samples
        A sequence of samples with the same structure.

    Examples
    --------
    >>> import autocalc as ac
    >>> batch = ac.data.default_collate([(1, "a"), (2, "b")])
    >>> batch[0].numpy().tolist(), batch[1]
    ([1, 2], ['a', 'b'])
    """
    if not samples:
        message = "collate: no samples were given; a batch needs at least one."
        raise ArgumentError(message)
    first = samples[0]
    if isinstance(first, Tensor | np.ndarray):
        return stack(samples)
    if isinstance(first, bool | int | float | np.generic):
        return from_numpy(np.asarray(samples))
    if isinstance(first, str | bytes):
        return list(samples)
    if isinstance(first, Mapping):
        return _collate_keys(samples, first)
    if isinstance(first, Sequence):
        return _collate_fields(samples, first)
    raise DTypeError(
        f"collate: samples of type {type(first).__name__} cannot be joined into a "
        "batch; give tensors, arrays, numbers, texts, or tuples, lists and dicts of "
        "these, or pass `collate_fn`."
    )


def default_convert(sample: Any) -> Any:
    """Convert the arrays of one sample into tensors; leave everything else unchanged.

    A loader with ``batch_size=None`` applies this function to each sample.

    Parameters
    ----------
    sample
        An array, or a nested tuple, list or dict that contains arrays.

    Examples
    --------
    >>> import autocalc as ac
    >>> import numpy as np
    >>> ac.data.default_convert({"x": np.arange(2), "y": "a"})["x"].tolist()
    [0, 1]
    """
    if isinstance(sample, np.ndarray | np.generic):
        return from_numpy(np.asarray(sample))
    if isinstance(sample, Mapping):
        return _like(sample, {key: default_convert(sample[key]) for key in sample})
    if isinstance(sample, tuple | list):
        return of_fields(sample, map(default_convert, sample))
    return sample


def _collate_keys(samples: Sequence[Any], first: Mapping[Any, Any]) -> Any:
    for sample in samples:
        if sample.keys() != first.keys():
            raise ShapeError(
                f"collate: samples with the keys {list(first)} and {list(sample)} "
                "cannot be joined into one batch; give all samples the same keys, or "
                "pass `collate_fn`."
            )
    columns = {key: [sample[key] for sample in samples] for key in first}
    return _like(first, {key: default_collate(columns[key]) for key in columns})


def _like(mapping: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """Return `items` as a mapping of the same type as `mapping`, if it is mutable.

    The result is a changed copy of `mapping`.  The copy keeps data other than the
    items, such as the default of a defaultdict.
    """
    if type(mapping) is dict or not isinstance(mapping, MutableMapping):
        return items
    result = copy.copy(mapping)
    result.update(items)
    return result


def of_fields(sample: Sequence[Any], fields: Iterable[Any]) -> Any:
    """Return `fields` as a named tuple like `sample` if it is one, or else a list."""
    return type(sample)(*fields) if hasattr(sample, "_fields") else list(fields)


def _collate_fields(samples: Sequence[Any], first: Sequence[Any]) -> Any:
    lengths = {len(sample) for sample in samples}
    if len(lengths) > 1:
        raise ShapeError(
            f"collate: samples of {min(lengths)} and {max(lengths)} fields cannot be "
            "joined into one batch; give all samples the same fields, or pass "
            "`collate_fn`."
        )
    return of_fields(first, map(default_collate, zip(*samples, strict=True)))
