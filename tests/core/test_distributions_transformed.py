# SPDX-License-Identifier: MIT
"""Transforms, and distributions of transformed values: PyTorch's, in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as dist
from autocalc.errors import ArgumentError, DTypeError

X = np.array([[-1.5, 0.2, 0.9], [2.0, -0.1, 0.4]])
SCALE = np.array([2.0, -0.5, 1.5])


def transforms(lib):
    d = lib.distributions
    scale = lib.tensor(SCALE)
    return {
        "exp": [d.ExpTransform()],
        "sigmoid": [d.SigmoidTransform()],
        "tanh": [d.TanhTransform()],
        "affine": [d.AffineTransform(0.5, -2.0)],
        "affine tensor": [d.AffineTransform(lib.tensor(SCALE / 3), scale)],
        "two": [d.AffineTransform(0.1, scale), d.TanhTransform()],
        "composed": [
            d.ComposeTransform([d.AffineTransform(0.1, 0.7), d.ExpTransform()])
        ],
        "none": [],
    }


NAMES = list(transforms(ac))


def over_normal(lib, name):
    loc = lib.tensor(X.copy()).requires_grad_()
    normal = lib.distributions.Normal(loc, lib.tensor(np.abs(SCALE)))
    made = lib.distributions.TransformedDistribution(normal, transforms(lib)[name])
    return made, loc


@pytest.mark.core
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name):
    x = ac.tensor(X.copy()).requires_grad_()
    for t, same in zip(transforms(ac)[name], transforms(ac)[name], strict=True):
        y = t(x)
        assert np.allclose(t.inv(y).detach(), X, rtol=1e-12)
        slope = ac.autograd.grad(y.sum(), x)[0]
        log = t.log_abs_det_jacobian(x, y).detach()
        assert np.allclose(slope.abs().log(), log, rtol=1e-9)
        assert t.codomain.check(y).all()
        assert np.allclose(np.sign(slope), t.sign)
        assert t == same
        assert t != dist.Transform()
        assert hash(t) == hash(same)
        assert type(t).__name__ in repr(t)


@pytest.mark.core
@pytest.mark.parametrize("name", NAMES)
def test_draws_and_their_distribution(name):
    ac.manual_seed(0)
    d, _ = over_normal(ac, name)
    drawn = d.sample((4000,))
    assert not drawn.requires_grad
    assert d.rsample().requires_grad
    assert d.support.check(drawn).all()
    u = np.sort(d.cdf(drawn).detach().numpy(), axis=0)
    steps = (np.arange(4000) + 0.5)[:, None, None] / 4000
    assert np.abs(u - steps).max() < 2 / math.sqrt(4000)
    wide = d.expand((5, 2, 3))
    assert wide.batch_shape == (5, 2, 3)
    assert wide.sample((2,)).shape == (2, 5, 2, 3)


@pytest.mark.core
def test_the_logarithm_of_a_normal_is_log_normal():
    normal = dist.Normal(ac.tensor([0.3, -1.0]), 0.7)
    made = dist.TransformedDistribution(normal, dist.ExpTransform())
    value = ac.tensor([0.5, 2.0])
    ready = dist.LogNormal(normal.loc, 0.7)
    assert np.allclose(made.log_prob(value), ready.log_prob(value), rtol=1e-6)


@pytest.mark.core
def test_values_of_several_numbers():
    base = dist.Independent(dist.Normal(ac.zeros(4, 3), 1.0), 1)
    d = dist.TransformedDistribution(base, [dist.TanhTransform()])
    assert (d.batch_shape, d.event_shape) == ((4,), (3,))
    assert d.log_prob(d.sample()).shape == (4,)
    assert d.support.event_dim == 1


@pytest.mark.core
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dist.AffineTransform(0.0, 0.0), ArgumentError, "`scale` is 0.0; it"),
        (lambda: dist.AffineTransform("a", 1.0), DTypeError, "`loc` is 'a'; it must"),
        (lambda: dist.ComposeTransform([3]), DTypeError, "`parts` holds 3; it must"),
        (lambda: dist.ComposeTransform(3), DTypeError, "`parts` is 3; it must be a"),
        (lambda: dist.TransformedDistribution(3, []), DTypeError, "`base_distribution"),
        (lambda: dist.TransformedDistribution(dist.Normal(0, 1), "x"), DTypeError,
         "`transforms` is 'x'"),
        (lambda: dist.ExpTransform()(3), DTypeError, "ExpTransform: needs a Tensor"),
        (lambda: dist.ExpTransform().inv(None), DTypeError, "ExpTransform.inv: needs"),
        (lambda: dist.ExpTransform().log_abs_det_jacobian(1, 2), DTypeError, "needs a"),
        (lambda: dist.TransformedDistribution(
            dist.Normal(0, 1), dist.ExpTransform()).log_prob(ac.tensor(-1.0)),
         ArgumentError, "`value`.*numbers above 0"),
        (lambda: dist.kl_divergence(*(dist.TransformedDistribution(
            dist.Normal(0, 1), t) for t in ([], [dist.ExpTransform()]))),
         ArgumentError, r"the transforms are \[\] and \[ExpTransform\(\)\]"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_densities_are_pytorch_s(name):
    torch = pytest.importorskip("torch")
    parts = [over_normal(lib, name) for lib in (ac, torch)]
    with torch.no_grad():
        y = parts[1][0].icdf(torch.full((2, 3), 0.3, dtype=torch.float64)).numpy()
    for what in ("log_prob", "cdf"):
        found, slopes = [], []
        for (d, loc), lib in zip(parts, (ac, torch), strict=True):
            result = getattr(d, what)(lib.tensor(y.copy()))
            found.append(result.detach().numpy())
            slopes.append(lib.autograd.grad(result.sum(), loc)[0].numpy())
        assert np.allclose(*found, rtol=1e-9, atol=1e-12)
        assert np.allclose(*slopes, rtol=1e-9, atol=1e-12)
    share = np.full((2, 3), 0.3)
    back = parts[0][0].icdf(ac.tensor(share)).detach().numpy()
    assert np.allclose(back, y, rtol=1e-9)
    kl = [
        lib.distributions.kl_divergence(d, d).detach().numpy()
        for (d, _), lib in zip(parts, (ac, torch), strict=True)
    ]
    assert np.allclose(*kl, atol=1e-12)


@pytest.mark.core
def test_a_transform_needs_its_functions():
    x = ac.ones(1)
    for call, name in (
        (lambda: dist.Transform()(x), "_call"),
        (lambda: dist.Transform().inv(x), "_inverse"),
        (lambda: dist.Transform().log_abs_det_jacobian(x, x), "log_abs_det_"),
    ):
        with pytest.raises(NotImplementedError, match=rf"needs its .*{name}"):
            call()
