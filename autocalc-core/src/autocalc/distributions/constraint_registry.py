# SPDX-License-Identifier: MIT
"""Registries of transforms from all real numbers to the values of a constraint.

The transforms of `biject_to` are bijective, and their derivatives are known; use them
for sampling methods.  The transforms of `transform_to` only reach all values of the
constraint; use them to train parameters.

Examples
--------
>>> import autocalc as ac
>>> constraint = ac.distributions.Normal.arg_constraints["scale"]
>>> ac.distributions.transform_to(constraint)(ac.tensor(0.0))
tensor(1.)
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

from autocalc._tensor import checks as _checks
from autocalc.distributions import constraints, transforms
from autocalc.distributions._constraint import check_constraint
from autocalc.errors import DTypeError

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

#: What makes the transform of a constraint.
Factory: TypeAlias = Callable[[Any], transforms.Transform]


class ConstraintRegistry:
    """A registry that maps constraints to functions that make transforms.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions
    >>> mine = d.constraint_registry.ConstraintRegistry()
    >>> @mine.register(d.constraints.positive)
    ... def _(constraint):
    ...     return d.SoftplusTransform()
    >>> mine(d.constraints.positive)
    SoftplusTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register a function that makes the transforms of a class of constraints.

        Parameters
        ----------
        constraint
            The class, or an instance of it.
        factory
            A function that takes a constraint of the class and returns a transform.
            Without `factory`, a decorator is returned.

        Returns
        -------
        function

        Raises
        ------
        DTypeError
            If `constraint` is neither a class of constraints nor a constraint, or if
            `factory` is not a function.

        Examples
        --------
        >>> import autocalc as ac
        >>> class Mine(ac.distributions.constraints.Constraint):
        ...     pass
        >>> @ac.distributions.biject_to.register(Mine)
        ... def _(constraint):
        ...     return ac.distributions.ExpTransform()
        >>> ac.distributions.biject_to(Mine())
        ExpTransform()
        """
        where = "ConstraintRegistry.register"
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise DTypeError(
                f"{where}: `constraint` is {_checks.short(constraint)}; it must be a "
                f"constraint or a class of them."
            )
        if factory is None:
            return lambda factory: self.register(kind, factory)
        _checks.require(
            where, "factory", factory, callable(factory), "a function", DTypeError
        )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """Return the transform of a constraint.

        Parameters
        ----------
        constraint
            A constraint, such as ``Normal.arg_constraints["scale"]``.

        Returns
        -------
        Transform

        Raises
        ------
        DTypeError
            If it is none.
        NotImplementedError
            If its class has no transform.
        """
        check_constraint("ConstraintRegistry", "constraint", constraint)
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"ConstraintRegistry: no transform is registered for {constraint}; add "
                "one with `register`."
            )
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Factory], Factory]:
    """Let the decorated function make the transforms of some classes in both tables."""

    def declare(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return declare


@_both(constraints.real)
def _identity(constraint: Any) -> transforms.Transform:
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _from_below(constraint: Any) -> transforms.Transform:
    exp = transforms.ExpTransform()
    bound = constraint.lower_bound
    if isinstance(bound, Real) and bound == 0:
        return exp
    return transforms.ComposeTransform([exp, transforms.AffineTransform(bound, 1)])


@_both(constraints.less_than)
def _from_above(constraint: Any) -> transforms.Transform:
    turned = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), turned])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> transforms.Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    if isinstance(low, Real) and isinstance(high, Real) and low == 0 and high == 1:
        return sigmoid
    moved = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([sigmoid, moved])


@_both(constraints.corr_cholesky)
def _correlations(constraint: Any) -> transforms.Transform:
    return transforms.CorrCholeskyTransform()


biject_to.register(
    constraints.simplex, lambda constraint: transforms.StickBreakingTransform()
)
transform_to.register(
    constraints.simplex, lambda constraint: transforms.SoftmaxTransform()
)
transform_to.register(
    constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform()
)
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(
        _kind, lambda constraint: transforms.PositiveDefiniteTransform()
    )


def _of_joined(registry: ConstraintRegistry) -> None:
    """Let a table make transforms of the constraints that are made of others."""

    def of_independent(constraint: Any) -> transforms.Transform:
        base = registry(constraint.base_constraint)
        ndims = constraint.reinterpreted_batch_ndims
        return transforms.IndependentTransform(base, ndims)

    def of_cat(constraint: Any) -> transforms.Transform:
        parts = [registry(c) for c in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    def of_stack(constraint: Any) -> transforms.Transform:
        parts = [registry(c) for c in constraint.cseq]
        return transforms.StackTransform(parts, constraint.dim)

    registry.register(constraints.independent, of_independent)
    registry.register(constraints.cat, of_cat)
    registry.register(constraints.stack, of_stack)


_of_joined(biject_to)
_of_joined(transform_to)
