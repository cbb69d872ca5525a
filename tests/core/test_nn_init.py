# SPDX-License-Identifier: MIT
"""Initialisers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import init


@pytest.fixture(autouse=True)
def _seed():
    ac.manual_seed(0)


def spread(tensor):
    values = tensor.numpy()
    return values.mean(), values.std(), np.abs(values).max()


def test_constants():
    assert init.constant_(ac.empty(2), 3).tolist() == [3, 3]
    assert init.ones_(ac.empty(2)).tolist() == [1, 1]
    assert init.zeros_(ac.empty(2)).tolist() == [0, 0]
    assert init.eye_(ac.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ShapeError, match="eye_: needs a matrix, not shape"):
        init.eye_(ac.empty(2))


def test_parameters_are_filled_in_place():
    p = ac.nn.Parameter(ac.zeros(2))
    assert init.ones_(p) is p
    assert p.tolist() == [1, 1]
    assert p.requires_grad
    assert p.is_leaf


def test_uniform_and_normal():
    mean, std, largest = spread(init.uniform_(ac.empty(10000), -2, 2))
    assert abs(mean) < 0.05
    assert abs(std - 2 / math.sqrt(3)) < 0.03
    assert largest <= 2
    mean, std, _ = spread(init.normal_(ac.empty(10000), 3, 0.5))
    assert abs(mean - 3) < 0.02
    assert abs(std - 0.5) < 0.02


def test_trunc_normal_stays_inside():
    x = init.trunc_normal_(ac.empty(10000), std=1.0, a=-1.0, b=2.0).numpy()
    assert x.min() >= -1
    assert x.max() <= 2
    assert (np.abs(x + 1) < 1e-6).mean() < 0.01  # drawn again, not clamped
    assert abs(x.mean() - 0.2296) < 0.03  # (phi(-1) - phi(2)) / (Phi(2) - Phi(-1))
    with pytest.raises(ArgumentError, match=r"a=1\.0 and b=0\.0; `a` must be below"):
        init.trunc_normal_(ac.empty(1), a=1.0, b=0.0)
    far = init.trunc_normal_(ac.empty(10), a=50.0, b=51.0).numpy()
    assert ((far >= 50) & (far <= 51)).all()


FAN_IN, FAN_OUT = 30 * 9, 40 * 9


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (init.xavier_uniform_, math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (init.xavier_normal_, math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (init.kaiming_uniform_, math.sqrt(2 / FAN_IN)),
        (init.kaiming_normal_, math.sqrt(2 / FAN_IN)),
        (
            lambda w: init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
            math.sqrt(2 / FAN_OUT),
        ),
        (lambda w: init.kaiming_uniform_(w, a=math.sqrt(5)), math.sqrt(2 / 6 / FAN_IN)),
        (lambda w: init.xavier_normal_(w, gain=2.0), 2 * math.sqrt(2 / 630)),
    ],
)
def test_the_spread_follows_the_fans(fill, std):
    weight = fill(ac.empty(40, 30, 3, 3))
    mean, found, largest = spread(weight)
    assert abs(mean) < 0.05 * std * 3
    assert abs(found - std) < 0.03 * std
    assert largest < 6 * std


def test_gains():
    assert init.calculate_gain("linear") == 1
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / (1 + 0.01**2))
    assert init.calculate_gain("leaky_relu", 0.5) == math.sqrt(2 / 1.25)
    with pytest.raises(
        ArgumentError, match="calculate_gain: `nonlinearity` 'swish' is unknown; it"
    ):
        init.calculate_gain("swish")
    with pytest.raises(ArgumentError, match="`param`='big' is not a"):
        init.calculate_gain("leaky_relu", "big")


def test_errors():
    with pytest.raises(ShapeError, match=r"xavier_uniform_: a tensor of shape \(3,\)"):
        init.xavier_uniform_(ac.empty(3))
    with pytest.raises(ArgumentError, match="kaiming_normal_: `mode`='fan'"):
        init.kaiming_normal_(ac.empty(3, 3), mode="fan")
