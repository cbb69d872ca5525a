# SPDX-License-Identifier: MIT
"""Products, scans, sorting and counting: values, gradients, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core

ROWS = [[0.7, -1.3, 2.1, 0.4], [1.9, 0.3, -0.6, 1.2], [-0.9, 1.6, 0.8, -2.2]]


def leaf(values=ROWS):
    return ac.tensor(values, dtype=ac.float64, requires_grad=True)


FUNCTIONS = {
    "prod": ac.prod,
    "prod of rows": lambda x: ac.prod(x, 1),
    "prod of columns": lambda x: x.prod(0, keepdim=True),
    "cumsum": lambda x: ac.cumsum(x, 1),
    "cumsum of columns": lambda x: x.cumsum(-2),
    "cumprod": lambda x: ac.cumprod(x, 1),
    "cumprod of columns": lambda x: x.cumprod(0),
    "sort": lambda x: ac.sort(x, 1).values,
    "sort down": lambda x: x.sort(0, descending=True)[0],
    "topk": lambda x: ac.topk(x, 2, 1).values,
    "topk smallest": lambda x: x.topk(3, 0, largest=False).values,
    "median": ac.median,
    "median of rows": lambda x: x.median(1).values,
    "median of columns": lambda x: x.median(0, keepdim=True).values,
    "mode": lambda x: ac.mode(x.round(decimals=0) + x, 1).values,
    "aminmax": lambda x: x.aminmax(dim=1).min * x.aminmax(dim=1).max,
    "nansum": lambda x: ac.nansum(x * x, 1),
    "nanmean": lambda x: ac.nanmean(x * x, 0),
    "var_mean": lambda x: ac.var_mean(x, 1)[0] * ac.var_mean(x, 1)[1],
    "std_mean": lambda x: ac.std_mean(x, (0, 1), correction=0)[0],
    "masked_select": lambda x: x.masked_select(x.detach() > 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    function = FUNCTIONS[name]
    assert gradcheck(function, leaf())
    assert gradgradcheck(lambda x: function(x * x * x), leaf())


@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_the_gradient_of_a_product_with_zeros(zeros):
    values = np.array([0.7, -1.3, 2.1, 0.4])
    values[:zeros] = 0
    assert gradcheck(ac.prod, leaf(values))
    if zeros < 3:  # the second derivative is that of the formula, also at 0
        assert gradgradcheck(ac.prod, leaf(values))


def test_the_gradient_of_running_products_with_zeros():
    for function, values in (
        (lambda x: x.cumprod(0), [0.7, 0.0, 2.1, 0.0, 0.4]),
        (lambda x: x.cumprod(0), [[0.0, 2.0], [3.0, 0.0]]),
    ):
        assert gradcheck(function, leaf(values))
        assert gradgradcheck(function, leaf(values))


def test_integers_are_taken_in_int64():
    x = ac.tensor([[2, 3], [4, 5]], dtype=ac.int8)
    for result in (x.prod(), x.cumsum(1), x.cumprod(0), x.bool().cumsum(0)):
        assert result.dtype is ac.int64
    assert x.prod().item() == 120
    assert x.cumsum(1).tolist() == [[2, 5], [4, 9]]
    assert x.cumprod(0).tolist() == [[2, 3], [8, 15]]
    assert x.prod(dtype=ac.float32).dtype is ac.float32
    assert ac.tensor(3).cumsum(0).item() == 3


def test_sorting_is_stable_and_puts_nan_last():
    x = ac.tensor([2.0, math.nan, 1.0, 2.0, 1.0])
    assert ac.argsort(x).tolist() == [2, 4, 0, 3, 1]
    assert ac.argsort(x, descending=True).tolist() == [1, 0, 3, 2, 4]
    assert ac.sort(ac.tensor(5.0)).values.item() == 5.0
    assert ac.msort(ac.tensor([[3, 1], [2, 2]])).tolist() == [[2, 1], [3, 2]]


def test_topk():
    values, indices = ac.topk(ac.tensor([3, 9, 1, 7]), 2)
    assert (values.tolist(), indices.tolist()) == ([9, 7], [1, 3])
    with pytest.raises(ArgumentError, match=r"topk: `k`=5 of 4 elements .* 0 to 4"):
        ac.topk(ac.ones(4), 5)


def test_median_is_the_lower_one_and_nan_wins():
    assert ac.median(ac.tensor([4, 1, 3, 2])).item() == 2
    found = ac.median(ac.tensor([[1.0, math.nan, 0.0], [5.0, 4.0, 9.0]]), 1)
    assert math.isnan(found.values[0].item())
    assert found.indices.tolist() == [1, 0]
    assert math.isnan(ac.median(ac.ones(0)).item())
    with pytest.raises(ShapeError, match=r"median: a tensor of shape \(0,\) has no"):
        ac.median(ac.ones(0).int())


def test_mode_is_the_smallest_of_the_most_frequent_and_nan_equals_nothing():
    values, indices = ac.mode(ac.tensor([[4, 2, 4, 2, 9], [1, 7, 7, 0, 7]]))
    assert (values.tolist(), indices.tolist()) == ([2, 7], [3, 4])
    values, indices = ac.tensor([[5, 1], [5, 0], [3, 0]]).mode(0, keepdim=True)
    assert (values.tolist(), indices.tolist()) == ([[5, 0]], [[1, 2]])
    found = ac.mode(ac.tensor([math.nan, math.nan, 2.0]))
    assert (found.values.item(), found.indices.item()) == (2.0, 2)
    assert ac.mode(ac.tensor(True)).indices.item() == 0
    with pytest.raises(ShapeError, match=r"mode: dimension 1 of shape \(2, 0\) has no"):
        ac.mode(ac.ones(2, 0))


def test_counting():
    x = ac.tensor([[0.0, 1.0, math.nan], [0.0, 0.0, 2.0]])
    assert ac.count_nonzero(x).item() == 3
    assert ac.count_nonzero(x, 0).tolist() == [0, 1, 2]
    assert ac.nonzero(x).tolist() == [[0, 1], [0, 2], [1, 2]]
    rows, columns = ac.nonzero(x, as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 0, 1], [1, 2, 2])
    assert ac.nonzero(ac.tensor(3)).shape == (1, 0)
    assert ac.nansum(x).item() == 3.0


def test_unique():
    x = ac.tensor([[3, 1], [2, 3]])
    values, inverse, counts = ac.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3]
    assert inverse.tolist() == [[2, 0], [1, 2]]
    assert counts.tolist() == [1, 1, 2]
    empty = ac.unique(ac.ones(0), return_counts=True)
    assert [part.shape for part in empty] == [(0,), (0,)]
    rows = ac.tensor([[2, 1], [1, 3], [2, 1]])
    values, inverse, counts = ac.unique(rows, True, True, True, dim=0)
    assert values.tolist() == [[1, 3], [2, 1]]
    assert (inverse.tolist(), counts.tolist()) == ([1, 0, 1], [1, 2])
    assert ac.unique(rows.t(), dim=1).tolist() == [[1, 2], [3, 1]]


def test_masked_select():
    x = ac.tensor([[1, 2], [3, 4]])
    assert x.masked_select(ac.tensor([True, False])).tolist() == [1, 3]
    with pytest.raises(DTypeError, match="`mask` has dtype int64; it must be bool"):
        x.masked_select(x)


def test_var_takes_unbiased_alone():
    x = ac.tensor([1.0, 2.0, 4.0])
    assert x.var(False).item() == pytest.approx(14 / 9)
    assert ac.std(x, True).item() == pytest.approx((7 / 3) ** 0.5)


def test_an_extremum_over_an_axis_that_is_not_empty():
    assert ac.amax(ac.ones(2, 0), 0).shape == (0,)
    with pytest.raises(ShapeError, match=r"amin: a tensor of shape \(2, 0\) has no el"):
        ac.amin(ac.ones(2, 0), 1)
