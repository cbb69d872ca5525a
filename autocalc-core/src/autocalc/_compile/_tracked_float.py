# SPDX-License-Identifier: MIT
"""Floats that note for which other values Python would act the same.

A float that varies from call to call is an input of a program.  While it is recorded,
it is a `TrackedFloat`.  Its comparisons bound the values for which the program is
valid, like those of a `Tracked` integer.  Numbers computed from it alone, as ``-lr`` or
``1 - lr * decay``, remember their formula, so that a replay can compute them again.
Any other use pins the number to its value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._compile._tracked import GIVEN, Formula, Ordered, Span


class TrackedFloat(Ordered, float):
    """A number, or a number computed from it, with the span of the number."""

    _span: Span
    _formula: Formula | None
    _given: Any

    def __new__(
        cls, span: Span, value: float, formula: Formula | None = None
    ) -> TrackedFloat:
        self = super().__new__(cls, value)
        self._span, self._formula, self._given = span, formula, value
        return self

    def cell(self, dtype: Any, make: Callable[..., Any]) -> Any:
        """Return the number as an array that a replay can fill."""
        return self._span.cell(self._formula or _same, dtype, make)

    #: Operators dispatch on the exact class of a number.
    __class__: Any = property(lambda _: float)

    def _pinned(self) -> float:
        """Pin the number, and return the plain float for untracked operations."""
        self._span.pin()
        return _plain(self)

    # ---- comparisons -------------------------------------------------------------

    def _is_less(self, other: Any, *, equal: bool) -> Any:
        """Return whether this is less than a number, or not greater if `equal`."""
        limit = _limit(other)
        if limit is None:
            return NotImplemented
        mine = _plain(self)
        is_less = mine <= limit if equal else mine < limit
        is_followed = type(other) is TrackedFloat
        if mine != mine or (is_followed and other._span is not self._span):  # noqa: PLR0124
            self._pinned()
            _pinned(other)
        elif is_followed or self._formula is not None:
            less = operator.le if equal else operator.lt
            a = self._formula or _same
            b = other._formula or _same if is_followed else lambda _: limit
            self._span.decide(lambda t: less(a(t), b(t)), is_less)
        elif is_less:
            high = limit if equal else math.nextafter(limit, -math.inf)
            self._span.keep(-math.inf, high)
        else:
            low = math.nextafter(limit, math.inf) if equal else limit
            self._span.keep(low, math.inf)
        return is_less

    def __eq__(self, other: object) -> Any:
        # A hosted one may be any number: it takes the general path.
        return not self._span.hosted and super().__eq__(other)

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    # ---- all else ----------------------------------------------------------------

    def __hash__(self) -> int:
        return hash(self._pinned())

    def __pos__(self) -> float:
        return self

    def __reduce__(self) -> Any:
        return float, (self._pinned(),)

    def __deepcopy__(self, memo: Any) -> float:
        return self

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **options: Any
    ) -> Any:
        """Let NumPy compute with the plain number, and pin it."""
        return getattr(ufunc, method)(*map(_pinned, inputs), **options)


GIVEN[TrackedFloat] = lambda x: x._given


def _same(t: float) -> float:
    return t


def _plain(value: float) -> float:
    """Return the plain float of the same value."""
    return float.__mul__(value, 1.0)


def _limit(other: Any) -> float | None:
    """Return the number with which a tracked float is compared; None if it is none."""
    if type(other) is TrackedFloat:
        return _plain(other)
    if isinstance(other, (float, int, np.floating, np.integer)):
        return float(other)
    return None


def _pinned(other: Any) -> Any:
    return other._pinned() if type(other) is TrackedFloat else other


def _pinning(name: str) -> Callable[..., Any]:
    """Return a method that pins the number, and then does what float's method does."""
    of_float = getattr(float, name)

    def method(self: TrackedFloat, *args: Any) -> Any:
        return of_float(self._pinned(), *args)

    method.__name__ = name
    return method


#: The other methods of a float. Their results are not followed: the number is pinned.
_PINNING = (
    *("float", "int", "trunc", "floor", "ceil", "round", "str", "repr", "format"),
)

for _name in _PINNING:
    setattr(TrackedFloat, f"__{_name}__", _pinning(f"__{_name}__"))
for _name in ("is_integer", "as_integer_ratio", "hex", "conjugate"):
    setattr(TrackedFloat, _name, _pinning(_name))
