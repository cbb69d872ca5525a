# SPDX-License-Identifier: MIT
"""Window sizes, strides and batch dimensions of convolution, pooling and resizing."""

from __future__ import annotations

import operator
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, ShapeError

#: No dimension of a tensor in memory is larger than this.
LARGEST = 2**31 - 1


def sizes_of(
    where: str, name: str, given: Any, dims: int, least: int = 1
) -> tuple[int, ...]:
    """Return `given` as `dims` integers; one stands for all.

    Raises
    ------
    ArgumentError
        If it is anything else, or an integer is below `least` or above 2^31 - 1.
    """
    kind = given.__class__
    if kind is int and least <= given <= LARGEST:
        return (given,) * dims
    if kind is tuple and len(given) == dims:
        for size in given:
            if size.__class__ is not int or not least <= size <= LARGEST:
                break
        else:
            return given  # type: ignore[no-any-return]  # a tuple of integers
    values = given if isinstance(given, (tuple, list)) else (given,) * dims
    if len(values) == 1:
        values = tuple(values) * dims
    try:
        sizes = tuple(operator.index(value) for value in values)
    except TypeError:
        sizes = ()
    if len(sizes) != dims or min(sizes) < least or max(sizes) > LARGEST:
        count = "an integer" if dims == 1 else f"an integer or {dims} of them"
        raise ArgumentError(
            f"{where}: `{name}` is {given!r}; it must be {count}, {least} or more"
            f"{' and below 2^31' if max(sizes, default=0) > LARGEST else ''}."
        )
    return sizes


def batched(where: str, input: Any, dims: int) -> tuple[Tensor, bool]:
    """Return `input` as (N, C, ...), and whether it had a batch dimension.

    Raises
    ------
    ShapeError
        If `input` is neither (N, C, ...) nor (C, ...) with `dims` further dimensions.
    """
    x = check_tensor(where, input)
    ndim = x._array.ndim
    if ndim == dims + 2:
        return x, True
    if ndim == dims + 1:
        return view.unsqueeze(x, 0), False
    behind = {1: "L", 2: "H, W", 3: "D, H, W"}[dims]
    needed = f"{dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"
    raise ShapeError(
        f"{where}: `input` has shape {x.shape}; it must be (N, C, {behind}) or (C, "
        f"{behind}): non-empty {needed}."
    )


def unbatched(out: Tensor, had_batch: bool) -> Tensor:
    """Return a result without the batch dimension if the input had none."""
    return out if had_batch else view.detach_from_base(view.squeeze(out, 0))
