# SPDX-License-Identifier: MIT
"""LayerNorm and RMSNorm."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ShapeError

F = nn.functional
X = np.random.default_rng(0).normal(size=(5, 2, 3)) + 4


def normalised(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize(
    ("sizes", "axes"), [(3, -1), ((2, 3), (1, 2)), ([5, 2, 3], (0, 1, 2))]
)
def test_layer_norm_is_the_formula(sizes, axes):
    layer = nn.LayerNorm(sizes, eps=0.1, dtype=ac.float64)
    expected = normalised(X, axes, 0.1)
    np.testing.assert_allclose(layer(ac.tensor(X)).detach().numpy(), expected)
    with ac.no_grad():
        layer.weight.copy_(ac.randn_like(layer.weight))
        layer.bias.copy_(ac.randn_like(layer.bias))
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    np.testing.assert_allclose(
        layer(ac.tensor(X)).detach().numpy(), expected * weight + bias
    )


@pytest.mark.parametrize(("sizes", "axes"), [(3, -1), ((2, 3), (1, 2))])
def test_rms_norm_is_the_formula(sizes, axes):
    layer = nn.RMSNorm(sizes, eps=0.1, dtype=ac.float64)
    with ac.no_grad():
        layer.weight.copy_(ac.randn_like(layer.weight))
    rms = np.sqrt((X**2).mean(axes, keepdims=True) + 0.1)
    expected = X / rms * layer.weight.detach().numpy()
    np.testing.assert_allclose(layer(ac.tensor(X)).detach().numpy(), expected)


def test_rms_norm_keeps_zeros_apart_by_the_spacing_of_the_dtype():
    for dtype, eps in ((ac.float32, 2**-23), (ac.float64, 2**-52)):
        tiny = ac.full((1, 2), 1e-3 * eps, dtype=dtype)
        out = F.rms_norm(tiny, (2,))
        expected = 1e-3 * eps / np.sqrt(eps)
        np.testing.assert_allclose(out.numpy(), [[expected] * 2], rtol=1e-5)


def test_parameters_and_repr():
    layer = nn.LayerNorm(3)
    assert {k: p.tolist() for k, p in layer.state_dict().items()} == {
        "weight": [1, 1, 1],
        "bias": [0, 0, 0],
    }
    assert (
        repr(layer) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    )
    assert list(nn.LayerNorm((2, 3), bias=False).state_dict()) == ["weight"]
    plain = nn.LayerNorm(3, elementwise_affine=False)
    assert not plain.state_dict()
    assert repr(plain) == (
        "LayerNorm((3,), eps=1e-05, elementwise_affine=False, bias=False)"
    )
    assert nn.RMSNorm(2, dtype=ac.float64).weight.dtype is ac.float64
    assert repr(nn.RMSNorm(2)) == "RMSNorm((2,), eps=None, elementwise_affine=True)"
    assert not list(nn.RMSNorm(2, elementwise_affine=False).parameters())


def test_the_result_may_be_written():
    x = ac.ones(2, 2, 3, requires_grad=True)
    y = F.layer_norm(x, (2, 3))
    y += 1
    y.sum().backward()
    assert x.grad.shape == (2, 2, 3)


def test_equal_values_and_no_rows():
    assert F.layer_norm(ac.full((2, 4), 7.0), 4).tolist() == [[0] * 4] * 2
    assert F.layer_norm(ac.zeros(0, 4), 4).shape == (0, 4)


def test_what_does_not_fit_is_an_error():
    x = ac.ones(2, 3)
    with pytest.raises(
        ShapeError,
        match=r"layer_norm: `input` has shape \(2, 3\), but `normalized_shape` is",
    ):
        F.layer_norm(x, 2)
    with pytest.raises(ShapeError, match=r"rms_norm: `input` has shape \(2, 3\),"):
        F.rms_norm(x, ())
    with pytest.raises(ShapeError, match=r"`weight` has shape \(2,\); .* \(3,\)"):
        F.layer_norm(x, 3, ac.ones(2))
    with pytest.raises(ShapeError, match=r"`bias` has shape \(1, 3\)"):
        F.layer_norm(x, 3, None, ac.ones(1, 3))
    with pytest.raises(DTypeError, match="layer_norm: needs float32 or float64"):
        F.layer_norm(ac.ones(2, dtype=ac.int64), 2)
    with pytest.raises(
        ArgumentError, match=r"LayerNorm: `normalized_shape\[1\]` is -3"
    ):
        nn.LayerNorm((2, -3))
    with pytest.raises(ArgumentError, match="RMSNorm: `normalized_shape` is empty"):
        nn.RMSNorm(())
    with pytest.raises(ArgumentError, match="'cuda' is not available"):
        nn.LayerNorm(2, device="cuda")
