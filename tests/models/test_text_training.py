# SPDX-License-Identifier: MIT
"""Training on text: it learns, stops anywhere, and goes on bit for bit."""

import math
from dataclasses import replace

import pytest

import autocalc as ac
from autocalc.data import Characters
from autocalc.errors import ArgumentError
from autocalc.models import Evaluation, TextConfig, TextStep, TextTraining

TEXT = Characters("the quick brown fox jumps over the lazy dog. " * 30)
TINY = TextConfig(
    steps=6, batch_size=4, seq_len=16, d_model=16, heads=2, layers=1, eval_every=4
)


def test_events_come_in_order():
    training = TextTraining(TEXT, TINY)
    events = [(type(event), event.number) for event in training.run()]
    steps = [(TextStep, i) for i in range(1, 7)]
    assert events == [*steps[:4], (Evaluation, 4), *steps[4:], (Evaluation, 6)]
    assert training.speed > 0
    assert [step for step, _ in training.history.evaluations] == [4, 6]


def test_it_learns_a_sentence_by_heart():
    config = replace(TINY, steps=150, d_model=32, lr=1e-2, warmup=10, eval_every=150)
    training = TextTraining(TEXT, config)
    list(training.run())
    assert training.history.losses[0] == pytest.approx(math.log(28), abs=0.2)
    assert training.history.evaluations[-1][1] < 0.3


@pytest.mark.parametrize(
    "change",
    [{}, {"optimizer": "lion"}, {"optimizer": "sgd"}, {"model": "lstm", "layers": 2}],
)
def test_a_state_goes_on_bit_for_bit(change, tmp_path):
    config = replace(TINY, dropout=0.2, **change)
    whole = TextTraining(TEXT, config)
    for event in whole.run():
        if event.number == 3:
            ac.save(whole.state_dict(), tmp_path / "state")
    part = TextTraining(TEXT, config)
    part.load_state_dict(ac.load(tmp_path / "state"))
    list(part.run())
    assert part.history.losses == whole.history.losses
    assert part.history.evaluations == whole.history.evaluations


def test_an_evaluation_counts_every_token_once():
    training = TextTraining(TEXT, TINY)
    kept = training.kept_tokens
    with ac.no_grad():
        losses = [
            (training.model.loss(kept[a:b].reshape(1, -1), kept[a + 1 : b + 1]), b - a)
            for a, b in (
                (a, min(a + 16, len(kept) - 1)) for a in range(0, len(kept) - 1, 16)
            )
        ]
    total = sum(loss.item() * count for loss, count in losses)
    assert sum(count for _, count in losses) == len(kept) - 1
    assert training.evaluate() == pytest.approx(total / (len(kept) - 1), rel=1e-5)
    assert training.model.training


def test_the_rate_rises_and_falls():
    config = TextConfig(steps=110, warmup=10, lr=1.0)
    rates = [config.rate(step) for step in range(110)]
    assert rates[:3] == pytest.approx([1 / 11, 2 / 11, 3 / 11])
    assert max(rates) == rates[10] == 1
    assert rates[60] == pytest.approx(0.55)
    assert rates[109] == pytest.approx(0.1, abs=1e-3)
    linear = replace(config, schedule="linear")
    assert linear.rate(35) == pytest.approx(0.775)
    assert replace(config, schedule="constant").rate(100) == 1


def test_only_matrices_decay():
    training = TextTraining(TEXT, TINY)
    matrices, others = training.optimizer.param_groups
    assert {p.ndim for p in matrices["params"]} == {2}
    assert {p.ndim for p in others["params"]} == {1}
    assert (matrices["weight_decay"], others["weight_decay"]) == (0.1, 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizer": "adam2"}, "`optimizer` is 'adam2'; it must be one of adamw"),
        ({"model": "gru"}, "`model` is 'gru'; it must be one of transformer, lstm"),
        ({"schedule": "step"}, "`schedule` is 'step'; it must be one of cosine"),
        ({"steps": 0}, "`steps` is 0; it must be at least 1"),
        ({"lr": -1.0}, "`lr` is -1.0; it must be 0 or more"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(ArgumentError, match=message):
        TextTraining(TEXT, replace(TINY, **change))
