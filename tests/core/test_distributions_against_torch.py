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
    "chi squared": ("Chi2", {"df": POSITIVE}, POSITIVE[::-1] * 2),
    "inverse gamma": (
        "InverseGamma",
        {"concentration": POSITIVE, "rate": OTHER},
        POSITIVE[::-1].copy(),
    ),
    "fisher": ("FisherSnedecor", {"df1": POSITIVE * 2, "df2": OTHER * 5}, UNIT * 3),
    "student": (
        "StudentT",
        {"df": POSITIVE, "loc": REAL, "scale": OTHER},
        REAL[::-1].copy(),
    ),
    "half cauchy": ("HalfCauchy", {"scale": POSITIVE}, POSITIVE[::-1].copy()),
    "pareto": ("Pareto", {"scale": OTHER, "alpha": POSITIVE + 2}, OTHER + POSITIVE),
    "generalized pareto": (
        "GeneralizedPareto",
        {"loc": REAL, "scale": OTHER, "concentration": REAL[::-1].copy()},
        REAL + UNIT * OTHER / 4,
    ),
    "weibull": (
        "Weibull",
        {"scale": OTHER, "concentration": POSITIVE + 1},
        POSITIVE[::-1].copy(),
    ),
    "kumaraswamy": (
        "Kumaraswamy",
        {"concentration1": POSITIVE, "concentration0": OTHER},
        UNIT,
    ),
    "continuous bernoulli": ("ContinuousBernoulli", {"probs": UNIT}, UNIT[::-1].copy()),
    "continuous bernoulli logits": (
        "ContinuousBernoulli",
        {"logits": REAL * 5},
        UNIT[::-1].copy(),
    ),
    "poisson": ("Poisson", {"rate": POSITIVE}, WHOLE),
    "binomial": ("Binomial", {"total_count": 4.0, "probs": UNIT}, WHOLE),
    "binomial logits": ("Binomial", {"total_count": 7.0, "logits": REAL}, WHOLE),
    "negative binomial": (
        "NegativeBinomial",
        {"total_count": POSITIVE, "probs": UNIT},
        WHOLE,
    ),
    "negative binomial logits": (
        "NegativeBinomial",
        {"total_count": OTHER, "logits": REAL},
        WHOLE,
    ),
    "multinomial": (
        "Multinomial",
        {"total_count": 5, "probs": POSITIVE},
        np.array([[5.0, 0.0, 0.0], [1.0, 1.0, 3.0], [0.0, 0.0, 5.0], [2.0, 2.0, 1.0]]),
    ),
    "multinomial logits": (
        "Multinomial",
        {"total_count": 2, "logits": REAL},
        np.array([[1.0, 0.0, 1.0]]),
    ),
    "von mises": ("VonMises", {"loc": REAL, "concentration": POSITIVE * 4}, REAL * 3),
}

#: Where PyTorch has fewer digits: polynomials in von Mises's density, and log n! in
#: float32 in the entropy of Multinomial.
DIGITS = {"VonMises": 1e-6, "Multinomial": 1e-7}
#: PyTorch's is NaN everywhere, or wrong where a concentration is below 1.
OWN_MODE = {"Kumaraswamy"}
#: PyTorch has no gradient in the concentration.
VALUES_ALONE = {"Gamma", "Chi2", "InverseGamma"}


@pytest.fixture(autouse=True)
def _torch_computes_in_float64():
    """PyTorch's GeneralizedPareto works with the default dtype alone."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def both(name, given):
    """Return (distribution, parameters) of either library."""
    result = []
    for lib, package in ((ac, mine), (torch, theirs)):
        parameters = {
            key: lib.tensor(value.copy()).requires_grad_()
            for key, value in given.items()
            if isinstance(value, np.ndarray)
        }
        d = getattr(package, name)(**(given | parameters))
        result.append((d, parameters))
    return result


def same(a, b, rtol=1e-9, atol=1e-9):
    a, b = a.detach().numpy(), b.detach().numpy()
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True), (a, b)


def compare(parts, compute):
    """Compare what both compute, and the gradients of all parameters."""
    rough = DIGITS.get(type(parts[0][0]).__name__, 0.0)
    try:
        results = [compute(torch, parts[1][0])]
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match="has no"):
            compute(ac, parts[0][0])
        return
    results = [compute(ac, parts[0][0]), *results]
    same(*results, max(rough, 1e-9), max(rough, 1e-9))
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
        if "matrix" in key:  # a symmetric one's gradient may be in either half
            grads = [g + g.swapaxes(-1, -2) for g in grads]
        if "tril" in key:
            grads = [np.tril(g) for g in grads]
        assert np.allclose(
            *grads, rtol=max(rough, 1e-8), atol=max(rough, 1e-9), equal_nan=True
        ), key


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
    if name in OWN_MODE and what == "mode":
        pytest.skip("PyTorch's is NaN")
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
    if name in VALUES_ALONE:
        same(*(d.cdf(lib.tensor(value.copy()))
               for lib, (d, _) in zip((ac, torch), parts, strict=True)))  # fmt: skip
    else:
        compare(parts, lambda lib, d: d.cdf(lib.tensor(value.copy())))
    compare(both(name, given), lambda lib, d: d.icdf(lib.tensor(UNIT.copy())))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_expand_and_supports(case):
    name, given, value = case
    (a, _), (b, _) = both(name, given)
    shape = (5, *a.batch_shape)
    a, b = a.expand(shape), b.expand(shape)
    assert a.batch_shape == tuple(b.batch_shape) == shape
    digits = max(DIGITS.get(name, 0.0), 1e-9)
    same(a.log_prob(ac.tensor(value)), b.log_prob(torch.tensor(value)), digits, digits)
    assert a.sample((2,)).shape == tuple(b.sample((2,)).shape)
    assert a.has_rsample == b.has_rsample
    assert a.support.event_dim == b.support.event_dim
    assert a.support.is_discrete == b.support.is_discrete
    drawn = a.sample((3,))
    assert drawn.dtype.name == str(b.sample((3,)).dtype).rpartition(".")[2]
    assert a.support.check(drawn).all()
    assert a.has_enumerate_support == b.has_enumerate_support
    if b.has_enumerate_support:
        for expand in (False, True):
            same(a.enumerate_support(expand), b.enumerate_support(expand))


ENDS = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 5.0])


@pytest.mark.parametrize("what", ["mean", "variance", "stddev"])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Pareto", {"scale": 2.0, "alpha": ENDS}),
        ("InverseGamma", {"concentration": ENDS, "rate": 2.0}),
        ("StudentT", {"df": ENDS, "loc": 0.5, "scale": 2.0}),
        ("FisherSnedecor", {"df1": 3.0, "df2": ENDS}),
        ("GeneralizedPareto", {"loc": 1.0, "scale": 2.0, "concentration": ENDS - 1}),
        ("HalfCauchy", {"scale": ENDS}),
    ],
)
def test_moments_that_are_infinite_or_none(name, given, what):
    (a, _), (b, _) = both(name, given)
    same(getattr(a, what), getattr(b, what))


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("Poisson", {"rate": np.zeros(2)}, np.array([0.0, 1.0])),
        ("Binomial", {"total_count": 3.0, "probs": np.array([0.0, 1.0])},
         np.array([0.0, 3.0])),
        ("NegativeBinomial", {"total_count": np.zeros(2), "probs": 0.25},
         np.array([0.0, 1.0])),
        ("NegativeBinomial", {"total_count": 1.0, "probs": np.zeros(2)},
         np.array([0.0, 0.0])),
        ("Multinomial", {"total_count": 3, "probs": np.array([1.0, 1.0, 0.0])},
         np.array([1.0, 2.0, 0.0])),
        ("HalfCauchy", {"scale": np.ones(2)}, np.array([0.0, 3.0])),
        ("GeneralizedPareto", {"loc": 0.0, "scale": 1.0, "concentration": np.zeros(2)},
         np.array([0.0, 0.5])),
    ],
)  # fmt: skip
def test_densities_at_the_ends(name, given, value):
    (a, _), (b, _) = both(name, given)
    same(a.log_prob(ac.tensor(value)), b.log_prob(torch.tensor(value)))


@pytest.mark.parametrize("name", ["HalfCauchy", "HalfNormal"])
def test_densities_outside_where_nothing_is_checked(name):
    value = np.array([-1.0, 0.0, 2.0])
    a, b = (getattr(x, name)(2.0, validate_args=False) for x in (mine, theirs))
    found = a.log_prob(ac.tensor(value))
    assert found[0].item() == -math.inf
    same(found, b.log_prob(torch.tensor(value)), 1e-6)


@pytest.mark.parametrize("what", ["log_cdf", "log_survival_function"])
def test_logarithms_of_shares(what):
    name, given, value = CASES["generalized pareto"]
    compare(both(name, given), lambda lib, d: getattr(d, what)(lib.tensor(value)))


@pytest.mark.parametrize("what", ["mean", "variance", "entropy"])
@pytest.mark.parametrize("lims", [(0.499, 0.501), (0.45, 0.55)])
def test_continuous_bernoulli_near_a_half(what, lims):
    """PyTorch's formulas outside its limits: within, its series have fewer digits."""
    p = np.array([0.3, 0.44, 0.56, 0.62, 0.9])
    parts = both("ContinuousBernoulli", {"probs": p, "lims": lims})
    compare(
        parts, lambda lib, d: d.entropy() if what == "entropy" else getattr(d, what)
    )


FAMILIES = ["Normal", "HalfNormal", "LogNormal", "Exponential", "Laplace", "Gumbel",
            "Cauchy", "Gamma", "Beta", "Uniform", "Dirichlet", "Bernoulli", "Geometric",
            "Categorical", "OneHotCategorical", "MultivariateNormal", "Chi2",
            "InverseGamma", "HalfCauchy", "Pareto", "ContinuousBernoulli", "Poisson",
            "Binomial"]  # fmt: skip


def parameters_of(name, turn):
    """Return parameters of a class, others for each turn."""
    given = next(dict(c[1]) for c in CASES.values() if c[0] == name)
    if not turn:
        return given
    if name == "Uniform":  # with all of the first one's, or part of them
        return {"low": given["low"] - OTHER * (turn > 1), "high": given["high"] + 1}
    if name == "Binomial":  # p's count, or fewer
        return {"total_count": 4.0 - (turn > 1), "probs": UNIT[::-1].copy()}
    return {
        key: value[::-1].copy() if "matrix" in key else np.roll(value, 1, 0) * 1.25
        for key, value in given.items()
        if key != "probs"
    } or {"probs": UNIT[::-1].copy()}


PAIRS = [
    (p, q)
    for p, q in itertools.product(FAMILIES, FAMILIES)
    if (getattr(theirs, p), getattr(theirs, q)) in theirs.kl._KL_REGISTRY
    or (p == q and p in {"LogNormal", "HalfCauchy", "InverseGamma", "Chi2"})
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
    assert len(PAIRS) > 75
    have = mine.kl._REGISTERED
    for p, q in PAIRS:
        found = mine.kl._function_for(getattr(mine, p), getattr(mine, q))
        assert found in have.values()
    for pair in theirs.kl._KL_REGISTRY:
        names = [cls.__name__ for cls in pair]
        if all(hasattr(mine, name) for name in names):
            mine.kl._function_for(*(getattr(mine, name) for name in names))


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
