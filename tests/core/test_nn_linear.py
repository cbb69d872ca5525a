# SPDX-License-Identifier: MIT
"""Linear and Identity."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError


def test_it_computes_x_w_plus_b():
    layer = nn.Linear(3, 2)
    x = ac.randn(4, 5, 3)
    w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    np.testing.assert_allclose(
        layer(x).detach().numpy(), x.numpy() @ w.T + b, rtol=1e-5, atol=1e-6
    )
    assert layer.weight.shape == (2, 3)
    assert layer.bias.shape == (2,)


def test_without_bias():
    layer = nn.Linear(3, 2, bias=False, dtype=ac.float64)
    assert layer.bias is None
    assert list(layer.state_dict()) == ["weight"]
    assert layer.weight.dtype is ac.float64
    assert repr(layer) == "Linear(in_features=3, out_features=2, bias=False)"


def test_parameters_are_even_between_the_bounds_and_follow_the_seed():
    ac.manual_seed(3)
    layer = nn.Linear(100, 300)
    bound = 1 / np.sqrt(100)
    for p in layer.parameters():
        values = p.detach().numpy()
        assert np.abs(values).max() <= bound
        assert np.abs(values).max() > 0.95 * bound
        assert abs(values.std() - bound / np.sqrt(3)) < 0.1 * bound
    ac.manual_seed(3)
    again = nn.Linear(100, 300)
    assert again.weight.tolist() == layer.weight.tolist()
    assert again.bias.tolist() == layer.bias.tolist()
    assert (again.bias != again.weight.reshape(-1)[:300]).any()


def test_empty_layers_and_bad_sizes():
    assert nn.Linear(0, 2)(ac.zeros(3, 0)).tolist() == [[0, 0]] * 3
    with pytest.raises(
        ArgumentError, match="Linear: `in_features` is -1; it must be an"
    ):
        nn.Linear(-1, 2)
    with pytest.raises(ArgumentError, match=r"`out_features` is 2\.5"):
        nn.Linear(1, 2.5)
    with pytest.raises(ArgumentError, match="'cuda' is not available"):
        nn.Linear(1, 2, device="cuda")


def test_identity_takes_any_arguments():
    x = ac.ones(2)
    assert nn.Identity(54, unused=True)(x) is x
    assert repr(nn.Identity(1)) == "Identity()"
