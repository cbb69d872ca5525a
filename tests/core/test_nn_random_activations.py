# SPDX-License-Identifier: MIT
"""Random slopes, Gumbel's samples, and dropout for self-normalising networks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def test_slopes_are_drawn_evenly_and_carry_the_gradient():
    ac.manual_seed(0)
    x = ac.full((9999,), -2.0, requires_grad=True)
    y = F.rrelu(x, 0.25, 0.75, training=True)
    slopes = (y.detach() / -2).numpy()
    assert slopes.min() >= 0.25
    assert slopes.max() <= 0.75
    assert abs(slopes.mean() - 0.5) < 5 * 0.5 / math.sqrt(12 * 9999)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-6)
    assert F.rrelu(ac.ones(3), training=True).tolist() == [1, 1, 1]


def test_random_slopes_in_place_and_of_a_module():
    x = ac.tensor([-1.0, 2.0])
    assert F.rrelu_(x, 0.5, 0.5, training=True) is x
    assert x.tolist() == [-0.5, 2]
    layer = nn.RReLU(0.25, 0.75)
    drawn = layer(ac.full((100,), -1.0))
    assert len(set(drawn.tolist())) > 50
    assert layer.eval()(ac.full((2,), -1.0)).tolist() == [-0.5, -0.5]


def test_gumbel_samples_follow_the_softmax():
    ac.manual_seed(0)
    logits = ac.tensor([0.0, 1.0, 2.0]).expand(9999, 3)
    counts = F.gumbel_softmax(logits, tau=0.5, hard=True).mean(0).numpy()
    expected = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    assert np.abs(counts - expected).max() < 5 * 0.5 / math.sqrt(9999)


def test_a_gumbel_sample_is_a_softmax_of_the_noisy_logits():
    x = ac.randn(4, 5, dtype=ac.float64, requires_grad=True)
    ac.manual_seed(3)
    y = F.gumbel_softmax(x, 2.0, dim=0)
    noise = 2 * y.detach().log() - x.detach()  # up to a constant for each column
    again = ((x + noise) / 2.0).softmax(0)
    np.testing.assert_allclose(y.detach().numpy(), again.detach().numpy(), 1e-12)
    weights = ac.randn(4, 5, dtype=ac.float64)
    (soft,) = ac.autograd.grad((y * weights).sum(), x)
    (expected,) = ac.autograd.grad((again * weights).sum(), x)
    np.testing.assert_allclose(soft.numpy(), expected.numpy(), 1e-10)
    ac.manual_seed(3)
    hard = F.gumbel_softmax(x, 2.0, hard=True, dim=0)
    np.testing.assert_allclose(hard.sum(0).detach().numpy(), np.ones(5))
    assert ac.equal(hard.detach().argmax(0), y.detach().argmax(0))
    (of_hard,) = ac.autograd.grad((hard * weights).sum(), x)
    np.testing.assert_allclose(of_hard.numpy(), soft.numpy(), 1e-12)
    assert F.gumbel_softmax(ac.zeros(0, 3), hard=True).shape == (0, 3)


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_mean_and_variance_pass_through(name):
    ac.manual_seed(0)
    x = ac.randn(4000, 50, 2)
    y = getattr(F, name)(x, 0.3, training=True)
    assert abs(y.mean().item()) < 0.02
    assert abs(y.var().item() - 1) < 0.02


def test_what_alpha_dropout_gives():
    p, floor = 0.4, -1.7580993408473766
    a = ((1 - p) * (1 + p * floor**2)) ** -0.5
    b = -a * p * floor
    x = ac.randn(2000, dtype=ac.float64, requires_grad=True)
    y = F.alpha_dropout(x, p, training=True)
    dropped = np.isclose(y.detach().numpy(), a * floor + b)
    kept = np.isclose(y.detach().numpy(), a * x.detach().numpy() + b)
    assert (dropped ^ kept).all()
    assert abs(dropped.mean() - p) < 5 * 0.5 / math.sqrt(2000)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(kept, a, 0))


@pytest.mark.parametrize(
    "function", [F.alpha_dropout, F.feature_alpha_dropout, F.dropout1d]
)
def test_edges_of_dropout(function):
    x = ac.randn(3, 4, 5)
    assert function(x, 0.5, training=False) is x
    assert function(x, 0.0, training=True) is x
    assert function(x, 1.0, training=True).tolist() == ac.zeros(3, 4, 5).tolist()
    assert function(ac.zeros(0, 3), training=True).shape == (0, 3)
    assert function(x, 0.5, True, True) is x
    with pytest.raises(ArgumentError, match=r": `p` is 1\.5; it must be a"):
        function(x, 1.5, True)
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        function(ac.arange(6).reshape(2, 3), 0.5, True)


def test_channels_are_dropped_as_a_whole():
    for x in (ac.ones(50, 4, 6), ac.ones(200, 6)):
        y = F.dropout1d(x, 0.25)
        assert bool((y == y[..., :1]).all())
        assert set(y.flatten().tolist()) == {0.0, np.float32(1 / 0.75)}
    for x in (ac.ones(50, 4, 2, 2, 3), ac.ones(200, 2, 2, 3)):
        y = F.dropout3d(x, 0.25)
        assert bool((y == y[..., :1, :1, :1]).all())
        assert set(y.flatten().tolist()) == {0.0, np.float32(1 / 0.75)}
    assert nn.Dropout3d().eval()(x) is x
    assert nn.Dropout3d()(x) is not x
    assert F.dropout3d(x, 1.0, inplace=True) is x
    assert x.max().item() == 0
    y = F.feature_alpha_dropout(ac.randn(50, 4, 1, 1).expand(50, 4, 3, 2), 0.5, True)
    assert bool((y == y[..., :1, :1]).all())


def test_modules_of_dropout_rest_after_eval():
    x = ac.randn(3, 4, 5)
    for module in (nn.AlphaDropout(), nn.FeatureAlphaDropout(), nn.Dropout1d()):
        assert module.eval()(x) is x
        assert module.train()(x) is not x


def test_what_is_wrong():
    x = ac.randn(2, 3)
    with pytest.raises(ArgumentError, match=r"rrelu: `lower`=0\.5 is above `upper`=0"):
        F.rrelu(x, 0.5, 0.25)
    with pytest.raises(ArgumentError, match=r"RReLU: `lower`=2\.0 is above `upper`=1"):
        nn.RReLU(2, 1)
    with pytest.raises(ArgumentError, match=r"gumbel_softmax: `tau` is 0\.0; it is a"):
        F.gumbel_softmax(x, 0)
    with pytest.raises(
        DimensionError, match="gumbel_softmax: Dimension out of range: `dim`=2"
    ):
        F.gumbel_softmax(x, dim=2)
    with pytest.raises(ShapeError, match=r"feature_alpha_dropout: `input` has shape"):
        F.feature_alpha_dropout(ac.ones(3), training=True)
    with pytest.raises(ShapeError, match=r"dropout1d: Expected 2D or 3D input, but"):
        F.dropout1d(ac.ones(3))
    with pytest.raises(ShapeError, match=r"dropout3d: `input` has shape \(2, 3\); it"):
        F.dropout3d(x)
    with pytest.raises(ShapeError, match=r"Softmax2d: `input` has shape \(2, 3\); it"):
        nn.Softmax2d()(x)
