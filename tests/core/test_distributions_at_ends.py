# SPDX-License-Identifier: MIT
"""Distributions of probabilities of 0, 1 and near them, and of small concentrations."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as dist
from autocalc.autograd import grad
from autocalc.distributions import kl_divergence

pytestmark = pytest.mark.core

INF = math.inf
#: The dtypes, and how exact results are.
DTYPES = [(ac.float64, 1e-13), (ac.float32, 2e-6)]
PROBS = [0.0, 1e-37, 1e-30, 1e-8, 0.3, 0.75, 1 - 1e-5, 1 - 2.0**-24, 1.0]
LOGITS = [-INF, -1e4, -70.0, -1.5, 0.0, 0.5, 20.0, 70.0, 1e4, INF]

#: name: (the distribution of given parameters, value, factors of log(p) and log(1 - p),
#: what is added).
COUNTS = {
    **{
        f"Bernoulli of {v}": (dist.Bernoulli, float(v), v, 1 - v, 0)
        for v in (0, 1)
    },
    **{f"Geometric of {v}": (dist.Geometric, float(v), 1, v, 0) for v in (0, 1, 5)},
    **{
        f"Binomial of {v}": (
            lambda *p, **o: dist.Binomial(3, *p, **o), float(v), v, 3 - v,
            mpmath.log(mpmath.binomial(3, v)),
        )
        for v in range(4)
    },
    **{
        f"NegativeBinomial of {v}": (
            lambda *p, **o: dist.NegativeBinomial(2.5, *p, **o), float(v), v, 2.5,
            mpmath.log(mpmath.gamma(2.5 + v) / mpmath.gamma(2.5) / mpmath.factorial(v)),
        )
        for v in (0, 1, 4)
    },
}  # fmt: skip


def xlogy(x, y):
    if x == 0:
        return mpmath.mpf(0)
    return x * mpmath.log(y) if y else -mpmath.inf * mpmath.sign(x)


def ratio(x, y):
    if x == 0:
        return mpmath.mpf(0)
    return x / y if y else mpmath.inf * mpmath.sign(x)


def held(x, dtype):
    """Return the number that a dtype makes of x, exactly."""
    return mpmath.mpf(ac.tensor(x, dtype=dtype).item())


def is_near(found, expected, room):
    expected = float(expected)
    if math.isinf(expected):
        return found == expected
    return abs(found - expected) <= room * max(abs(expected), 1e-30)


def value_and_slope(value, leaf):
    return value.item(), grad(value, leaf)[0].item()


@pytest.fixture(autouse=True)
def _many_digits():
    with mpmath.workdps(60):
        yield


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
@pytest.mark.parametrize("name", COUNTS)
def test_densities_of_probabilities(name, dtype, room):
    make, value, yes, no, more = COUNTS[name]
    for given in PROBS:
        p = held(given, dtype)
        if (p == 0 and "Geometric" in name) or (p == 1 and "Negative" in name):
            continue
        at = ac.tensor(value, dtype=dtype)
        leaf = ac.tensor(given, dtype=dtype).requires_grad_()
        found, slope = value_and_slope(make(leaf).log_prob(at), leaf)
        expected = xlogy(yes, p) + xlogy(no, 1 - p) + more
        scale = abs(xlogy(yes, p)) + abs(xlogy(no, 1 - p)) + abs(more)
        assert is_near(
            found, expected, room * float(max(1, scale / (abs(expected) or 1)))
        )
        assert is_near(slope, ratio(yes, p) - ratio(no, 1 - p), room * 10), given


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
@pytest.mark.parametrize("name", COUNTS)
def test_densities_of_logits(name, dtype, room):
    make, value, yes, no, more = COUNTS[name]
    for given in LOGITS:
        logit = held(given, dtype)
        p, rest = (1 / (1 + mpmath.exp(-x)) for x in (logit, -logit))
        at = ac.tensor(value, dtype=dtype)
        leaf = ac.tensor(given, dtype=dtype).requires_grad_()
        found, slope = value_and_slope(make(logits=leaf).log_prob(at), leaf)
        terms = xlogy(yes, p), xlogy(no, rest), more
        scale = sum(abs(x) for x in terms)
        room_here = room * float(max(1, scale / (abs(sum(terms)) or 1)))
        assert is_near(found, sum(terms), room_here) or abs(found) < 1e-30
        assert abs(slope - float(yes * rest - no * p)) <= room * 10


KINDS = {
    "Categorical": dist.Categorical,
    "OneHotCategorical": dist.OneHotCategorical,
    "straight through": dist.OneHotCategoricalStraightThrough,
    "Multinomial": lambda **p: dist.Multinomial(1, **p),
}


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_densities_of_kinds(name, kind, dtype, room):
    for p in ([1e-30, 1.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0]):
        value = ac.eye(3, dtype=dtype)[kind]
        if name == "Categorical":
            value = ac.tensor(kind)
        total = sum(held(x, dtype) for x in p)
        expected = xlogy(1, held(p[kind], dtype) / total)
        logits = [-INF if x == 0 else math.log(x) for x in p]
        for given in ({"probs": p}, {"logits": logits}):
            ((option, numbers),) = given.items()
            leaf = ac.tensor(numbers, dtype=dtype).requires_grad_()
            found = KINDS[name](**{option: leaf}).log_prob(value)
            assert is_near(found.item(), expected, room * 2) or (
                abs(found.item() - float(expected)) < room
            )
            slopes = grad(found, leaf)[0]
            assert not slopes.isnan().any()
            if option == "probs" and p[kind]:
                right = [
                    float((i == kind) / held(p[i], dtype) if p[i] else 0)
                    for i in range(3)
                ]
                assert np.allclose(
                    slopes.numpy(),
                    np.array(right) - 1 / float(total),
                    rtol=1e-5,
                    atol=1e-5,
                )


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
def test_entropies_of_probabilities(dtype, room):
    for given in PROBS:
        p = held(given, dtype)
        one = -xlogy(p, p) - xlogy(1 - p, 1 - p)
        leaf = ac.tensor(given, dtype=dtype).requires_grad_()
        logits = dist.Bernoulli(leaf.detach()).logits.requires_grad_()
        cases = [
            (dist.Bernoulli(leaf).entropy(), one),
            (dist.Bernoulli(logits=logits).entropy(), one),
            (dist.Binomial(1, leaf).entropy(), one),
        ]
        cases.append((dist.Multinomial(1, ac.stack([leaf, 1 - leaf])).entropy(), one))
        if p:
            cases.append((dist.Geometric(leaf).entropy(), one / p))
        for found, expected in cases[:3] + cases[4:]:
            assert is_near(found.item(), expected, room * 4), given
        for found, _ in cases[: None if given > 1e-15 else 4]:  # 1 / p^2 overflows
            slopes = grad(found, [leaf, logits], allow_unused=True)
            assert not any(s.isnan().any() for s in slopes if s is not None), given


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
def test_divergences_of_probabilities(dtype, room):
    for first in PROBS:
        for second in PROBS:
            p, q = held(first, dtype), held(second, dtype)
            sizes = [
                xlogy(p, p),
                -xlogy(p, q),
                xlogy(1 - p, 1 - p),
                -xlogy(1 - p, 1 - q),
            ]
            expected, size = float(sum(sizes)), float(sum(abs(x) for x in sizes))
            a, b = (ac.tensor(x, dtype=dtype) for x in (first, second))
            found = [
                kl_divergence(dist.Bernoulli(a), dist.Bernoulli(b)),
                kl_divergence(dist.Binomial(1, a), dist.Binomial(1, b)),
            ]
            if first and second:
                pair = kl_divergence(dist.Geometric(a), dist.Geometric(b))
                found.append(pair * a)
            for one in found:
                if math.isinf(expected):
                    assert one.item() == INF
                else:
                    assert abs(one.item() - expected) <= room * size, (first, second)


def test_divergences_of_kinds():
    for p in ([0.2, 0.8, 0.0], [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]):
        for q in ([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]):
            expected = sum(
                float(xlogy(x, x) - xlogy(x, y)) for x, y in zip(p, q, strict=True)
            )
            for name in ("probs", "logits"):
                given = [
                    ac.tensor(x, dtype=ac.float64)
                    if name == "probs"
                    else ac.tensor(x, dtype=ac.float64).log()
                    for x in (p, q)
                ]
                first = given[0].requires_grad_()
                found = kl_divergence(
                    dist.Categorical(**{name: first}),
                    dist.Categorical(**{name: given[1]}),
                )
                assert found.item() == pytest.approx(expected, rel=1e-12)
                if expected < INF:
                    assert not grad(found, first)[0].isnan().any()


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
def test_densities_of_relaxed_answers(dtype, room):
    """Of logits l and v = logit(x): log(t) + d - 2 log(1 + e^d), d = l - t v."""
    for given in PROBS:
        p = held(given, dtype)
        odds = xlogy(1, p) - xlogy(1, 1 - p)
        for value in (-2.0, 0.5):
            away = odds - mpmath.mpf("0.5") * held(value, dtype)
            expected = (
                mpmath.log(0.5)
                - mpmath.log1p(mpmath.exp(-away))
                - mpmath.log1p(mpmath.exp(away))
            )
            leaf = ac.tensor(given, dtype=dtype).requires_grad_()
            d = dist.RelaxedBernoulli(ac.tensor(0.5, dtype=dtype), leaf).base_dist
            at = ac.tensor(value, dtype=dtype)
            found, slope = value_and_slope(d.log_prob(at), leaf)
            assert is_near(found, expected, room * 4)
            assert not math.isnan(slope)


@pytest.mark.parametrize(("dtype", "room"), DTYPES)
def test_densities_and_entropies_of_the_continuous_bernoulli(dtype, room):
    for given in PROBS:
        p = held(given, dtype)
        leaf = ac.tensor(given, dtype=dtype).requires_grad_()
        d = dist.ContinuousBernoulli(leaf)
        for value in (0.0, 0.25, 1.0):
            found = d.log_prob(ac.tensor(value, dtype=dtype))
            assert not grad(found, leaf)[0].isnan()
            if p in (0, 1):
                assert found.item() == (INF if value == p else -INF)
                continue
            odds = xlogy(1, p) - xlogy(1, 1 - p)
            expected = value * odds - mpmath.log(mpmath.expm1(odds) / odds)
            size = abs(value * odds) + abs(mpmath.log(mpmath.expm1(odds) / odds))
            assert abs(found.item() - float(expected)) <= room * 2 * float(size)
        entropy = d.entropy()
        assert not grad(entropy, leaf)[0].isnan()
        assert entropy.item() == -INF if p in (0, 1) else math.isfinite(entropy.item())
        assert d.variance.item() >= 0


def small(a):
    """Return distributions of a small concentration, or few degrees of freedom."""
    one = ac.ones_like(a)
    return {
        "Gamma": dist.Gamma(a, one),
        "Gamma of a high rate": dist.Gamma(a, one * 1e9),
        "Beta": dist.Beta(a, a),
        "Beta of one low": dist.Beta(one, a),
        "Dirichlet": dist.Dirichlet(ac.stack([a, a, one], -1)),
        "Chi2": dist.Chi2(a),
        "StudentT": dist.StudentT(a),
        "StudentT, narrow": dist.StudentT(a, one, one * 1e-3),
        "InverseGamma": dist.InverseGamma(a, one),
        "FisherSnedecor": dist.FisherSnedecor(a, a),
        "Kumaraswamy": dist.Kumaraswamy(a, a),
        "Weibull": dist.Weibull(one, a),
        "Pareto": dist.Pareto(one, a),
    }


@pytest.mark.parametrize("dtype", [ac.float64, ac.float32])
@pytest.mark.parametrize("concentration", [1e-5, 1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("name", small(ac.ones(())))
def test_draws_of_small_concentrations_have_finite_densities(
    name, concentration, dtype
):
    ac.manual_seed(5)
    a = ac.tensor(concentration, dtype=dtype).requires_grad_()
    d = small(a)[name]
    x = d.rsample((500,))
    assert x.isfinite().all()
    if name not in {"StudentT", "StudentT, narrow"}:
        assert (x > 0).all()
    if name in {"Beta", "Beta of one low", "Dirichlet", "Kumaraswamy"}:
        assert (x < 1).all()
    assert d.log_prob(x.detach()).isfinite().all()
    if name in {"Gamma", "Beta", "Dirichlet", "Chi2", "Gamma of a high rate"}:
        assert grad(x.sum(), a)[0].isfinite()


def test_the_lines():
    assert dist.Bernoulli(0.0).log_prob(ac.tensor(1.0)).item() == -INF
    one = dist.Categorical(ac.tensor([1e-30, 1.0])).log_prob(ac.tensor(0))
    assert one.item() == pytest.approx(math.log(1e-30), rel=1e-6)
    d = dist.Multinomial(3, logits=ac.tensor([0.0, 1.0, -INF]))
    p = 1 / (1 + math.e)
    expected = math.log(3 * p * (1 - p) ** 2)
    assert d.log_prob(ac.tensor([1.0, 2, 0])).item() == pytest.approx(
        expected, rel=1e-6
    )
    assert d.log_prob(ac.tensor([1.0, 1, 1])).item() == -INF


def test_relaxed_kinds_of_which_one_is_impossible():
    heat = ac.tensor(0.7).requires_grad_()
    probs = ac.tensor([0.25, 0.0, 0.75]).requires_grad_()
    d = dist.RelaxedOneHotCategorical(heat, probs)
    x = d.rsample((50,)).detach()
    assert (x[:, 1] == 0).all()
    found = d.base_dist.log_prob(x.log())
    two = dist.RelaxedOneHotCategorical(heat, probs[::2])
    assert ac.allclose(found, two.base_dist.log_prob(x[:, ::2].log()))
    for slope in grad(found.sum(), [heat, probs]):
        assert slope.isfinite().all()
    assert d.log_prob(ac.tensor([0.5, 0.25, 0.25])).item() == -INF
