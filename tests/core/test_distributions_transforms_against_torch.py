# SPDX-License-Identifier: MIT
"""Transforms, constraints and their registry: PyTorch's, in float64."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as mine
from autocalc.errors import AutocalcError

torch = pytest.importorskip("torch")
theirs = torch.distributions
pytestmark = pytest.mark.torch

rng = np.random.default_rng(3)
REAL = rng.normal(size=(2, 3, 3))
POSITIVE = np.abs(REAL) + 0.1
SCALE = np.array([2.0, -0.5, 1.5])

#: Makes a transform of either library; what it takes.
CASES = {
    "abs": (lambda lib, d: d.AbsTransform(), REAL),
    "affine": (lambda lib, d: d.AffineTransform(0.5, -2.0), REAL),
    "affine vector": (
        lambda lib, d: d.AffineTransform(0.5, lib.tensor(SCALE), event_dim=1), REAL),
    "affine matrix": (
        lambda lib, d: d.AffineTransform(lib.tensor(SCALE), 3.0, event_dim=2), REAL),
    "cat": (
        lambda lib, d: d.CatTransform(
            [d.ExpTransform(), d.SigmoidTransform(), d.identity_transform],
            -2, [1, 1, 1]),
        REAL),
    "cat lengths": (
        lambda lib, d: d.CatTransform([d.ExpTransform(), d.TanhTransform()], 1, [2, 1]),
        REAL),
    "cat values": (
        lambda lib, d: d.CatTransform(
            [d.IndependentTransform(d.ExpTransform(), 1),
             d.AffineTransform(1.0, 2.0, event_dim=1)], 0),
        REAL),
    "compose": (
        lambda lib, d: d.ComposeTransform(
            [d.AffineTransform(0.1, lib.tensor(SCALE)), d.StickBreakingTransform()]),
        REAL),
    "compose shapes": (
        lambda lib, d: d.ComposeTransform(
            [d.ReshapeTransform((3, 3), (9,)), d.ExpTransform(),
             d.ReshapeTransform((9,), (1, 9))]),
        REAL),
    "corr cholesky": (lambda lib, d: d.CorrCholeskyTransform(), REAL),
    "cumulative": (
        lambda lib, d: d.CumulativeDistributionTransform(
            d.Normal(lib.tensor(SCALE), 2.0)), REAL),
    "exp": (lambda lib, d: d.ExpTransform(), REAL),
    "identity": (lambda lib, d: d.identity_transform, REAL),
    "independent": (
        lambda lib, d: d.IndependentTransform(d.SigmoidTransform(), 2), REAL),
    "independent simplex": (
        lambda lib, d: d.IndependentTransform(d.StickBreakingTransform(), 1), REAL),
    "lower cholesky": (lambda lib, d: d.LowerCholeskyTransform(), REAL),
    "positive definite": (lambda lib, d: d.PositiveDefiniteTransform(), REAL),
    "power": (lambda lib, d: d.PowerTransform(lib.tensor(SCALE)), POSITIVE),
    "reshape": (lambda lib, d: d.ReshapeTransform((3, 3), (9,)), REAL),
    "reshape numbers": (lambda lib, d: d.ReshapeTransform((), (1, 1)), REAL),
    "sigmoid": (lambda lib, d: d.SigmoidTransform(), REAL),
    "sigmoid ends": (lambda lib, d: d.SigmoidTransform(), REAL * 0 + [-9e2, 9e2, 0]),
    "softmax": (lambda lib, d: d.SoftmaxTransform(), REAL),
    "softplus": (lambda lib, d: d.SoftplusTransform(), REAL),
    "stack": (
        lambda lib, d: d.StackTransform(
            [d.ExpTransform(), d.AffineTransform(1.0, 2.0), d.TanhTransform()], 1),
        REAL),
    "stack first": (
        lambda lib, d: d.StackTransform([d.ExpTransform(), d.SigmoidTransform()]),
        REAL),
    "stick breaking": (lambda lib, d: d.StickBreakingTransform(), REAL),
    "tanh": (lambda lib, d: d.TanhTransform(), REAL),
}  # fmt: skip
LIBRARIES = ((ac, mine), (torch, theirs))
ALL = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def same(a, b, tolerance=1e-10):
    a, b = (np.asarray(x.detach()) for x in (a, b))
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.allclose(a, b, rtol=tolerance, atol=tolerance), (a, b)


def compare(compute, value):
    """Compare what both compute of a value, and its gradient."""
    results, slopes = [], []
    for lib, d in LIBRARIES:
        x = lib.tensor(value.copy()).requires_grad_()
        result = compute(lib, d, x)
        weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape))
        results.append(result)
        if result.requires_grad:
            total = (result * lib.tensor(weights)).sum()
            (grad,) = lib.autograd.grad(total, x, allow_unused=True)
            slopes.append(x * 0 if grad is None else grad)
    same(*results)
    if len(slopes) == 2:
        same(*slopes, tolerance=1e-9)


@ALL
def test_there(case):
    make, value = case
    compare(lambda lib, d, x: make(lib, d)(x), value)


@ALL
@pytest.mark.parametrize("cache_size", [0, 1])
def test_and_back(case, cache_size):
    make, value = case
    y = make(torch, theirs)(torch.tensor(value.copy())).numpy()
    compare(lambda lib, d, x: make(lib, d).with_cache(cache_size).inv(x), y)


@ALL
def test_slopes(case):
    make, value = case
    if not make(torch, theirs).bijective:
        x, t = ac.tensor(value), make(ac, mine)
        y = t(x)
        with pytest.raises(NotImplementedError, match="needs its slope"):
            t.log_abs_det_jacobian(x, y)
        return

    def slope(lib, d, x):
        t = make(lib, d)
        return t.log_abs_det_jacobian(x, t(x))

    def of_the_way_back(lib, d, x):
        t = make(lib, d)
        return t.inv.log_abs_det_jacobian(t(x), x)

    compare(slope, value)
    compare(of_the_way_back, value)


def attribute(t, name):
    try:
        return getattr(t, name)
    except NotImplementedError:
        return "not there"


@ALL
def test_attributes(case):
    make, value = case
    a, b = make(ac, mine), make(torch, theirs)
    assert a.bijective == b.bijective
    for side in ("domain", "codomain"):
        c, d = getattr(a, side), getattr(b, side)
        assert (c.event_dim, c.is_discrete) == (d.event_dim, d.is_discrete)
        assert getattr(a.inv, side).event_dim == getattr(b.inv, side).event_dim
    assert attribute(a.inv, "bijective") == attribute(b.inv, "bijective")
    signs = [attribute(t, "sign") for t in (a, b, a.inv, b.inv)]
    signs = [s if isinstance(s, str) else np.asarray(s, float).tolist() for s in signs]
    assert all(sign == signs[0] for sign in signs)
    assert a.inv.inv is a
    if not isinstance(a, mine.CumulativeDistributionTransform):  # equal if the same
        assert a == make(ac, mine)
        assert a.inv == make(ac, mine).inv
        assert hash(a) == hash(make(ac, mine))
        assert hash(a.inv) == hash(make(ac, mine).inv)
    assert a == a
    assert a != mine.ExpTransform().inv
    assert type(a).__name__ in repr(a.inv)
    x, y = value.shape, make(ac, mine)(ac.tensor(value)).shape
    assert a.forward_shape(x) == a.inv.inverse_shape(x) == tuple(b.forward_shape(x))
    assert a.inverse_shape(y) == a.inv.forward_shape(y) == tuple(b.inverse_shape(y))
    try:
        dims = b.event_dim
    except ValueError:
        with pytest.raises(AutocalcError, match="after it; use `domain` or"):
            a.event_dim  # noqa: B018
    else:
        assert a.event_dim == dims


@ALL
def test_caches_and_copies(case):
    make, value = case
    t = make(ac, mine).with_cache()
    assert t.with_cache() is t
    assert t.with_cache(0).with_cache(1) is not t
    x = ac.tensor(value)
    y = t(x)
    if t is not mine.identity_transform and t != mine.identity_transform:
        assert t(x) is y or isinstance(t, mine.ComposeTransform)
    if not isinstance(t, mine.ReshapeTransform) and t.bijective:
        assert t.inv(y) is x
        z = t.inv(t.inv.with_cache(0).inv(x))
        assert t(z) is t(z) or t == mine.identity_transform
    for other in (copy.deepcopy(t), pickle.loads(pickle.dumps(t)), copy.copy(t)):
        same(other(x), y)


# ---- distributions of them -----------------------------------------------------------

DISTRIBUTIONS = {
    name: case for name, case in CASES.items()
    if case[0](torch, theirs).bijective and name not in {"power", "sigmoid ends"}
}  # fmt: skip


@pytest.mark.parametrize("case", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
@pytest.mark.parametrize("ndims", [0, 1, 2])
def test_distributions(case, ndims):
    make, value = case
    y = make(torch, theirs)(torch.tensor(value.copy())).numpy()
    made = []
    for lib, d in LIBRARIES:
        loc = lib.tensor(value * 0.9).requires_grad_()
        base = d.Independent(d.Normal(loc, 1.5), ndims)
        made.append((d.TransformedDistribution(base, make(lib, d)), loc))
    (a, _), (b, _) = made
    assert a.batch_shape == tuple(b.batch_shape)
    assert a.event_shape == tuple(b.event_shape)
    assert a.support.event_dim == b.support.event_dim
    results, slopes = [], []
    for (dist, loc), (lib, _) in zip(made, LIBRARIES, strict=True):
        results.append(dist.log_prob(lib.tensor(y.copy())))
        slopes.append(lib.autograd.grad(results[-1].sum(), loc)[0])
    same(*results)
    same(*slopes, tolerance=1e-9)
    if getattr(make(ac, mine), "dim", -1) >= 0:  # a dimension of one shape alone
        return
    shape = (4, *a.batch_shape)
    wide, other = a.expand(shape), b.expand(shape)
    assert wide.batch_shape == tuple(other.batch_shape)
    assert wide.sample((5,)).shape == tuple(other.sample((5,)).shape)
    same(wide.log_prob(ac.tensor(y)), other.log_prob(torch.tensor(y)))
    drawn = a.rsample((6,))
    assert drawn.requires_grad
    assert a.support.check(drawn).all()


def test_parameters_widen_the_base():
    for lib, d in LIBRARIES:
        scale = lib.tensor(POSITIVE)
        made = d.TransformedDistribution(
            d.Normal(lib.tensor(SCALE), 1.0),
            [d.AffineTransform(0.0, scale), d.ExpTransform(), d.PowerTransform(scale)],
        )
        assert tuple(made.batch_shape) == (2, 3, 3)
        assert made.sample((2,)).shape == (2, 2, 3, 3)


# ---- constraints ---------------------------------------------------------------------

ROOT = np.tril(REAL) + np.eye(3) * 3
VALUES = [
    REAL, POSITIVE, np.eye(3), ROOT, ROOT @ ROOT.swapaxes(-1, -2),
    np.linalg.cholesky(np.array([[1.0, 0.3, 0.2], [0.3, 1.0, -0.4], [0.2, -0.4, 1.0]])),
    -np.eye(3), np.zeros((3, 3)), np.full((2, 3, 3), 1.0), np.round(REAL),
    np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0]]),
]  # fmt: skip
CONSTRAINTS = {
    "boolean": lambda lib, c: c.boolean,
    "cat": lambda lib, c: c.cat([c.positive, c.boolean], -1, [1, 2]),
    "corr_cholesky": lambda lib, c: c.corr_cholesky,
    "custom": lambda lib, c: c.independent(c.independent(c.real, 1), 1),
    "greater_than": lambda lib, c: c.greater_than(lib.tensor(SCALE)),
    "greater_than_eq": lambda lib, c: c.greater_than_eq(1),
    "half_open_interval": lambda lib, c: c.half_open_interval(0, 1),
    "independent": lambda lib, c: c.independent(c.positive, 2),
    "integer_interval": lambda lib, c: c.integer_interval(-1, 1),
    "interval": lambda lib, c: c.interval(0, lib.tensor(SCALE + 1)),
    "less_than": lambda lib, c: c.less_than(1.0),
    "lower_cholesky": lambda lib, c: c.lower_cholesky,
    "lower_triangular": lambda lib, c: c.lower_triangular,
    "mixture": lambda lib, c: c.MixtureSameFamilyConstraint(
        c.greater_than(lib.tensor([-0.5, 0.1]))),
    "mixture vectors": lambda lib, c: c.MixtureSameFamilyConstraint(c.real_vector),
    "multinomial": lambda lib, c: c.multinomial(1),
    "nonnegative": lambda lib, c: c.nonnegative,
    "nonnegative_integer": lambda lib, c: c.nonnegative_integer,
    "one_hot": lambda lib, c: c.one_hot,
    "positive": lambda lib, c: c.positive,
    "positive_definite": lambda lib, c: c.positive_definite,
    "positive_integer": lambda lib, c: c.positive_integer,
    "real": lambda lib, c: c.real,
    "real_vector": lambda lib, c: c.real_vector,
    "simplex": lambda lib, c: c.simplex,
    "square": lambda lib, c: c.square,
    "stack": lambda lib, c: c.stack([c.positive, c.real, c.boolean], 0),
    "symmetric": lambda lib, c: c.symmetric,
    "unit_interval": lambda lib, c: c.unit_interval,
}  # fmt: skip


@pytest.mark.parametrize("make", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_constraints(make):
    a, b = make(ac, mine.constraints), make(torch, theirs.constraints)
    assert (a.event_dim, a.is_discrete) == (b.event_dim, b.is_discrete)
    for given in VALUES:
        one = given[:1] if given.ndim == 3 else given
        # Theirs mixes a batch of matrices up, symmetric ones and others.
        value = one if make is CONSTRAINTS["positive_definite"] else given
        if make is CONSTRAINTS["stack"]:
            value = np.broadcast_to(one[0], (3, 3, 3)).copy()
        found = a.check(ac.tensor(value.copy()))
        needed = b.check(torch.tensor(value.copy()))
        assert found.shape == tuple(needed.shape)
        assert found.tolist() == needed.tolist(), value


def test_positive_semidefinite():
    for name, second in (("positive_semidefinite", True), ("positive_definite", False)):
        needed = [True, second, False, False]
        check = getattr(mine.constraints, name).check
        two = np.array([np.eye(2), np.diag([1.0, 0]), -np.eye(2), [[1.0, 0.5], [0, 1]]])
        assert check(ac.tensor(two)).tolist() == needed
        assert check(ac.tensor(np.full((2, 2), math.nan))).item() is False
        assert check(ac.ones(3, 2, 4)).tolist() == [False] * 3


REGISTERED = [n for n in CONSTRAINTS if not n.startswith(
    ("bool", "integer", "nonnegative_i", "positive_i", "one", "multi", "mixture",
     "lower_t", "square", "symm"))]  # fmt: skip


@pytest.mark.parametrize("name", [n for n in REGISTERED if n not in {"cat", "stack"}])
@pytest.mark.parametrize("table", ["biject_to", "transform_to"])
def test_the_registry(name, table):
    make = CONSTRAINTS[name]
    constraint = make(torch, theirs.constraints)
    try:
        getattr(theirs, table)(constraint)
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match="ConstraintRegistry: no"):
            getattr(mine, table)(make(ac, mine.constraints))
        return

    def there(lib, d, x):
        return getattr(d, table)(make(lib, d.constraints))(x)

    value = REAL[:, :2] if name == "corr_cholesky" else REAL
    compare(there, value)
    constraint = make(ac, mine.constraints)
    y = getattr(mine, table)(constraint)(ac.tensor(value))
    assert constraint.check(y).all()


def test_the_registry_of_what_is_joined():
    for lib, d in LIBRARIES:
        c = d.constraints
        for table in (d.biject_to, d.transform_to):
            for constraint in (
                c.cat([c.positive, c.less_than(2)], 1, [1, 2]),
                c.stack([c.positive, c.real, c.unit_interval], 2),
            ):
                y = table(constraint)(lib.tensor(REAL.copy()))
                assert constraint.check(y).all()


@pytest.mark.parametrize("name", dir(theirs.constraints))
def test_all_constraints_are_there(name):
    if name in theirs.constraints.__all__ or name.endswith("semidefinite"):
        assert hasattr(mine.constraints, name)


# ---- where PyTorch fails -------------------------------------------------------------


def test_slices_of_a_last_dimension():
    """PyTorch's value has then one dimension too many, and densities fail."""
    parts = [mine.ExpTransform(), mine.identity_transform]
    x = ac.tensor(REAL[0, :, :2].copy())
    for dim in (-1, 1):
        t = mine.StackTransform(parts, dim)
        d = mine.TransformedDistribution(mine.Normal(ac.zeros(3, 2).double(), 1.0), t)
        assert (d.batch_shape, d.event_shape) == ((3, 2), ())
        log = d.log_prob(t(x))
        needed = d.base_dist.log_prob(x) - ac.stack([x[:, 0], x[:, 1] * 0], 1)
        same(log, needed)
    c = mine.constraints
    vectors = c.cat([c.simplex, c.real], -2, [2, 1])
    value = ac.tensor([[0.5, 0.5], [1.0, 1.0], [7.0, math.nan]])
    assert vectors.check(value).tolist() == [True, False, False]
    both = mine.StackTransform([mine.StickBreakingTransform()] * 2, -1)
    x = ac.tensor(REAL[:, :, :2].copy())
    assert both.domain.event_dim == both.codomain.event_dim == 2
    one = mine.StickBreakingTransform()
    needed = sum(one.log_abs_det_jacobian(x[..., i], one(x[..., i])) for i in range(2))
    same(both.log_abs_det_jacobian(x, both(x)), needed)
    assert both.codomain.check(both(x)).tolist() == [True, True]
