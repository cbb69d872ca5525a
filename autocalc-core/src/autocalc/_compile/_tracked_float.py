# SPDX-License-Identifier: MIT
"""Floats that say for which other values Python does the same.

A float that varies from call to call is an input of a program.  While it is recorded it
is a `TrackedFloat`: its comparisons bound the values for which the program holds, as
those of a `Tracked` integer do.  What is computed of it alone, as ``-lr`` or
``1 - lr * decay``, keeps how it is computed, so that a replay can compute it again.
All else that is done with it pins it to its value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._compile._tracked import GIVEN, Span

#: How a float is computed of the one that varies.
Formula = Callable[[float], Any]


class TrackedFloat(float):
    """A number, or what is computed of it, with the span of the number."""

    _span: Span
    _formula: Formula | None
    _given: Any

    def __new__(
        cls, span: Span, value: float, formula: Formula | None = None
    ) -> TrackedFloat:
        self = super().__new__(cls, value)
        self._span, self._formula, self._given = span, formula, value
        if formula is not None:
            span.formulas.append(formula)
        return self

    #: Operators choose by the exact class of a number.
    __class__: Any = property(lambda _: float)

    def _pinned(self) -> float:
        """Return the plain float, for what is not followed."""
        self._span.pin()
        return _plain(self)

    # ---- comparisons -------------------------------------------------------------

    def _is_less(self, other: Any, *, equal: bool) -> Any:
        """Return whether this is less than a number, or where `equal` not more."""
        limit = _limit(other)
        if limit is None:
            return NotImplemented
        mine = _plain(self)
        is_less = mine <= limit if equal else mine < limit
        if self._formula is not None or type(other) is TrackedFloat or mine != mine:  # noqa: PLR0124
            self._pinned()
            _pinned(other)
        elif is_less:
            high = limit if equal else math.nextafter(limit, -math.inf)
            self._span.keep(-math.inf, high)
        else:
            low = math.nextafter(limit, math.inf) if equal else limit
            self._span.keep(low, math.inf)
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
        """Let NumPy compute with the number as it is, and pin it."""
        return getattr(ufunc, method)(*map(_pinned, inputs), **options)


GIVEN[TrackedFloat] = lambda x: x._given


def _plain(value: float) -> float:
    """Return the exact float of the same value."""
    return float.__mul__(value, 1.0)


def _limit(other: Any) -> float | None:
    """Return the number that a tracked float is compared with, or None."""
    if type(other) is TrackedFloat:
        return _plain(other)
    if isinstance(other, (float, int, np.floating, np.integer)):
        return float(other)
    return None


def _pinned(other: Any) -> Any:
    return other._pinned() if type(other) is TrackedFloat else other


def _computed(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that computes as a float does, and keeps how."""
    reflected = name.startswith("r") and hasattr(operator, name[1:])

    def method(self: TrackedFloat, *others: Any) -> Any:
        if any(_limit(x) is None or isinstance(x, np.generic) for x in others):
            return NotImplemented
        mine = self._formula or _same
        if not others:
            return TrackedFloat(self._span, of(_plain(self)), lambda t: of(mine(t)))
        (other,) = others
        if type(other) is TrackedFloat or type(other) not in (int, float):
            if type(other) is TrackedFloat and other._span is self._span:
                return _of_both(self, other, of, reflected)
            return of(*_ordered(self._pinned(), _pinned(other), reflected))
        value = of(*_ordered(_plain(self), other, reflected))
        if type(value) is not float:
            self._pinned()
            return value
        given = reflected, other
        return TrackedFloat(self._span, value, lambda t: _of(mine(t), given, of))

    method.__name__ = f"__{name}__"
    return method


def _of_both(
    a: TrackedFloat, b: TrackedFloat, of: Callable[..., Any], reflected: bool
) -> Any:
    """Return what is computed of two numbers that depend on the same one."""
    first, second = a._formula or _same, b._formula or _same
    value = of(*_ordered(_plain(a), _plain(b), reflected))
    if type(value) is not float:
        a._pinned()
        return value

    def formula(t: float) -> Any:
        return of(*_ordered(first(t), second(t), reflected))

    return TrackedFloat(a._span, value, formula)


def _of(mine: Any, given: tuple[bool, Any], of: Callable[..., Any]) -> Any:
    reflected, other = given
    return of(*_ordered(mine, other, reflected))


def _ordered(a: Any, b: Any, reflected: bool) -> tuple[Any, Any]:
    return (b, a) if reflected else (a, b)


def _same(t: float) -> float:
    return t


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _of_two = getattr(operator, _name)
    setattr(TrackedFloat, f"__{_name}__", _computed(_name, _of_two))
    setattr(TrackedFloat, f"__r{_name}__", _computed(f"r{_name}", _of_two))
for _name in ("neg", "abs"):
    setattr(TrackedFloat, f"__{_name}__", _computed(_name, getattr(operator, _name)))


def _pinning(name: str) -> Callable[..., Any]:
    """Return a method that does what a float's does, and pins the number."""
    of_float = getattr(float, name)

    def method(self: TrackedFloat, *args: Any) -> Any:
        if any(
            _limit(x) is None and not isinstance(x, (str, type(None))) for x in args
        ):
            return NotImplemented
        return of_float(self._pinned(), *map(_pinned, args))

    method.__name__ = name
    return method


#: The other methods of a float. Their results are not followed: the number is pinned.
_PINNING = (
    *("floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod"),
    *("float", "int", "trunc", "floor", "ceil", "round", "str", "repr", "format"),
)

for _name in _PINNING:
    setattr(TrackedFloat, f"__{_name}__", _pinning(f"__{_name}__"))
for _name in ("is_integer", "as_integer_ratio", "hex", "conjugate"):
    setattr(TrackedFloat, _name, _pinning(_name))
