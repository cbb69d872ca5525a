# SPDX-License-Identifier: MIT
"""Averages of weights."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ModuleError
from autocalc.optim import swa_utils
from autocalc.optim.swa_utils import AveragedModel


def follow(model, averaged, values):
    for value in values:
        nn.init.constant_(model.weight, value)
        averaged.update_parameters(model)
    return averaged.module.weight.item()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, 3.0),
        ({"avg_fn": swa_utils.get_swa_avg_fn()}, 3.0),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, 3.0),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, 2.4375),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, 2.4375),
        ({"avg_fn": lambda mean, new, n: new + int(n)}, 8.0),
    ],
)
def test_averages(words, expected):
    model = nn.Linear(1, 1)
    averaged = AveragedModel(model, **words)
    assert follow(model, averaged, [1.0, 2.0, 6.0]) == pytest.approx(expected)
    assert model.weight.item() == 6.0
    assert averaged.n_averaged.item() == 3
    assert list(averaged.state_dict()) == ["n_averaged", "module.weight", "module.bias"]


def test_going_on_from_a_state():
    model = nn.Linear(1, 1)
    whole, first = AveragedModel(model), AveragedModel(model)
    follow(model, first, [1.0, 3.0])
    second = AveragedModel(model)
    second.load_state_dict(first.state_dict())
    mean = follow(model, second, [5.0])
    assert mean == follow(model, whole, [1.0, 3.0, 5.0]) == 3.0
    assert second(ac.ones(1, 1)).item() == mean + second.module.bias.item()


@pytest.mark.parametrize("use_buffers", [False, True])
def test_buffers_are_copied_or_averaged(use_buffers):
    model = nn.Linear(1, 1)
    model.register_buffer("seen", ac.zeros(1))
    averaged = AveragedModel(model, use_buffers=use_buffers)
    for value in (2.0, 4.0):
        model.seen.fill_(value)
        averaged.update_parameters(model)
    assert averaged.module.seen.item() == (3.0 if use_buffers else 4.0)


def test_batch_norms_take_the_means_over_a_loader():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5), nn.BatchNorm1d(2)).eval()
    net[0].momentum = 0.25
    batches = [ac.randn(4, 2) * 2 + 1 for _ in range(3)]
    swa_utils.update_bn(((batch, 0) for batch in batches), net)
    means = ac.stack([batch.mean(0) for batch in batches]).mean(0)
    spread = ac.stack([batch.var(0) for batch in batches]).mean(0)
    assert ac.allclose(net[0].running_mean, means)
    assert ac.allclose(net[0].running_var, spread)
    assert net[0].num_batches_tracked.item() == 3
    assert (net[0].momentum, net[2].momentum) == (0.25, 0.1)
    assert not net.training
    assert net[2].running_mean.grad_fn is None


def test_a_batch_that_fails_leaves_the_settings():
    net = nn.BatchNorm1d(2).eval()
    with pytest.raises(DTypeError, match=r"update_bn: a batch of `loader` is \[\]; it"):
        swa_utils.update_bn([[]], net)
    assert (net.momentum, net.training) == (0.1, False)


def test_update_bn_of_a_model_without_norms_reads_nothing():
    def loader():
        raise AssertionError
        yield

    swa_utils.update_bn(loader(), nn.Linear(1, 1))


def test_errors():
    with pytest.raises(DTypeError, match="update_bn: `model` is a int; it must be a M"):
        swa_utils.update_bn([], 1)
    with pytest.raises(DTypeError, match="update_bn: `loader` is a int; it must"):
        swa_utils.update_bn(1, nn.BatchNorm1d(1))
    with pytest.raises(DTypeError, match="AveragedModel: `model` is a int"):
        AveragedModel(1)
    with pytest.raises(ArgumentError, match="give `avg_fn` or `multi_avg_fn`, not"):
        AveragedModel(nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max)
    with pytest.raises(ArgumentError, match="get_ema_avg_fn: `decay` is"):
        swa_utils.get_ema_avg_fn(1.5)
    with pytest.raises(ModuleError, match=r"AveragedModel\.update_parameters: the"):
        AveragedModel(nn.Linear(1, 1)).update_parameters(nn.Linear(2, 1))
