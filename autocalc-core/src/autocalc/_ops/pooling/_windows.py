# SPDX-License-Identifier: MIT
"""Parsing of the windows and output sizes of pooling."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from autocalc._ops.convolutions import _spatial
from autocalc._tensor import Tensor


def steps_of(
    where: str, dims: int, kernel_size: Any, stride: Any, padding: Any
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    kernel = _spatial.sizes_of(where, "kernel_size", kernel_size, dims)
    if stride is None:
        return kernel, kernel, _spatial.sizes_of(where, "padding", padding, dims, 0)
    # An empty tuple means "as large as the window", like None.
    empty = isinstance(stride, (tuple, list)) and not stride
    stride = kernel if empty else stride
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    return kernel, steps, _spatial.sizes_of(where, "padding", padding, dims, 0)


def boxes(where: str, x: Tensor, output_size: Any, dims: int) -> tuple[int, ...]:
    """Return the requested output sizes; None is replaced by the size of `x`."""
    if output_size.__class__ is int and 1 <= output_size <= _spatial.LARGEST:
        return (output_size,) * dims
    given = output_size if isinstance(output_size, (tuple, list)) else [output_size]
    given = list(given) * (dims if len(given) == 1 else 1)
    if len(given) == dims:
        planes = zip(given, x._array.shape[2:], strict=True)
        given = [n if size is None else size for size, n in planes]
    return _spatial.sizes_of(where, "output_size", tuple(given), dims)


def even(x: Tensor, sizes: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Return windows equal to the boxes if these divide the input evenly, else None."""
    return _even(x._array.shape[2:], sizes)


@lru_cache(1024)
def _even(planes: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any, ...] | None:
    if min(planes) < 1 or any(n % s for n, s in zip(planes, sizes, strict=True)):
        return None
    kernel = tuple(n // s for n, s in zip(planes, sizes, strict=True))
    return kernel, kernel, (0,) * len(sizes)
