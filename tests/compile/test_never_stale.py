# SPDX-License-Identifier: MIT
"""No compiled step goes on with an old value: random programs, and those that once did.

Each program is right from the call on that follows a change, or refused with its line.
"""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

import numpy as np
import pytest
from tests.compile.stale_elsewhere import OUTSIDE, PROGRAMS
from tests.compile.stale_libraries import IN_C, LIBRARIES
from tests.compile.stale_lines import LINES, REFUSED
from tests.compile.stale_methods import METHODS
from tests.compile.stale_numbers import NUMBERS
from tests.compile.stale_programs import Program, outcome, same
from tests.compile.stale_settings import SETTINGS, UNSEEN, undo

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import CompileError, CompileWarning

#: Programs of a block, and how many of them may be refused.
BLOCK, MOST_REFUSED = 100, 5


def run_block(block: int) -> None:
    seeds = range(BLOCK * block, BLOCK * (block + 1))
    with np.errstate(all="ignore"):
        refused = [seed for seed in seeds if not Program(seed).run()]
    assert len(refused) <= MOST_REFUSED, refused


@pytest.mark.parametrize("block", range(15))
def test_programs_are_never_stale(block: int) -> None:
    run_block(block)


@pytest.mark.long
@pytest.mark.parametrize("block", range(15, 60))
def test_more_programs_are_never_stale(block: int) -> None:
    run_block(block)


CASES = [(name, number) for name, all_ in LINES.items() for number in range(len(all_))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_line_is_never_stale(name: str, number: int) -> None:
    make = LINES[name][number]
    with np.errstate(all="ignore"):
        have, want = calls(make, ac.compile), calls(make, lambda step: step)
    if make in REFUSED:
        assert "refused" in have
    else:
        assert len(have) == len(want)
        for a, b in zip(have, want, strict=True):
            assert same(a, b), (have, want)


def calls(make: Any, kind: Any, before: int = 3) -> list[Any]:
    """Return the outcomes of calls before a change, and of three more after it."""
    step, change = make()
    run, found = kind(step), []
    for call in range(before + 3):
        if call == before:
            change()
        found.append(outcome(run))
        if found[-1] == "refused":
            break
    return found


GIVEN = [
    (name, number) for name, all_ in NUMBERS.items() for number in range(len(all_))
]


@pytest.mark.parametrize(("name", "number"), GIVEN)
def test_a_number_is_never_stale(name: str, number: int) -> None:
    step, numbers = NUMBERS[name][number]
    run = ac.compile(step)
    for given in [*numbers, *numbers]:
        have = outcome(lambda a, k=given: run(a, k))
        if have == "refused":
            break
        want = outcome(lambda a, k=given: step(a, k))
        assert same(have, want), (given, have, want)


def test_a_tensor_that_is_returned_twice_is_one() -> None:
    @ac.compile
    def step(a: Any) -> Any:
        y = a * 2
        return y, y

    for _ in range(4):
        one, two = step(ac.ones(3))
        one.add_(1.0)
        assert two.tolist() == [3.0, 3.0, 3.0]


def test_a_rate_that_an_argument_sets_is_refused() -> None:
    w = nn.Parameter(ac.ones(3))
    sgd = optim.SGD([w], lr=0.1)

    @ac.compile
    def step(a: Any, t: int) -> None:
        sgd.zero_grad()
        (w * a).sum().backward()
        sgd.param_groups[0]["lr"] = 0.1 * (t + 1)
        sgd.step()

    for t in range(2):
        step(ac.ones(3), t)
    with pytest.raises(CompileError, match=r"param_groups.*test_never_stale"):
        step(ac.ones(3), 2)


def test_what_an_argument_keeps_is_refused() -> None:
    kept = [ac.ones(3)]

    @ac.compile
    def step(a: Any, into: list[Any]) -> Any:
        y = a * 2
        into[0] = y
        return y

    for _ in range(2):
        step(ac.ones(3), kept)
    with pytest.raises(CompileError, match=r"changes into.*test_never_stale.py:\d+"):
        step(ac.ones(3), kept)


ELSEWHERE = {**PROGRAMS, **SETTINGS, **METHODS, **LIBRARIES}
NOT_SEEN = {**OUTSIDE, **UNSEEN, **IN_C}


@pytest.mark.parametrize("before", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_kept_elsewhere_is_never_stale(name: str, before: int) -> None:
    make = ELSEWHERE[name]
    with warnings.catch_warnings():
        have = calls(make, ac.compile, before)
        undo()
        want = calls(make, lambda step: step, before)
        undo()
    assert "refused" not in have
    for a, b in zip(have, want, strict=True):
        assert same(a, b), (have, want)


@pytest.mark.parametrize("name", NOT_SEEN)
def test_what_is_outside_is_refused(name: str) -> None:
    grad = ac.is_grad_enabled()
    try:
        assert "refused" in calls(NOT_SEEN[name], ac.compile)
    finally:
        ac.set_grad_enabled(grad)


def test_a_refusal_of_a_clock_says_where_and_what_to_do() -> None:
    step = ac.compile(lambda a: a * (time.monotonic() > 0))
    for _ in range(2):
        step(ac.ones(3))
    expected = r"reads the time, which.*Read it outside.*test_never_stale.py:\d+"
    with pytest.raises(CompileError, match=expected):
        step(ac.ones(3))


def test_a_refusal_of_a_text_says_where_and_what_to_do() -> None:
    step = ac.compile(lambda a: a * len(f"{a + 1}"))
    for _ in range(2):
        step(ac.ones(3))
    expected = r"reads the text of a tensor.*Read it outside.*test_never_stale.py:\d+"
    with pytest.raises(CompileError, match=expected):
        step(ac.ones(3))


def test_a_tensor_may_be_printed_and_logged(capsys: Any) -> None:
    logger = logging.getLogger("autocalc_test_texts")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False

    @ac.compile
    def step(a: Any) -> Any:
        logger.error("%s", a)
        print(a)
        return a * 2

    with pytest.warns(CompileWarning, match="prints text, or writes"):
        step(ac.ones(3))
    for _ in range(3):
        assert step(ac.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert step.programs
    assert capsys.readouterr().out.count("tensor([1., 1., 1.])") == 2


def test_clocks_of_logging_are_none_of_the_steps() -> None:
    logger = logging.getLogger("autocalc_test_quiet")

    @ac.compile
    def step(a: Any) -> Any:
        logger.error("called")
        return a * 2

    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    for _ in range(5):
        assert step(ac.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert step.programs
