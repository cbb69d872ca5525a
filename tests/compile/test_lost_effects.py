# SPDX-License-Identifier: MIT
"""What a step does besides its kernels, which a replay would not do again."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError, CompileWarning

X = ac.ones(2)


def twice(a: Any) -> Any:
    y = a * 2
    return y, y


def nested(a: Any) -> Any:
    y, z = a * 2, a * 3
    return {"one": y, "two": [z, y], "more": (z, a)}


@pytest.mark.parametrize("step", [twice, nested])
def test_a_tensor_that_is_returned_twice_is_one(step: Callable[..., Any]) -> None:
    compiled = ac.compile(step)
    for i in range(6):
        x = X + i
        found, expected = compiled(x), step(x)
        if step is twice:
            assert found[0] is found[1]
            assert found[0].tolist() == expected[0].tolist()
        else:
            assert found["one"] is found["two"][1] is not found["two"][0]
            assert found["two"][0] is found["more"][0]
            assert found["more"][1] is x
            assert found["two"][0].tolist() == expected["two"][0].tolist()


def test_results_that_are_one_at_times_are_told_apart() -> None:
    both = {"same": True}

    def step(a: Any) -> Any:
        y = a * 2
        return y, (y if both["same"] else a * 2)

    compiled = ac.compile(step)
    for i in range(10):
        both["same"] = i < 5
        first, second = compiled(X)
        assert (first is second) == both["same"]


@pytest.mark.parametrize(
    "switch",
    [
        lambda p: p.requires_grad_(not p.requires_grad),
        lambda p: setattr(p, "requires_grad", not p.requires_grad),
        lambda p: p.requires_grad_(False),
    ],
)
def test_a_step_that_switches_requires_grad_is_refused(
    switch: Callable[[Any], Any],
) -> None:
    p = nn.Parameter(ac.ones(2))

    def step(a: Any) -> Any:
        switch(p)
        return a * 2

    compiled: Any = ac.compile(step)
    match = r"requires_grad of a tensor of shape \(2,\)"
    with pytest.raises(CompileError, match=match):
        repeated(compiled, p)


def repeated(compiled: Callable[..., Any], p: Any) -> None:
    for _ in range(4):
        compiled(X)
        p.requires_grad_()


def test_a_gradient_of_what_the_step_makes_is_none() -> None:
    def step(a: Any) -> Any:
        b = a.detach().requires_grad_()
        (b * b).sum().backward()
        return a * 2

    compiled = ac.compile(step)
    for _ in range(5):
        assert compiled(X).tolist() == [2.0, 2.0]


def written_to(file: Any) -> Callable[[Any], Any]:
    def step(a: Any) -> Any:
        file.write("x")
        return a * 2

    return step


def logged_to(file: Any) -> Callable[[Any], Any]:
    logger = logging.Logger("of a test")
    logger.addHandler(logging.StreamHandler(file))

    def step(a: Any) -> Any:
        logger.warning("x")
        return a * 2

    return step


@pytest.mark.parametrize("writing", [written_to, logged_to])
def test_a_step_that_writes_warns(writing: Callable[[Any], Any]) -> None:
    compiled: Any = ac.compile(writing(io.StringIO()))
    with pytest.warns(
        CompileWarning, match="prints text, or writes .* only while the function is"
    ):
        compiled(X)


class Keeping(logging.Handler):
    """A handler that writes and keeps messages, as a program's own may."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.records = io.StringIO(), []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.file.write(record.getMessage())


def test_what_is_logged_while_kernels_are_found_is_no_effect() -> None:
    logger, handler = logging.getLogger("autocalc"), Keeping()
    level, x = logger.level, ac.ones(2)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        ac.kernels.reload()
        step = ac.compile(lambda a, k: a * k)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CompileWarning)
            for k in (2.0, 3.0, 4.0, 5.0):
                assert step(x, k).tolist() == [k, k]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert step.programs
    if not handler.records:
        pytest.skip("no kernel set is refused here, so that nothing is logged")
