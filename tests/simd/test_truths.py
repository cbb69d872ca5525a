# SPDX-License-Identifier: MIT
"""Whether something holds of all elements, at any place of the one that breaks it."""

import math

import numpy as np
import pytest

import autocalc as ac

SIZES = [1, 7, 16, 255, 256, 257, 1000, 70_000]


def _truth(kernels, name, *arguments):
    out = np.empty((), np.bool_)
    kernels[name](out, *arguments)
    return out.item()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int16", "int64"])
@pytest.mark.parametrize("n", SIZES)
def test_one_element_that_differs_is_found(kernels, rng, set_team, dtype, n):
    set_team(3)
    a = rng.integers(-9, 9, n).astype(dtype)
    assert _truth(kernels, "equal", a, a.copy())
    for place in {0, n // 3, n // 2, n - 1}:
        b = a.copy()
        b[place] += 1
        assert not _truth(kernels, "equal", a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("value", [-1e-30, 1.0000002, math.nan, math.inf])
def test_one_element_that_lies_outside_is_found(kernels, rng, dtype, n, value):
    a = rng.random(n).astype(dtype)
    assert _truth(kernels, "between", a, 0.0, 1.0, 0)
    for place in {0, n // 3, n // 2, n - 1}:
        b = a.copy()
        b[place] = value
        assert not _truth(kernels, "between", b, 0.0, 1.0, 0)


def test_ends_are_float64_for_any_dtype(kernels):
    a = np.array([0.1], np.float32)  # above 0.1
    assert not _truth(kernels, "between", a, 0.0, 0.1, 0)
    assert _truth(kernels, "between", np.array([3e38], np.float32), 0.0, 1.7e308, 0)
    assert not _truth(kernels, "between", np.array([np.inf], "f4"), 0.0, 1.7e308, 0)


@pytest.mark.parametrize("n", [1, 30])
def test_tensors_that_lie_in_other_orders_are_equal(n):
    a = ac.arange(n * n, dtype=ac.float32).reshape(n, n)
    turned = a.T.contiguous().T
    assert ac.equal(a, turned)
    assert ac.equal(turned, a)
    assert ac.equal(a[:, :1].expand(n, n), a[:, :1] * ac.ones(n, n))
    assert not ac.equal(a + 1, turned)
    assert not ac.equal(a, a[:-1])
    assert not ac.equal(a / 0 * 0, a / 0 * 0)  # NaN
