# SPDX-License-Identifier: MIT
"""Random programs: compiled they leave what eager code leaves.

Bit for bit without passes, and with those that do not change the order of arithmetic;
nearly so with all, in float64, and in float32, of which kernels know more fused forms.
"""

from __future__ import annotations

import contextlib
import gc
import random
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.compile.passes import PASSES, Compiled, ask_for_transposed, early_updates
from tests.compile.random_programs import ACTIONS, OPERATORS, Function, Step

import autocalc as ac
from autocalc.errors import CompileError, CompileWarning, GradError

CALLS = 5

#: How far values may be apart, in parts of the largest: passes round differently.
SINGLE, DOUBLE = 1e-4, 1e-9

#: Passes that round differently.
REORDERING = ("accumulate", "epilogues", "norm_epilogues", "transposed_weights")

numbers = st.integers(0, 59)
steps = st.lists(
    st.tuples(st.integers(0, len(OPERATORS) - 1), numbers, numbers, numbers),
    min_size=5,
    max_size=60,
)


def left(
    steps: list[Step], dtype: Any, training: bool, off: Any, **words: Any
) -> list[list[Any]]:
    """Return all that can be seen after each call; `off` None runs eagerly."""
    function = Function(steps, dtype, training)
    run: Any = function
    if off is not None:
        run = Compiled(function.__call__, off=off, **words)
    ac.manual_seed(6)
    found = []
    for call in range(CALLS):
        arguments = function.arguments(call)
        results = run(*arguments)
        arrays = [np.array(x.numpy()) for x in (*results, *arguments)]
        found.append([*arrays, *function.seen()])
    if off is not None:
        assert run.programs, "nothing was replayed"
    return found


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let passes that are for large tensors, or few rows, change small programs too."""
    monkeypatch.setattr(early_updates, "PART", 1)
    monkeypatch.setattr(early_updates, "KEPT", 1)
    ask_for_transposed(monkeypatch)


@contextmanager
def without_callbacks() -> Iterator[None]:
    """Leave out what Hypothesis runs when garbage is collected: it is Python, too."""
    before = gc.callbacks[:]
    gc.callbacks.clear()
    try:
        yield
    finally:
        gc.callbacks[:] = before


def check(steps: list[Step], training: bool) -> None:
    with np.errstate(all="ignore"), without_callbacks():
        try:
            eager = left(steps, ac.float32, training, None)
        except GradError:  # a value that backward needs was written
            return
        for off in (tuple(PASSES), REORDERING):
            same(eager, left(steps, ac.float32, training, off), exact=True)
        same(eager, left(steps, ac.float32, training, ()), exact=False)
        eager = left(steps, ac.float64, training, None)
        same(eager, left(steps, ac.float64, training, ()), exact=False)


def same(want: Any, have: Any, *, exact: bool, single: bool = False) -> None:
    """Compare; `single`: what is float64 now was float32 before."""
    for call, (a, b) in enumerate(zip(want, have, strict=True)):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            where = f"call {call}, array {i}"
            assert (x is None) == (y is None), where
            if x is None:
                continue
            assert (x.shape, x.dtype) == (y.shape, y.dtype), where
            if exact:
                assert np.array_equal(x, y, equal_nan=True), where
                continue
            scale = np.abs(x[np.isfinite(x)]).max(initial=1e-3)
            most = SINGLE if single or x.dtype == np.float32 else DOUBLE
            np.testing.assert_allclose(y, x, most, most * scale, err_msg=where)


quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("training", [False, True])
@given(steps=steps)
@settings(quick, max_examples=40)
def test_programs_leave_what_eager_code_leaves(steps: Any, training: bool) -> None:
    check(steps, training)


def refused(steps: list[Step], training: bool) -> str:
    """Return why a program does not do without temporaries; "" if it does."""
    try:
        left(steps, ac.float32, training, REORDERING, limit=0)
    except CompileError as error:
        return str(error)
    return ""


def check_limits(steps: list[Step], training: bool) -> None:
    """Check programs that make values again to fit into less memory."""
    with np.errstate(all="ignore"), without_callbacks(), warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        try:
            eager = left(steps, ac.float32, training, None)
        except GradError:
            return
        refusal = refused(steps, training)
        if not refusal:  # it has no temporaries
            return
        found = re.search(r"need ([\d,]+) bytes.*; ([\d,]+) are", refusal)
        assert found is not None, refusal
        most, least = (int(one.replace(",", "")) for one in found.groups())
        for limit in {least, (least + most) // 2}:
            words = {"limit": limit}
            have = left(steps, ac.float32, training, REORDERING, **words)
            same(eager, have, exact=True)


@pytest.mark.parametrize("training", [False, True])
@given(steps=steps)
@settings(quick, max_examples=15)
def test_programs_keep_limits_of_memory(steps: Any, training: bool) -> None:
    check_limits(steps, training)


@pytest.mark.long
@pytest.mark.parametrize("training", [False, True])
@given(steps=steps)
@settings(quick, max_examples=5000, derandomize=False)
def test_many_programs(steps: Any, training: bool) -> None:
    check(steps, training)


#: Operators of a program with actions, at least.
OPERATIONS = 60


def with_actions(
    seed: int, off: Any = None, without: Any = (), acted: Any = None
) -> list[list[Any]]:
    """Return what can be seen after each call of a program with actions between.

    `without`: actions that are left out; `acted` collects those that there are.
    """
    draw = random.Random(seed)
    steps = [
        tuple(draw.randrange(60) for _ in range(4))
        for _ in range(draw.randint(OPERATIONS, OPERATIONS + 20))
    ]
    dtype = ac.float32 if seed % 4 == 0 else ac.float64
    function = Function(steps, dtype, training=seed % 2 == 0)  # type: ignore[arg-type]
    run: Any = function if off is None else Compiled(function.__call__, off=off)
    ac.manual_seed(6)
    found = []
    first = draw.randint(1, 3)
    for call in range(first + 6):
        if call in {first, first + 3}:  # two recordings agree before the next one
            for _ in range(draw.randint(1, 2)):
                action, k = draw.choice(list(ACTIONS)), draw.randrange(60)
                if acted is not None:
                    acted.add(action)
                if action not in without:
                    function.change(action, k)
        arguments = function.arguments(call)
        results = run(*arguments)
        arrays = [np.array(x.numpy()) for x in (*results, *arguments)]
        found.append([*arrays, *function.seen()])
    return found


def check_actions(seed: int) -> None:
    with np.errstate(all="ignore"), without_callbacks():
        try:
            eager = with_actions(seed)
        except GradError:
            return
        arrays = (x for call in eager for x in call if x is not None)
        single = any(x.dtype == np.float32 for x in arrays)
        same(eager, with_actions(seed, ()), exact=False, single=single)


#: A program that each action changes; those before take a minute with the reference.
CHANGED = {"load_state_dict": 24}


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_that_no_program_sees_is_found(action: str) -> None:
    """What is compared depends on each action, by more than it may be apart."""
    for seed in range(CHANGED.get(action, 0), 60):
        acted: set[str] = set()
        with np.errstate(all="ignore"), contextlib.suppress(GradError):
            eager = with_actions(seed, acted=acted)
            if action in acted and differ(eager, with_actions(seed, without={action})):
                return
    pytest.fail(f"no program depends on {action}")


def differ(want: Any, have: Any) -> bool:
    try:
        same(want, have, exact=False)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("block", range(4))
def test_programs_with_actions_between_calls(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        check_actions(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_many_programs_with_actions_between_calls(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        check_actions(seed)
