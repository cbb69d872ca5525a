# SPDX-License-Identifier: MIT
"""Writes at indices and where masks hold: into the tensor's own memory where they can.

Without a graph that needs the old values, a kernel writes the named elements alone.
What lies otherwise (strides, a history) becomes the result of the function.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops import masking, scattering
from autocalc._ops._arguments import axis_of
from autocalc._ops._coerce import Number
from autocalc._ops._index import fitting, part_of, sole_pick, split_index
from autocalc._ops._inplace import apply_
from autocalc._ops._view_tracker import base_of
from autocalc._ops._writing import check_writable, copy_, fill_, write
from autocalc._ops.creation import tensor
from autocalc._ops.scattering import put_picked, write_picked
from autocalc._tensor import Tensor


def _writer(kernel: str) -> Any:
    """Return an operator that writes into its first operand."""
    call = getattr(arrays, kernel)

    def run(x: Tensor, index: Tensor, src: Tensor, axis: int) -> Tensor:
        call(x._array, index._array, src._array, axis, into=x._array)
        return x

    return run


def _alone(x: Tensor, *others: Any) -> bool:
    """Return whether a kernel of indices can write into `x` itself."""
    a = x._array
    if not a.flags.c_contiguous or x.ndim == 0:
        return False
    return all(
        isinstance(other, Tensor) and not arrays.may_overlap(a, other._array)
        for other in others
    )


def by_index_(name: str, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write or add `source` at `index` along `dim`."""
    recorded = check_writable(f"{name}_", x, source)
    if recorded or not _alone(x, index, source):
        return apply_(name, x, dim, index, source)
    scattering.by_index(name, _writer(name), x, dim, index, source)
    x._bump()
    return x


def along_(name: str, x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Write or add `src` where `index` says along `dim`."""
    recorded = check_writable(f"{name}_", x, src)
    fits = not recorded and _alone(x, index, src)
    if fits and index.ndim == x.ndim and index.numel():
        axis = axis_of(name, dim, x.ndim)
        sizes = enumerate(zip(index.shape, x.shape, strict=True))
        if all(n == m or i == axis for i, (n, m) in sizes):
            scattering.along(name, _writer(name), x, dim, index, src)
            x._bump()
            return x
    return apply_(name, x, dim, index, src)


def masked_fill_(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write a number where `mask` holds."""
    recorded = check_writable("masked_fill_", x, value)
    if recorded or not isinstance(mask, Tensor):
        return apply_("masked_fill", x, mask, value)
    holds = masking.checked_mask("masked_fill", mask)._array
    number = scattering.checked_number("masked_fill", x, value)._array
    a = x._array
    fits = broadcast_shapes("masked_fill", x.shape, holds.shape) == x.shape
    if not fits or arrays.may_overlap(a, holds) or arrays.may_overlap(a, number):
        return apply_("masked_fill", x, mask, value)
    arrays.where(holds, number, a, into=a)
    x._bump()
    return x


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write `value` into the part of `x` that an index names."""
    where = "index assignment"
    sole = sole_pick(x, index)
    basic, picks = ((), sole) if sole is not None else split_index(x, index)
    part = part_of(x, basic) if sole is None else x
    if not isinstance(value, (Tensor, *Number)):
        value = tensor(value, dtype=x.dtype)
    if picks:
        recorded = check_writable(where, part, value)
        if not recorded and write_picked(where, part, picks, value):
            part._cell().count += 1
            return
        result = put_picked(where, part, picks, value, False)
        write(where, part, result, recorded)
    elif not isinstance(value, Tensor):
        fill_(part, value)
    elif not _same_memory(part, value):
        copy_(part, fitting(where, value, part.shape), where)


def _same_memory(x: Tensor, y: Tensor) -> bool:
    """Return whether these are one part, as at the end of ``x[0] *= 2``."""
    a, b = x._array, y._array
    if base_of(x) is not base_of(y) or a.dtype is not b.dtype:
        return False
    same = a.shape == b.shape and a.strides == b.strides
    return same and x.data_ptr() == y.data_ptr()
