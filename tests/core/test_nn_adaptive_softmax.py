# SPDX-License-Identifier: MIT
"""A softmax in clusters: it is a distribution; what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core


def test_the_probabilities_of_all_classes_add_up_and_are_those_of_the_targets():
    layer = nn.AdaptiveLogSoftmaxWithLoss(6, 20, (3, 8), div_value=2).double()
    x = ac.randn(20, 6, dtype=ac.float64)
    everything = layer.log_prob(x)
    np.testing.assert_allclose(everything.exp().sum(1).tolist(), np.ones(20))
    out = layer(x, ac.arange(20))
    np.testing.assert_allclose(out.output.tolist(), everything.diag().tolist())
    assert out.loss.item() == pytest.approx(-everything.diag().mean().item())
    assert layer.predict(x).tolist() == everything.argmax(1).tolist()


def test_a_cluster_without_targets_gets_no_gradient():
    layer = nn.AdaptiveLogSoftmaxWithLoss(6, 20, [3, 8])
    layer(ac.randn(2, 6), ac.tensor([1, 5])).loss.backward()
    assert layer.tail[0][1].weight.grad is not None
    assert layer.tail[1][1].weight.grad is None
    before = layer.head.weight.tolist()
    layer.reset_parameters()
    assert layer.head.weight.tolist() != before


@pytest.mark.parametrize("cutoffs", [[], [0, 3], [3, 3], [5, 4], [3, 20]])
def test_cutoffs_rise(cutoffs):
    with pytest.raises(
        ArgumentError, match=r"cutoffs should be a sequence of unique, .* they are \["
    ):
        nn.AdaptiveLogSoftmaxWithLoss(6, 20, cutoffs)


def test_what_is_wrong():
    layer, x = nn.AdaptiveLogSoftmaxWithLoss(6, 20, [3]), ac.zeros(2, 6)
    with pytest.raises(DTypeError, match="`cutoffs` is 3; it must be a list"):
        nn.AdaptiveLogSoftmaxWithLoss(6, 20, 3)
    with pytest.raises(ArgumentError, match=r"`div_value` is 0\.0; it must be above 0"):
        nn.AdaptiveLogSoftmaxWithLoss(6, 20, [3], 0)
    with pytest.raises(
        ShapeError, match=r"`input` has shape \(2, 5\); it must be \[N, 6"
    ):
        layer(x[:, :5], ac.tensor([1, 2]))
    with pytest.raises(ShapeError, match=r"same size .* `target` is \(3,\) and"):
        layer(x, ac.tensor([1, 2, 3]))
    with pytest.raises(ShapeError, match="`target` is 3 and `input` has shape"):
        layer(x, 3)
    with pytest.raises(DTypeError, match="`target` has dtype float32; labels must be"):
        layer(x, ac.zeros(2))
    with pytest.raises(ArgumentError, match=r"Target values should be in \[0, 19\]"):
        layer(x, ac.tensor([-1, 20]))
    with pytest.raises(ShapeError, match=r"log_prob: `input` has shape \(6,\)"):
        layer.log_prob(x[0])
