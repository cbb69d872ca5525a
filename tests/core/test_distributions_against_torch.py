# SPDX-License-Identifier: MIT
"""Densities, moments, entropies, divergences, gradients: PyTorch's, in float64."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as mine

torch = pytest.importorskip("torch")
theirs = torch.distributions
pytestmark = pytest.mark.torch

rng = np.random.default_rng(0)
REAL = rng.normal(size=(4, 3))
POSITIVE = rng.gamma(2.0, size=(4, 3)) + 0.05
OTHER = rng.gamma(1.0, size=(3,)) + 0.1
UNIT = rng.uniform(0.05, 0.95, size=(4, 3))
ROOT = np.tril(rng.normal(size=(2, 3, 3)) * 0.4, -1) + np.eye(3) * [1.0, 0.5, 2.0]
COVARIANCE = ROOT @ ROOT.transpose(0, 2, 1)
SIMPLEX = rng.dirichlet([1.0, 2.0, 3.0], size=4)
WHOLE = rng.integers(0, 3, size=(4, 3)).astype(float)

#: Class, parameters, values.
CASES = {
    "normal": ("Normal", {"loc": REAL, "scale": OTHER}, REAL[::-1].copy()),
    "half normal": ("HalfNormal", {"scale": POSITIVE}, POSITIVE[::-1].copy()),
    "log normal": ("LogNormal", {"loc": REAL, "scale": OTHER}, POSITIVE),
    "uniform": ("Uniform", {"low": REAL, "high": REAL + POSITIVE}, REAL + POSITIVE / 3),
    "exponential": ("Exponential", {"rate": POSITIVE}, OTHER),
    "laplace": ("Laplace", {"loc": REAL, "scale": OTHER}, REAL[::-1].copy()),
    "cauchy": ("Cauchy", {"loc": REAL, "scale": OTHER}, REAL[::-1].copy()),
    "gumbel": ("Gumbel", {"loc": REAL, "scale": OTHER}, REAL[::-1].copy()),
    "gamma": ("Gamma", {"concentration": POSITIVE, "rate": OTHER}, POSITIVE[::-1] * 2),
    "beta": ("Beta", {"concentration1": POSITIVE, "concentration0": OTHER}, UNIT),
    "dirichlet": ("Dirichlet", {"concentration": POSITIVE}, SIMPLEX),
    "bernoulli": ("Bernoulli", {"probs": UNIT}, (WHOLE > 0).astype(float)),
    "bernoulli logits": ("Bernoulli", {"logits": REAL}, (WHOLE > 0).astype(float)),
    "geometric": ("Geometric", {"probs": UNIT}, WHOLE),
    "geometric logits": ("Geometric", {"logits": REAL}, WHOLE),
    "categorical": ("Categorical", {"probs": POSITIVE}, WHOLE[:, 0]),
    "categorical logits": ("Categorical", {"logits": REAL}, WHOLE[:, 0]),
    "one hot": ("OneHotCategorical", {"logits": REAL}, np.eye(3)[[0, 2, 1, 0]]),
    "multivariate normal": (
        "MultivariateNormal",
        {"loc": REAL[:2], "covariance_matrix": COVARIANCE},
        REAL[2:],
    ),
    "by precision": (
        "MultivariateNormal",
        {"loc": REAL[:2], "precision_matrix": COVARIANCE},
        REAL[2:],
    ),
    "by root": ("MultivariateNormal", {"loc": REAL[:2], "scale_tril": ROOT}, REAL[2:]),
}


def both(name, given):
    """Return (distribution, parameters) of either library."""
    result = []
    for lib, package in ((ac, mine), (torch, theirs)):
        parameters = {
            key: lib.tensor(value.copy()).requires_grad_()
            for key, value in given.items()
        }
        result.append((getattr(package, name)(**parameters), parameters))
    return result


def same(a, b, atol=1e-9):
    a, b = a.detach().numpy(), b.detach().numpy()
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.allclose(a, b, rtol=1e-9, atol=atol, equal_nan=True), (a, b)


def compare(parts, compute, **more):
    """Compare what both compute, and the gradients of all parameters."""
    results = [compute(lib, d) for lib, (d, _) in zip((ac, torch), parts, strict=True)]
    same(*results)
    if not all(r.requires_grad for r in results):
        return
    for (_, parameters), r in zip(parts, results, strict=True):
        for p in parameters.values():
            p.grad = None
        weights = np.cos(np.arange(r.numel())).reshape(tuple(r.shape))
        lib = ac if isinstance(r, ac.Tensor) else torch
        (r * lib.tensor(weights)).sum().backward()
    for key, p in parts[0][1].items():
        q = parts[1][1][key]
        grads = [
            np.zeros(p.shape) if x.grad is None else x.grad.numpy() for x in (p, q)
        ]
        if "matrix" in key:  # a symmetric one's gradient may lie in either half
            grads = [g + g.swapaxes(-1, -2) for g in grads]
        if "tril" in key:
            grads = [np.tril(g) for g in grads]
        assert np.allclose(*grads, rtol=1e-8, atol=1e-9, equal_nan=True), key


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_log_prob(case):
    name, given, value = case
    compare(both(name, given), lambda lib, d: d.log_prob(lib.tensor(value.copy())))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entropy(case):
    name, given, _ = case
    compare(both(name, given), lambda lib, d: d.entropy())


@pytest.mark.parametrize("what", ["mean", "variance", "stddev", "mode"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_moments(case, what):
    name, given, _ = case
    if name in {"Uniform", "Cauchy"} and what != "mean":
        pytest.skip("there is none, or it is infinite")
    parts = both(name, given)
    (a, _), (b, _) = parts
    assert a.batch_shape == tuple(b.batch_shape)
    assert a.event_shape == tuple(b.event_shape)
    compare(parts, lambda lib, d: getattr(d, what))


@pytest.mark.parametrize(
    "case",
    [c for c in CASES.values() if hasattr(getattr(theirs, c[0]), "cdf")],
    ids=lambda c: c[0],
)
def test_cdf_and_icdf(case):
    name, given, value = case
    parts = both(name, given)
    try:
        parts[1][0].cdf(torch.tensor(value.copy()))
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match=f"{name} has no `cdf`"):
            parts[0][0].cdf(ac.tensor(value))
        return
    if name == "Gamma":  # PyTorch has no gradient in the concentration
        with pytest.raises(NotImplementedError, match="Gamma has no `cdf`"):
            parts[0][0].cdf(ac.tensor(value))
        return
    compare(parts, lambda lib, d: d.cdf(lib.tensor(value.copy())))
    compare(parts, lambda lib, d: d.icdf(lib.tensor(UNIT.copy())))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_expand_and_supports(case):
    name, given, value = case
    (a, _), (b, _) = both(name, given)
    shape = (5, *a.batch_shape)
    a, b = a.expand(shape), b.expand(shape)
    assert a.batch_shape == tuple(b.batch_shape) == shape
    same(a.log_prob(ac.tensor(value)), b.log_prob(torch.tensor(value)))
    assert a.sample((2,)).shape == tuple(b.sample((2,)).shape)
    assert a.has_rsample == b.has_rsample
    assert a.support.event_dim == b.support.event_dim
    assert a.support.is_discrete == b.support.is_discrete
    drawn = a.sample((3,))
    assert drawn.dtype.name == str(b.sample((3,)).dtype).rpartition(".")[2]
    assert a.support.check(drawn).all()
    if b.has_enumerate_support:
        for expand in (False, True):
            same(a.enumerate_support(expand), b.enumerate_support(expand))


FAMILIES = ["Normal", "HalfNormal", "LogNormal", "Exponential", "Laplace", "Gumbel",
            "Cauchy", "Gamma", "Beta", "Uniform", "Dirichlet", "Bernoulli", "Geometric",
            "Categorical", "OneHotCategorical", "MultivariateNormal"]  # fmt: skip


def parameters_of(name, turn):
    """Return parameters of a class, others for each turn."""
    given = next(dict(c[1]) for c in CASES.values() if c[0] == name)
    if not turn:
        return given
    if name == "Uniform":  # with all of the first one's, or part of them
        return {"low": given["low"] - OTHER * (turn > 1), "high": given["high"] + 1}
    return {
        key: value[::-1].copy() if "matrix" in key else np.roll(value, 1, 0) * 1.25
        for key, value in given.items()
        if key != "probs"
    } or {"probs": UNIT[::-1].copy()}


PAIRS = [
    (p, q)
    for p, q in itertools.product(FAMILIES, FAMILIES)
    if (getattr(theirs, p), getattr(theirs, q)) in theirs.kl._KL_REGISTRY
    or p == q == "LogNormal"
]


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize(("p", "q"), PAIRS, ids=lambda x: x)
def test_divergences(p, q, turn):
    if p == q:
        first, second = parameters_of(p, 0), parameters_of(q, turn)
    elif p == "Uniform" and turn == 1:  # within [0, 1]
        first, second = {"low": UNIT / 2, "high": UNIT / 2 + 0.4}, parameters_of(q, 0)
    elif q == "Uniform" and turn == 1:
        first = parameters_of(p, 0)
        second = {"low": np.full((4, 3), -0.5), "high": np.full((4, 3), 1.5)}
    else:
        first, second = parameters_of(p, 0), parameters_of(q, 0)
    left, right = both(p, first), both(q, second)
    parts = [
        ((a, b), named("p", x) | named("q", y))
        for (a, x), (b, y) in zip(left, right, strict=True)
    ]
    compare(parts, lambda lib, d: (mine if lib is ac else theirs).kl_divergence(*d))


def named(side, parameters):
    """Return parameters under other names, without matrices of which half is read."""
    return {f"{side}.{k}": v for k, v in parameters.items() if "matrix" not in k}


def test_all_of_pytorch_s_pairs_are_there():
    assert len(PAIRS) > 40
    have = mine.kl._REGISTERED
    for p, q in PAIRS:
        found = mine.kl._function_for(getattr(mine, p), getattr(mine, q))
        assert found in have.values()


@pytest.mark.parametrize("name", ["Normal", "Gamma", "Beta", "Laplace"])
def test_independent(name):
    _, given, value = next(c for c in CASES.values() if c[0] == name)
    (a, _), (b, _) = both(name, given)
    a, b = mine.Independent(a, 1), theirs.Independent(b, 1)
    assert a.event_shape == tuple(b.event_shape) == (3,)
    same(a.log_prob(ac.tensor(value)), b.log_prob(torch.tensor(value.copy())))
    same(a.entropy(), b.entropy())
    same(a.mean, b.mean)
    wider = a.expand((2, 4))
    assert wider.batch_shape == (2, 4)
    assert wider.sample((5,)).shape == (5, 2, 4, 3)
    p, q = (package.kl_divergence(d, d) for package, d in ((mine, a), (theirs, b)))
    same(p, q)


@pytest.mark.parametrize("name", ["positive", "unit_interval", "simplex", "one_hot",
    "boolean", "nonnegative_integer", "lower_cholesky", "positive_definite", "real",
    "real_vector", "positive_integer", "nonnegative"])  # fmt: skip
def test_constraints(name):
    values = [REAL, POSITIVE, UNIT, SIMPLEX, WHOLE, np.eye(3), ROOT, COVARIANCE,
              np.array([[math.nan, 0.0, 1.0]])]  # fmt: skip
    a, b = (getattr(x.constraints, name) for x in (mine, theirs))
    for value in values:
        if name in {"lower_cholesky", "positive_definite"} and value.shape[-2] != 3:
            continue
        if name == "positive_definite" and np.isnan(value).any():
            continue
        found = a.check(ac.tensor(value.copy())).tolist()
        assert found == b.check(torch.tensor(value.copy())).tolist()
