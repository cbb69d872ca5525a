# SPDX-License-Identifier: MIT
"""What has a weight, a probability or a count of 0 counts for nothing, if infinite too.

Losses and distributions of infinite logits are compared with those of logits of 10,000,
which are their limit: e^-10000 is 0 in float64.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
import autocalc.nn.functional as F
from autocalc.autograd import grad

pytestmark = pytest.mark.core

INF = math.inf
BIG = 1e4
ROWS, CLASSES = 6, 5


def soft_targets(rng):
    q = rng.uniform(0.5, 1, (ROWS, CLASSES)) * rng.integers(0, 2, (ROWS, CLASSES))
    q[:, 0] += 0.1
    return ac.tensor(q / q.sum(1, keepdims=True))


def some_weights(rng, *shape):
    return ac.tensor(rng.uniform(0.5, 1, shape) * rng.integers(0, 2, shape))


def of_soft_targets(rng):
    q, w = soft_targets(rng), some_weights(rng, CLASSES)
    return lambda x: F.cross_entropy(x, q, w, reduction="none")


def of_smooth_targets(rng):
    q, w = soft_targets(rng), some_weights(rng, CLASSES)
    return lambda x: F.cross_entropy(x, q, w, reduction="none", label_smoothing=0.25)


def of_labels(rng):
    t, w = ac.tensor(rng.integers(0, CLASSES, ROWS)), some_weights(rng, CLASSES)
    return lambda x: F.cross_entropy(x, t, w.to(x.dtype), reduction="none")


def of_smooth_labels(rng):
    t, w = ac.tensor(rng.integers(0, CLASSES, ROWS)), some_weights(rng, CLASSES)
    return lambda x: F.cross_entropy(
        x, t, w.to(x.dtype), reduction="none", label_smoothing=0.25
    )


def of_log_probabilities(rng):
    t, w = ac.tensor(rng.integers(0, CLASSES, ROWS)), some_weights(rng, CLASSES)
    return lambda x: F.nll_loss(x, t, w.to(x.dtype), reduction="none")


def of_divergence(rng):
    q = soft_targets(rng)
    return lambda x: F.kl_div(x, q, reduction="none")


def of_divergence_of_logarithms(rng):
    q = soft_targets(rng).log()
    return lambda x: F.kl_div(x, q, reduction="none", log_target=True)


def yes_or_no(rng):
    return ac.tensor(rng.integers(0, 3, (ROWS, CLASSES)) / 2)


def of_two_classes(rng):
    t, w = yes_or_no(rng), some_weights(rng, CLASSES)
    return lambda x: F.binary_cross_entropy_with_logits(x, t, w, reduction="none")


def of_two_weighted_classes(rng):
    t, w = yes_or_no(rng), some_weights(rng, CLASSES)
    return lambda x: F.binary_cross_entropy_with_logits(
        x, t, reduction="none", pos_weight=w
    )


def of_several_labels(rng):
    t, w = yes_or_no(rng).round(), some_weights(rng, CLASSES)
    return lambda x: F.multilabel_soft_margin_loss(x, t, w, reduction="none")


def of_counts(rng):
    t = ac.tensor(rng.integers(0, 3, (ROWS, CLASSES)).astype(float))
    return lambda x: F.poisson_nll_loss(x, t, reduction="none")


#: The losses, and the signs of infinite logits that they have a limit for.
LOSSES = {
    "cross_entropy of probabilities": (of_soft_targets, (-1,)),
    "cross_entropy of smooth probabilities": (of_smooth_targets, (-1,)),
    "cross_entropy of labels": (of_labels, (-1,)),
    "cross_entropy of smooth labels": (of_smooth_labels, (-1,)),
    "nll_loss": (of_log_probabilities, (-1,)),
    "kl_div": (of_divergence, (-1,)),
    "kl_div of logarithms": (of_divergence_of_logarithms, (-1,)),
    "binary_cross_entropy_with_logits": (of_two_classes, (-1, 1)),
    "with pos_weight": (of_two_weighted_classes, (-1, 1)),
    "multilabel_soft_margin_loss": (of_several_labels, (-1, 1)),
    "poisson_nll_loss": (of_counts, (-1,)),
}


def some_infinite(rng, signs, size):
    x = rng.normal(size=(ROWS, CLASSES))
    x[:, 1:] = np.where(
        rng.integers(0, 2, (ROWS, CLASSES - 1)),
        size * rng.choice(signs, (ROWS, CLASSES - 1)),
        x[:, 1:],
    )
    return x


def value_and_gradient(function, x, dtype):
    leaf = ac.tensor(x, dtype=dtype).requires_grad_()
    loss = function(leaf)
    (slope,) = grad(loss.sum(), leaf)
    return loss.detach().double().numpy(), slope.double().numpy()


@pytest.mark.parametrize("kernels", ["reference", None])
@pytest.mark.parametrize("dtype", [ac.float64, ac.float32])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_infinite_logits_are_the_limit(name, dtype, kernels):
    make, signs = LOSSES[name]
    with ac.kernels.use(kernels) if kernels else ac.enable_grad():
        for seed in range(8):
            near, there = (
                value_and_gradient(
                    make(np.random.default_rng(seed)),
                    some_infinite(np.random.default_rng((seed, 1)), signs, size),
                    dtype,
                )
                for size in (BIG, INF)
            )
            expected = np.where(near[0] > 50, INF, near[0])
            assert np.allclose(there[0], expected, rtol=1e-5)
            assert np.allclose(there[1], near[1], rtol=1e-5, atol=1e-7)


def test_cross_entropy_of_a_class_without_a_share():
    x = ac.tensor([[0.0, 1.0, -INF]]).requires_grad_()
    loss = F.cross_entropy(x, ac.tensor([[0.5, 0.5, 0.0]]))
    loss.backward()
    assert loss.item() == pytest.approx(0.8132616, rel=1e-6)
    expected = [-0.2310586, 0.2310586, 0.0]
    assert x.grad[0].tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("logit", "target"), [(-INF, 0.0), (INF, 1.0)])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_certain_and_right(logit, target, weight):
    x, t = ac.tensor([logit]).requires_grad_(), ac.tensor([target])
    w = None if weight is None else ac.tensor([weight])
    loss = F.binary_cross_entropy_with_logits(x, t, pos_weight=w)
    loss.backward()
    assert loss.item() == 0
    assert x.grad.item() == 0


def test_certain_and_wrong():
    x = ac.tensor([-INF, INF]).requires_grad_()
    t = ac.tensor([1.0, 0.0])
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [INF, INF]
    assert x.grad.tolist() == [-1, 1]
    none = F.binary_cross_entropy_with_logits(x, t, weight=ac.zeros(2))
    assert none.item() == 0


@pytest.mark.parametrize("reduction", ["sum", "none", "batchmean"])
def test_divergence_from_a_distribution_with_zeros(reduction):
    x = ac.tensor([[math.log(0.5), math.log(0.5), -INF]])
    t = ac.tensor([[0.25, 0.75, 0.0]])
    expected = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    for target, log in ((t, False), (t.log(), True)):
        found = F.kl_div(x, target, reduction=reduction, log_target=log).sum()
        assert found.item() == pytest.approx(expected, rel=1e-6)


def test_nan_is_not_hidden_by_a_weight_of_0():
    nan = ac.tensor([[0.0, math.nan]])
    t = ac.tensor([[1.0, 0.0]])
    assert math.isnan(F.kl_div(nan, t, reduction="sum").item())
    assert math.isnan(F.binary_cross_entropy_with_logits(nan, t).item())
    logs = ac.tensor([math.nan, -math.inf, -1.0], requires_grad=True)
    F.kl_div(ac.ones(3), logs, reduction="sum", log_target=True).backward()
    assert [math.isnan(x) for x in logs.grad.tolist()] == [True, False, False]


def test_poisson_of_no_counts():
    x = ac.zeros(2).requires_grad_()
    t = ac.tensor([0.0, 1.0])
    loss = F.poisson_nll_loss(x, t, log_input=False, eps=0.0, reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [0, INF]
    assert x.grad.tolist() == [1, -INF]


@pytest.mark.parametrize("kernels", ["reference", None])
@pytest.mark.parametrize("dtype", [ac.float64, ac.float32, ac.float16, ac.bfloat16])
@pytest.mark.parametrize("shape", [(2,), (3, 5), (4, 1), (2, 3, 40)])
def test_slopes_of_logsumexp_of_nothing_are_those_of_pytorch(shape, dtype, kernels):
    with ac.kernels.use(kernels) if kernels else ac.enable_grad():
        x = ac.full(shape, -INF, dtype=dtype)
        x.view(-1, shape[-1])[0, 0] = 0 if len(shape) > 1 else -INF
        x.requires_grad_()
        y = ac.logsumexp(x, -1)
        y.sum().backward()
        expected = np.full(shape, np.nan)
        if len(shape) > 1:
            expected.reshape(-1, shape[-1])[0] = np.arange(shape[-1]) == 0
        found = x.grad.double().numpy()
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "values",
    [[0.0, 1, INF, 3, 4], [0.0, INF, INF, 3, 4], [INF, 1, 2, -INF, 3], [1.0, 2, 4, 7]],
)
def test_differences_around_an_infinite_value(values, edge_order):
    with np.errstate(invalid="ignore"):
        expected = np.gradient(np.array(values), edge_order=edge_order)
        half = np.gradient(np.array(values), 0.5, edge_order=edge_order)
    x = ac.tensor(values, dtype=ac.float64)
    places = ac.arange(len(values), dtype=ac.float64)
    for options in ({}, {"spacing": (places,)}, {"spacing": places[1]}):
        found = ac.gradient(x, edge_order=edge_order, **options)[0]
        assert np.array_equal(found.numpy(), expected, equal_nan=True)
    found = ac.gradient(x, spacing=0.5, edge_order=edge_order)[0]
    assert np.array_equal(found.numpy(), half, equal_nan=True)


@pytest.mark.parametrize("weight", [0.0, ac.zeros(2), ac.tensor(0.0)])
def test_no_step_towards_an_infinite_end(weight):
    x, end = ac.tensor([1.0, 2.0]).requires_grad_(), ac.tensor([INF, 3.0])
    found = ac.lerp(x, end, weight)
    assert found.tolist() == [1, 2]
    assert grad(found.sum(), x)[0].tolist() == [1, 1]
