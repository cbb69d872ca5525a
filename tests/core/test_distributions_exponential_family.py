# SPDX-License-Identifier: MIT
"""Entropies and divergences by the slopes of a family's normaliser."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as dist
from autocalc.distributions import ExponentialFamily
from autocalc.distributions._exponential_family import bregman_divergence
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core
A = np.array([0.3, 1.5, 4.0])
B = np.array([2.0, 0.7, 1.1])
ROOT = ac.tensor([[0.1, 0.0, 0.0], [0.5, -0.3, 0.0], [-1.0, 0.2, 0.4]]).double()

#: Makes a distribution of two parameters.
FAMILIES = {
    "bernoulli": lambda a, b: dist.Bernoulli(logits=a - b),
    "beta": dist.Beta,
    "dirichlet": lambda a, b: dist.Dirichlet(a * b),
    "exponential": lambda a, b: dist.Exponential(a / b),
    "gamma": dist.Gamma,
    "normal": dist.Normal,
    "wishart": lambda a, b: dist.Wishart(2 + a, scale_tril=(b + ROOT.exp()).tril()),
}


def parameters():
    return [ac.tensor(x.copy()).requires_grad_() for x in (A, B)]


def grads(result, given):
    found = ac.autograd.grad(result.sum(), given, allow_unused=True)
    return [np.zeros(3) if g is None else g.numpy() for g in found]


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
def test_entropy(make):
    results = []
    for entropy in (ExponentialFamily.entropy, lambda d: d.entropy()):
        given = parameters()
        d = make(*given)
        result = entropy(d)
        results.append((result.detach().numpy(), *grads(result, given)))
    for found, needed in zip(*results, strict=True):
        assert np.allclose(found, needed, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
def test_divergence(make):
    results = []
    for divergence in (bregman_divergence, dist.kl_divergence):
        given = [*parameters(), *parameters()]
        p, q = make(*given[:2]), make(given[3] + 0.5, given[2] + 0.2)
        result = divergence(p, q)
        results.append((result.detach().numpy(), *grads(result, given)))
    for found, needed in zip(*results, strict=True):
        assert found.shape == needed.shape
        assert np.allclose(found, needed, rtol=1e-9, atol=1e-12)


def test_without_gradients():
    d = dist.Gamma(ac.tensor(A), ac.tensor(B))
    assert not ExponentialFamily.entropy(d).requires_grad
    given = parameters()
    with ac.no_grad():
        found = ExponentialFamily.entropy(dist.Gamma(*given))
    assert not found.requires_grad
    assert np.allclose(found, d.entropy(), rtol=1e-10)


class Rayleigh(ExponentialFamily):
    """x / s exp(-x^2 / 2s): F is log s, s = -1 / 2 theta."""

    def __init__(self, square):
        self.square = square
        super().__init__(square.shape)

    @property
    def _natural_params(self):
        return (-0.5 / self.square,)

    def _log_normalizer(self, x):
        return -(-2 * x).log()

    @property
    def _mean_carrier_measure(self):
        return 0.5 * (math.log(2) + self.square.log() - 0.5772156649015329)


def test_a_family_of_users():
    p, q = (Rayleigh(ac.tensor([x], dtype=ac.float64)) for x in (2.0, 3.0))
    needed = 1 + 0.5 * math.log(2.0 / 2) + 0.5772156649015329 / 2
    assert abs(p.entropy().item() - needed) < 1e-12
    assert abs(dist.kl_divergence(p, q).item() - (math.log(1.5) + 2 / 3 - 1)) < 1e-12


def test_what_is_missing():
    d = ExponentialFamily()
    for call, name in (
        (d.entropy, "_natural_params"),
        (d._log_normalizer, "_log_normalizer"),
        (lambda: d._mean_carrier_measure, "_mean_carrier_measure"),
    ):
        with pytest.raises(NotImplementedError, match=f"has no `{name}`"):
            call()
    with pytest.raises(ArgumentError, match="no formula for Bernoulli and Normal"):
        dist.kl_divergence(dist.Bernoulli(0.5), dist.Normal(0.0, 1.0))
