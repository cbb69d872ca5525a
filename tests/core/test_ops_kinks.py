# SPDX-License-Identifier: MIT
"""Gradients where they are a matter of choice: ties, kinks, zeros, NaN, no history."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import AutocalcWarning, ShapeError
from autocalc.testing import gradgradcheck

F = ac.nn.functional


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.amax(), [0.5, 0.5, 0.0]),
        (lambda x: x[:2].amin(), [0.5, 0.5, 0.0]),
        (lambda x: x.max(0)[0], [1.0, 0.0, 0.0]),
        (lambda x: ac.maximum(x, ac.full((3,), 2.0)).sum(), [0.5, 0.5, 0.0]),
        (lambda x: ac.minimum(x, ac.full((3,), 2.0)).sum(), [0.5, 0.5, 1.0]),
        (lambda x: x.clamp(min=2.0).sum(), [1.0, 1.0, 0.0]),
        (lambda x: (x - 2.0).abs().sum(), [0.0, 0.0, -1.0]),
        (lambda x: (x - 2.0).relu().sum(), [0.0, 0.0, 0.0]),
    ],
)
def test_ties_and_kinks(function, expected):
    x = ac.tensor([2.0, 2.0, 1.0], requires_grad=True)
    function(x).backward()
    assert x.grad.tolist() == expected


def test_powers_of_zero_have_finite_gradients():
    x = ac.tensor([0.0, 0.0, 0.0], requires_grad=True)
    e = ac.tensor([0.0, 1.0, 2.0], requires_grad=True)
    (x**e).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]
    assert e.grad.tolist() == [0.0, 0.0, 0.0]
    assert gradgradcheck(
        lambda x: x**3, ac.zeros(2, dtype=ac.float64, requires_grad=True)
    )


def test_nan_flows_to_both_of_a_maximum_and_to_none_of_a_clamp():
    nan = float("nan")
    a, b = (ac.tensor([v], requires_grad=True) for v in (nan, 1.0))
    ac.maximum(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (1.0, 1.0)
    c = ac.tensor([nan], requires_grad=True)
    c.clamp(0, 1).backward()
    assert c.grad.item() == 0.0


NAN = float("nan")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (ac.max, [0.5, 0.0, 0.5]),
        (ac.min, [0.5, 0.0, 0.5]),
        (ac.amax, [NAN, NAN, NAN]),
        (ac.amin, [NAN, NAN, NAN]),
        (lambda x: x.max(0)[0], [1.0, 0.0, 0.0]),
        (lambda x: x.median(0)[0], [1.0, 0.0, 0.0]),
        (lambda x: x.quantile(0.5), [0.0, 0.0, 1.0]),
        (lambda x: x.nanquantile(0.5), [0.0, 1.0, 0.0]),
        (lambda x: ac.fmax(x, ac.ones(3)).sum(), [0.0, 1.0, 0.0]),
        (lambda x: ac.fmin(x, ac.full((3,), 2.0)).sum(), [0.0, 1.0, 0.0]),
        (lambda x: x.abs().sum(), [0.0, 1.0, 0.0]),
    ],
)
def test_gradients_where_elements_are_nan(function, expected):
    x = ac.tensor([NAN, 2.0, NAN], requires_grad=True)
    function(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_extremes_of_all_are_right_to_second_order_without_nan():
    x = ac.tensor([1.0, 4.0, 2.0], dtype=ac.float64, requires_grad=True)
    assert gradgradcheck(lambda x: x.max() ** 2 * x.min(), x)


@pytest.mark.parametrize("function", [ac.max, ac.min])
def test_there_is_no_extreme_of_nothing(function):
    with pytest.raises(ShapeError, match=r"of shape \(0,\) has no elements"):
        function(ac.ones(0))


def orders(function, *values, count=3):
    """Return the derivatives of a function of one number at each value."""
    x = ac.tensor(values, dtype=ac.float64, requires_grad=True)
    y, found = function(x), []
    for _ in range(count):
        slope = ac.zeros_like(x)
        if y.requires_grad:
            (slope,) = ac.autograd.grad(y.sum(), x, create_graph=True)
        y = slope
        found.append(slope.tolist())
    return found


INF = float("inf")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (ac.sqrt, [INF, -INF, INF]),
        (lambda x: x**0.5, [INF, -INF, INF]),
        (lambda x: x**1.5, [0.0, INF, -INF]),
        (lambda x: x**0, [0.0, 0.0, 0.0]),
        (lambda x: x**1, [1.0, 0.0, 0.0]),
        (lambda x: x**2, [0.0, 2.0, 0.0]),
        (lambda x: x**3, [0.0, 0.0, 6.0]),
        (ac.sinc, [0.0, -(np.pi**2) / 3, 0.0]),
    ],
)
def test_three_derivatives_at_zero(function, expected):
    assert np.ravel(orders(function, 0.0)).tolist() == pytest.approx(expected)


def test_lengths_and_angles_at_zero_have_no_second_derivative():
    for function in (ac.norm, lambda x: ac.nn.functional.normalize(x, dim=0)):
        first, second = orders(function, 0.0, 0.0, count=2)
        assert not np.isnan(first).any()
        assert np.isnan(second).all()
    first, second = orders(lambda x: ac.atan2(x[0], x[1]), 0.0, 0.0, count=2)
    assert first == [0.0, 0.0]
    assert np.isnan(second).all()
    assert np.isnan(orders(lambda x: ac.hypot(x[0], x[1]), 0.0, 0.0)).all()


@pytest.mark.parametrize("order", [0.5, 1.5, 3.0, 4.0, -1.0])
def test_norms_of_other_orders_have_finite_slopes_at_zero(order):
    (first,) = orders(lambda x: ac.linalg.vector_norm(x, order), 0.0, 0.0, count=1)
    assert first == [0.0, 0.0]
    x = ac.tensor([0.0, 2.0], requires_grad=True)
    ac.linalg.vector_norm(x, order).backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_the_ends_of_acosh_and_logit_have_infinite_slopes():
    assert orders(ac.acosh, 1.0, count=1) == [[INF]]
    assert orders(ac.logit, 0.0, 1.0, count=1) == [[INF, INF]]


def test_the_size_of_zero_has_no_slope_whatever_its_sign():
    (slope,) = orders(lambda x: ac.copysign(x, -1.0), 0.0, 2.0, count=1)
    assert slope == [0.0, -1.0]


def test_the_norm_of_order_0_counts_nan():
    assert ac.linalg.vector_norm(ac.tensor([NAN, 0.0, 3.0]), 0).item() == 2.0


def test_the_spread_of_equal_values():
    x = ac.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    y = ac.ones(1, requires_grad=True)
    with pytest.warns(AutocalcWarning, match="var: degrees of freedom is <= 0"):
        y.var().backward()
    assert np.isnan(y.grad.item())


def test_integers_in_the_graph_get_no_gradient():
    x = ac.tensor([1.5, 2.5], requires_grad=True)
    assert not x.long().requires_grad
    assert not (x > 2).requires_grad
    assert not x.argmax().requires_grad


def test_gradients_keep_the_dtype_through_casts():
    x = ac.tensor([1.0, 2.0], requires_grad=True)
    (x.double() * 2).sum().backward()
    assert x.grad.dtype is ac.float32
    y = ac.tensor([1.0, 2.0], dtype=ac.float64, requires_grad=True)
    (y * ac.tensor(3.0)).sum().backward()
    assert y.grad.dtype is ac.float64


@pytest.mark.parametrize("function", [F.silu, F.gelu, F.softplus])
def test_activations_have_second_and_third_derivatives_at_zero(function):
    """Where a decomposition by |x| has a kink."""
    x = ac.zeros(1, dtype=ac.float64, requires_grad=True)
    (first,) = ac.autograd.grad(function(x), x, create_graph=True)
    (second,) = ac.autograd.grad(first, x, create_graph=True)
    (third,) = ac.autograd.grad(second, x)
    at_zero = {
        "silu": (0.5, 0.5, 0.0),
        "gelu": (0.5, 2 / np.sqrt(2 * np.pi), 0.0),
        "softplus": (0.5, 0.25, 0.0),
    }
    found = (first.item(), second.item(), third.item())
    assert found == pytest.approx(at_zero[function.__name__], abs=1e-12)


def test_the_padding_row_gets_no_gradient():
    w = ac.ones(3, 2, requires_grad=True)
    F.embedding(ac.tensor([0, 2, 2]), w, padding_idx=-1).sum().backward()
    assert w.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    "name",
    [
        *("elu", "celu", "selu", "mish", "hardswish", "silu", "hardsigmoid", "relu"),
        *("leaky_relu", "relu6", "hardtanh"),
    ],
)
def test_written_into_the_input_the_gradient_is_the_same(name):
    x = ac.randn(3, 4, dtype=ac.float64, requires_grad=True)
    hidden = x * 2
    y = getattr(F, name)(hidden, inplace=True)
    assert y is hidden
    (mine,) = ac.autograd.grad((y * y).sum(), [x])
    z = getattr(F, name)(x * 2)
    (expected,) = ac.autograd.grad((z * z).sum(), [x])
    assert mine.tolist() == expected.tolist()


def test_infinities_have_slopes():
    x = ac.tensor([float("inf"), -float("inf"), 1e30], requires_grad=True)
    for function, slopes in (
        (F.hardswish, [1, 0, 1]),
        (F.relu6, [0, 0, 0]),
        (F.elu, [1, 0, 1]),
        (F.leaky_relu, [1, pytest.approx(0.01), 1]),
        (lambda x: F.huber_loss(x, ac.zeros(3), "none"), [1, -1, 1]),
    ):
        (grad,) = ac.autograd.grad(function(x).sum(), [x])
        assert grad.tolist() == slopes


def test_a_certain_and_wrong_probability_is_led_away():
    p = ac.tensor([0.0, 1.0, 0.0], requires_grad=True)
    t = ac.tensor([1.0, 0.0, 0.0])
    loss = F.binary_cross_entropy(p, t, reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0]
    loss.sum().backward()
    low, high, right = p.grad.tolist()
    assert low < -1e11
    assert high > 1e11
    assert right == 1.0  # d/dp of -log(1 - p)


def test_exponentials_are_precise_near_0():
    x = ac.tensor([-1e-6], dtype=ac.float32)
    for function in (F.elu, F.celu):
        assert function(x).item() == pytest.approx(-1e-6, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_copysign_is_flat_in_what_gives_the_sign(dtype):
    dtype = getattr(ac, dtype)
    x = ac.tensor([[2.0], [-3.0]], dtype=dtype, requires_grad=True)
    y = ac.tensor([-1.0, 0.0, 1.0], dtype=dtype, requires_grad=True)
    ac.copysign(x, y).sum().backward()
    assert (y.grad.shape, y.grad.dtype) == (y.shape, dtype)
    assert y.grad.tolist() == [0, 0, 0]
    assert x.grad.tolist() == [[1], [-1]]
