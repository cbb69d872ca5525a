# SPDX-License-Identifier: MIT
"""What transforms, constraints and their registry refuse, and constraints of users."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc import distributions as dist
from autocalc.distributions import constraints
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError

EXP = dist.ExpTransform()
X = ac.ones(2, 3)


@pytest.mark.core
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dist.ExpTransform(2), ArgumentError, "`cache_size` is 2; it must be"),
        (lambda: dist.ExpTransform("a"), DTypeError, "`cache_size` is 'a'; it must"),
        (lambda: EXP.with_cache(-1), ArgumentError, "`cache_size` is -1"),
        (lambda: dist.PowerTransform(0), ArgumentError, "`exponent` is .*not be 0"),
        (lambda: dist.PowerTransform("a"), DTypeError, "`exponent` is 'a'; it must"),
        (lambda: dist.AffineTransform(0, 1, -1), ArgumentError, "`event_dim`=-1"),
        (lambda: dist.AffineTransform(0, 1, 1.5), DTypeError, "`event_dim` is 1.5"),
        (lambda: dist.CumulativeDistributionTransform(3), DTypeError,
         "`distribution` is 3; it must be a distribution"),
        (lambda: dist.IndependentTransform(3, 1), DTypeError, "`base_transform` is 3"),
        (lambda: dist.IndependentTransform(EXP, -1), ArgumentError, "=-1; use 0 or"),
        (lambda: dist.IndependentTransform(EXP, None), DTypeError, "ndims` is None"),
        (lambda: dist.IndependentTransform(EXP, 3)(X), ShapeError,
         r": the value has shape \(2, 3\); it needs at least"),
        (lambda: dist.ReshapeTransform((3,), (2,)), ArgumentError, "the same number"),
        (lambda: dist.ReshapeTransform((-1,), (-1,)), ArgumentError, "not be negative"),
        (lambda: dist.ReshapeTransform("a", (2,)), DTypeError, "`in_shape` is 'a'"),
        (lambda: dist.ReshapeTransform((2,), (2,))(X), ShapeError,
         r"shape \(2, 3\) must end with \(2,\)"),
        (lambda: dist.ReshapeTransform((2,), (2,)).inv(X), ShapeError, "must end with"),
        (lambda: dist.SoftmaxTransform()(ac.tensor(1.0)), ShapeError, "needs at least"),
        (lambda: dist.SoftmaxTransform().forward_shape(()), ShapeError,
         r"SoftmaxTransform.forward_shape: `shape`=\(\); it needs 1"),
        (lambda: dist.SoftmaxTransform().inverse_shape(()), ShapeError, "inverse_s"),
        (lambda: EXP.forward_shape("a"), DTypeError, "`shape` is 'a'; it must be an"),
        (lambda: dist.StickBreakingTransform().inverse_shape((0,)), ShapeError,
         "end with 1 or more"),
        (lambda: dist.CorrCholeskyTransform()(ac.ones(2)), ShapeError, "0, 1, 3, 6"),
        (lambda: dist.CorrCholeskyTransform().inv(X), ShapeError, "square matrices"),
        (lambda: dist.LowerCholeskyTransform()(ac.ones(2)), ShapeError, "at least"),
        (lambda: dist.CatTransform([]), ArgumentError, "`tseq` is .*one or more"),
        (lambda: dist.CatTransform([3]), DTypeError, "`tseq` holds 3; it must be"),
        (lambda: dist.CatTransform([EXP], lengths=[1, 2]), ArgumentError,
         r"`lengths`=\[1, 2\]; it must hold 1 numbers"),
        (lambda: dist.CatTransform([EXP], lengths=[-1]), ArgumentError, "0 or more"),
        (lambda: dist.CatTransform([EXP], lengths=["a"]), DTypeError, "`lengths` is"),
        (lambda: dist.CatTransform([EXP], "a"), DTypeError, "`dim` is 'a'; it must"),
        (lambda: dist.CatTransform([EXP])(X), ShapeError,
         r"the value has shape \(2, 3\); along dimension 0 it must have 1 elements"),
        (lambda: dist.CatTransform([EXP], 2)(X), DimensionError, "`dim`=2 is not a di"),
        (lambda: dist.StackTransform([EXP], -3)(X), DimensionError, "`dim`=-3 is not"),
        (lambda: dist.StackTransform([EXP], 1)(X), ShapeError, "StackTransform: the"),
        (lambda: dist.StackTransform([EXP], 1).inv(X), ShapeError, "form.inv: the"),
        (lambda: dist.StackTransform([EXP])(3), DTypeError, "needs a Tensor, not int"),
        (lambda: dist.StackTransform([EXP], 1).log_abs_det_jacobian(X, X), ShapeError,
         "log_abs_det_jacobian: the value"),
        (lambda: dist.StickBreakingTransform().event_dim.no, AttributeError, "no"),
        (lambda: dist.CorrCholeskyTransform().event_dim, ShapeError,
         ".event_dim: a value has 1 dimensions before the transform and 2 after"),
        (lambda: dist.SoftmaxTransform().sign, NotImplementedError, "has no `sign`"),
        (lambda: dist.TransformedDistribution(
            dist.Normal(0.0, 1.0), dist.SoftmaxTransform()), ShapeError,
         r"base distribution have shape \(\); the transforms need 1 dim"),
        (lambda: dist.TransformedDistribution(
            dist.Normal(X, 1.0), dist.StickBreakingTransform()).cdf(ac.ones(2, 4) / 4),
         NotImplementedError, "Independent has no `cdf`"),
        (lambda: dist.TransformedDistribution(
            dist.Normal(X, 1.0), dist.StickBreakingTransform()).log_prob(X),
         ShapeError, r": `value` has shape \(2, 3\), but one value of this dist"),
        (lambda: dist.TransformedDistribution(
            dist.Normal(X, 1.0), dist.StickBreakingTransform()).log_prob(ac.tensor(1.)),
         ShapeError, r": `value` has shape \(\), but one value of this dist"),
        (lambda: dist.biject_to(3), DTypeError, "`constraint` is 3; it must be a con"),
        (lambda: dist.biject_to(constraints.boolean), NotImplementedError,
         "ConstraintRegistry: no transform is registered for 0 and 1; add one"),
        (lambda: dist.biject_to.register(3), DTypeError, "constraint or a class of"),
        (lambda: dist.biject_to.register(int), DTypeError, "`constraint` is <class"),
        (lambda: dist.biject_to.register(constraints.real, 3), DTypeError,
         "`factory` is 3; it must be a function"),
        (lambda: constraints.Constraint(3), DTypeError, "`name` is 3; it must be a te"),
        (lambda: constraints.Constraint("a", 3), DTypeError, "`test` is 3; it must be"),
        (lambda: constraints.Constraint("a", abs, "b"), DTypeError, "`event_dim` is"),
        (lambda: constraints.Constraint("a", abs, 0, 3), ArgumentError, "`is_disc"),
        (lambda: constraints.Constraint("a", abs, bounds=3), DTypeError, "`bounds`"),
        (lambda: constraints.Constraint().check(X), NotImplementedError,
         "Constraint: a constraint needs its method, `check`"),
        (lambda: constraints.simplex.check(ac.tensor(1.0)), ShapeError,
         r": the value has shape \(\); it needs at least 1 dimensions\."),
        (lambda: constraints.greater_than("a"), DTypeError, "`lower_bound` is 'a'; it"),
        (lambda: constraints.less_than(True), DTypeError, "`upper_bound` is True; it"),
        (lambda: constraints.interval(0, None), DTypeError, "`upper_bound` is None"),
        (lambda: constraints.integer_interval(None, 0), DTypeError, "`lower_bound` is"),
        (lambda: constraints.multinomial("a"), DTypeError, "`upper_bound` is 'a'; it"),
        (lambda: constraints.independent(constraints.real, -1), ArgumentError,
         "ndims` is -1; it must be 0"),
        (lambda: constraints.MixtureSameFamilyConstraint(1), DTypeError, "a constr"),
        (lambda: constraints.cat([]), ArgumentError, "`cseq` is empty; it needs one"),
        (lambda: constraints.cat(3), DTypeError, "`cseq` is 3; it must be a list"),
        (lambda: constraints.stack([3]), DTypeError, "`cseq` is 3; it must be a con"),
        (lambda: constraints.stack([constraints.real], "a"), DTypeError, "`dim` is"),
        (lambda: constraints.stack([constraints.real]).check(X), ShapeError,
         "along dimension 0 it must have 1 elements"),
        (lambda: constraints.cat([constraints.real], 5).check(X), DimensionError,
         "cat.check: `dim`=5"),
        (lambda: constraints.dependent.check(X), ArgumentError, r"dependent\.check:"),
        (lambda: constraints.dependent.event_dim, NotImplementedError, "`event_dim`"),
        (lambda: constraints.dependent(event_dim="a"), DTypeError, "`event_dim` is"),
        (lambda: constraints.dependent(is_discrete=3), ArgumentError, "`is_discre"),
        (lambda: constraints.dependent_property(3), DTypeError, "`fn` is 3; it must"),
        (lambda: constraints.is_dependent(3), DTypeError, "`constraint` is 3; it must"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.core
def test_what_depends_on_parameters():
    known = constraints.dependent(is_discrete=True)(event_dim=1)
    assert constraints.is_dependent(known)
    assert not constraints.is_dependent(constraints.real)
    assert (known.is_discrete, known.event_dim) == (True, 1)

    class UpTo(dist.Distribution):
        def __init__(self, most):
            self.most = most
            super().__init__()

        @constraints.dependent_property(is_discrete=True, event_dim=0)
        def support(self):
            return constraints.integer_interval(0, self.most)

    assert constraints.is_dependent(UpTo.support)
    assert (UpTo.support.is_discrete, UpTo.support.event_dim) == (True, 0)
    assert UpTo(3).support.upper_bound == 3


@pytest.mark.core
def test_constraints_and_transforms_of_users():
    class Even(constraints.Constraint):
        is_discrete = True

        def check(self, value):
            return value % 2 == 0

    class Doubled(dist.Transform):
        bijective = True
        codomain = Even()

        def _call(self, x):
            return 2 * x

        def _inverse(self, y):
            return y / 2

        def log_abs_det_jacobian(self, x, y):
            return ac.full_like(x, 0.6931471805599453)

    assert repr(Even()) == "Even()"
    table = dist.constraint_registry.ConstraintRegistry()
    table.register(Even, lambda constraint: Doubled())
    t = table(Even())
    assert t(ac.tensor(3.0)).item() == 6
    assert t.inv(ac.tensor(6.0)).item() == 3
    assert t != Doubled()  # what it holds is not known
    d = dist.TransformedDistribution(dist.Normal(0.0, 1.0), [t], validate_args=False)
    other = dist.Normal(0.0, 2.0)
    value = ac.tensor(1.5)
    assert abs((d.log_prob(value) - other.log_prob(value)).item()) < 1e-6


@pytest.mark.core
def test_what_constraints_are_called():
    c = constraints
    for constraint, name in (
        (c.unit_interval, "numbers from 0 to 1"),
        (c.greater_than(2.5), "numbers above 2.5"),
        (c.independent(c.positive, 2), "matrices of numbers above 0"),
        (c.independent(c.real, 3), "arrays of real numbers"),
        (c.cat([c.real, c.boolean], -1), "values along dimension -1 in [real numbers"),
        (c.dependent, "what other parameters say"),
    ):
        assert repr(constraint).startswith(name)


def test_the_way_back_is_kept_and_has_the_cache_of_its_transform():
    exp = ac.distributions.ExpTransform()
    back = exp.inv
    assert exp.inv is back
    assert back.inv.inv is back
    cached = back.with_cache(1)
    assert cached.inv is not exp
    assert cached.inv.inv is cached
    y = ac.tensor([1.0, 2.0])
    assert cached(y) is cached(y)
    again = pickle.loads(pickle.dumps(back))
    assert again == back
    assert copy.deepcopy(exp).inv is not back
