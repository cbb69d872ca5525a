# SPDX-License-Identifier: MIT
"""Activations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.testing import assert_close

F = nn.functional
PHI = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))
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
        (nn.SiLU(), lambda x: x / (1 + np.exp(-x)), "SiLU()"),
        (nn.GELU(), lambda x: x * PHI(x), "GELU(approximate='none')"),
        (
            nn.GELU("tanh"),
            lambda x: x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
            "GELU(approximate='tanh')",
        ),
        (
            nn.Softplus(),
            lambda x: np.log(1 + np.exp(x)),
            "Softplus(beta=1.0, threshold=20.0)",
        ),
        (
            nn.Softplus(2, 3),
            lambda x: np.where(2 * x > 3, x, np.log(1 + np.exp(2 * x)) / 2),
            "Softplus(beta=2, threshold=3)",
        ),
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


@pytest.mark.parametrize(("ndim", "guess"), [(0, 0), (1, 0), (2, 1), (3, 0), (4, 1)])
def test_softmax_guesses_the_dimension_as_pytorch_does(ndim, guess):
    x = ac.randn((2, 3, 4, 5)[:ndim])
    for module in (nn.Softmax, nn.LogSoftmax, nn.Softmin):
        with pytest.warns(
            UserWarning, match=rf"`dim` is missing .* dimension {guess} is used"
        ):
            assert_close(module()(x), module(dim=guess)(x))


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


def test_silu_in_place_keeps_the_gradient():
    module = nn.SiLU(inplace=True)
    assert repr(module) == "SiLU(inplace=True)"
    x = ac.tensor([-1.0, 2.0], dtype=ac.float64, requires_grad=True)
    hidden = x * 3
    y = module(hidden)
    assert y is hidden
    y.sum().backward()
    again = x.detach().requires_grad_()
    nn.functional.silu(again * 3).sum().backward()
    assert x.grad.tolist() == again.grad.tolist()
    z = ac.ones(1)
    assert nn.functional.silu(z, inplace=True) is z


def test_gelu_has_two_forms():
    with pytest.raises(ArgumentError, match=r"GELU: `approximate`='erf'; use 'none'"):
        nn.GELU("erf")
    with pytest.raises(ArgumentError, match="gelu: `approximate`=None"):
        nn.functional.gelu(ac.ones(1), None)


@pytest.mark.parametrize("name", ["gelu", "softplus"])
def test_integers_are_refused(name):
    with pytest.raises(DTypeError, match=f"{name}: needs float32 or float64, not int"):
        getattr(nn.functional, name)(ac.tensor([1]))
    with pytest.raises(DTypeError, match=f"{name}: needs a Tensor, not float"):
        getattr(nn.functional, name)(1.0)


test_impossible_arguments = refusals(
    r"""
    nn.GLU()(ac.ones(2, 3)) -> ShapeError: glu: dimension 1 of an input of shape \(2,
        3\) h
    nn.Hardtanh(2.0, 1.0)(ac.ones(1)) -> ArgumentError: `min_val`=2\.0 must be below
        `max_val`=1\.0; exchange them\.
    nn.CELU(0.0)(ac.ones(1)) -> ArgumentError: celu: `alpha` is 0, but the input is
        divided by it; use another number\.
    nn.PReLU(2)(ac.ones(1, 3)) -> ShapeError: `weight` has shape \(2,\) for an input of
        sh
    nn.PReLU(-1) -> ArgumentError: PReLU: `num_parameters` is -1
    nn.Dropout2d()(ac.ones(3)) -> ShapeError: dropout2d: `input` has shape \(3,\); it
        must
    nn.Dropout2d(2) -> ArgumentError: Dropout2d: `p` is 2
    nn.Bilinear(1, 2, -3) -> ArgumentError: Bilinear: `out_features` is -3
    nn.Bilinear(1, 2, 3)(ac.ones(4, 1), ac.ones(5, 2)) -> ShapeError: the inputs have
        shapes \(4, 1\) and \(5, 2\), and `weight` has shape \(3, 1, 2\)
    """,
    globals(),
)


@pytest.mark.parametrize("name", ["elu", "mish", "hardswish", "silu", "glu"])
def test_numbers_without_fractions_are_refused(name):
    with pytest.raises(DTypeError, match=f"{name}: needs float32 or float64, not int6"):
        getattr(nn.functional, name)(ac.tensor([1, 2]))


def test_whole_channels_are_dropped():
    y = nn.Dropout2d(0.25)(ac.ones(40, 50, 2, 3)).numpy()
    first = y[:, :, :1, :1]
    assert (y == first).all()
    assert sorted(set(first.ravel().tolist())) == [0.0, pytest.approx(4 / 3)]
    assert 0.2 < (first == 0).mean() < 0.3
    x = ac.ones(2, 3)
    assert nn.Dropout2d().eval()(x) is x
    assert repr(nn.Dropout2d()) == "Dropout2d(p=0.5, inplace=False)"


@pytest.mark.parametrize(
    ("function", "kernels"),
    [
        (F.relu6, ["hardtanh", "hardtanh_backward"]),
        (F.hardtanh, ["hardtanh", "hardtanh_backward"]),
        (F.leaky_relu, ["leaky_relu", "leaky_relu_backward"]),
        (F.hardswish, ["hardswish", "hardswish_backward"]),
        (lambda x: x.clamp(-1, 2), ["clamp", "clamp_backward"]),
    ],
)
def test_activations_made_of_lines_are_one_kernel_each_way(function, kernels):
    x, g = ac.randn(40, requires_grad=True), ac.ones(40)
    with ac.kernels.count() as calls:
        ac.autograd.grad(function(x), x, g)
    assert [name for name, _ in calls] == kernels
