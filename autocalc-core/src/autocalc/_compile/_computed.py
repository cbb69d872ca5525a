# SPDX-License-Identifier: MIT
"""Numbers that are computed from a number that varies; a replay computes them again.

``(t >> 1) & 1`` and ``1 - lr * decay`` are numbers that know their formula.  As
operands they become inputs of a program.  An integer of this kind is no `int`.  Code
that needs its value, for an index or a decision, calls a method to get it.  That call
pins the number from which the integer is computed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._compile._tracked import GIVEN, Formula, Span, Tracked, plain
from autocalc._compile._tracked_float import TrackedFloat


class Computed:
    """An integer that is computed from a number, with the number's span."""

    __slots__ = ("_formula", "_span", "_value")

    def __init__(self, span: Span, value: int, formula: Formula) -> None:
        self._span, self._value, self._formula = span, value, formula

    #: Operators dispatch on the class of a number.
    __class__: Any = property(lambda _: int)

    def cell(self, dtype: Any, make: Callable[..., Any]) -> Any:
        """Return the number as an array that a replay can fill."""
        return self._span.cell(self._formula, dtype, make)

    def _pinned(self) -> int:
        """Pin the number, and return the plain integer."""
        self._span.pin()
        return self._value

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._value, name)  # or an AttributeError
        self._span.pin()
        return value

    def __pos__(self) -> Computed:
        return self

    def __reduce__(self) -> Any:
        return int, (self._pinned(),)

    def __deepcopy__(self, memo: Any) -> Computed:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._pinned(), dtype)


GIVEN[Computed] = lambda x: x._value


def _pinning(name: str) -> Callable[..., Any]:
    """Return a method that pins the number, and then does what int's method does."""
    of_int = getattr(int, name)

    def method(self: Computed, *args: Any) -> Any:
        return of_int(self._pinned(), *map(_value_of, args))

    method.__name__ = name
    return method


def _deciding(of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose answer becomes a condition of the program."""

    def method(self: Computed, *others: Any) -> Any:
        if not all(type(x) in {int, float} for x in others):
            return of(self._pinned(), *map(_value_of, others))
        formula = self._formula
        answer = of(self._value, *others)
        return self._span.decide(lambda t: of(formula(t), *others), answer)

    return method


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Computed, f"__{_name}__", _deciding(getattr(operator, _name)))
Computed.__bool__ = _deciding(operator.truth)  # type: ignore[attr-defined]
for _name in (
    *("hash", "index", "int", "float"),
    *("trunc", "floor", "ceil", "round", "str", "repr", "format"),
):
    setattr(Computed, f"__{_name}__", _pinning(f"__{_name}__"))


# ---- operators -----------------------------------------------------------------------

#: The classes of numbers that vary, and of numbers computed from them.
_KINDS = (Tracked, TrackedFloat, Computed)


def _known(x: Any) -> bool:
    """Return whether operators here handle `x`; tensors and arrays have their own."""
    return isinstance(x, (int, float, complex, str, np.generic, type(None)))


def _value_of(x: Any) -> Any:
    """Return the plain number without noting that it was read."""
    if type(x) is Tracked:
        return plain(x)
    if type(x) is TrackedFloat:
        return float.__mul__(x, 1.0)
    return object.__getattribute__(x, "_value") if type(x) is Computed else x


def _pin(x: Any) -> None:
    if type(x) in _KINDS:
        x._span.pin()


def _formula_of(x: Any) -> Formula:
    """Return the formula that computes a number from the one that varies."""
    if type(x) is Tracked:
        slope, start = x._slope, x._start
        return lambda t: slope * t + start
    if type(x) is TrackedFloat:
        return x._formula or _same
    return x._formula if type(x) is Computed else lambda _: x


def _same(t: Any) -> Any:
    return t


def _computed(span: Span, value: Any, formula: Formula) -> Any:
    """Return a number that knows its formula; pin if the value is no number."""
    if type(value) is int:
        return Computed(span, value, formula)
    if type(value) is float:
        return TrackedFloat(span, value, formula)
    span.pin()
    return value


def _operator(name: str, of: Callable[..., Any], reflected: bool) -> Any:
    """Return an operator that computes as plain numbers do, and keeps the formula."""

    def method(self: Any, *others: Any) -> Any:
        if not all(map(_known, others)):
            return NotImplemented
        given = (*others, self) if reflected else (self, *others)
        value = of(*map(_value_of, given))
        if any(type(x) in _KINDS and x._span is not self._span for x in others):
            for x in given:  # the operands depend on two different numbers
                _pin(x)
            return value
        if of is pow and all(isinstance(x, int) for x in given):
            operator.ge(given[1], 0)  # to a negative power it is a float
        formulas = [_formula_of(x) for x in given]
        return _computed(self._span, value, lambda t: of(*[f(t) for f in formulas]))

    method.__name__ = name
    return method


def _set_operators() -> None:
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod")
    integers = ("and_", "or_", "xor", "lshift", "rshift")
    both = [(n.strip("_"), getattr(operator, n)) for n in (*binary, *integers)]
    both += [("pow", pow), ("divmod", divmod)]
    single = [(n, getattr(operator, n)) for n in ("neg", "abs", "invert")]
    for kind in _KINDS:
        of = float if kind is TrackedFloat else int
        methods = {f"__{n}__": _operator(n, f, False) for n, f in (*both, *single)}
        methods |= {f"__r{n}__": _operator(f"r{n}", f, True) for n, f in both}
        for name, method in methods.items():
            if not hasattr(of, name):
                continue
            own = vars(kind).get(name)
            setattr(kind, name, method if own is None else _first(own, method))


def _first(own: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that tries the class's own operator before the general one.

    The own operator keeps sums and products of integers affine where it can.
    """

    def method(self: Any, *others: Any) -> Any:
        found = own(self, *others)
        return general(self, *others) if found is NotImplemented else found

    method.__name__ = own.__name__
    return method


_set_operators()
