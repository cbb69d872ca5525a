# SPDX-License-Identifier: MIT
"""The outputs, values and random tensors of `gradcheck`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._ops._operator.partial_writes import in_strides
from autocalc._ops.views import complex_views
from autocalc._tensor import Tensor, make
from autocalc._tensor.generator import Generator

Array = Any  # of NumPy


def leaf_of(x: Tensor) -> Tensor:
    return make(x._array, None).requires_grad_()


def outputs_of(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    """Return the floating-point tensors that `func` gives; it may change its inputs."""
    results = func(*map(_copied, inputs))
    results = results if isinstance(results, (list, tuple)) else [results]
    found = [y for y in results if isinstance(y, Tensor) and y.dtype.is_differentiable]
    return [complex_views.pairs_view(y) if y.is_complex() else y for y in found]


def _copied(x: Any) -> Any:
    """Return a copy of an input, with the gaps that its memory has."""
    if not isinstance(x, Tensor) or x.is_contiguous() or 0 in x.stride():
        return x.clone() if isinstance(x, Tensor) else x
    return make(in_strides(x._array, x._array.strides), None).copy_(x)


def values_of(x: Tensor) -> Array:
    """Return a copy of the elements, in row-major order."""
    return np.array(x._array, order="C")


def leaf_like(x: Tensor | None, values: Array) -> Tensor:
    """Return a leaf with these values, in the memory layout of `x`."""
    from autocalc._ops.creation.from_data import from_numpy

    if x is None:
        return from_numpy(values)
    array = np.empty_like(x._array)
    array[...] = values
    return from_numpy(array).requires_grad_(x.requires_grad)


def random_like(y: Tensor, seed: int, *, gaps: bool = False) -> Tensor:
    """Return reproducible random values, away from 0, that require a gradient."""
    from autocalc._ops.random.random_draws import rand

    shape = (*y.shape, 2) if gaps else y.shape
    values = rand(shape, dtype=y.dtype, generator=Generator().manual_seed(seed))
    values = values + 0.5
    values = values[..., 0] if gaps else values
    return values.requires_grad_(y.requires_grad)
