# SPDX-License-Identifier: MIT
"""Transforms of functions inside of a compiled function."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.func import grad, hessian, jacfwd, jacrev, jvp, vmap

WEIGHT = ac.randn(3, 3, generator=ac.Generator().manual_seed(0))


def height(row):
    """Return a number for each row."""
    return (row @ WEIGHT).tanh().sum()


FUNCTIONS = {
    "vmap": vmap(height),
    "gradients of examples": vmap(grad(height)),
    "gradient of a batch": grad(lambda x: vmap(height)(x).sum()),
    "rows of a Jacobian": lambda x: jacrev(lambda row: row.sin() * row)(x[0]),
    "columns of a Jacobian": lambda x: jacfwd(lambda row: row.sin() * row)(x[0]),
    "hessian": lambda x: hessian(height)(x[0]),
    "direction": lambda x: jvp(height, (x[0],), (x[1],))[1],
    "nested": vmap(vmap(lambda a: a * a.exp())),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_compiled_transform_equals_the_eager_one(name):
    function = FUNCTIONS[name]
    compiled = ac.compile(function)
    generator = ac.Generator().manual_seed(1)
    for _ in range(5):
        x = ac.randn(5, 3, generator=generator)
        assert ac.allclose(compiled(x), function(x), atol=1e-6)


def test_a_replay_draws_new_numbers_for_each_example():
    compiled = ac.compile(vmap(lambda row: row + ac.rand(3), randomness="different"))
    found = [compiled(ac.zeros(4, 3)) for _ in range(5)]
    values = {round(value, 6) for y in found for value in y.flatten().tolist()}
    assert len(values) == 5 * 4 * 3


CIRCLE = [ac.ones(2)]
CIRCLE.append(CIRCLE)


def test_a_list_that_contains_itself_is_read():
    step = ac.compile(lambda x: x * CIRCLE[0] + len(CIRCLE))
    for _ in range(3):
        assert ac.equal(step(ac.ones(2)), ac.full((2,), 3.0))
