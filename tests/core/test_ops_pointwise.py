# SPDX-License-Identifier: MIT
"""The elementwise functions beyond the primitives: values, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError, KernelDataError
from autocalc.errors import ShapeError as Shape

pytestmark = pytest.mark.core

NUMPY = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2}


def leaf(*values):
    return ac.tensor(values, dtype=ac.float64, requires_grad=True)


SMALL = (-0.83, -0.4, 0.15, 0.6, 0.9)


def test_the_angle_at_the_origin_has_the_gradient_0():
    y, x = leaf(0.0), leaf(0.0)
    ac.atan2(y, x).backward(ac.tensor([1.0], dtype=ac.float64))
    assert y.grad.tolist() == x.grad.tolist() == [0.0]


@pytest.mark.parametrize("dtype", [ac.float32, ac.float64])
@pytest.mark.parametrize("name", ["exp2", "expm1", "log1p", "tan", "asin", "cosh"])
def test_values(name, dtype):
    x = ac.tensor(SMALL, dtype=dtype)
    result = getattr(ac, name)(x)
    assert result.dtype is dtype
    expected = NUMPY.get(name, getattr(np, name, None))(x.numpy().astype(np.float64))
    np.testing.assert_allclose(result.numpy(), expected, 1e-6)
    np.testing.assert_array_equal(getattr(x, name)().numpy(), result.numpy())
    np.testing.assert_array_equal(getattr(x, f"{name}_")().numpy(), result.numpy())


def test_whole_quotients_and_what_they_leave():
    a, b = ac.tensor([7, -7, 7, -7]), ac.tensor([2, 2, -2, -2])
    assert (a // b).tolist() == [3, -4, -4, 3]
    assert (a % b).tolist() == [1, 1, -1, -1]
    assert ac.fmod(a, b).tolist() == [1, -1, 1, -1]
    assert ac.div(a, b, rounding_mode="trunc").tolist() == [3, -3, -3, 3]
    assert (9 // ac.tensor([2, 4])).tolist() == [4, 2]
    assert (9 % ac.tensor([2.0, 4.0])).tolist() == [1.0, 1.0]
    assert (a / b).dtype is ac.float32


def test_dividing_an_integer_by_zero_is_an_error():
    for function in (ac.floor_divide, ac.remainder, ac.fmod):
        with pytest.raises(KernelDataError, match="an integer is divided by 0"):
            function(ac.tensor([1, 2]), ac.tensor([1, 0]))
    assert (ac.tensor([1.0]) // 0).tolist() == [math.inf]


def test_an_unknown_rounding_mode():
    with pytest.raises(ArgumentError, match=r"`rounding_mode` is 'up'; it must be"):
        ac.div(ac.ones(2), 2, rounding_mode="up")


def test_bits():
    a, b = ac.tensor([0b1100, -1]), ac.tensor([0b1010, 6])
    assert (a & b).tolist() == [0b1000, 6]
    assert (a | b).tolist() == [0b1110, -1]
    assert (a ^ b).tolist() == [0b0110, -7]
    assert (~a).tolist() == [-13, 0]
    assert (a << 2).tolist() == [48, -4]
    assert (a >> 2).tolist() == [3, -1]
    assert (1 << ac.tensor([3])).tolist() == [8]
    true = ac.tensor([True, False])
    assert (~true).tolist() == [False, True]
    assert (true & 3).dtype is ac.int64
    a &= b
    assert a.tolist() == [0b1000, 6]
    with pytest.raises(DTypeError, match="bitwise_and: `a` is float32; it must be"):
        ac.ones(2) & ac.ones(2)


def test_logic_takes_what_is_not_zero_as_true():
    a, b = ac.tensor([0.0, 2.0, math.nan]), ac.tensor([1, 0, 5])
    assert ac.logical_and(a, b).tolist() == [False, False, True]
    assert ac.logical_or(a, b).tolist() == [True, True, True]
    assert ac.logical_xor(a, b).tolist() == [True, True, False]
    assert ac.logical_not(a).tolist() == [True, False, False]


def test_what_a_number_is():
    x = ac.tensor([math.nan, math.inf, -math.inf, 1.0])
    assert x.isnan().tolist() == [True, False, False, False]
    assert x.isinf().tolist() == [False, True, True, False]
    assert x.isfinite().tolist() == [False, False, False, True]
    assert x.sign().tolist() == [0.0, 1.0, -1.0, 1.0]
    largest = float(np.finfo(np.float32).max)
    assert x.nan_to_num().tolist() == [0.0, largest, -largest, 1.0]
    assert x.nan_to_num(5.0, 6.0, 7.0).tolist() == [5.0, 6.0, 7.0, 1.0]
    assert ac.tensor([1, 2]).isinf().tolist() == [False, False]
    assert ac.tensor([1, 2]).isfinite().tolist() == [True, True]
    assert ac.isclose(x, x, equal_nan=True).all()
    assert ac.isclose(x, x).tolist() == [False, True, True, True]


def test_round_to_digits():
    x = ac.tensor([1.25, 123.456, -0.05], dtype=ac.float64)
    assert ac.round(x, decimals=1).tolist() == [1.2, 123.5, -0.0]
    assert ac.round(x, decimals=-2).tolist() == [0.0, 100.0, -0.0]


def test_out_takes_the_result():
    out = ac.zeros(2, dtype=ac.float64)
    assert ac.exp(ac.zeros(2), out=out) is out
    assert ac.mul(out, 3, out=out).tolist() == [3.0, 3.0]
    assert ac.add(out, out, alpha=2, out=out).tolist() == [9.0, 9.0]
    with pytest.raises(Shape, match=r"`out` has shape \(1,\), but the result has"):
        ac.exp(ac.zeros(3), out=out[:1])
    with pytest.raises(DTypeError, match=r"Float can.t be cast to .* type Long"):
        ac.exp(ac.zeros(2), out=ac.zeros(2, dtype=ac.int64))
    with pytest.raises(GradError, match=r"functions with out=... arguments"):
        ac.exp(ac.zeros(2, requires_grad=True), out=ac.zeros(2))


def test_in_place_methods_have_a_history():
    x = leaf(0.3, 0.7)
    y = x * 2
    y.log1p_().pow_(2)
    y.sum().backward()
    expected = 2 * np.log1p([0.6, 1.4]) * 2 / (1 + np.array([0.6, 1.4]))
    np.testing.assert_allclose(x.grad.numpy(), expected)
    with pytest.raises(GradError, match="exp2_: a leaf Variable that requires grad is"):
        x.exp2_()
    with pytest.raises(DTypeError, match="exp_: result type Float"):
        ac.tensor([1]).exp_()


def test_positive_of_booleans():
    with pytest.raises(DTypeError, match="a tensor of bool has no sign"):
        ac.positive(ac.tensor([True]))
