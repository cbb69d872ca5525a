# SPDX-License-Identifier: MIT
"""Callbacks while they are recorded, as programs show them, and in eager code."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest
from tests.compile.test_callbacks import STEPS, calls, normal

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    CompileError,
    CompileWarning,
    DTypeError,
    GradError,
)

# ---- what is recorded


def test_a_function_that_holds_what_changes_is_refused() -> None:
    def made(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(y.tolist)
        return y

    def given(x: ac.Tensor) -> ac.Tensor:
        ac.callback(partial(print, [x]))
        return x * 2

    for step, what in ((made, "that the step makes"), (given, "that is an argument")):
        with pytest.raises(CompileError, match=rf"{what} through its variables"):
            ac.compile(step)(normal(3))
        with pytest.warns(CompileWarning, match=rf"{what} through its variables"):
            calls(ac.compile(step, fallback=True), 3)


def test_another_function_in_each_call_makes_no_program() -> None:
    def step(x: ac.Tensor) -> ac.Tensor:
        new: list[Any] = []
        ac.callback(new.append, x)
        return x * 2

    with pytest.raises(CompileError, match="another function from call to call"):
        calls(ac.compile(step), 3)


def test_numbers_that_it_holds_are_those_of_the_call() -> None:
    seen: list[Any] = []

    def step(x: ac.Tensor, n: int) -> ac.Tensor:
        ac.callback(lambda y, n=n: seen.append(n), x)
        return x * 2

    run: Any = ac.compile(step)
    x = normal(3)
    for n in (1, 1, 1, 2, 2, 2, 1):
        run(x, n)
    assert seen == [1, 1, 1, 2, 2, 2, 1]
    assert run._replays >= 3


def test_what_a_callback_changes_is_no_effect_of_the_step() -> None:
    log: list[Any] = []
    count = 0

    def step(x: ac.Tensor) -> ac.Tensor:
        def note(y: ac.Tensor) -> None:
            nonlocal count
            count += 1
            log.append(y.sum().item())

        ac.callback(note, x)
        return x * 2

    run: Any = ac.compile(step)
    calls(run, 3)
    assert (count, len(log), len(run.programs)) == (STEPS, STEPS, 1)


def test_what_step_and_callback_look_at_is_an_effect() -> None:
    log: list[Any] = []

    def step(x: ac.Tensor) -> ac.Tensor:
        ac.callback(log.append, x)
        return x * 2

    with pytest.raises(CompileError, match=r"log.*let callbacks alone look at"):
        calls(ac.compile(step), 3)


def test_a_function_that_cannot_be_replayed_falls_back_with_its_callbacks() -> None:
    seen: list[Any] = []

    def make() -> Any:
        def step(x: ac.Tensor) -> ac.Tensor:
            y = x * x.sum().item()
            ac.callback(lambda y: seen.append(y.tolist()), y)
            return y

        return step

    want = calls(make(), 3)
    eager, seen[:] = list(seen), []
    with pytest.warns(CompileWarning, match="runs eagerly"):
        assert calls(ac.compile(make(), fallback=True), 3) == want
    assert seen == eager


def test_checked_replays_call_it_twice() -> None:
    seen: list[Any] = []
    total = ac.zeros(3)

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(lambda y: seen.append(y.tolist()), y)
        ac.callback(lambda t, y: t.add_(y), total, y, mutates=total)
        return y + 1

    run: Any = ac.compile(step, check=1)
    calls(run, 3)
    assert len(seen) == STEPS + run._replays
    want = sum(np.float32(2) * normal(3, seed=i).numpy() for i in range(STEPS))
    np.testing.assert_allclose(total.numpy(), want, rtol=1e-5, atol=1e-6)


def test_a_replay_that_differs_is_found() -> None:
    step_number = [0]

    def step(x: ac.Tensor) -> ac.Tensor:
        def write(y: ac.Tensor) -> None:
            step_number[0] += 1
            y.fill_(step_number[0])

        y = x * 2
        ac.callback(write, y, mutates=y)
        return y + 1

    run = ac.compile(step, check=1)
    with pytest.raises(CompileError, match="result 0 is off by up to 1"):
        calls(run, 3)


# ---- what is shown


def test_a_program_says_where_python_runs() -> None:
    def note(y: ac.Tensor) -> None:
        pass

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x.exp()
        ac.callback(note, y)
        return y.matmul(y) + 1

    run = ac.compile(step)
    calls(run, 4, 4)
    (program,) = run.programs
    (place,) = [i for i, one in enumerate(program.instructions) if one.callback]
    assert place in program.cuts
    parts = [list(part.instructions) for part in program.segments]
    assert [*chain(*parts)] == list(range(len(program.instructions)))
    pairs = zip(parts, program.segments, strict=True)
    assert program.cuts == [*chain(*(p for p, segment in pairs if segment.python))]
    lines = str(program).splitlines()
    assert lines[1 + place].split()[1] == "callback"
    assert "note" in lines[1 + place]
    assert lines[-1].startswith("Python runs ")


# ---- without ac.compile


def test_eager_calls_call_the_function_and_count_writes() -> None:
    x = normal(3)
    y = (x.clone().requires_grad_() * 2).exp()
    seen: list[Any] = []
    ac.callback(lambda *some: seen.extend(some), x, y)
    assert seen[0] is x
    assert seen[1].tolist() == y.tolist()
    assert not seen[1].requires_grad
    w = normal(3).requires_grad_()
    z = w * x
    x.detach()
    with pytest.raises(ZeroDivisionError):
        ac.callback(lambda: 1 / 0, mutates=x)
    with pytest.raises(GradError, match="changed in place after it was saved"):
        z.sum().backward()


def test_arguments_are_checked() -> None:
    x, w = normal(3), normal(3).requires_grad_()
    with pytest.raises(DTypeError, match=r"callback: `function` is a int"):
        ac.callback(3, x)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match=r"callback"):
        ac.callback(print, [x])  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match=r"callback: `mutates` is 3"):
        ac.callback(print, x, mutates=3)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match=r"callback"):
        ac.callback(print, x, mutates=[3])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="in `mutates` is expanded or has"):
        ac.callback(print, mutates=x.expand(2, 3))
    for tensor in (w, w * 2, w[:1]):
        with pytest.raises(GradError, match=r"callback: .* takes part in gradients"):
            ac.callback(print, mutates=tensor)
    with ac.no_grad():
        ac.callback(lambda w: w.zero_(), w, mutates=w)
    assert w.tolist() == [0, 0, 0]
