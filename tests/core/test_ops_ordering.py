# SPDX-License-Identifier: MIT
"""Products, scans, sorting and counting: values, errors."""

from __future__ import annotations

import math

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

ROWS = [[0.7, -1.3, 2.1, 0.4], [1.9, 0.3, -0.6, 1.2], [-0.9, 1.6, 0.8, -2.2]]


def leaf(values=ROWS):
    return ac.tensor(values, dtype=ac.float64, requires_grad=True)


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
    with pytest.raises(ArgumentError, match=r"topk: `k` is 5 for 4 elements along"):
        ac.topk(ac.ones(4), 5)


def test_median_is_the_lower_one_and_nan_wins():
    assert ac.median(ac.tensor([4, 1, 3, 2])).item() == 2
    found = ac.median(ac.tensor([[1.0, math.nan, 0.0], [5.0, 4.0, 9.0]]), 1)
    assert math.isnan(found.values[0].item())
    assert found.indices.tolist() == [1, 0]
    assert math.isnan(ac.median(ac.ones(0)).item())
    with pytest.raises(
        ShapeError, match=r"median: Expected reduction dim 0 to have non-zero"
    ):
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
    with pytest.raises(DTypeError, match="expected BoolTensor for mask, not int64"):
        x.masked_select(x)


def test_var_takes_unbiased_alone():
    x = ac.tensor([1.0, 2.0, 4.0])
    assert x.var(False).item() == pytest.approx(14 / 9)
    assert ac.std(x, True).item() == pytest.approx((7 / 3) ** 0.5)


def test_an_extremum_over_an_axis_that_is_not_empty():
    assert ac.amax(ac.ones(2, 0), 0).shape == (0,)
    with pytest.raises(
        ShapeError, match=r"amin: Expected reduction dim 1 to have non-zero"
    ):
        ac.amin(ac.ones(2, 0), 1)
