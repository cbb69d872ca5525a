# SPDX-License-Identifier: MIT
"""Integers among the arguments that say for which other values Python does the same.

A recorded function may slice by a number, ``keys[:, : t + 1]``, and decide by it,
``if t == 0``.  While it is recorded a number that varies is a `Tracked`: an int whose
sums with and products by integers are tracked too, and whose comparisons are noted.
All that is noted is one stretch of values, a `Span`, within which every comparison has
the same outcome.  Not seen are lists and ranges that the number is an index of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Span:
    """The values for which Python decides as it did with `value`: `low` to `high`."""

    __slots__ = ("closed", "formulas", "high", "low", "value")

    def __init__(self, value: float) -> None:
        self.value = value
        self.low, self.high = -math.inf, math.inf
        self.closed = False
        self.formulas: list[Callable[[float], Any]] = []

    def keep(self, low: float, high: float) -> None:
        """Leave out the values below `low` and above `high`."""
        if not self.closed:
            self.low, self.high = max(self.low, low), min(self.high, high)

    def pin(self) -> None:
        """Leave out all others: it is not known what they lead to."""
        self.keep(self.value, self.value)


class Tracked(int):
    """The integer ``slope * t + start`` of a number t, with the span of t."""

    _span: Span
    _slope: int
    _start: int

    def __new__(cls, span: Span, slope: int = 1, start: int = 0) -> Tracked:
        self = super().__new__(cls, slope * span.value + start)
        self._span, self._slope, self._start = span, slope, start
        return self

    def _given(self) -> int:
        """Return the number that this one was put in the place of."""
        is_itself = self._slope == 1 and self._start == 0
        return self._span.value if is_itself else plain(self)  # type: ignore[return-value]  # an int

    # ---- sums and products -------------------------------------------------------

    def _with(self, slope: int, start: int) -> int:
        return Tracked(self._span, slope, start) if slope else start

    def _pinned(self) -> int:
        """Return the plain integer, for what is not followed."""
        self._span.pin()
        return plain(self)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Tracked) and other._span is self._span:
            return self._with(self._slope + other._slope, self._start + other._start)
        if other.__class__ is int:
            return self._with(self._slope, self._start + other)
        return self._pinned() + _pinned(other) if _known(other) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> int:
        return self._with(-self._slope, -self._start)

    def __pos__(self) -> int:
        return self

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, int) and not isinstance(other, bool):
            return self + -other
        return self._pinned() - other if _known(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        if other.__class__ is int:
            return -self + other
        return other - self._pinned() if _known(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is int:
            return self._with(self._slope * other, self._start * other)
        return self._pinned() * _pinned(other) if _known(other) else NotImplemented

    __rmul__ = __mul__

    def __divmod__(self, other: Any) -> Any:
        if not _known(other):
            return NotImplemented
        if other.__class__ is not int or other < 1:
            return divmod(self._pinned(), _pinned(other))
        quotient = plain(self) // other
        self._keep(quotient * other, quotient * other + other - 1)
        return quotient, self - quotient * other

    def __floordiv__(self, other: Any) -> Any:
        both = self.__divmod__(other)
        return both if both is NotImplemented else both[0]

    def __mod__(self, other: Any) -> Any:
        both = self.__divmod__(other)
        return both if both is NotImplemented else both[1]

    def __abs__(self) -> int:
        return -self if self < 0 else self

    # ---- comparisons -------------------------------------------------------------

    def _keep(self, low: int, high: float) -> None:
        """Note that this is from `low` to `high` in what is recorded."""
        slope, start = self._slope, self._start
        if slope < 0:
            low, high, slope, start = -high, -low, -slope, -start  # type: ignore[assignment]
        self._span.keep(_up(low - start, slope), _down(high - start, slope))

    def _is_less(self, other: Any, *, equal: bool) -> Any:
        """Return whether this is less than a number, or where `equal` not more."""
        if other.__class__ is float and math.isinf(other):
            return plain(self) < other
        if isinstance(other, np.integer):
            other = int(other)
        if not isinstance(other, int):
            if isinstance(other, float):
                return self._pinned() <= other if equal else self._pinned() < other
            return NotImplemented
        difference = self - other
        limit = 0 if equal else -1
        is_less = plain(difference) <= limit
        if isinstance(difference, Tracked):
            low, high = (-math.inf, limit) if is_less else (limit + 1, math.inf)
            difference._keep(low, high)  # type: ignore[arg-type]
        return is_less

    def __lt__(self, other: Any) -> Any:
        return self._is_less(other, equal=False)

    def __le__(self, other: Any) -> Any:
        return self._is_less(other, equal=True)

    def __gt__(self, other: Any) -> Any:
        less = self._is_less(other, equal=True)
        return less if less is NotImplemented else not less

    def __ge__(self, other: Any) -> Any:
        less = self._is_less(other, equal=False)
        return less if less is NotImplemented else not less

    def __eq__(self, other: object) -> Any:
        less = self._is_less(other, equal=False)
        if less is NotImplemented or less:
            return less if less is NotImplemented else False
        return self._is_less(other, equal=True)

    def __ne__(self, other: object) -> Any:
        same = self == other
        return same if same is NotImplemented else not same

    def __bool__(self) -> bool:
        return bool(self != 0)

    # ---- all else ----------------------------------------------------------------

    def __index__(self) -> int:
        return self

    def __hash__(self) -> int:
        return hash(self._pinned())

    def __reduce__(self) -> Any:
        return int, (self._pinned(),)

    def __deepcopy__(self, memo: Any) -> int:
        return self


def plain(number: int) -> int:
    """Return the exact int of the same value, which tracks nothing."""
    return int.__add__(number, 0)


def _known(other: Any) -> bool:
    """Return whether an int computes with it; tensors do so themselves."""
    return isinstance(other, (int, float, complex, str, type(None)))


def _pinned(other: Any) -> Any:
    return other._pinned() if isinstance(other, Tracked) else other


def _down(number: float, by: int) -> float:
    return number if math.isinf(number) else number // by


def _up(number: float, by: int) -> float:
    return number if math.isinf(number) else -(-number // by)


def _pinning(name: str) -> Callable[..., Any]:
    """Return a method that does what an int's does, and pins the number."""
    of_int = getattr(int, name)

    def method(self: Tracked, *args: Any) -> Any:
        if not all(map(_known, args)):
            return NotImplemented
        number = self._pinned()
        return of_int(number, *map(_pinned, args))

    method.__name__ = name
    return method


#: What no other value is known to lead to: the rest of what an int can.
_PINNING = (
    *("and", "rand", "or", "ror", "xor", "rxor", "invert"),
    *("lshift", "rlshift", "rshift", "rrshift", "pow", "rpow"),
    *("truediv", "rtruediv", "rfloordiv", "rmod", "rdivmod"),
    *("float", "int", "trunc", "floor", "ceil", "round", "str", "repr", "format"),
)

for _name in _PINNING:
    setattr(Tracked, f"__{_name}__", _pinning(f"__{_name}__"))
for _name in ("bit_length", "bit_count", "to_bytes", "as_integer_ratio", "conjugate"):
    setattr(Tracked, _name, _pinning(_name))


#: Functions that return the plain number of a followed one, by its type.
GIVEN: dict[type, Callable[[Any], Any]] = {Tracked: lambda x: x._given()}


def given(value: Any) -> Any:
    """Return the number that was replaced by one that is followed."""
    get = GIVEN.get(type(value))
    return value if get is None else get(value)


def untracked(value: Any) -> Any:
    """Return a tree of tuples and lists with plain numbers in it."""
    if isinstance(value, Tracked):
        return plain(value)
    if isinstance(value, float) and type(value) is not float:
        return given(value)
    if value.__class__ in (tuple, list):
        return value.__class__([untracked(one) for one in value])
    return value
