# SPDX-License-Identifier: MIT
"""Views in which some dimensions are at other positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from autocalc._ops._operator.arguments import axis_of, check_tensor, integers
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc.errors import DimensionError


@method("movedim moveaxis")
@traced
def movedim(
    input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """Return a view of `input` with some dimensions moved; the others keep their order.

    Parameters
    ----------
    input
        The input tensor.
    source
        The present positions of the dimensions to move, one or several.
    destination
        The new positions of these dimensions.

    Raises
    ------
    DimensionError
        If the numbers of sources and destinations differ, or a dimension is named
        twice.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.movedim(ac.ones(2, 3, 4), 0, 2).shape
    autocalc.Size([3, 4, 2])
    """
    x = check_tensor("movedim", input)
    if source.__class__ is int is destination.__class__:
        axes = _moved(x.ndim, source, destination)
        return view.permute_op(x, axes) if axes else x
    origin, goal = (
        [axis_of("movedim", d, x.ndim) for d in integers("movedim", name, v)]
        for name, v in (("source", source), ("destination", destination))
    )
    if len(origin) != len(goal):
        raise DimensionError(
            f"movedim: Invalid source or destination dims: `source`={source} and "
            f"`destination`={destination} must name equally many dimensions."
        )
    for name, dims in (("source", origin), ("destination", goal)):
        if len(set(dims)) < len(dims):
            raise DimensionError(
                f"movedim: repeated dim in `{name}`; `source`={source} and "
                f"`destination`={destination} must each name a dimension once."
            )
    if x.ndim == 0:
        return x
    rest = iter([d for d in range(x.ndim) if d not in origin])
    places = dict(zip(goal, origin, strict=True))
    order = [places[d] if d in places else next(rest) for d in range(x.ndim)]
    return view.permute(x, order)


@lru_cache(1024)
def _moved(ndim: int, source: int, destination: int) -> tuple[int, ...]:
    """Return the order of the dimensions after one of them has moved."""
    i, j = axis_of("movedim", source, ndim), axis_of("movedim", destination, ndim)
    axes = list(range(ndim))
    if axes:
        axes.insert(j, axes.pop(i))
    return tuple(axes)
