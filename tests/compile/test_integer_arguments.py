# SPDX-License-Identifier: MIT
"""Integers among the arguments, under every operator that they have."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import CompileError

x = ac.tensor([1.0, -2.0, 3.0])
n = ac.tensor([1, 6, 3])

#: Programs that hold for all values, or for those with the same decision.
FOLLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "bits of it": lambda x, t: x * ((t >> 1) & 1) + (t ^ 3),
    "a half": lambda x, t: x * (t / 2),
    "a share": lambda x, t: x * (3 / (t + 20)),
    "a power": lambda x, t: x * t**2,
    "a product with itself": lambda x, t: x + t * t,
    "a product with a float": lambda x, t: x * (t * 0.5) + (t + 0.5),
    "inverted": lambda x, t: x * ~t,
    "negative": lambda x, t: x * -t,
    "positive": lambda x, t: x * +t,
    "absolute": lambda x, t: x * abs(t),
    "absolute of a square": lambda x, t: x * abs(t * t - 30),
    "to the left": lambda x, t: x * (t << 2),
    "to the right": lambda x, t: x * (t >> 2),
    "and": lambda x, t: x * (t & 5) + (5 & t),
    "or": lambda x, t: x * (t | 5) + (5 | t),
    "exclusive or": lambda x, t: x * (t ^ 5) + (5 ^ t),
    "divided by it": lambda x, t: x * (1000 // (t + 20)),
    "the rest by it": lambda x, t: x * (1000 % (t + 20)),
    "a sum": lambda x, t: x * (t + 1) + (1 + t) + (t + t),
    "a difference": lambda x, t: x * (t - 1) + (1 - t) + (t - t),
    "a long formula": lambda x, t: x * (((t * 3 + 1) ^ (t >> 1)) * 0.25 - t / 7),
    "rounded": lambda x, t: x * round(t),
    "its parts": lambda x, t: x * t.real + t.numerator,
    "with integers": lambda x, t: n * t + (n & t) + (n | t) + (n ^ t) + t,
    "a tensor to the power": lambda x, t: n.double() ** (t * t),
    "filled": lambda x, t: ac.full((3,), t) + ac.zeros(3).fill_(t * t) + x,
    "compared with a tensor": lambda x, t: (x > t) | (x > t * t),
    "a tensor of it": lambda x, t: x * ac.tensor(t) + ac.tensor(t * 0.5),
}
#: Decisions: programs for a few values each, or for one.
DECIDED: dict[str, Callable[[Any, Any], Any]] = {
    "a page": lambda x, t: x * (t // 2),
    "a ring": lambda x, t: x * (t % 3),
    "both": lambda x, t: x * divmod(t, 3)[0] + divmod(t, 3)[1],
    "more": lambda x, t: x * (t > 3),
    "a branch": lambda x, t: x if t > 3 else -x,
    "equal": lambda x, t: x * (t == 4) + (t != 2),
    "true": lambda x, t: x * bool(t) + (not t),
    "the smaller": lambda x, t: x * min(t, 4),
    "the larger": lambda x, t: x * max(t, 4),
    "an int": lambda x, t: x * int(t),
    "a float": lambda x, t: x * float(t),
    "a text": lambda x, t: x * len(str(t)) + len(f"{t:5}"),
    "a floor": lambda x, t: x * math.floor(t) + math.ceil(t),
    "rounded to tens": lambda x, t: x * round(t, -1),
    "among": lambda x, t: x * (t in (1, 3, 5)),
    "a branch by bits": lambda x, t: x * 2 if t & 1 else x * 3,
    "a branch by a square": lambda x, t: x * 2 if t * t > 9 else x * 3,
}
#: What is not followed: each value is recorded by itself.
NOT_FOLLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "a root": lambda x, t: x * math.sqrt(abs(t)),
    "a key": lambda x, t: x * {i: i * i for i in range(-9, 99)}[t],
    "in base two": lambda x, t: x * int(f"{t:b}"),
    "of the kernel's C": lambda x, t: x * operator.index(t),
    "by numpy": lambda x, t: x * float(np.sqrt(t * t)),
}
SEQUENCES = {
    "one after the other": [*range(12)],
    "mixed": [3, 3, 3, 7, 2, 9, 9, 1, 0, 5, 5, 3, 4, 8, 3],
    "negative": [-3, -2, -1, 0, 1, 2, -7, 5, 3, -1, 4, -2],
    "flags": [True, False, True, True, False, 1, 0, 1],
}


def assert_right(
    function: Callable[[Any, Any], Any], values: list[int], *, may_refuse: bool
) -> None:
    compiled = ac.compile(function)
    for t in values:
        wanted, refused = function(x, t), ""
        try:
            got = compiled(x, t)
        except CompileError as error:
            refused = str(error)
        if refused:
            assert may_refuse
            assert "test_integer_arguments.py:" in refused
            return
        assert got.dtype is wanted.dtype
        assert got.allclose(wanted), t


@pytest.mark.filterwarnings("ignore:Bitwise inversion")  # of a flag, from 3.12 on
@pytest.mark.parametrize("values", SEQUENCES)
@pytest.mark.parametrize("name", {**FOLLOWED, **DECIDED})
def test_every_operator_is_right(name: str, values: str) -> None:
    function = (FOLLOWED | DECIDED)[name]
    assert_right(function, SEQUENCES[values], may_refuse=False)


@pytest.mark.parametrize("values", SEQUENCES)
@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_not_followed_is_right_or_refused_with_a_line(
    name: str, values: str
) -> None:
    assert_right(NOT_FOLLOWED[name], SEQUENCES[values], may_refuse=True)


@pytest.mark.parametrize("name", FOLLOWED)
def test_one_program_holds_for_all_values(name: str) -> None:
    compiled = ac.compile(FOLLOWED[name])
    for t in (5, 6, 7, 8, 9, 25):
        compiled(x, t)
    # The first program may be of a number that had not yet varied.
    assert len(compiled.programs) <= 2
    replays = compiled._replays
    for t in range(10, 20):
        assert compiled(x, t).allclose(FOLLOWED[name](x, t))
    assert compiled._replays == replays + 10


def test_a_number_is_no_input_because_it_happens_to_be_one() -> None:
    """The page of 0 is 0 and that of -1 is -1, as the numbers themselves."""
    compiled = ac.compile(lambda x, t: x * (t // 2))
    for t in (-1, 0, -1, 0, 1, 2, 3):
        assert compiled(x, t).tolist() == (x * (t // 2)).tolist()


def test_a_power_that_becomes_a_float() -> None:
    compiled = ac.compile(lambda n, t: n * 2**t)
    for t in (0, 1, 2, 3, 4, -1, -2, 5):
        wanted = n * 2**t
        got = compiled(n, t)
        assert got.dtype is wanted.dtype
        assert got.tolist() == wanted.tolist()


def test_an_error_of_python_is_that_of_python() -> None:
    compiled = ac.compile(lambda x, t: x * (12 // t))
    for t in (1, 2, 3, 4):
        compiled(x, t)
    with pytest.raises(ZeroDivisionError):
        compiled(x, 0)
    assert compiled(x, 6).tolist() == (x * 2).tolist()


@pytest.mark.parametrize(
    ("of", "most"),
    [
        (lambda t: min(1.0, t / 20), 3),
        (lambda t: min(t**-0.5, t * 20**-1.5), 2),
        (lambda t: max(0.0, 1 - t / 30), 3),
    ],
)
def test_a_schedule_of_the_step_s_number_has_few_programs(of: Any, most: int) -> None:
    step = ac.compile(lambda x, t: x * of(t))
    for t in range(1, 60):
        assert step(ac.ones(2), t).tolist() == pytest.approx([of(t)] * 2)
    assert len(step.programs) <= most
