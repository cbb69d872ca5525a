# SPDX-License-Identifier: MIT
"""Functions of `nn.functional` against central differences, to second order."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.testing import gradcheck, gradgradcheck

F = ac.nn.functional


def leaf(*shape, low=-2.0, high=2.0, seed=0):
    """Random values, none of them near a kink at 0, 1, 3 or one half."""
    values = np.random.default_rng(seed).uniform(low, high, shape)
    near = np.abs(values * 2 - np.round(values * 2)) < 0.05
    values = values + np.where(near, 0.12, 0.0)
    return ac.tensor(values, requires_grad=True)


LABELS = ac.tensor([1, 0, 2])
SIGNS = ac.tensor([1, -1, 1])
PAIRED = ac.tensor([[1, -1, 1], [-1, -1, 1]])
WEIGHT = ac.tensor([0.5, 2.0, 1.5], dtype=ac.float64)

#: name: (function, inputs)
CASES = {
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), (leaf(3, 4),)),
    "relu6": (F.relu6, (leaf(3, 4, low=-8.0, high=8.0),)),
    "hardtanh": (F.hardtanh, (leaf(3, 4),)),
    "hardsigmoid": (F.hardsigmoid, (leaf(3, 4, low=-5.0, high=5.0),)),
    "hardswish": (F.hardswish, (leaf(3, 4, low=-5.0, high=5.0),)),
    "elu": (lambda x: F.elu(x, 0.7), (leaf(3, 4),)),
    "celu": (lambda x: F.celu(x, 0.7), (leaf(3, 4),)),
    "selu": (F.selu, (leaf(3, 4),)),
    "mish": (F.mish, (leaf(3, 4),)),
    "logsigmoid": (F.logsigmoid, (leaf(3, 4),)),
    "softsign": (F.softsign, (leaf(3, 4),)),
    "tanhshrink": (F.tanhshrink, (leaf(3, 4),)),
    "softmin": (lambda x: F.softmin(x, 1), (leaf(3, 4),)),
    "glu": (F.glu, (leaf(3, 4),)),
    "prelu": (F.prelu, (leaf(2, 3, 2), leaf(3, seed=1))),
    "prelu, one slope": (F.prelu, (leaf(4), leaf(1, seed=1))),
    "bilinear": (F.bilinear, (leaf(2, 3), leaf(2, 2, seed=1), leaf(4, 3, 2, seed=2))),
    "nll_loss": (
        lambda x: F.nll_loss(x, LABELS, WEIGHT, ignore_index=0),
        (leaf(3, 3),),
    ),
    "cross_entropy of distributions": (
        lambda x, q: F.cross_entropy(x, q, WEIGHT, label_smoothing=0.1),
        (leaf(2, 3), leaf(2, 3, low=0.1, high=0.8, seed=1)),
    ),
    "l1_loss": (F.l1_loss, (leaf(3, 4), leaf(3, 4, seed=1))),
    "smooth_l1_loss": (F.smooth_l1_loss, (leaf(3, 4), leaf(3, 4, seed=1))),
    "huber_loss": (F.huber_loss, (leaf(3, 4), leaf(3, 4, seed=1))),
    "binary_cross_entropy": (
        F.binary_cross_entropy,
        (leaf(2, 3, low=0.1, high=0.8), leaf(2, 3, low=0.1, high=0.8, seed=1)),
    ),
    "binary_cross_entropy_with_logits": (
        lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=WEIGHT),
        (leaf(2, 3), leaf(2, 3, low=0.1, high=0.8, seed=1)),
    ),
    "kl_div": (F.kl_div, (leaf(2, 3), leaf(2, 3, low=0.1, high=0.8, seed=1))),
    "kl_div of logarithms": (
        lambda x, t: F.kl_div(x, t, log_target=True, reduction="batchmean"),
        (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "threshold": (lambda x: F.threshold(x, 0.1, 0.5), (leaf(3, 4),)),
    "hardshrink": (F.hardshrink, (leaf(3, 4),)),
    "softshrink": (F.softshrink, (leaf(3, 4),)),
    "margin_ranking_loss": (
        lambda x, y: F.margin_ranking_loss(x, y, PAIRED, 0.1),
        (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "hinge_embedding_loss": (
        lambda x: F.hinge_embedding_loss(x, PAIRED, 0.9),
        (leaf(2, 3),),
    ),
    "soft_margin_loss": (lambda x: F.soft_margin_loss(x, PAIRED), (leaf(2, 3),)),
    "multilabel_soft_margin_loss": (
        lambda x: F.multilabel_soft_margin_loss(x, (PAIRED + 1) * 0.5, WEIGHT),
        (leaf(2, 3),),
    ),
    "multi_margin_loss": (
        lambda x: F.multi_margin_loss(x, LABELS, 2, 0.7, WEIGHT),
        (leaf(3, 3),),
    ),
    "multilabel_margin_loss": (
        lambda x: F.multilabel_margin_loss(x, ac.tensor([[2, -1, 0], [1, 0, -1]])),
        (leaf(2, 3),),
    ),
    "triplet_margin_with_distance_loss": (
        lambda x, y, z: F.triplet_margin_with_distance_loss(x, y, z, swap=True),
        (leaf(2, 3), leaf(2, 3, seed=1), leaf(2, 3, seed=2)),
    ),
    "poisson_nll_loss": (
        lambda x, t: F.poisson_nll_loss(x, t, full=True),
        (leaf(2, 3), leaf(2, 3, low=1.5, high=4.0, seed=1)),
    ),
    "gaussian_nll_loss": (
        F.gaussian_nll_loss,
        (leaf(2, 3), leaf(2, 3, seed=1), leaf(2, 1, low=0.2, high=2.0, seed=2)),
    ),
    "cosine_similarity": (F.cosine_similarity, (leaf(2, 3), leaf(2, 3, seed=1))),
    "pairwise_distance": (
        lambda x, y: F.pairwise_distance(x, y, 3.0),
        (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "normalize": (F.normalize, (leaf(2, 3),)),
    "cosine_embedding_loss": (
        lambda x, y: F.cosine_embedding_loss(x, y, SIGNS, -1.0),
        (leaf(3, 4), leaf(3, 4, seed=1)),
    ),
    "triplet_margin_loss": (
        lambda x, y, z: F.triplet_margin_loss(x, y, z, 9.0),
        (leaf(2, 3), leaf(2, 3, seed=1), leaf(2, 3, seed=2)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, inputs = CASES[name]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("name", ["elu", "celu", "selu", "mish", "hardswish"])
def test_written_into_the_input_the_gradient_is_the_same(name):
    x = leaf(3, 4)
    hidden = x * 2
    y = getattr(F, name)(hidden, inplace=True)
    assert y is hidden
    (mine,) = ac.autograd.grad((y * y).sum(), [x])
    z = getattr(F, name)(x * 2)
    (expected,) = ac.autograd.grad((z * z).sum(), [x])
    assert mine.tolist() == expected.tolist()


def test_infinities_have_slopes():
    x = ac.tensor([float("inf"), -float("inf"), 1e30], requires_grad=True)
    for function, slopes in (
        (F.hardswish, [1, 0, 1]),
        (F.relu6, [0, 0, 0]),
        (F.elu, [1, 0, 1]),
        (F.leaky_relu, [1, pytest.approx(0.01), 1]),
        (lambda x: F.huber_loss(x, ac.zeros(3), "none"), [1, -1, 1]),
    ):
        (grad,) = ac.autograd.grad(function(x).sum(), [x])
        assert grad.tolist() == slopes


def test_a_certain_and_wrong_probability_is_led_away():
    p = ac.tensor([0.0, 1.0, 0.0], requires_grad=True)
    t = ac.tensor([1.0, 0.0, 0.0])
    loss = F.binary_cross_entropy(p, t, reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0]
    loss.sum().backward()
    low, high, right = p.grad.tolist()
    assert low < -1e11
    assert high > 1e11
    assert right == 1.0  # d/dp of -log(1 - p)


def test_exponentials_are_precise_near_0():
    x = ac.tensor([-1e-6], dtype=ac.float32)
    for function in (F.elu, F.celu):
        assert function(x).item() == pytest.approx(-1e-6, rel=1e-6)
