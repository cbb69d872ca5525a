# SPDX-License-Identifier: MIT
"""Short paths of the kernels that are called most often with batched arrays.

Broadcasting computes all examples at once: operands keep one dimension for each level,
and a level in which the examples share memory has the size 1.  Nothing is repeated.
What a short path declines, the rule of the kernel computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._dispatch.device.batches import Batched, Levels
from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.spec import KernelSpec


def short_path(spec: KernelSpec) -> Callable[..., bool] | None:
    """Return a function that computes a call and returns True, or declines it.

    None if the kernel has no short path.
    """
    if spec.name in _OTHERS:
        return _OTHERS[spec.name]
    if not spec.elementwise or spec.writes or spec.free or len(spec.outputs) > 1:
        return None
    call, m = getattr(arrays, spec.name), len(spec.inputs)
    accumulates = bool(spec.accumulates)

    def run(out: Any, *rest: Any) -> bool:
        raw = out.raw if out.__class__ is DeviceArray else None
        attributes = rest[m:]
        if raw.__class__ is not Batched or (accumulates and attributes[-1]):
            return False
        operands = _operands(rest[:m], raw)
        if operands is None:
            return False
        attributes = attributes[:-1] if accumulates else attributes
        if raw.is_used:
            return _written(call, raw, operands, attributes)
        if attributes or operands[0].dtype == raw.dtype:
            return _gave(raw, call(*operands, *attributes))
        if not _fills(raw, operands):
            return False
        call(*operands, into=raw.data)
        return True

    return run


def _filled(out: Any, value: Any) -> bool:
    """Fill with one number that all examples share."""
    raw = out.raw if out.__class__ is DeviceArray else None
    if raw.__class__ is not Batched or raw.is_used:
        return False
    if value.__class__ is DeviceArray:
        value = value.raw
        if value.__class__ is not Batched or not value.is_same or not value.data.size:
            return False
        first = (*(0,) * len(value.levels), ...)
        value = value.data[first]
    arrays.copy(value, into=raw.data)
    return True


def _written(
    call: Callable[..., Any], raw: Batched, operands: list[Any], attributes: Any
) -> bool:
    """Compute into memory that is in use, unless another operand may share it."""
    out = raw.data
    if attributes or not _fills(raw, operands):
        return False
    for x in operands:
        if x is not out and (x is None or np.may_share_memory(x, out)):
            return False
    call(*operands, into=out)
    return True


def _fills(raw: Batched, operands: list[Any]) -> bool:
    """Return whether an operand has the shape of the result; kernels rely on it."""
    shape = raw.sizes + raw.shape
    return any(x is not None and x.shape == shape for x in operands)


def _operands(given: Sequence[Any], raw: Batched) -> list[Any] | None:
    """Return the arrays of operands, lined up with a result; None to decline."""
    n, ndim, found = len(raw.levels), len(raw.shape), []
    batched = False
    for x in given:
        array = x  # None is absent, and all examples share an array on the CPU
        if x.__class__ is DeviceArray:
            array = _lined_up(x.raw, raw.levels, n + ndim)
            if array is None:
                return None
            batched = batched or array.ndim > x.ndim
        found.append(array)
    return found if batched and found[0] is not None else None


def _lined_up(one: Any, levels: Levels, ndim: int) -> Any:
    """Return an operand with one dimension for each level, and `ndim` in all.

    None declines; if all examples share the operand, it has no such dimensions.
    """
    if one.__class__ is not Batched:
        return None
    array, n = one.data, len(levels)
    if one.levels != levels or 0 in array.strides[:n]:
        array = _shared(one, levels)
        if array is None:
            return None
    missing = ndim - array.ndim
    if missing and array.ndim > len(one.shape):
        array = arrays.reshape(array, (*array.shape[:n], *(1,) * missing, *one.shape))
    return array


def _shared(one: Batched, levels: Levels) -> Any:
    """Return an operand whose examples share memory in some levels.

    Those levels have the size 1, or all levels are absent; None if the operand has a
    level that the result lacks.
    """
    own, data = one.levels, one.data
    if not data.size or not set(own) <= set(levels):
        return None
    if not any(data.strides[: len(own)]):
        first = (*(0,) * len(own), ...)
        return data[first]
    at = {level: i for i, level in enumerate(own)}
    index: list[Any] = []
    for level in levels:
        place = at.get(level)
        repeats = place is not None and not data.strides[place]
        index.append(None if place is None else slice(0, 1) if repeats else slice(None))
    return data[tuple(index)]


def _multiplied(
    out: Any, other: Any, a: Any, b: Any, bias: Any, *attributes: Any
) -> bool:
    """Multiply matrices; if all examples share the second one, multiply all rows."""
    raw = _new_result(out, other)
    if raw is None or attributes[-1] or not _is_shared(bias, 1):
        return False
    operands = _operands((a, b), raw) if len(raw.shape) > 1 else None
    if operands is None:
        return False
    first, second = operands
    if second.ndim > 2 or not first.flags.c_contiguous:
        return _gave(raw, arrays.gemm(first, second, bias, *attributes[:-1])[0])
    rows = first.reshape(-1, first.shape[-1])
    result = arrays.gemm(rows, second, bias, *attributes[:-1])[0]
    return _gave(raw, arrays.reshape(result, (*first.shape[:-1], second.shape[-1])))


def _linear(out: Any, other: Any, x: Any, weight: Any, bias: Any, *more: Any) -> bool:
    """Multiply the rows of all examples by a shared weight, or by their own."""
    raw = _new_result(out, other)
    if raw is None:
        return False
    if weight.__class__ is DeviceArray:
        return _with_own_weights(raw, x, weight, bias, *more)
    operands = _operands((x,), raw) if _is_shared(bias, 1) else None
    if operands is None or operands[0].shape[:-1] != (*raw.sizes, *raw.shape[:-1]):
        return False
    return _gave(raw, arrays.linear(operands[0], weight, bias, *more)[0])


def _with_own_weights(raw: Batched, x: Any, weight: Any, bias: Any, word: str) -> bool:
    """Multiply the rows of each example by its own weight."""
    operands = None
    if len(raw.shape) == 2 and word == "none":
        operands = _operands((weight, x, bias), raw)
    if operands is None or operands[0].ndim == 2:
        return False
    own, rows, line = operands
    turned = own.transpose(*range(own.ndim - 2), own.ndim - 1, own.ndim - 2)
    result = arrays.gemm(rows, turned, None)[0]
    if line is not None:
        fits = result.shape == (*raw.sizes, *raw.shape)
        result = arrays.add(result, line, into=result if fits else None)
    return _gave(raw, result)


def _is_shared(x: Any, ndim: int) -> bool:
    """Return whether an operand is absent, or one array of `ndim` dimensions."""
    return x is None or (x.__class__ is np.ndarray and x.ndim == ndim)


def _new_result(out: Any, other: Any) -> Batched | None:
    """Return the result of a call, if it is the only one and its memory is not used."""
    raw = out.raw if other is None and out.__class__ is DeviceArray else None
    return None if raw.__class__ is not Batched or raw.is_used else raw


def _gave(raw: Batched, result: Any) -> bool:
    """Store a new array as the result."""
    if not raw.give(result):
        arrays.copy(result, into=raw.data)
    return True


#: The short paths of kernels that are not elementwise.
_OTHERS: dict[str, Callable[..., bool]] = {
    "fill": _filled,
    "gemm": _multiplied,
    "linear": _linear,
}
