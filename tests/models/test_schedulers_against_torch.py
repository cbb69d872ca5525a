# SPDX-License-Identifier: MIT
"""Learning rates follow PyTorch's, from the beginning, resumed and from its states."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SIMPLE = [
    ("StepLR", {"step_size": 4, "gamma": 0.3}),
    ("MultiStepLR", {"milestones": [4, 8, 8, 30], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.7, "total_iters": 20}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 7}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.1, "total_iters": 20}),
    ("PolynomialLR", {"total_iters": 30, "power": 2.0}),
    ("PolynomialLR", {}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}),
    ("LambdaLR", {"lr_lambda": [lambda epoch: 0.9**epoch, lambda epoch: epoch]}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 1 + 0.1 * (-1) ** epoch}),
    ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 7, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}),
]
CYCLES = [
    {"max_lr": 0.9, "total_steps": 50},
    {"max_lr": [0.9, 0.2], "epochs": 10, "steps_per_epoch": 5, "pct_start": 0.25},
    {"max_lr": 0.9, "total_steps": 55, "three_phase": True, "max_momentum": 0.99},
    {"max_lr": 0.9, "total_steps": 50, "anneal_strategy": "linear", "div_factor": 5.0},
    {"max_lr": 0.9, "total_steps": 50, "cycle_momentum": False},
]


def make(library, optimizer="SGD", **settings):
    groups = [
        {"params": [library.zeros(1, requires_grad=True)], "lr": lr}
        for lr in (0.5, 0.125)
    ]
    return getattr(library.optim, optimizer)(groups, **settings)


def follow(scheduler, epochs, figures=None):
    """Return the rates, and what else a scheduler moves, of each epoch."""
    optimizer, found = scheduler.optimizer, []
    for epoch in range(epochs):
        moved = [
            (*group["betas"],) if "betas" in group else group.get("momentum")
            for group in optimizer.param_groups
        ]
        found.append([*scheduler.get_last_lr(), *np.ravel(moved).tolist()])
        optimizer.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of epochs as arguments
            scheduler.step(*([] if figures is None else [figures[epoch]]))
    return found


def assert_equal(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "settings"), SIMPLE)
def test_fifty_epochs(name, settings):
    ours, theirs = (
        follow(getattr(library.optim.lr_scheduler, name)(make(library), **settings), 50)
        for library in (ac, torch)
    )
    assert_equal(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), SIMPLE)
def test_going_on_with_last_epoch(name, settings):
    found = []
    for library in (ac, torch):
        optimizer = make(library)
        for group in optimizer.param_groups:
            group["initial_lr"] = 0.7
        scheduler = getattr(library.optim.lr_scheduler, name)(
            optimizer, **settings, last_epoch=2
        )
        found.append(follow(scheduler, 20))
    assert_equal(*found)


@pytest.mark.parametrize(("name", "settings"), SIMPLE)
def test_states_pass_both_ways(name, settings):
    ours, theirs = (
        getattr(library.optim.lr_scheduler, name)(make(library), **settings)
        for library in (ac, torch)
    )
    whole = follow(getattr(torch.optim.lr_scheduler, name)(make(torch), **settings), 30)
    found = follow(theirs, 9)
    hand_over(theirs, ours)
    found += follow(ours, 9)
    hand_over(ours, theirs)
    found += follow(theirs, 12)
    assert_equal(found, whole)


def hand_over(source, target):
    target.load_state_dict(source.state_dict())
    groups = source.optimizer.param_groups, target.optimizer.param_groups
    for old, new in zip(*groups, strict=True):
        new["lr"] = old["lr"]


@pytest.mark.parametrize("settings", CYCLES)
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_one_cycle(settings, optimizer):
    ours, theirs = (
        follow(
            library.optim.lr_scheduler.OneCycleLR(make(library, optimizer), **settings),
            50,
        )
        for library in (ac, torch)
    )
    assert_equal(ours, theirs)


CYCLIC = [
    {"step_size_up": 4},
    {"step_size_up": 3, "step_size_down": 5, "mode": "triangular2"},
    {"step_size_up": 4, "mode": "exp_range", "gamma": 0.95, "base_momentum": 0.5},
    {"step_size_up": 4, "scale_fn": lambda x: 1 / x, "cycle_momentum": False},
    {"step_size_up": 4, "scale_fn": lambda x: 0.9**x, "scale_mode": "iterations"},
]


@pytest.mark.parametrize("settings", CYCLIC)
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_cyclic(settings, optimizer):
    ours, theirs = (
        library.optim.lr_scheduler.CyclicLR(
            make(library, optimizer), [0.01, 0.1], 0.9, **settings
        )
        for library in (ac, torch)
    )
    found, whole = follow(ours, 20), follow(theirs, 20)
    assert_equal(found, whole)
    if "scale_fn" not in settings:
        hand_over(theirs, ours)
        assert_equal(follow(ours, 20), follow(theirs, 20))


@pytest.mark.parametrize("epochs", [0, 1, 6])
@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_swa(epochs, strategy):
    ours, theirs = (
        library.optim.swa_utils.SWALR(make(library), [0.05, 0.2], epochs, strategy)
        for library in (ac, torch)
    )
    assert_equal(follow(ours, 20), follow(theirs, 20))


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("threshold_mode", ["rel", "abs"])
@pytest.mark.parametrize(
    "more", [{}, {"cooldown": 3, "min_lr": [0.01, 0.0]}, {"eps": 0.05}]
)
def test_reduce_on_plateau(mode, threshold_mode, more):
    figures = np.random.default_rng(3).normal(size=50).cumsum() + 20
    settings = {"factor": 0.5, "patience": 2, "threshold": 0.01, **more}
    ours, theirs = (
        follow(
            library.optim.lr_scheduler.ReduceLROnPlateau(
                make(library), mode, threshold_mode=threshold_mode, **settings
            ),
            50,
            figures,
        )
        for library in (ac, torch)
    )
    assert_equal(ours, theirs)
    assert ours[0] != ours[-1]


def warm_up(schedulers, optimizer):
    parts = [
        schedulers.LinearLR(optimizer, 0.1, total_iters=5),
        schedulers.CosineAnnealingLR(optimizer, 20),
        schedulers.ExponentialLR(optimizer, 0.9),
        schedulers.ConstantLR(optimizer, 0.5, total_iters=3),
        schedulers.LambdaLR(optimizer, lambda epoch: 0.8**epoch),
        schedulers.CosineAnnealingWarmRestarts(optimizer, 3, 2),
        schedulers.StepLR(optimizer, 2),
    ]
    milestones = [5, 12, 16, 22, 26, 40]
    return schedulers.SequentialLR(optimizer, parts, milestones)


def chained(schedulers, optimizer):
    parts = [
        schedulers.ConstantLR(optimizer, 0.1, total_iters=4),
        schedulers.ExponentialLR(optimizer, 0.9),
    ]
    return schedulers.ChainedScheduler(parts)


@pytest.mark.parametrize("build", [warm_up, chained])
def test_combined(build):
    ours, theirs = (
        follow(build(library.optim.lr_scheduler, make(library)), 50)
        for library in (ac, torch)
    )
    assert_equal(ours, theirs)


@pytest.mark.parametrize("build", [warm_up, chained])
def test_states_of_combined(build):
    ours, theirs = (
        build(library.optim.lr_scheduler, make(library)) for library in (ac, torch)
    )
    whole = follow(build(torch.optim.lr_scheduler, make(torch)), 30)
    found = follow(theirs, 14)
    hand_over(theirs, ours)
    assert_equal(found + follow(ours, 16), whole)


def test_warm_restarts_between_epochs():
    found = []
    for library in (ac, torch):
        scheduler = library.optim.lr_scheduler.CosineAnnealingWarmRestarts(
            make(library), T_0=4, T_mult=2
        )
        rates = []
        for epoch in (0.5, 3.75, 4, 11.5, 12, 40.25, 2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheduler.step(epoch)
            rates.append(scheduler.get_last_lr())
        found.append(rates)
    assert_equal(*found)
