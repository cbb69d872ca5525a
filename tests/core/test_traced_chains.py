# SPDX-License-Identifier: MIT
"""Elementwise kernels of short programs run in one pass where a set fuses them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compile.parts import LEAST, Make, Run
from tests.core.test_traced import OFTEN
from tests.dispatcher import registry
from tests.operator_table import short_calls

import autocalc as ac

SIDE = 100
MANY = SIDE * SIDE
assert MANY > LEAST


def fuses() -> bool:
    """Return whether the best set of kernels makes chains."""
    known = registry().sets.get(ac.kernels.explain("add", ac.ones(1)).chosen)
    return known is not None and known.fuser is not None


pytestmark = pytest.mark.skipif(
    not fuses(), reason="the kernels in use are not fused by their package"
)


def random(*shape: int, seed: int = 0) -> ac.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype("f4")
    return ac.from_numpy(values)


def recorded(function, *tensors):
    """Return the steps of a function's short program."""
    inputs = tuple([x._array for x in tensors])
    _, call = short_calls.record(function, tensors, {}, inputs)
    assert call is not None
    return call.steps.steps


def chains(steps) -> list[int]:
    """Return of how many arrays each chain is: what it writes, and what it reads."""
    return [
        tuple(map(len, step.operands[:2]))
        for step in steps
        if isinstance(step, Run) and isinstance(step.operands[0], tuple)
    ]


def kernels(steps) -> int:
    return sum(isinstance(step, Run) for step in steps)


def arrays_made(steps) -> int:
    return sum(isinstance(step, Make) for step in steps)


def test_kernels_that_follow_each_other_are_one_and_what_they_share_is_not_written():
    steps = recorded(lambda x, y: ((x - y).abs() * x).exp(), random(MANY), random(MANY))
    assert (kernels(steps), chains(steps), arrays_made(steps)) == (1, [(1, 2)], 1)


def test_numbers_and_operands_that_broadcast_are_inputs():
    steps = recorded(
        lambda x, row: (x * row + 1.5).sigmoid(), random(SIDE, SIDE), random(SIDE)
    )
    assert chains(steps) == [(1, 3)]


def test_what_somebody_else_needs_is_written():
    steps = recorded(lambda x: (x.exp() + 1).sum(0) + x.exp()[0], random(SIDE, SIDE))
    assert chains(steps)[0] == (2, 2)  # both exponentials, of which a row is read
    steps = recorded(lambda x: ((y := x.exp()), y + 1), random(MANY))
    assert chains(steps) == [(2, 2)]


def test_a_reduction_or_a_view_of_what_was_made_ends_a_chain():
    steps = recorded(lambda x: (x.exp() + 1).sum() * 2, random(MANY))
    assert (kernels(steps), len(chains(steps))) == (3, 1)
    steps = recorded(
        lambda x: (x.exp() + 1).reshape(SIDE, SIDE).T.neg().abs(), random(MANY)
    )
    assert len(chains(steps)) == 2


def test_small_arrays_and_other_shapes_are_left_alone():
    assert not chains(recorded(lambda x: (x + 1).exp(), random(SIDE)))
    steps = recorded(
        lambda x, y: x.exp() + (y.exp() * 2), random(SIDE, SIDE), random(1, SIDE)
    )
    assert (kernels(steps), chains(steps)) == (3, [(1, 2)])


def test_a_chain_as_long_as_the_set_takes_is_followed_by_another():
    def long(x):
        for _ in range(20):
            x = (x * 0.5).sin()
        return x

    steps = recorded(long, random(MANY))
    assert len(chains(steps)) > 1
    assert kernels(steps) < 10


FUNCTIONS = {
    "huber_loss": ac.nn.functional.huber_loss,
    "lerp": lambda x, y: ac.lerp(x, y, 0.3),
    "hardsigmoid": lambda x, y: ac.nn.functional.hardsigmoid(x),
    "softshrink": lambda x, y: ac.nn.functional.softshrink(x),
    "addcmul": lambda x, y: ac.addcmul(x, y, x, value=0.5),
    "isclose": ac.isclose,
    "lerp_": lambda x, y: x.clone().lerp_(y, 0.3),
    "clamp": lambda x, y: x.clamp(-0.5, 0.5) * y,
    "logit": lambda x, y: ac.logit(x, eps=0.1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_chain_gives_the_bits_of_its_kernels(name, threads, definitions):
    function, before = FUNCTIONS[name], ac.get_num_threads()
    ac.set_num_threads(threads)
    try:
        for seed in range(OFTEN + 3):
            x, y = (random(SIDE, SIDE, seed=2 * seed + i) for i in (0, 1))
            found, expected = function(x, y), definitions(function, x, y)
            assert found.numpy().tobytes() == expected.numpy().tobytes()
    finally:
        ac.set_num_threads(before)


def overwriting(function, *tensors):
    """Return the steps of a function that writes its first argument."""
    inputs = tuple([x._array for x in tensors])
    _, call = short_calls.record_write(function, tensors, {}, inputs)
    assert call is not None
    return call.steps.steps


def test_the_last_kernel_writes_over_the_tensor_and_nothing_is_copied():
    for function in (lambda x: x.copy_(x.floor()), lambda x: x.copy_(x * 2 + x)):
        steps = overwriting(function, random(MANY))
        assert (kernels(steps), arrays_made(steps)) == (1, 0)


def test_where_a_view_of_the_tensor_is_read_the_result_is_copied():
    x = random(SIDE, SIDE)
    expected = x.numpy() * x.numpy()[0] + x.numpy()[3]
    steps = overwriting(lambda x: x.copy_(x * x[0] + x[3]), x)
    assert arrays_made(steps) == 1
    np.testing.assert_array_equal(x.numpy(), expected)
