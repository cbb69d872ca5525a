# SPDX-License-Identifier: MIT
"""Composites whose reference and decomposition are one formula.

Neither proves the other, so both are held to another algorithm; a formula that is off
by a thousandth, in any of its outputs, is found.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from tests.kernels.independent.cases import CASES

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._plugin import load
from autocalc._kernels.adapter import quietly
from autocalc._kernels.formula import over_kernels
from autocalc._kernels.table import PRIMITIVES, TABLE
from autocalc.testing._namespace import Namespace

pytestmark = pytest.mark.core

FLOAT64 = np.dtype(np.float64)

#: What differences of float64 are off by, in parts of the largest element.
NEAR = 1e-7

FORMULAS = sorted(
    name for name, spec in TABLE.items() if hasattr(spec.decomposition, "__wrapped__")
)


@functools.cache
def primitives():
    return Namespace({name: load()[name] for name in PRIMITIVES})


@functools.cache
def cases(name):
    return tuple(CASES[name]())


def check(name, function, namespace):
    """Raise unless a function answers what another algorithm does."""
    spec = TABLE[name]
    for case in cases(name):
        every = (1 << len(spec.outputs)) - 1
        want = {"want": every} if any(o.optional for o in spec.outputs) else {}
        free = {} if case.shape is None else {"shape": case.shape, "dtype": FLOAT64}
        given = (*case.inputs, *case.attributes)
        found = quietly(function, namespace, *given, **want, **free)
        found = (found,) if len(spec.outputs) == 1 else found
        assert len(found) >= len(case.expected)
        for one, expected in zip(found, case.expected, strict=False):
            if expected is not None:
                near = NEAR * np.abs(expected).max()
                np.testing.assert_allclose(one, expected, rtol=NEAR, atol=near)


def test_every_formula_has_another_algorithm():
    assert sorted(CASES) == FORMULAS


@pytest.mark.parametrize("name", FORMULAS)
def test_a_reference_equals_another_algorithm(name):
    check(name, TABLE[name].reference, numpy_xp)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_decomposition_equals_another_algorithm(name):
    check(name, TABLE[name].decomposition, primitives())


def spoiled(formula, output):
    """Return the formula, a thousandth off in one output."""

    def wrong(*args, **keywords):
        result = formula(*args, **keywords)
        if output is None:
            return _off(result)
        return [_off(one) if i == output else one for i, one in enumerate(result)]

    return wrong


def _off(result):
    if isinstance(result, (list, tuple)):
        return [_off(one) for one in result]
    if result is None:
        return None
    return ~result if result.dtype == bool else result * 1.001


@pytest.mark.parametrize("name", FORMULAS)
def test_a_wrong_formula_is_found(name):
    formula, n = TABLE[name].reference, len(TABLE[name].outputs)
    for output in (None,) if n == 1 else range(n):
        wrong = spoiled(formula, output)
        with pytest.raises(AssertionError):
            check(name, wrong, numpy_xp)
        with pytest.raises(AssertionError):
            check(name, over_kernels(wrong), primitives())
