# SPDX-License-Identifier: MIT
"""The less common functions: values, ends of their ranges, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac


def test_ends_of_ranges():
    x = ac.tensor([-math.inf, -1e30, -0.0, 0.0, 1e-30, 1e30, math.inf])
    wanted = np.arcsinh(x.numpy().astype(np.float64))
    np.testing.assert_allclose(ac.asinh(x).numpy(), wanted, rtol=3e-7)
    small = ac.tensor([0.0, 0.0], requires_grad=True)
    (ac.asinh(small) + ac.sinc(small) + ac.xlogy(small, 2.0)).sum().backward()
    np.testing.assert_allclose(small.grad.numpy(), 1 + math.log(2), rtol=1e-6)
    assert ac.logaddexp(x[:1], x[:1]).item() == -math.inf
    assert ac.hypot(ac.tensor([3e30]), ac.tensor([4e30])).item() == pytest.approx(5e30)
    assert ac.signbit(x).tolist() == [True, True, True, False, False, False, False]
    assert ac.fmax(ac.tensor([math.nan]), ac.tensor([1.0])).item() == 1


def test_inplace_forms_and_other_names():
    x = ac.tensor([0.5])
    assert x.clone().arctanh_().item() == ac.atanh(x).item()
    assert x.clone().clip_(0.6).item() == ac.tensor(0.6).item()
    assert x.multiply(2).subtract(1).absolute().item() == 0
    assert (x.greater(0.1) & x.less_equal(0.5)).item()


test_what_they_refuse = refusals(
    r"""
    ac.bincount(ac.tensor([0, -1])) -> ArgumentError: bincount: only supports 1-d
    ac.bincount(ac.ones(2, 2, dtype=ac.int64)) -> ShapeError: bincount: `input` has
        shape \(2, 2\)
    ac.histc(ac.ones(2), 0) -> ArgumentError: histc: 0 bins from
    ac.kthvalue(ac.ones(3), 4) -> ArgumentError: kthvalue: `k` is 4 for 3 elements
    ac.quantile(ac.ones(3), 1.5) -> ArgumentError: quantile\(\) q must be in the range
    ac.quantile(ac.ones(3), 0.5, interpolation='x') -> ArgumentError: quantile.*
        interpolation must be one of
    ac.cdist(ac.ones(3), ac.ones(2, 3)) -> ShapeError: cdist: shapes \(3,\) and
    ac.cross(ac.ones(2), ac.ones(2)) -> DimensionError: cross: no dimension of shape
    ac.rot90(ac.ones(2, 2), 1, (0, 0)) -> DimensionError: rot90: `dims`=\(0, 0\)
    ac.put(ac.ones(3), ac.tensor([0, 1]), ac.ones(1)) -> ArgumentError: put: `source`
        has 1 elements for 2
    ac.searchsorted(ac.ones(3), 1.0, side='middle') -> ArgumentError: searchsorted:
        `side`='middle'
    ac.bucketize(1, ac.ones(2, 2)) -> ShapeError: bucketize: `boundaries` has shape
    ac.trapezoid(ac.ones(2), ac.ones(2), dx=2) -> ArgumentError: trapezoid: both `x` and
        `dx`=2
    ac.diff(ac.ones(3), -1) -> ArgumentError: diff: `n` is -1
    ac.combinations(ac.ones(())) -> ShapeError: combinations: `input` has shape
    ac.cartesian_prod() -> ShapeError: cartesian_prod: got nothing
    ac.block_diag(ac.ones(1, 1, 1)) -> ShapeError: block_diag: the shapes are \(1, 1,
    """,
    globals(),
)


def test_rot90_turns_as_numpy_does_a_copy():
    x = np.random.default_rng(0).normal(size=(3, 5, 40)).astype("f4")
    for turns in range(-2, 5):
        for dims in ((1, 2), (2, 1), (0, 2)):
            before = ac.tensor(x)
            turned = ac.rot90(before, turns, dims)
            assert turned.is_contiguous() == (turns % 2 == 0)
            np.testing.assert_array_equal(turned.numpy(), np.rot90(x, turns, dims))
            turned.zero_()
            np.testing.assert_array_equal(before.numpy(), x)
            turned = ac.rot90(before, turns, dims)
            np.testing.assert_array_equal(turned.numpy(), np.rot90(x, turns, dims))
