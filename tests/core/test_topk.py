# SPDX-License-Identifier: MIT
"""The largest and smallest of long lines: the first of the sorted ones."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

SHAPES = [((3000,), 0), ((4, 700), 1), ((700, 4), 0), ((3, 40, 5), 1), ((2, 33), 1)]


def lines(shape, dtype):
    """Return numbers among which many are equal; of floats some are special."""
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) * 30).astype(dtype)
    if np.dtype(dtype).kind == "f":
        for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.random(shape) < 0.03] = value
    return ac.tensor(x)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "u1"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("largest", [True, False])
def test_topk_is_the_beginning_of_what_is_sorted(dtype, shape, axis, largest):
    x = lines(shape, dtype)
    sorted_values, order = ac.sort(x, axis, largest, stable=True)
    for k in (0, 1, 2, 17, shape[axis] // 3, shape[axis]):
        values, places = ac.topk(x, k, axis, largest)
        np.testing.assert_array_equal(places.numpy(), order.narrow(axis, 0, k).numpy())
        first = sorted_values.narrow(axis, 0, k).numpy()
        np.testing.assert_array_equal(values.numpy(), first)


@pytest.mark.parametrize("order", [1, -1])
def test_topk_of_a_line_in_order(order):
    x = ac.arange(5000.0) * order
    values, places = ac.topk(x, 30)
    expected = np.arange(4999, 4969, -1) if order > 0 else np.arange(30)
    assert places.tolist() == expected.tolist()
    assert values.tolist() == (expected * order).tolist()


def test_topk_gives_its_gradient_to_what_it_found():
    x = ac.tensor([3.0, 1.0, 2.0, 5.0], requires_grad=True)
    ac.topk(x, 2).values.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_kthvalue_is_the_last_of_the_k_smallest():
    x = lines((5, 300), "f4").nan_to_num()
    for k in (1, 9, 300):
        value, _ = ac.kthvalue(x, k, 1)
        expected = np.sort(x.numpy(), axis=1)[:, k - 1]
        np.testing.assert_array_equal(value.numpy(), expected)
