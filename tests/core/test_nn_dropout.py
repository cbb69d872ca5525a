# SPDX-License-Identifier: MIT
"""Dropout: the layer, the function and the operator's gradients."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn import functional as F


def test_a_share_p_is_dropped_and_the_rest_is_scaled():
    ac.manual_seed(0)
    y = F.dropout(ac.ones(100, 200), 0.3).numpy()
    kept = y != 0
    np.testing.assert_allclose(y[kept], 1 / 0.7, rtol=1e-6)
    # The standard deviation of the share over 20,000 elements is 0.0032.
    assert abs(kept.mean() - 0.7) < 0.013


def test_masks_follow_the_generator_and_differ_from_call_to_call():
    x = ac.ones(1000)
    ac.manual_seed(1)
    first, second = F.dropout(x).tolist(), F.dropout(x).tolist()
    assert first != second
    ac.manual_seed(1)
    assert F.dropout(x).tolist() == first
    a, b = (ac.Generator().manual_seed(5) for _ in range(2))
    assert F.dropout(x, generator=a).tolist() == F.dropout(x, generator=b).tolist()


def test_edges():
    x = ac.randn(5)
    assert F.dropout(x, 0.0) is x
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 1.0).tolist() == [0] * 5
    assert F.dropout(ac.zeros(0, 3)).shape == (0, 3)


def test_gradient_is_masked_and_scaled_alike():
    x = ac.randn(50, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    np.testing.assert_allclose(
        x.grad.numpy(), (y.detach().numpy() != 0) / 0.75, rtol=1e-6
    )


def test_the_backward_kernel_serves_both_orders():
    x = ac.randn(20, requires_grad=True)
    with ac.kernels.count() as calls:
        y = F.dropout(x * x)
        (g,) = ac.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
    names = [name for name, _ in calls]
    assert "dropout" in names
    assert "dropout_backward" in names
    assert "random_bits" not in names


def test_in_place():
    x = ac.ones(100)
    assert F.dropout(x, 0.5, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}
    leaf = ac.ones(100, requires_grad=True)
    hidden = leaf * 1
    F.dropout(hidden, 0.5, inplace=True).sum().backward()
    assert leaf.grad.tolist() == hidden.tolist()


def test_the_layer_works_in_training_only():
    layer = nn.Dropout(0.5)
    x = ac.ones(100)
    assert layer(x).tolist() != x.tolist()
    assert layer.eval()(x) is x
    assert repr(layer) == "Dropout(p=0.5, inplace=False)"


def test_errors():
    with pytest.raises(ArgumentError, match=r"Dropout: `p` is 1\.5; it must be a"):
        nn.Dropout(1.5)
    with pytest.raises(ArgumentError, match=r"dropout: `p` is -0\.1"):
        F.dropout(ac.ones(1), -0.1)
    with pytest.raises(DTypeError, match="dropout: needs a Tensor, not list"):
        F.dropout([1.0])
    with pytest.raises(
        DTypeError, match="dropout: needs float32 or float64, not int64"
    ):
        F.dropout(ac.arange(3))
