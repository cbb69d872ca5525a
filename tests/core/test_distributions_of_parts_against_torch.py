# SPDX-License-Identifier: MIT
"""Distributions that are made of others or of matrices: PyTorch's, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as mine

torch = pytest.importorskip("torch")
theirs = torch.distributions
pytestmark = pytest.mark.torch

rng = np.random.default_rng(4)
REAL = rng.normal(size=(4, 3))
UNIT = rng.uniform(0.05, 0.95, size=(4, 3))
SIMPLEX = rng.dirichlet([1.0, 2.0, 3.0], size=4)
POSITIVE = rng.gamma(2.0, size=(4, 3)) + 0.1
ROOT = np.tril(rng.normal(size=(4, 3, 3)) * 0.4, -1) + np.eye(3) * [1.0, 0.5, 2.0]
MATRIX = ROOT @ ROOT.transpose(0, 2, 1)
CORRELATION = np.linalg.cholesky(
    MATRIX / np.sqrt(np.einsum("bii,bjj->bij", MATRIX, MATRIX))
)
FACTOR = rng.normal(size=(4, 3, 2))
DF = np.array([3.2, 4.0, 5.5, 9.0])
HEAT = np.array(0.7)

#: Makes a distribution of parameters; the parameters; values.
CASES = {
    "relaxed bernoulli": (
        lambda d, t, p: d.RelaxedBernoulli(t, p), [HEAT, UNIT], UNIT[::-1].copy()),
    "relaxed bernoulli logits": (
        lambda d, t, p: d.RelaxedBernoulli(t, logits=p), [HEAT, REAL], UNIT),
    "relaxed bernoulli heats": (
        lambda d, t, p: d.RelaxedBernoulli(t, logits=p), [POSITIVE, REAL], UNIT),
    "relaxed one hot": (
        lambda d, t, p: d.RelaxedOneHotCategorical(t, p), [HEAT, POSITIVE], SIMPLEX),
    "relaxed one hot logits": (
        lambda d, t, p: d.RelaxedOneHotCategorical(t, logits=p), [HEAT, REAL], SIMPLEX),
    "straight through": (
        lambda d, p: d.OneHotCategoricalStraightThrough(logits=p), [REAL],
        np.eye(3)[[0, 2, 1, 0]]),
    "logistic normal": (
        lambda d, a, b: d.LogisticNormal(a, b), [REAL[:, :2], POSITIVE[:, :2]],
        SIMPLEX),
    "logistic normal of one": (
        lambda d, a, b: d.LogisticNormal(a, b), [np.array(0.3), np.array(1.5)],
        np.array([[0.2, 0.8], [0.7, 0.3]])),
    "low rank normal": (
        lambda d, m, w, v: d.LowRankMultivariateNormal(m, w, v),
        [REAL, FACTOR, POSITIVE], REAL[::-1].copy()),
    "low rank normals of one factor": (
        lambda d, m, w, v: d.LowRankMultivariateNormal(m, w, v),
        [REAL, FACTOR[0], POSITIVE[:1]], REAL[::-1].copy()),
    "wishart": (
        lambda d, n, m: d.Wishart(n, scale_tril=m), [DF, ROOT], MATRIX[::-1].copy()),
    "wishart covariance": (
        lambda d, n, m: d.Wishart(n, m), [DF, MATRIX], MATRIX[::-1].copy()),
    "wishart precision": (
        lambda d, n, m: d.Wishart(n, precision_matrix=m), [DF, MATRIX[0]],
        MATRIX[::-1].copy()),
    "wishart of one": (
        lambda d, m: d.Wishart(3.3, m), [MATRIX[0]], MATRIX),
    "lkj": (lambda d, a: d.LKJCholesky(3, a), [DF], CORRELATION),
    "lkj of two": (
        lambda d, a: d.LKJCholesky(2, a), [DF / 4],
        np.array([[1, 0], [0.6, 0.8]])),
    "mixture": (
        lambda d, p, m, s: d.MixtureSameFamily(
            d.Categorical(logits=p), d.Normal(m, s)),
        [REAL[::-1].copy(), REAL, POSITIVE], UNIT[:, 0].copy()),
    "mixture of one": (
        lambda d, p, m: d.MixtureSameFamily(d.Categorical(p), d.Exponential(m)),
        [POSITIVE[0], POSITIVE[1]], UNIT),
    "mixture of vectors": (
        lambda d, p, m, s: d.MixtureSameFamily(
            d.Categorical(p), d.Independent(d.Normal(m, s), 1)),
        [POSITIVE[0], REAL[:3, :2], POSITIVE[:3, :2]], REAL[:, 1:]),
    "mixture of matrices": (
        lambda d, p, m: d.MixtureSameFamily(
            d.Categorical(p), d.MultivariateNormal(m, torch_or_mine(d, MATRIX[:3]))),
        [POSITIVE, np.broadcast_to(REAL[:, None], (4, 3, 3)).copy()], REAL),
    "mixture of kinds": (
        lambda d, p, q: d.MixtureSameFamily(d.Categorical(p), d.Bernoulli(q)),
        [POSITIVE, UNIT], np.array([0.0, 1.0, 1.0, 0.0])),
}  # fmt: skip


def torch_or_mine(d, value):
    return (ac if d is mine else torch).tensor(value.copy())


def both(case):
    """Return (distribution, parameters) of either library."""
    make, given, _ = case
    result = []
    for d in (mine, theirs):
        parameters = [torch_or_mine(d, x).requires_grad_() for x in given]
        result.append((make(d, *parameters), parameters))
    return result


def same(a, b, tolerance=1e-9):
    a, b = (np.asarray(x.detach()) for x in (a, b))
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True), (a, b)


def compare(parts, compute):
    """Compare what both compute, and the gradients of all parameters."""
    results, slopes = [], []
    for (d, parameters), lib in zip(parts, (ac, torch), strict=True):
        result = compute(lib, d)
        results.append(result)
        if not result.requires_grad:
            continue
        weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape))
        grads = lib.autograd.grad(
            (result * lib.tensor(weights)).sum(), parameters, allow_unused=True
        )
        slopes.append([
            np.zeros(tuple(p.shape)) if g is None else g.numpy()
            for g, p in zip(grads, parameters, strict=True)
        ])  # fmt: skip
    same(*results)
    if len(slopes) < 2:
        return
    for p, *pair in zip(parts[0][1], *slopes, strict=True):
        a, b = (comparable(p.detach().numpy(), x) for x in pair)
        assert np.allclose(a, b, rtol=1e-8, atol=1e-9, equal_nan=True)


def comparable(p, slope):
    """Return of a matrix's gradient what both say alike."""
    if p.ndim < 2 or p.shape[-1] != p.shape[-2]:
        return slope
    if not np.triu(p, 1).any():  # a triangle's: PyTorch's may have more
        return np.tril(slope)
    return slope + slope.swapaxes(-1, -2)  # a symmetric one's may be in either half


ALL = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@ALL
def test_log_prob(case):
    value = case[2]
    compare(both(case), lambda lib, d: d.log_prob(lib.tensor(value.copy())))


@ALL
@pytest.mark.parametrize(
    "what", ["mean", "variance", "mode", "entropy", "probs", "logits", "temperature",
             "covariance_matrix", "precision_matrix", "scale_tril", "loc", "scale"]
)  # fmt: skip
def test_moments(case, what):
    def found(lib, d):
        result = getattr(d, what)
        return result() if what == "entropy" else result

    parts = both(case)
    try:
        found(torch, parts[1][0])
    except (NotImplementedError, AttributeError):
        with pytest.raises((NotImplementedError, AttributeError)):
            found(ac, parts[0][0])
        return
    compare(parts, found)


@ALL
def test_shapes_and_supports(case):
    (a, _), (b, _) = both(case)
    value = case[2]
    assert a.batch_shape == tuple(b.batch_shape)
    assert a.event_shape == tuple(b.event_shape)
    assert a.has_rsample == b.has_rsample
    shape = (5, *a.batch_shape)
    a, b = a.expand(shape), b.expand(shape)
    assert a.batch_shape == tuple(b.batch_shape) == shape
    one = value.reshape((-1, *a.event_shape))[0]
    same(a.log_prob(ac.tensor(one)), b.log_prob(torch.tensor(one)))
    assert a.support.event_dim == b.support.event_dim
    assert a.support.is_discrete == b.support.is_discrete
    drawn = a.sample((3,))
    assert drawn.shape == (3, *shape, *a.event_shape)
    assert drawn.dtype == ac.float64
    assert not drawn.requires_grad
    assert a.support.check(drawn).all()
    if a.has_rsample:
        assert a.rsample().requires_grad
    assert type(a).__name__ in repr(a)


@pytest.mark.parametrize(
    "name", ["mixture", "mixture of one", "logistic normal of one"]
)
def test_cdf(name):
    value = CASES[name][2]
    parts = both(CASES[name])
    if "normal" in name:
        for (d, _), lib in zip(parts, (ac, torch), strict=True):
            with pytest.raises(NotImplementedError):
                d.cdf(lib.tensor(value.copy()))
        return
    compare(parts, lambda lib, d: d.cdf(lib.tensor(value.copy())))


NORMALS = {
    "low rank": CASES["low rank normal"],
    "one factor": CASES["low rank normals of one factor"],
    "full": (lambda d, m, r: d.MultivariateNormal(m, scale_tril=r), [REAL, ROOT], None),
    "one": (
        lambda d, m, r: d.MultivariateNormal(m, scale_tril=r),
        [REAL[0], ROOT[1]],
        None,
    ),
}
PAIRS = [
    (p, q)
    for p in NORMALS.items()
    for q in NORMALS.items()
    if (p[0], q[0]) != ("one factor", "one")  # PyTorch fails
]


@pytest.mark.parametrize(("p", "q"), PAIRS, ids=lambda x: x[0])
def test_divergences(p, q):
    parts = [
        ((a, b), x + y)
        for (a, x), (b, y) in zip(both(p[1]), both(q[1]), strict=True)
    ]  # fmt: skip
    compare(parts, lambda lib, d: (mine if lib is ac else theirs).kl_divergence(*d))


@pytest.mark.parametrize(("p", "q"), [("one factor", "one"), ("low rank", "full")])
def test_divergences_are_those_of_full_matrices(p, q):
    (p, _), (q, _) = (both(NORMALS[name])[0] for name in (p, q))
    full = mine.MultivariateNormal(p.loc, p.covariance_matrix)
    same(mine.kl_divergence(p, q), mine.kl_divergence(full, q))


def test_divergences_of_wisharts():
    """PyTorch sums those of a batch, and has no gradient in the first."""
    found, needed = [], []
    for i, j in ((0, 0), (1, 0), (2, 3), (3, 1)):
        for d, results in ((mine, found), (theirs, needed)):
            values = [torch_or_mine(d, x) for x in (DF[i], ROOT[i], DF[j], ROOT[j])]
            p = d.Wishart(values[0], scale_tril=values[1])
            q = d.Wishart(values[2], scale_tril=values[3])
            results.append(d.kl_divergence(p, q).item())
    assert np.allclose(found, needed, rtol=1e-9, atol=1e-9)
    p, q = (
        mine.Wishart(ac.tensor(DF[k]), scale_tril=ac.tensor(ROOT[k]))
        for k in ([0, 1, 2, 3], [0, 0, 3, 1])
    )
    assert np.allclose(mine.kl_divergence(p, q), needed, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["wishart", "wishart covariance"])
def test_wishart_as_an_exponential_family(name):
    (a, _), (b, _) = both(CASES[name])
    same(mine.ExponentialFamily.entropy(a), b.entropy())
    same(mine.ExponentialFamily.entropy(a), theirs.ExponentialFamily.entropy(b))


@pytest.mark.parametrize("name", dir(theirs))
def test_who_is_whose_child(name):
    theirs_, mine_ = getattr(theirs, name), getattr(mine, name, None)
    if mine_ is None or not isinstance(theirs_, type):
        return
    for parent in (theirs.TransformedDistribution, theirs.ExponentialFamily):
        known = ("Gumbel", "HalfCauchy", "HalfNormal", "LogNormal", "Pareto", "Weibull",
                 "Kumaraswamy", "InverseGamma", "GeneralizedPareto",
                 "ContinuousBernoulli", "Poisson", "Chi2")  # fmt: skip
        if name not in known and issubclass(theirs_, parent):
            assert issubclass(mine_, getattr(mine, parent.__name__)), name
