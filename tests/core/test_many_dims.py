# SPDX-License-Identifier: MIT
"""Tensors of 9 to 64 dimensions: every function is held to the same of few."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from tests.core import many_dims_calls as calls

import autocalc as ac
from autocalc.errors import AutocalcError, ShapeError

pytestmark = pytest.mark.core

FUNCTIONS = calls.functions()
OPERANDS = {name: calls.Operands(layout) for name, layout in calls.LAYOUTS.items()}
MOST = calls.Operands(calls.MOST)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tensors(found):
    """Return the results that are tensors, in float64 where they have parts."""
    if isinstance(found, (tuple, list)):
        return [x for one in found for x in tensors(one)]
    if not isinstance(found, ac.Tensor):
        return [ac.tensor(found)] if isinstance(found, (bool, int, float)) else []
    halves = {ac.float16, ac.bfloat16, ac.float32}
    return [found.double() if found.dtype in halves else found]


def elements(x):
    return x.detach().numpy().reshape(-1)


def same(got, want):
    got, want = tensors(got), tensors(want)
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(elements(x), elements(y), rtol=1e-8, atol=1e-9)


def laid_out(text, name):
    """Return the layouts in which a call can be made."""
    writes = calls.bare(name).endswith("_") or ".put_" in text
    return [key for key, one in calls.LAYOUTS.items() if not (writes and one.repeat)]


BATCHED = [
    name
    for name in calls.names()
    if not calls.takes_few(name) and calls.bare(name) not in calls.NUMPY
]


@pytest.mark.parametrize("name", BATCHED)
def test_many_leading_dimensions_are_as_one(name):
    function = FUNCTIONS[name]
    text = calls.call_of(name)
    assert text, f"{name} has no case: give it one in many_dims_calls.py"
    for layout in laid_out(text, name):
        operands = OPERANDS[layout]
        want = calls.run(text, function, operands.few())
        same(calls.run(text, function, operands.many()), want)
        derivatives(text, function, operands)


@pytest.mark.parametrize("name", BATCHED)
def test_as_many_dimensions_as_numpy_has(name):
    function, text = FUNCTIONS[name], calls.call_of(name)
    got = []
    with contextlib.suppress(ShapeError):  # the result or a step has one more
        got = [calls.run(text, function, MOST.many())]
    same(got, [calls.run(text, function, MOST.few())][: len(got)])
    assert got or calls.bare(name) in calls.ADDING


def first_and_second(text, function, few, x):
    """Return the first derivative by x of a weighted sum of results, and the second."""
    few["x"] = x if not isinstance(x, ac.Tensor) else x * 1.0
    found = [r for r in tensors(calls.run(text, function, few)) if r.requires_grad]
    if not found:
        return []
    weights = [ac.linspace(0.5, 1.5, r.numel(), dtype=r.dtype) for r in found]
    total = sum((r.reshape(-1) * w).sum() for r, w in zip(found, weights, strict=True))
    (g,) = ac.autograd.grad(total, x, create_graph=True, allow_unused=True)
    if g is None or not g.requires_grad:
        return [g]
    w = ac.linspace(0.5, 1.5, g.numel(), dtype=g.dtype)
    (h,) = ac.autograd.grad((g.reshape(-1) * w).sum(), x, allow_unused=True)
    return [g, h]


def derivatives(text, function, operands):
    few, many = operands.few(), operands.many()
    try:
        want = first_and_second(text, function, few, few["x"].requires_grad_())
    except AutocalcError:  # of what has no gradient, or no second one
        return
    got = first_and_second(text, function, many, many["x"].requires_grad_())
    same([g for g in got if g is not None], [g for g in want if g is not None])


@pytest.mark.parametrize("layout", calls.LAYOUTS)
@pytest.mark.parametrize(
    "name", [n for n in calls.names() if calls.bare(n) in calls.NUMPY]
)
def test_dimensions_that_differ_are_as_numpys(name, layout):
    text, expected = calls.NUMPY[calls.bare(name)]
    operands = OPERANDS[layout].many()
    want = calls.in_numpy(expected, operands)
    got = tensors(calls.run(text, FUNCTIONS[name], operands))
    for x, y in zip(got, want, strict=True):
        assert np.size(y) == x.numel()
        assert np.shape(y) == x.shape or np.ndim(y) < 5
        np.testing.assert_allclose(elements(x), np.reshape(y, -1), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in calls.names() if calls.takes_few(n)])
def test_what_takes_few_dimensions_says_so(name):
    function, many = FUNCTIONS[name], OPERANDS["contiguous"].many()
    text = calls.call_of(name)
    with pytest.raises((AutocalcError, TypeError)):
        calls.run(text or "f(x)", function, many)
