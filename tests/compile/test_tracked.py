# SPDX-License-Identifier: MIT
"""Numbers that are followed: the values for which Python decides the same."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.parts import (
    Span,
    StepRecorder,
    Tracked,
    TrackedFloat,
    given,
    plain,
    untracked,
)

import autocalc as ac

INF = math.inf

#: What is done with t = 5, and from where to where it leads to the same.
DECISIONS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "nothing": (lambda t: t, -INF, INF),
    "less": (lambda t: t < 100, -INF, 99),
    "not less": (lambda t: t < 3, 3, INF),
    "at most": (lambda t: t <= 5, -INF, 5),
    "more": (lambda t: t > 100, -INF, 100),
    "at least": (lambda t: t >= 2, 2, INF),
    "reflected": (lambda t: t < 100, -INF, 99),
    "equal": (lambda t: t == 5, 5, 5),
    "unequal": (lambda t: t == 0, 1, INF),
    "not unequal": (lambda t: t != 9, -INF, 8),
    "true": (bool, 1, INF),
    "a sum": (lambda t: 2 * t + 1 < 20, -INF, 9),
    "a difference": (lambda t: 10 - t > 0, -INF, 9),
    "a negative": (lambda t: -t > -20, -INF, 19),
    "numbers that cancel": (lambda t: (t + 3) - t == 3, -INF, INF),
    "with itself": (lambda t: t <= t + 1, -INF, INF),
    "min": (lambda t: min(t, 64), -INF, 64),
    "max": (lambda t: max(0, t - 3), 4, INF),
    "abs": (lambda t: abs(t - 7), -INF, 6),
    "a ring": (lambda t: t % 4, 4, 7),
    "a ring further on": (lambda t: (t + 3) % 8, 5, 12),
    "a page": (lambda t: t // 4, 4, 7),
    "both": (lambda t: divmod(t, 10), 0, 9),
    "two": (lambda t: (t > 2, t < 8), 3, 7),
    "infinity": (lambda t: min(t, math.inf), -INF, INF),
    "another type": (lambda t: t in (None, "5"), -INF, INF),
    "a float": (lambda t: t < 7.5, -INF, INF),
    "a half": (lambda t: t / 2, -INF, INF),
    "a power": (lambda t: 2**t, 0, INF),
    "a product with itself": (lambda t: t * t, -INF, INF),
    "a product with a float": (lambda t: t * 0.5, -INF, INF),
    "bits": (lambda t: t & 1, -INF, INF),
    "divided by": (lambda t: 100 // (t + 1), -INF, INF),
    "a computed index": (lambda t: [*range(40)][t ^ 3], 5, 5),
    "a computed decision": (lambda t: t * t > 4, -INF, INF),
    "a computed key": (lambda t: {25: 1}.get(t * t), 5, 5),
    "a computed text": (lambda t: str(t ^ 1), 5, 5),
    "a computed size": (lambda t: len(range(t | 1)), 5, 5),
    "a root of a computed one": (lambda t: math.sqrt(t * t), 5, 5),
    "a key": ({5: "five"}.get, 5, 5),
    "a text": (lambda t: f"layer {t}", 5, 5),
    "an int": (int, 5, 5),
    "a root": (math.sqrt, 5, 5),
}  # fmt: skip


@pytest.mark.parametrize("name", DECISIONS)
def test_the_values_for_which_python_decides_the_same(name: str) -> None:
    decide, low, high = DECISIONS[name]
    span = Span(5)
    result = decide(Tracked(span))
    assert untracked(result) == decide(5)
    assert (span.low, span.high) == (low, high)
    for value in range(12):
        if low <= value <= high:
            again = Span(value)
            found = decide(Tracked(again))
            assert (again.low, again.high) == (low, high)
            if span.decisions:
                assert span.answers_alike(value) == (found == result)


def test_it_computes_as_an_int() -> None:
    t = Tracked(Span(5))
    for f in (
        lambda x: x + 2, lambda x: 2 - x, lambda x: x * -3, lambda x: -x, lambda x: +x,
        lambda x: x - x, lambda x: x % 3, lambda x: 7 % x, lambda x: x // 2,
        lambda x: x**2, lambda x: x >> 1, lambda x: ~x, lambda x: [0] * x, hash, repr,
        lambda x: x - 0.5, lambda x: 0.5 + x, lambda x: [*range(x)], float, round,
    ):  # fmt: skip
        assert f(t) == f(5)  # type: ignore[no-untyped-call]


def test_after_the_recording_nothing_is_noted() -> None:
    span = Span(5)
    t = Tracked(span)
    span.closed = True
    assert t < 100
    assert hash(t) == 5
    assert (span.low, span.high) == (-INF, INF)
    assert type(plain(t)) is int
    assert type(copy.deepcopy(t + 1)) is Tracked
    assert type(pickle.loads(pickle.dumps(t))) is int


x = ac.arange(12.0).reshape(3, 4)

#: Views, and the values of t = 1 for which each is one of the same kind.
VIEWS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "a row": (lambda t: x[t], -3, 2),
    "a column": (lambda t: x[:, t], -4, 3),
    "the last ones": (lambda t: x[..., t], -4, 3),
    "the first": (lambda t: x[:t], 0, 3),
    "one": (lambda t: x[:, t : t + 1], 0, 3),
    "up to it": (lambda t: x[..., : t + 1], -1, 3),
    "select": (lambda t: x.select(1, t), -4, 3),
    "narrow": (lambda t: x.narrow(1, t, 2), 0, 2),
    "written": (lambda t: x.clone().__setitem__(t, 5.0), -3, 2),
    "a number": (lambda t: x * t + (t - x) / 2 < t, -INF, INF),
    "a range": (lambda t: ac.arange(t, t + 3), -INF, INF),
    "zeros": (lambda t: ac.zeros(t, 2), 0, INF),
    "a tensor": (lambda t: ac.tensor([t, 1]), -INF, INF),
}


@pytest.mark.parametrize("name", VIEWS)
def test_operators_note_where_a_number_is_cut_off(name: str) -> None:
    make, low, high = VIEWS[name]
    span = Span(1)
    with StepRecorder():
        make(Tracked(span))
    assert low == span.low or span.low <= 0 >= low
    assert span.high == high


#: What is done with k = 0.5, and from where to where it leads to the same.
FLOATS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "nothing": (lambda k: k, -INF, INF),
    "computed": (lambda k: 1 - k * 2 + k / 3 - k**2 + abs(-k), -INF, INF),
    "less": (lambda k: k < 0.75, -INF, math.nextafter(0.75, 0)),
    "at most": (lambda k: k <= 0.75, -INF, 0.75),
    "more": (lambda k: k > 0.25, math.nextafter(0.25, 1), INF),
    "at least": (lambda k: k >= 0.25, 0.25, INF),
    "not less": (lambda k: k < 0.25, 0.25, INF),
    "reflected": (lambda k: 0.25 < k, math.nextafter(0.25, 1), INF),  # noqa: SIM300
    "an integer": (lambda k: k < 1, -INF, math.nextafter(1.0, 0)),
    "equal": (lambda k: k == 0.5, 0.5, 0.5),
    "unequal": (lambda k: k == 0.75, -INF, math.nextafter(0.75, 0)),
    "true": (bool, math.nextafter(0.0, 1), INF),
    "max": (lambda k: max(k, 0.25), 0.25, INF),
    "min": (lambda k: min(k, 0.25), math.nextafter(0.25, 1), INF),
    "both": (lambda k: 0.25 <= k <= 0.75, 0.25, 0.75),
    "a comparison of what is computed": (lambda k: 1 - k > 0.25, -INF, INF),
    "rounded": (lambda k: round(k, 1), 0.5, 0.5),
    "an int": (int, 0.5, 0.5),
    "a floor": (math.floor, 0.5, 0.5),
    "whole": (lambda k: k // 0.3, -INF, INF),
    "a rest": (lambda k: k % 0.3, -INF, INF),
    "a text": (lambda k: f"{k}", 0.5, 0.5),
    "a key": ({0.5: 1}.get, 0.5, 0.5),
    "by numpy": (lambda k: np.floor(k), 0.5, 0.5),  # noqa: PLW0108  as the others
}


@pytest.mark.parametrize("name", FLOATS)
def test_what_a_float_decides(name: str) -> None:
    decide, low, high = FLOATS[name]
    span = Span(0.5)
    number = TrackedFloat(span, 0.5)
    found, expected = decide(number), decide(0.5)
    assert untracked(found) == expected
    assert type(untracked(found)) is type(expected)
    assert (span.low, span.high) == (low, high)


def test_what_is_computed_of_a_float_can_be_computed_again() -> None:
    span = Span(0.5)
    number = TrackedFloat(span, 0.5)
    found = 1 - number * 2 + number / 3 - number**2 + 2 * -number
    formula: Any = vars(found)["_formula"]
    for t in (0.1, -3.0, 7.5):
        assert formula(t) == 1 - t * 2 + t / 3 - t**2 + 2 * -t
    assert (span.low, span.high) == (-INF, INF)


def test_a_float_gives_back_the_number_itself() -> None:
    value = 0.1 + 0.2
    assert given(TrackedFloat(Span(value), value)) is value
    assert copy.deepcopy(TrackedFloat(Span(value), value)) == value
    assert type(pickle.loads(pickle.dumps(TrackedFloat(Span(value), value)))) is float
