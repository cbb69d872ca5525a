# SPDX-License-Identifier: MIT
"""Activations."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, GradError

X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize(
    ("module", "formula", "text"),
    [
        (nn.ReLU(), lambda x: np.maximum(x, 0), "ReLU()"),
        (nn.Tanh(), np.tanh, "Tanh()"),
        (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x)), "Sigmoid()"),
        (nn.Softmax(dim=1), lambda x: softmax(x, 1), "Softmax(dim=1)"),
        (nn.Softmax(0), lambda x: softmax(x, 0), "Softmax(dim=0)"),
        (nn.LogSoftmax(-1), lambda x: np.log(softmax(x, 1)), "LogSoftmax(dim=-1)"),
    ],
)
def test_values_and_repr(module, formula, text):
    y = module(ac.tensor(X)).numpy()
    np.testing.assert_allclose(y, formula(X), rtol=1e-5, atol=1e-6)
    assert repr(module) == text
    assert not list(module.parameters())


def test_softmax_needs_a_dimension():
    with pytest.raises(ArgumentError, match=r"softmax: `dim` is missing .* \(3, 4\)"):
        nn.Softmax()(ac.tensor(X))
    with pytest.raises(ArgumentError, match="log_softmax: `dim` is missing"):
        nn.LogSoftmax()(ac.tensor(X))


def test_relu_in_place_writes_and_keeps_the_gradient():
    module = nn.ReLU(inplace=True)
    assert repr(module) == "ReLU(inplace=True)"
    x = ac.tensor([-1.0, 2.0], requires_grad=True)
    hidden = x * 3
    y = module(hidden)
    assert y is hidden
    assert hidden.tolist() == [0, 6]
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 36]  # d (3x)^2 / dx = 18 x


def test_relu_in_place_on_a_leaf_is_refused():
    with pytest.raises(GradError, match="relu_: a leaf"):
        nn.functional.relu_(ac.ones(2, requires_grad=True))
    x = ac.tensor([-1.0, 1.0])
    assert nn.functional.relu_(x) is x
    assert x.tolist() == [0, 1]
