# SPDX-License-Identifier: MIT
"""Parameters as a vector, normed weights, weights with structure."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DimensionError, ModuleError, ShapeError
from autocalc.nn import init, utils


def test_parameters_become_a_vector_and_return():
    layer, other = nn.Linear(3, 2), nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.requires_grad
    utils.vector_to_parameters(vector, other.parameters())
    assert other.weight.tolist() == layer.weight.tolist()
    assert other.bias.tolist() == layer.bias.tolist()
    with pytest.raises(ShapeError, match=r"`vec` has shape \(7,\), the parameters ha"):
        utils.vector_to_parameters(vector[1:], other.parameters())


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_weight_norm(dim):
    layer = nn.Linear(3, 2).double()
    x = ac.randn(4, 3, dtype=ac.float64)
    before = layer(x).detach()
    assert utils.weight_norm(layer, dim=dim) is layer
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    assert ac.allclose(layer(x), before)
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None
    with ac.no_grad():
        layer.weight_g.mul_(2.0)
    twin = utils.weight_norm(nn.Linear(3, 2).double(), dim=dim)
    twin.load_state_dict(layer.state_dict())
    assert ac.allclose(twin(x), (before - layer.bias) * 2 + layer.bias)
    assert ac.allclose(utils.remove_weight_norm(layer)(x), twin(x))
    assert list(layer.state_dict()) == ["bias", "weight"]
    assert layer.weight.is_leaf


def test_what_cannot_be_normed():
    layer = utils.weight_norm(nn.Linear(3, 2))
    with pytest.raises(ModuleError, match="Linear has no parameter 'weight' without"):
        utils.weight_norm(layer)
    with pytest.raises(DimensionError, match="`dim`=1 is out of range for 'bias'"):
        utils.weight_norm(layer, "bias", 1)
    with pytest.raises(ModuleError, match="Linear has no norm of 'bias'"):
        utils.remove_weight_norm(layer, "bias")


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (8, 2), (4, 2, 3), (100, 100)])
def test_orthogonal(shape):
    w = init.orthogonal_(ac.empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    product = w @ w.T if shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_sparse_and_dirac():
    w = init.sparse_(ac.empty(10, 4), 0.25, std=2.0).numpy()
    assert (w == 0).sum(0).tolist() == [3] * 4
    d = init.dirac_(ac.empty(4, 2, 3), groups=2).numpy()
    assert d.sum() == 4
    assert d[0, 0, 1] == d[1, 1, 1] == d[2, 0, 1] == d[3, 1, 1] == 1


def test_errors():
    with pytest.raises(ShapeError, match=r"orthogonal_: a tensor of shape \(3,\) has"):
        init.orthogonal_(ac.empty(3))
    with pytest.raises(ShapeError, match=r"sparse_: takes a matrix, not shape \(3,\)"):
        init.sparse_(ac.empty(3), 0.1)
    with pytest.raises(ArgumentError, match="sparse_: `sparsity` is 2"):
        init.sparse_(ac.empty(3, 3), 2)
    with pytest.raises(ShapeError, match="dirac_: takes the weight of a convolution"):
        init.dirac_(ac.empty(3, 3))
    with pytest.raises(ShapeError, match="dirac_: `groups`=2 does not divide the 3"):
        init.dirac_(ac.empty(3, 3, 3), 2)
