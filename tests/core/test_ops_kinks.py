# SPDX-License-Identifier: MIT
"""Gradients where they are a matter of choice: ties, kinks, zeros, NaN, no history."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
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


def test_the_spread_of_equal_values():
    x = ac.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    y = ac.ones(1, requires_grad=True)
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
