# SPDX-License-Identifier: MIT
"""Parameters as a vector, normed weights, weights with structure."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    ModuleError,
    ShapeError,
)
from autocalc.nn import init, utils


def test_parameters_become_a_vector_and_return():
    layer, other = nn.Linear(3, 2), nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.requires_grad
    utils.vector_to_parameters(vector, other.parameters())
    assert other.weight.tolist() == layer.weight.tolist()
    assert other.bias.tolist() == layer.bias.tolist()
    with pytest.raises(ShapeError, match=r"`vec` has shape \(7,\), but the"):
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
    with pytest.raises(ModuleError, match="two weight_norm hooks on the same"):
        utils.weight_norm(layer)
    with pytest.raises(DimensionError, match="`dim`=1 is out of range for 'bias'"):
        utils.weight_norm(layer, "bias", 1)
    with pytest.raises(ModuleError, match="Linear has no weight norm of 'bias'"):
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
    with pytest.raises(ShapeError, match="sparse_: needs a matrix, not shape"):
        init.sparse_(ac.empty(3), 0.1)
    with pytest.raises(ArgumentError, match="sparse_: `sparsity` is 2"):
        init.sparse_(ac.empty(3, 3), 2)
    with pytest.raises(ShapeError, match="dirac_: needs the weight of a"):
        init.dirac_(ac.empty(3, 3))
    with pytest.raises(ShapeError, match="dirac_: `groups`=2 does not divide the 3"):
        init.dirac_(ac.empty(3, 3, 3), 2)


# ---- the old spectral norm -----------------------------------------------------------


def test_spectral_norm_takes_a_weight_apart_and_back():
    layer = nn.Linear(6, 5, dtype=ac.float64)
    weight = layer.weight
    assert utils.spectral_norm(layer, n_power_iterations=30) is layer
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert layer.weight_orig is weight
    layer(ac.ones(1, 6, dtype=ac.float64))
    largest = np.linalg.svd(weight.detach(), compute_uv=False)[0]
    np.testing.assert_allclose(
        layer.weight.detach(), weight.detach() / largest, rtol=1e-6
    )
    layer.weight.sum().backward()
    assert weight.grad is not None
    kept = layer.eval().weight_u.tolist()
    layer(ac.ones(1, 6, dtype=ac.float64))
    assert layer.weight_u.tolist() == kept  # after eval they rest
    value = layer.weight.detach()
    assert utils.remove_spectral_norm(layer) is layer
    assert list(layer.state_dict()) == ["bias", "weight"]
    assert ac.equal(layer.weight, value)
    assert layer.weight.is_leaf
    assert not layer._hooks.forward_pre


@pytest.mark.parametrize(
    ("layer", "size"),
    [
        (nn.Conv2d(2, 3, 2), 3),
        (nn.ConvTranspose1d(2, 3, 2), 3),
        (nn.ConvTranspose3d(2, 3, 2), 3),
    ],
)
def test_a_spectral_norm_is_over_outputs(layer, size):
    assert utils.spectral_norm(layer).weight_u.shape == (size,)


def test_what_has_no_spectral_norm():
    layer = utils.spectral_norm(nn.Linear(3, 2))
    with pytest.raises(ModuleError, match="two spectral_norm hooks on the same"):
        utils.spectral_norm(layer)
    with pytest.raises(
        ModuleError, match="spectral_norm: Linear has no tensor 'nothin"
    ):
        utils.spectral_norm(layer, "nothing")
    with pytest.raises(DTypeError, match="spectral_norm: `module` is 3; it must be a"):
        utils.spectral_norm(3)
    with pytest.raises(ArgumentError, match="`n_power_iterations` is 0; it must be 1"):
        utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=0)
    with pytest.raises(DimensionError, match="`dim`=2 is out of range for 'weight'"):
        utils.spectral_norm(nn.Linear(3, 2), dim=2)
    with pytest.raises(ModuleError, match="has no spectral norm of 'bias';"):
        utils.remove_spectral_norm(layer, "bias")
    with pytest.raises(ModuleError, match="remove_spectral_norm: int has no"):
        utils.remove_spectral_norm(3)


# ---- modules without first values ----------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        (nn.Linear, (3, 4)),
        (nn.Conv2d, (3, 4, 2)),
        (nn.BatchNorm1d, (3,)),
        (nn.LSTM, (3, 4)),
        (nn.Embedding, (3, 4)),
        (nn.TransformerEncoderLayer, (4, 2)),
    ],
)
def test_skip_init_draws_nothing(kind, args):
    before = ac.get_rng_state().tolist()
    layer = utils.skip_init(kind, *args)
    assert ac.get_rng_state().tolist() == before
    usual = kind(*args)
    shapes = [x.shape for x in layer.state_dict().values()]
    assert shapes == [x.shape for x in usual.state_dict().values()]
    layer.load_state_dict(usual.state_dict())
    assert type(layer) is kind


def test_skip_init_ends_with_the_module():
    with pytest.raises(ArgumentError, match="in_features"):
        utils.skip_init(nn.Linear, -1, 2)
    assert ac.equal(init.ones_(ac.zeros(2)), ac.ones(2))
    with pytest.raises(DTypeError, match="`module_cls` is 3; it must be a class of"):
        utils.skip_init(3)
    with pytest.raises(DTypeError, match="skip_init: `module_cls` is <class 'int'>"):
        utils.skip_init(int)


@pytest.mark.parametrize(
    "fill",
    [
        init.ones_,
        init.eye_,
        init.dirac_,
        init.orthogonal_,
        init.trunc_normal_,
        lambda w: init.sparse_(w, 0.5),
        init.xavier_normal_,
    ],
)
def test_while_init_is_skipped_nothing_is_written(fill):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(ac.full((3, 3, 1), 7.0))
            tensor = self.weight if fill is init.dirac_ else self.weight[..., 0]
            assert fill(tensor) is tensor

    assert (utils.skip_init(Net).weight == 7).all()
    assert not (Net().weight == 7).all()
