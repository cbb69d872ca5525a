# SPDX-License-Identifier: MIT
"""Losses with margins and likelihoods, against loops over single elements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcWarning
from autocalc.nn import functional as F

RNG = np.random.default_rng(0)
X, Y, Z = (RNG.normal(size=(6, 4)) for _ in range(3))
SIGNS = np.where(RNG.random((6, 4)) < 0.5, -1, 1)
LABELS = np.array([0, 3, 1, 1, 2, 0])
LISTS = np.array(
    [
        [0, -1, 2, 3], [3, 1, -1, 0], [-1, 0, 0, 0], [2, 1, 0, -1], [1, 1, -1, -1],
        [0, 1, 2, 3],
    ]
)  # fmt: skip
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": np.asarray}


def log1pexp(x):
    return math.log1p(math.exp(x))


def elementwise(loss, *arrays):
    return np.vectorize(loss, otypes=[float])(*arrays)


def multi_margin(p, margin, weight):
    """Return the loss of each row of X."""
    losses = []
    for row, y in zip(X, LABELS, strict=True):
        terms = [
            weight[y] * max(margin - row[y] + row[j], 0) ** p
            for j in range(4)
            if j != y
        ]
        losses.append(sum(terms) / 4)
    return np.array(losses)


def multilabel_margin():
    losses = []
    for row, labels in zip(X, LISTS.tolist(), strict=True):
        named = labels[: labels.index(-1)] if -1 in labels else labels
        others = [i for i in range(4) if i not in named]
        terms = [max(1 - (row[j] - row[i]), 0) for j in named for i in others]
        losses.append(sum(terms) / 4)
    return np.array(losses)


def stirling(t):
    return t * math.log(t) - t + math.log(2 * math.pi * t) / 2 if t > 1 else 0.0


WEIGHT = np.array([1.0, 2.0, 0.5, 3.0])
BITS = (SIGNS + 1) // 2
COUNTS = RNG.integers(0, 5, (6, 4)).astype(float)
CASES = {
    "MarginRankingLoss": (
        lambda **k: nn.MarginRankingLoss(0.5, **k),
        (X, Y, SIGNS),
        elementwise(lambda x, y, t: max(-t * (x - y) + 0.5, 0), X, Y, SIGNS),
    ),
    "HingeEmbeddingLoss": (
        lambda **k: nn.HingeEmbeddingLoss(0.7, **k),
        (X, SIGNS),
        elementwise(lambda x, t: x if t == 1 else max(0.7 - x, 0), X, SIGNS),
    ),
    "SoftMarginLoss": (
        nn.SoftMarginLoss,
        (X, SIGNS),
        elementwise(lambda x, t: log1pexp(-t * x), X, SIGNS),
    ),
    "MultiLabelSoftMarginLoss": (
        lambda **k: nn.MultiLabelSoftMarginLoss(ac.tensor(WEIGHT), **k),
        (X, BITS),
        (elementwise(lambda x, t: log1pexp(-t * x), X, SIGNS) * WEIGHT).mean(1),
    ),
    "MultiMarginLoss": (nn.MultiMarginLoss, (X, LABELS), multi_margin(1, 1, [1] * 4)),
    "MultiMarginLoss, p=2": (
        lambda **k: nn.MultiMarginLoss(2, 0.7, ac.tensor(WEIGHT), **k),
        (X, LABELS),
        multi_margin(2, 0.7, WEIGHT),
    ),
    "MultiLabelMarginLoss": (nn.MultiLabelMarginLoss, (X, LISTS), multilabel_margin()),
    "TripletMarginWithDistanceLoss": (
        lambda **k: nn.TripletMarginWithDistanceLoss(
            distance_function=lambda a, b: (a - b).abs().sum(1), swap=True, **k
        ),
        (X, Y, Z),
        np.maximum(
            abs(X - Y).sum(1)
            - np.minimum(abs(X - Z).sum(1), abs(Y - Z).sum(1))
            + 1.0,
            0,
        ),
    ),
    "PoissonNLLLoss": (
        lambda **k: nn.PoissonNLLLoss(full=True, **k),
        (X, COUNTS),
        elementwise(lambda x, t: math.exp(x) - t * x + stirling(t), X, COUNTS),
    ),
    "PoissonNLLLoss of rates": (
        lambda **k: nn.PoissonNLLLoss(False, eps=0.5, **k),
        (abs(X), COUNTS),
        elementwise(lambda x, t: x - t * math.log(x + 0.5), abs(X), COUNTS),
    ),
    "GaussianNLLLoss": (
        lambda **k: nn.GaussianNLLLoss(full=True, eps=0.6, **k),
        (X, Y, abs(Z)),
        elementwise(
            lambda x, t, v: (math.log(2 * math.pi * v) + (x - t) ** 2 / v) / 2,
            X, Y, np.maximum(abs(Z), 0.6),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("case", CASES)
def test_values(case, reduction):
    loss, arrays, expected = CASES[case]
    value = loss(reduction=reduction)(*map(ac.tensor, arrays))
    np.testing.assert_allclose(
        value.numpy(), REDUCTIONS[reduction](expected), rtol=1e-12
    )


def test_one_row_of_scores():
    x, y = ac.tensor(X[0]), ac.tensor(LABELS[0])
    assert F.multi_margin_loss(x, y, reduction="none").shape == ()
    labels = ac.tensor(LISTS[0])
    value = F.multilabel_margin_loss(x, labels, reduction="none")
    assert value.item() == pytest.approx(multilabel_margin()[0])


def test_soft_margins_do_not_overflow():
    x = ac.tensor([-1000.0, 1000.0])
    value = F.soft_margin_loss(x, ac.ones(2), reduction="none")
    assert value.tolist() == [1000, 0]


@pytest.mark.parametrize("shape", [(6, 4), (6, 1), (6,), (1, 4)])
def test_shapes_of_variances(shape):
    var = RNG.uniform(0.5, 2, shape)
    value = F.gaussian_nll_loss(ac.tensor(X), ac.tensor(Y), ac.tensor(var))
    wide = var.reshape(6, 1) if shape == (6,) else var
    expected = (np.log(wide) + (X - Y) ** 2 / wide) / 2
    assert value.item() == pytest.approx(expected.mean())


def test_variance_as_a_number():
    x, y = ac.tensor(X), ac.tensor(Y)
    value = F.gaussian_nll_loss(x, y, 2.0)
    assert (
        value.item()
        == F.gaussian_nll_loss(x, y, ac.full((6, 4), 2.0, dtype=ac.float64)).item()
    )


def test_the_smallest_variance_is_unseen_by_the_gradient():
    var = ac.tensor([0.0], requires_grad=True, dtype=ac.float64)
    zero = ac.zeros(1, dtype=ac.float64)
    F.gaussian_nll_loss(zero, zero, var, eps=0.5).backward()
    assert var.grad.item() == 1.0  # 1 / (2 eps)


MEANT = [
    ({"size_average": False}, "sum"),
    ({"size_average": True}, "mean"),
    ({"reduce": False}, "none"),
    ({"reduce": True, "size_average": False}, "sum"),
    ({"reduce": False, "size_average": True}, "none"),
]
FUNCTIONS = {
    "l1_loss": (X, Y), "mse_loss": (X, Y), "smooth_l1_loss": (X, Y),
    "kl_div": (X, abs(Y)), "soft_margin_loss": (X, SIGNS),
    "multilabel_soft_margin_loss": (X, BITS), "multi_margin_loss": (X, LABELS),
    "multilabel_margin_loss": (X, LISTS), "cross_entropy": (X, LABELS),
    "nll_loss": (X, LABELS), "binary_cross_entropy": (BITS * 0.5, BITS * 1.0),
    "binary_cross_entropy_with_logits": (X, BITS * 1.0),
    "hinge_embedding_loss": (X, SIGNS), "poisson_nll_loss": (X, COUNTS),
    "margin_ranking_loss": (X, Y, SIGNS), "triplet_margin_loss": (X, Y, Z),
    "cosine_embedding_loss": (X, Y, SIGNS[:, 0]),
}  # fmt: skip


@pytest.mark.parametrize(("old", "reduction"), MEANT)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:kl_div. reduction='mean' divides")
def test_deprecated_flags_of_functions(name, old, reduction):
    tensors = [ac.tensor(a) for a in FUNCTIONS[name]]
    with pytest.warns(
        AutocalcWarning, match=f"{name}: `size_average` and .* reduction='{reduction}'"
    ):
        value = getattr(F, name)(*tensors, **old)
    assert value.tolist() == getattr(F, name)(*tensors, reduction=reduction).tolist()


@pytest.mark.parametrize(
    "name",
    ["L1Loss", "MSELoss", "SmoothL1Loss", "KLDivLoss", "SoftMarginLoss", "NLLLoss",
     "MultiLabelSoftMarginLoss", "MultiMarginLoss", "MultiLabelMarginLoss", "BCELoss",
     "CrossEntropyLoss", "BCEWithLogitsLoss", "HingeEmbeddingLoss", "PoissonNLLLoss",
     "MarginRankingLoss", "TripletMarginLoss", "CosineEmbeddingLoss"],
)  # fmt: skip
@pytest.mark.parametrize(("old", "reduction"), MEANT)
def test_deprecated_flags_of_modules(name, old, reduction):
    with pytest.warns(AutocalcWarning, match=f"{name}: `size_average` and `reduce`"):
        loss = getattr(nn, name)(**old)
    assert loss.reduction == reduction


def test_the_old_order_of_arguments():
    with pytest.warns(AutocalcWarning, match="MSELoss"):
        assert nn.MSELoss(False).reduction == "sum"
    with pytest.warns(AutocalcWarning, match="CrossEntropyLoss"):
        loss = nn.CrossEntropyLoss(None, False, 3)
    assert (loss.reduction, loss.ignore_index) == ("sum", 3)


ONE, TWO = ac.ones(1), ac.ones(2)
test_impossible_arguments = refusals(
    r"""
    F.margin_ranking_loss(TWO, TWO, ac.ones(1, 2)) -> ShapeError: `target` has shape
        \(1, 2\); they must have the same number of dimensions
    F.multi_margin_loss(TWO, ac.tensor(0), 3) -> ArgumentError: `p` is 3; it must be 1
        or 2
    nn.MultiMarginLoss(3) -> ArgumentError: MultiMarginLoss: `p` is 3; it must be 1 or 2
    F.multi_margin_loss(ac.ones(1, 2, 3), ac.ones(1, 3)) -> ShapeError: `input` has
        shape \(1, 2, 3\); it must be \(N, C\) or
    F.multi_margin_loss(TWO, ac.tensor(0), weight=ONE) -> ShapeError: `weight` has shape
        \(1,\) for 2 classes; it must be \(2,\)
    F.multi_margin_loss(TWO, ac.tensor([0, 1])) -> ShapeError: for one row of scores
    F.multi_margin_loss(TWO, ac.tensor(2)) -> KernelIndexError: `index` holds 2 at
        element 0
    F.multilabel_margin_loss(TWO, TWO) -> DTypeError: `target` has dtype float32; it
        must be int64
    F.multilabel_margin_loss(ac.ones(1, 1, 1), ac.ones(1, 1, 1)) -> ShapeError:
        multilabel_margin_loss: `input` has shape \(1, 1, 1\); it must be
    F.multilabel_margin_loss(TWO, ONE) -> ShapeError: target size \(1,\) for an in
    F.multilabel_soft_margin_loss(ac.tensor(1.0), ac.tensor(1.0)) -> ShapeError: `input`
        is 0-d; it needs a dimension for the classes
    F.triplet_margin_with_distance_loss(TWO, TWO, TWO, margin=0) -> ArgumentError:
        with_distance_loss: `margin` is 0; it must be above 0
    nn.TripletMarginWithDistanceLoss(margin=-1) -> ArgumentError: WithDistanceLoss:
        `margin` is -1; it must be above 0
    F.gaussian_nll_loss(TWO, TWO, TWO, eps=0) -> ArgumentError: `eps` is 0; it must be
        above
    F.gaussian_nll_loss(TWO, TWO, -TWO) -> ArgumentError: var has negative entry
    F.gaussian_nll_loss(TWO, TWO, ac.ones(3)) -> ShapeError: var is of incorrect
        size, \(3,\), for an input of shape \(2,\); it
    F.l1_loss(TWO, TWO, 1) -> ArgumentError: `size_average` is 1; it must be True or F
    F.hinge_embedding_loss(TWO, TWO, reduction='max') -> ArgumentError:
        `reduction`='max'
    """,
    globals(),
)
