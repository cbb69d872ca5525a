# SPDX-License-Identifier: MIT
"""CTC: against the sum over all alignments; gradients; what is wrong."""

from __future__ import annotations

import itertools
import math

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.autograd import gradcheck, gradgradcheck
from autocalc.errors import ArgumentError, DTypeError, KernelDataError, ShapeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def text_of(alignment, blank):
    labels = [label for label, _ in itertools.groupby(alignment)]
    return [label for label in labels if label != blank]


@pytest.mark.parametrize("text", [[], [1], [2, 2], [1, 2, 1], [2, 1, 1], [1, 2, 1, 2]])
@pytest.mark.parametrize("blank", [0, 3])
def test_the_loss_is_that_of_the_sum_over_alignments(text, blank):
    steps, classes = 5, 4
    log_probs = ac.randn(steps, classes, dtype=ac.float64).log_softmax(-1)
    p = log_probs.exp().tolist()
    total = sum(
        math.prod(p[t][label] for t, label in enumerate(alignment))
        for alignment in itertools.product(range(classes), repeat=steps)
        if text_of(alignment, blank) == text
    )
    target = ac.tensor(text, dtype=ac.int64)
    loss = F.ctc_loss(log_probs, target, [steps], [len(text)], blank, "sum")
    assert loss.item() == pytest.approx(-math.log(total), rel=1e-12)


def test_gradients_of_every_order():
    x = ac.randn(6, 3, 4, dtype=ac.float64, requires_grad=True)
    texts = ac.tensor([[1, 1, 2], [3, 0, 0], [2, 3, 2]])

    def loss(x):
        return F.ctc_loss(x, texts, [6, 4, 5], [3, 1, 3], reduction="none")

    assert gradcheck(loss, [x])
    assert gradgradcheck(loss, [x])


def test_classes_of_probability_0_have_no_alignments():
    log_probs = ac.tensor([[0.0, 1.0], [0.5, 0.5]]).log().requires_grad_()
    loss = F.ctc_loss(log_probs, ac.tensor([1]), [2], [1])
    assert loss.item() == pytest.approx(0, abs=1e-6)
    loss.backward()
    assert bool(log_probs.grad.isfinite().all())


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_a_text_that_is_too_long(zero_infinity):
    x = ac.randn(3, 2, 4, requires_grad=True)
    texts = ac.tensor([[1, 1, 0], [1, 2, 3]])  # the first takes 3 steps, a blank too
    ctc = nn.CTCLoss(reduction="none", zero_infinity=zero_infinity)
    losses = ctc(x.log_softmax(-1), texts, [2, 3], [2, 3])
    assert losses[0].item() == (0.0 if zero_infinity else math.inf)
    losses.sum().backward()
    assert x.grad[:, 0].abs().max().item() == 0
    assert x.grad[:, 1].abs().min().item() > 0


def test_lengths_stand_in_lists_and_tensors_and_padding_is_free():
    x = ac.randn(5, 2, 4).log_softmax(-1)
    texts = ac.tensor([[1, 2], [3, -7]])
    whole = F.ctc_loss(x, texts, ac.tensor([5, 4]), ac.tensor([2, 1]))
    assert whole.item() == F.ctc_loss(x, texts, (5, 4), [2, 1]).item()
    row = F.ctc_loss(x, ac.tensor([1, 2, 3]), (5, 4), [2, 1])
    assert whole.item() == row.item()


X, T = ac.zeros(5, 2, 4), ac.ones(2, 3, dtype=ac.int64)


@pytest.mark.parametrize(
    ("args", "error", "match"),
    [
        ((X[0, 0], T, [5], [3]), ShapeError, r"`log_probs` has shape \(4,\); it"),
        ((X.long(), T, [5, 5], [3, 3]), DTypeError, "needs float32 or float64"),
        ((X, T.float(), [5, 5], [3, 3]), DTypeError, "`targets` has dtype float32"),
        ((X, T[0], [5, 5], [3, 3]), ShapeError, "`targets` holds 3 labels, but the"),
        ((X, T[:1], [5, 5], [3, 3]), ShapeError, r"`targets` has shape \(1, 3\)"),
        ((X, T, [5], [3, 3]), ShapeError, "`input_lengths` holds 1 lengths; give 2"),
        ((X, T, [5, 6], [3, 3]), ArgumentError, r"`input_lengths` is \[5, 6\]"),
        ((X, T, [5, 5], [3, 4]), ArgumentError, r"`target_lengths` is \[3, 4\]"),
        ((X, T, [5, 5], [3, 0.5]), DTypeError, r"`target_lengths` is 0\.5; it must"),
        ((X, T, 5, [3, 3]), DTypeError, "`input_lengths` is 5; it must be a list"),
        ((X, T, [5, 5], [3, 3], 4), ArgumentError, "`blank` is 4; it must be from 0"),
        ((X, T, [5, 5], [3, 3], 0, "max"), ArgumentError, "`reduction`='max'"),
        ((X, T + 3, [5, 5], [3, 3]), KernelDataError, "4"),
    ],
)  # fmt: skip
def test_what_is_wrong(args, error, match):
    with pytest.raises(error, match=match):
        F.ctc_loss(*args)
