# SPDX-License-Identifier: MIT
"""Integers drawn uniformly from a range, and the integers that a dtype holds."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current
from autocalc._kernels.table import TABLE
from autocalc._tensor import dtypes
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator, chosen, drawn_dtype
from autocalc._tensor.limits import finfo, iinfo
from autocalc.errors import ArgumentError, AutocalcWarning

_BITS = KernelCall(TABLE["random_bits"])
#: The number of values of the lower part of a wide integer.
_LOW = 2**32
#: The number of bits up to which a float dtype holds all integers.
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def largest_exact(kind: DType) -> int:
    """Return the largest n such that a dtype holds all integers up to n."""
    if kind.is_floating_point:
        return int(2 ** _DIGITS[kind.name])
    return _limits(kind)[1]


def check_held(where: str, low: int, high: int, kind: DType) -> None:
    """Raise unless a dtype holds all integers from `low` to ``high - 1``."""
    smallest = -largest_exact(kind) if kind.is_floating_point else _limits(kind)[0]
    _check(where, low, high, kind, smallest, largest_exact(kind))


@lru_cache
def _limits(kind: DType) -> tuple[int, int]:
    """Return the smallest and largest integer that both a dtype and int64 hold."""
    if kind is dtypes.bool_:
        return 0, 1
    integers = iinfo(dtypes.int64 if kind.is_floating_point else kind)
    least, most = integers.min, integers.max
    if kind.is_floating_point:
        largest = int(finfo(kind).max)
        least, most = max(least, -largest), min(most, largest)
    return least, most


def _check(where: str, low: int, high: int, kind: DType, least: int, most: int) -> None:
    if high > low and not (least <= low and high - 1 <= most):
        end = "to - 1" if least <= low <= most else "from"
        raise ArgumentError(
            f"{where}: {end} is out of bounds: integers from {low} to {high - 1} do "
            f"not fit into {kind.name}, which can hold {least} to {most} here; use a "
            "smaller range or another dtype."
        )


def random_words(shape: tuple[int, ...], generator: Generator | None) -> Any:
    """Return random integers of 62 bits."""
    selection = current().selection
    dtype = dtypes.int64.numpy
    words = selection.empty(shape, drawn_dtype(dtype))
    seed, offset = chosen("random integers", generator).draw(2 * words.size)
    key = "words", words.dtype, offset.dtype
    run = selection.tables[_BITS.index].get(key)
    if run is None:
        run, _ = _BITS.decided(seed, offset, 62, into=words)
        selection.remember(_BITS.index, key, run)
    run(words, seed, offset, 62)
    return words


def _integer(x: Any) -> int | None:
    if x.__class__ is int:
        return x
    try:
        return None if isinstance(x, bool) else index(x)
    except TypeError:
        return None


def integers_below(
    where: str,
    low: Any,
    high: Any,
    shape: tuple[int, ...],
    kind: DType,
    generator: Generator | None,
) -> Any:
    """Return int64 numbers drawn uniformly from low to high - 1, which `kind` holds.

    For a float dtype, the range ends at numbers of that dtype, so that no number is
    rounded to one outside of the range.
    """
    first, last = _integer(low), _integer(high)
    if first is None or last is None or last <= first:
        raise ArgumentError(
            f"{where} expects 'from' to be less than 'to', but got from={low!r} >= "
            f"to={high!r}; both must be integers."
        )
    _check(where, first, last, kind, *_limits(kind))
    if kind.is_floating_point:
        _warn_of_gaps(where, first, last, kind)
        first, last = _within(where, first, last, kind)
    if last - first > 2**62:
        return _wide(first, last - first, shape, generator)
    words = random_words(shape, generator)
    drawn = arrays.remainder(words, constant(last - first, words.dtype))
    return arrays.add(drawn, constant(first, words.dtype))


def _warn_of_gaps(where: str, first: int, last: int, kind: DType) -> None:
    """Warn for each end of a range beyond which a float dtype skips integers."""
    most = largest_exact(kind)
    for end, at in (("from", first), ("to - 1", last - 1)):
        if abs(at) > most:
            warn(
                f"{where}: {end} is out of bounds [-{most}, {most}]: at {at}, "
                f"{kind.name} does not hold all integers, so some are never drawn. Use "
                "a smaller range or another dtype.",
                AutocalcWarning,
            )


def _within(where: str, first: int, last: int, kind: DType) -> tuple[int, int]:
    """Return the range between the outermost numbers that a float dtype holds."""
    up, down = -_floor(-first, kind), _floor(last - 1, kind)
    if down < up:
        raise ArgumentError(
            f"{where}: {kind.name} has no number between {first} and {last - 1}; use a "
            "larger range or another dtype."
        )
    return up, down + 1


def _floor(x: int, kind: DType) -> int:
    """Return the largest integer up to `x` that a float dtype holds."""
    unit = 2 ** max(abs(x).bit_length() - _DIGITS[kind.name], 0)
    return int(x // unit * unit)


def _wide(
    first: int, span: int, shape: tuple[int, ...], generator: Generator | None
) -> Any:
    """Return first + high * 2**32 + low, for a range larger than that of one word."""
    heads, left = divmod(span - 1, _LOW)  # the last head allows left + 1 lows
    high = _below(heads + 1, shape, generator)
    low = _below(_LOW, shape, generator)
    kind = high.dtype
    if left + 1 < _LOW:
        cut = arrays.remainder(low, constant(left + 1, kind))
        is_last = arrays.compare(high, constant(heads, kind), "eq")
        low = arrays.where(is_last, cut, low)
    head, rest = divmod(first, _LOW)
    whole = arrays.mul(arrays.add(high, constant(head, kind)), constant(_LOW, kind))
    return arrays.add(whole, arrays.add(low, constant(rest, kind)))


def _below(count: int, shape: tuple[int, ...], generator: Generator | None) -> Any:
    words = random_words(shape, generator)
    return arrays.remainder(words, constant(count, words.dtype))
