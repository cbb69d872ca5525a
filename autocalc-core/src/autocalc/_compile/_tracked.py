# SPDX-License-Identifier: MIT
"""Integers that note for which other values Python would act the same.

A recorded function may slice by a number, ``keys[:, : t + 1]``, and branch on it,
``if t == 0``.  While it is recorded, a number that varies is a `Tracked`.  This is an
int whose sums and products with integers are tracked too, and whose comparisons are
noted.  The notes form one range of values, a `Span`, in which every comparison has the
same outcome.  `_picked.py` finds where the number is used as an index.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

#: A function that computes a number from the one that varies.
Formula = Callable[[Any], Any]


#: The most decisions that depend on one number; with more, the number is pinned.
MAX_DECISIONS = 64


class Span:
    """The values for which Python makes the same decisions as with `value`.

    They are the values from `low` to `high` for which all `decisions`, which are
    questions about the value, have the same answers.
    """

    __slots__ = ("_made", "closed", "decisions", "high", "low", "value")

    #: Whether the host computes the number during a call; otherwise the call gives it.
    hosted = False

    def __init__(self, value: float) -> None:
        self.value = value
        self.low, self.high = -math.inf, math.inf
        self.closed = False
        self.decisions: list[tuple[Formula, bool]] = []
        self._made: dict[int, tuple[Any, Formula]] = {}

    def keep(self, low: float, high: float) -> None:
        """Exclude the values below `low` and above `high`."""
        if not self.closed:
            self.low, self.high = max(self.low, low), min(self.high, high)

    def decide(self, question: Formula, answer: Any) -> Any:
        """Exclude the values for which a question has another answer."""
        if len(self.decisions) >= MAX_DECISIONS:
            self.pin()
        elif not self.closed:
            self.decisions.append((question, answer))
        return answer

    def answers_alike(self, number: Any) -> bool:
        """Return whether all questions have the same answers for another number."""
        try:
            return all(ask(number) == answer for ask, answer in self.decisions)
        except (ArithmeticError, ValueError):
            return False

    @property
    def is_pinned(self) -> bool:
        """Whether the span contains only one value."""
        return bool(self.low == self.high)

    def pin(self) -> None:
        """Exclude all other values, because their effect is unknown."""
        self.keep(self.value, self.value)

    def cell(self, formula: Formula, dtype: Any, make: Callable[..., Any]) -> Any:
        """Return an array of the number that a formula gives; remember the formula."""
        array = make(formula(self.value), dtype)
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
        self._made[id(array)] = array, formula
        return array

    def formula_of(self, array: Any) -> Formula | None:
        """Return the formula of an array's number; None if the span did not make it."""
        _, formula = self._made.get(id(array), (None, None))
        return formula


class Ordered:
    """Comparisons that all depend on `_is_less`, so that each is noted."""

    def _is_less(self, other: Any, *, equal: bool) -> Any:
        raise NotImplementedError

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

    def __hash__(self) -> int:
        raise NotImplementedError


class Tracked(Ordered, int):
    """The integer ``slope * t + start`` of a number t, with the span of t."""

    _span: Span
    _slope: int
    _start: int

    def __new__(cls, span: Span, slope: int = 1, start: int = 0) -> Tracked:
        self = super().__new__(cls, slope * span.value + start)
        self._span, self._slope, self._start = span, slope, start
        return self

    def cell(self, dtype: Any, make: Callable[..., Any]) -> Any:
        """Return the number as an array that a replay can fill."""
        slope, start = self._slope, self._start
        return self._span.cell(lambda t: slope * t + start, dtype, make)

    def _given(self) -> int:
        """Return the number that this one replaced."""
        is_itself = self._slope == 1 and self._start == 0
        return self._span.value if is_itself else plain(self)  # type: ignore[return-value]  # an int

    # ---- sums and products -------------------------------------------------------

    def _with(self, slope: int, start: int) -> int:
        return Tracked(self._span, slope, start) if slope else start

    def _pinned(self) -> int:
        """Pin the number, and return the plain integer for untracked operations."""
        self._span.pin()
        return plain(self)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Tracked) and other._span is self._span:
            return self._with(self._slope + other._slope, self._start + other._start)
        if type(other) is int:
            return self._with(self._slope, self._start + other)
        return NotImplemented

    __radd__ = __add__

    def __neg__(self) -> int:
        return self._with(-self._slope, -self._start)

    def __pos__(self) -> int:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other if type(other) in (int, Tracked) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if type(other) is int else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return self._with(self._slope * other, self._start * other)
        if isinstance(other, (list, tuple, bytes, bytearray)):  # Python repeats it
            self._span.pin()
        return NotImplemented

    __rmul__ = __mul__

    def __divmod__(self, other: Any) -> Any:
        if type(other) is not int or other < 1:
            return NotImplemented
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
        """Note that this number is from `low` to `high` in the recording."""
        slope, start = self._slope, self._start
        if slope < 0:
            low, high, slope, start = -high, -low, -slope, -start  # type: ignore[assignment]
        self._span.keep(_up(low - start, slope), _down(high - start, slope))

    def _is_less(self, other: Any, *, equal: bool) -> Any:
        """Return whether this is less than a number, or not greater if `equal`."""
        if other.__class__ is float and math.isinf(other):
            return plain(self) < other
        if isinstance(other, np.integer):
            other = int(other)
        if not isinstance(other, int):
            return self._is_less_than_float(other, equal)
        difference = self - other
        limit = 0 if equal else -1
        is_less = plain(difference) <= limit
        if isinstance(difference, Tracked):
            low, high = (-math.inf, limit) if is_less else (limit + 1, math.inf)
            difference._keep(low, high)  # type: ignore[arg-type]
        return is_less

    def _is_less_than_float(self, other: Any, equal: bool) -> Any:
        if type(other) is not float:
            return NotImplemented
        less = operator.le if equal else operator.lt
        slope, start = self._slope, self._start
        answer = less(plain(self), other)
        return self._span.decide(lambda t: less(slope * t + start, other), answer)

    def __bool__(self) -> bool:
        return bool(self != 0)

    # ---- all else ----------------------------------------------------------------

    def __index__(self) -> int:
        return self

    real = numerator = property(__index__)
    __trunc__ = __floor__ = __ceil__ = __index__

    def __round__(self, digits: Any = None) -> int:
        return self if digits is None else round(self._pinned(), digits)

    def __hash__(self) -> int:
        return hash(self._pinned())

    def __reduce__(self) -> Any:
        return int, (self._pinned(),)

    def __deepcopy__(self, memo: Any) -> int:
        return self


def plain(number: int) -> int:
    """Return the plain int of the same value, which tracks nothing."""
    return int.__add__(number, 0)


def _down(number: float, by: int) -> float:
    return number if math.isinf(number) else number // by


def _up(number: float, by: int) -> float:
    return number if math.isinf(number) else -(-number // by)


def _pinning(name: str) -> Callable[..., Any]:
    """Return a method that pins the number, and then does what int's method does."""
    of_int = getattr(int, name)

    def method(self: Tracked, *args: Any) -> Any:
        return of_int(self._pinned(), *args)

    method.__name__ = name
    return method


#: Methods that pin the number; operators come from `_computed.py`.
_PINNING = ("float", "int", "str", "repr", "format")

for _name in _PINNING:
    setattr(Tracked, f"__{_name}__", _pinning(f"__{_name}__"))
for _name in ("bit_length", "bit_count", "to_bytes", "as_integer_ratio", "conjugate"):
    setattr(Tracked, _name, _pinning(_name))


#: For each class of followed numbers: a function that returns the plain number.
GIVEN: dict[type, Callable[[Any], Any]] = {Tracked: lambda x: x._given()}


def given(value: Any) -> Any:
    """Return the number that a followed one replaced; other values as they are."""
    get = GIVEN.get(type(value))
    return value if get is None else get(value)


def untracked(value: Any) -> Any:
    """Return a tree of tuples and lists in which all numbers are plain."""
    if isinstance(value, Tracked):
        return plain(value)
    if type(value) in GIVEN:
        return given(value)
    if value.__class__ in (tuple, list):
        return value.__class__([untracked(one) for one in value])
    return value
