# SPDX-License-Identifier: MIT
"""The distribution of the elements of a tensor, in the form of TensorBoard."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, require, short
from autocalc.errors import ArgumentError, DTypeError
from autocalc.utils.tensorboard._events import Histogram


def histogram_of(where: str, values: Any, bins: Any, max_bins: Any) -> Histogram:
    """Return the counts of the finite elements, without empty bins at both ends."""
    finite = _finite(where, values)
    try:
        usual = isinstance(bins, str) and bins == "tensorflow"
        counts, edges = np.histogram(finite, _usual_edges() if usual else bins)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{where}: `bins` is {short(bins)}: {error}.") from error
    if max_bins is not None:
        counts, edges = _joined(where, counts, edges, max_bins)
    limits, heights = _without_empty_ends(counts, edges)
    return Histogram(
        float(finite.min()),
        float(finite.max()),
        finite.size,
        float(finite.sum()),
        float(finite @ finite),
        limits,
        heights,
    )


def _finite(where: str, values: Any) -> Any:
    """Return the finite elements as a float64 vector."""
    array = values.detach().numpy() if isinstance(values, Tensor) else values
    try:
        elements = np.asarray(array).astype(np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        message = f"{where}: `values` is {short(values)}; it must be a tensor or array."
        raise DTypeError(message) from error
    finite = elements[np.isfinite(elements)]
    if not finite.size:
        raise ArgumentError(
            f"{where}: none of the {elements.size} elements of `values` is finite; a "
            "histogram needs at least one finite value."
        )
    return finite


@lru_cache(maxsize=1)
def _usual_edges() -> Any:
    """Return edges that grow by a tenth from 1e-12 to 1e20, on both sides of 0."""
    positive = []
    edge = 1e-12
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    return np.array([*(-x for x in reversed(positive)), 0.0, *positive])


def _joined(where: str, counts: Any, edges: Any, max_bins: Any) -> tuple[Any, Any]:
    """Join neighbouring bins until there are at most `max_bins`."""
    most = as_int(where, "max_bins", max_bins)
    require(where, "max_bins", most, most >= 1, "at least 1")
    each = -(-len(counts) // most)
    starts = np.arange(0, len(counts), each)
    return np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])


def _without_empty_ends(counts: Any, edges: Any) -> tuple[list[float], list[float]]:
    """Return upper limits and counts; keep one empty bin as the left border."""
    (filled,) = np.nonzero(counts)
    if not filled.size:  # all elements are outside
        return [float(edges[-1])], [0.0]
    first, last = int(filled[0]), int(filled[-1])
    limits = edges[first : last + 2].tolist()
    return limits, [0.0, *counts[first : last + 1].astype(float).tolist()]
