# SPDX-License-Identifier: MIT
"""Losses, as modules and as functions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    GradError,
    KernelDataError,
    ShapeError,
)
from autocalc.nn import functional as F

LOGITS = np.random.default_rng(0).normal(size=(6, 4))
LABELS = np.array([0, 3, 1, 1, 2, 0])


def log_softmax(x):
    return x - x.max(1, keepdims=True) - np.log(
        np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)
    )  # fmt: skip


def cross_entropy(x, t, weight, smoothing):
    """Return loss and weight of each row."""
    onehot = np.eye(x.shape[1])[t]
    q = weight * ((1 - smoothing) * onehot + smoothing / x.shape[1])
    return -(q * log_softmax(x)).sum(1), weight[t]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy(reduction, smoothing, weighted):
    weight = np.array([1.0, 2.0, 0.5, 3.0]) if weighted else np.ones(4)
    rows, weights = cross_entropy(LOGITS, LABELS, weight, smoothing)
    expected = {"none": rows, "sum": rows.sum(), "mean": rows.sum() / weights.sum()}
    loss = nn.CrossEntropyLoss(
        ac.tensor(weight) if weighted else None,
        reduction=reduction,
        label_smoothing=smoothing,
    )
    value = loss(ac.tensor(LOGITS), ac.tensor(LABELS))
    np.testing.assert_allclose(value.numpy(), expected[reduction], rtol=1e-12)
    assert list(loss.state_dict()) == (["weight"] if weighted else [])


def test_cross_entropy_ignores_rows_and_takes_images():
    labels = LABELS.copy()
    labels[2] = -100
    kept = labels != -100
    rows, _ = cross_entropy(LOGITS[kept], labels[kept], np.ones(4), 0.0)
    value = F.cross_entropy(ac.tensor(LOGITS), ac.tensor(labels))
    np.testing.assert_allclose(value.item(), rows.mean(), rtol=1e-12)
    images = ac.randn(2, 4, 3, 5, dtype=ac.float64)
    maps = ac.randint(4, (2, 3, 5))
    flat = images.permute(0, 2, 3, 1).reshape(-1, 4)
    assert F.cross_entropy(images, maps).item() == pytest.approx(
        F.cross_entropy(flat, maps.reshape(-1)).item(), rel=1e-12
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_mse(reduction):
    a, b = LOGITS, LOGITS[::-1].copy()
    square = (a - b) ** 2
    expected = {"mean": square.mean(), "sum": square.sum(), "none": square}[reduction]
    value = nn.MSELoss(reduction=reduction)(ac.tensor(a), ac.tensor(b))
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-12)


def test_mse_warns_of_shapes_that_differ():
    with pytest.warns(
        AutocalcWarning, match=r"`input` has shape \(3, 1\) and `target`"
    ):
        F.mse_loss(ac.zeros(3, 1), ac.zeros(3))


def test_errors():
    with pytest.raises(ArgumentError, match="MSELoss: `reduction`='avg'; use 'mean'"):
        nn.MSELoss(reduction="avg")
    with pytest.raises(ArgumentError, match="CrossEntropyLoss: `reduction`=None"):
        nn.CrossEntropyLoss(reduction=None)
    with pytest.raises(ArgumentError, match="mse_loss: `reduction`='max'"):
        F.mse_loss(ac.zeros(1), ac.zeros(1), reduction="max")
    with pytest.raises(KernelDataError, match="`target` holds 4 at element 1"):
        F.cross_entropy(ac.tensor(LOGITS), ac.tensor([0, 4, 0, 0, 0, 0]))


def test_labels_of_nll_are_checked():
    log_p = ac.log_softmax(ac.tensor(LOGITS), 1)
    with pytest.raises(KernelDataError, match="holds 4 at element"):
        F.nll_loss(log_p, ac.tensor([0, 4, 0, 0, 0, 0]))
    with pytest.raises(
        ShapeError, match=r"nll_loss: `input` has shape \(6, 4\) and `target`"
    ):
        F.nll_loss(log_p, ac.tensor([0]))
    with pytest.raises(
        ShapeError, match=r"nll_loss: weight tensor should be defined either for"
    ):
        F.nll_loss(log_p, ac.tensor(LABELS), ac.ones(2))
    with pytest.raises(GradError, match="nll_loss: `weight` requires a gradient"):
        F.nll_loss(log_p, ac.tensor(LABELS), ac.ones(4, requires_grad=True))


ONE, TWO = ac.ones(1), ac.ones(2)
test_impossible_arguments = refusals(
    r"""
    F.binary_cross_entropy(TWO * 2, TWO) -> ArgumentError: from 2\.0 to 2\.0, but
        probabilities must be between 0 and 1\. For logits,
    F.binary_cross_entropy(TWO, ONE) -> ShapeError: shape \(2,\), but `target` has shape
        \(1,\); they must be equal\.
    F.binary_cross_entropy_with_logits(TWO, ONE) -> ShapeError: _with_logits: `input`
        has
    F.huber_loss(TWO, TWO, delta=0) -> ArgumentError: huber_loss: `delta` is 0; it must
        be ab
    F.smooth_l1_loss(TWO, TWO, beta=-1) -> ArgumentError: smooth_l1_loss: `beta` is -1;
        it mu
    F.l1_loss(TWO, TWO, reduction='all') -> ArgumentError: l1_loss: `reduction`='all'
    F.kl_div(TWO, TWO, reduction='batch') -> ArgumentError: kl_div: `reduction`='batch'
    nn.KLDivLoss(reduction='batch') -> ArgumentError: KLDivLoss: `reduction`='batch'
    F.triplet_margin_loss(TWO, TWO, TWO, 0) -> ArgumentError: `margin` is 0; it must be
        above
    F.cosine_embedding_loss(TWO, TWO, TWO) -> ShapeError: `target` has the shape \(2,\).
        Both inputs must have the shape
    F.cross_entropy(TWO, TWO, ignore_index=1) -> ArgumentError: `ignore_index`=1 was
        given with a `target` of probabilities, which has no
    """,
    globals(),
)


@pytest.mark.parametrize("name", ["l1_loss", "smooth_l1_loss", "huber_loss"])
def test_differences_warn_of_shapes_that_differ(name):
    with pytest.warns(AutocalcWarning, match=rf"{name}: `input` has shape \(3, 1\)"):
        getattr(F, name)(ac.zeros(3, 1), ac.zeros(3))


def test_the_divergence_of_nothing_is_nothing():
    x = ac.tensor([-1.0, -2.0], requires_grad=True)
    loss = F.kl_div(x, ac.tensor([0.0, 1.0]), reduction="sum")
    loss.backward()
    assert loss.item() == 2.0  # 1 * (log 1 + 2)
    assert x.grad.tolist() == [0, -1]
