# SPDX-License-Identifier: MIT
"""What the parameters and values of distributions must be.

Each has ``check(value)``, which tells of every element (of every vector or matrix,
where `event_dim` says so) whether it fits.

Examples
--------
>>> import autocalc as ac
>>> ac.distributions.constraints.positive.check(ac.tensor([1.0, 0.0]))
tensor([ True, False])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._ops._arguments import check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, short
from autocalc.errors import DTypeError

__all__ = [
    "Constraint",
    "boolean",
    "dependent",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "real",
    "real_vector",
    "simplex",
    "unit_interval",
]


class Constraint:
    """A set of values.

    Parameters
    ----------
    name
        What it is called in messages.
    test
        Tells of the elements of a tensor whether they are in the set.
    event_dim
        How many of the last dimensions are one value.
    is_discrete
        Whether its values are integers.
    bounds
        What stands in the places ``{}`` of `name`.

    Attributes
    ----------
    is_discrete
        Whether its values are integers.
    event_dim
        How many of the last dimensions are one value.
    """

    def __init__(
        self,
        name: str,
        test: Callable[[Any], Any],
        event_dim: int = 0,
        is_discrete: bool = False,
        bounds: tuple[Any, ...] = (),
    ) -> None:
        self._name, self._bounds = name, bounds
        self._test = test
        self.event_dim = event_dim
        self.is_discrete = is_discrete

    def check(self, value: Tensor) -> Tensor:
        """Return of each value whether it is in the set."""
        result: Tensor = self._test(check_tensor("Constraint.check", value))
        return result

    def __repr__(self) -> str:
        return self._name.format(*map(short, self._bounds))


def _whole(x: Any) -> Any:
    return x % 1 == 0


def _sums_to_one(x: Any) -> Any:
    return (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6)


def _is_one_hot(x: Any) -> Any:
    return ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1)


def _is_lower_cholesky(x: Any) -> Any:
    is_lower = (x.tril() == x).all(-1).all(-1)
    return is_lower & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _is_positive_definite(x: Any) -> Any:
    from autocalc._ops.factorizations import eigvalsh

    symmetric = ((x - x.mT).abs() <= 1e-6 * (1 + x.abs())).all(-1).all(-1)
    return symmetric & (eigvalsh(x.detach()) > 0).all(-1)


#: Numbers; NaN is none.
real = Constraint("real numbers", lambda x: x == x)  # noqa: PLR0124
real_vector = Constraint("vectors of real numbers", lambda x: (x == x).all(-1), 1)  # noqa: PLR0124
positive = Constraint("numbers above 0", lambda x: x > 0)
nonnegative = Constraint("numbers of 0 or more", lambda x: x >= 0)
unit_interval = Constraint("numbers from 0 to 1", lambda x: (x >= 0) & (x <= 1))
boolean = Constraint("0 and 1", lambda x: (x == 0) | (x == 1), is_discrete=True)
nonnegative_integer = Constraint(
    "integers of 0 or more", lambda x: _whole(x) & (x >= 0), is_discrete=True
)
positive_integer = Constraint(
    "integers of 1 or more", lambda x: _whole(x) & (x >= 1), is_discrete=True
)
simplex = Constraint("vectors of probabilities that sum to 1", _sums_to_one, 1)
one_hot = Constraint("vectors of zeros and one 1", _is_one_hot, 1, is_discrete=True)
lower_cholesky = Constraint(
    "lower triangular matrices with a positive diagonal", _is_lower_cholesky, 2
)
positive_definite = Constraint(
    "symmetric positive definite matrices", _is_positive_definite, 2
)
#: Anything: what it must be depends on other parameters.
dependent = Constraint("what other parameters say", lambda x: x == x)  # noqa: PLR0124


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the numbers from `lower_bound` to `upper_bound`."""
    return Constraint(
        "numbers from {} to {}",
        lambda x: (x >= lower_bound) & (x <= upper_bound),
        bounds=(lower_bound, upper_bound),
    )


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the numbers from `lower_bound` to below `upper_bound`."""
    return Constraint(
        "numbers from {} to below {}",
        lambda x: (x >= lower_bound) & (x < upper_bound),
        bounds=(lower_bound, upper_bound),
    )


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the integers from `lower_bound` to `upper_bound`."""

    def test(x: Any) -> Any:
        return _whole(x) & (x >= lower_bound) & (x <= upper_bound)

    bounds = lower_bound, upper_bound
    return Constraint("integers from {} to {}", test, is_discrete=True, bounds=bounds)


def greater_than(lower_bound: Any) -> Constraint:
    """Return the numbers above `lower_bound`."""
    name = "numbers above {}"
    return Constraint(name, lambda x: x > lower_bound, bounds=(lower_bound,))


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Return the numbers of `lower_bound` or more."""
    name = "numbers of {} or more"
    return Constraint(name, lambda x: x >= lower_bound, bounds=(lower_bound,))


def less_than(upper_bound: Any) -> Constraint:
    """Return the numbers below `upper_bound`."""
    name = "numbers below {}"
    return Constraint(name, lambda x: x < upper_bound, bounds=(upper_bound,))


def independent(base: Any, ndims: int) -> Constraint:
    """Return the arrays of `ndims` more dimensions whose values are all in `base`."""
    if not isinstance(base, Constraint):
        message = f"independent: `base` is {short(base)}; it must be a constraint."
        raise DTypeError(message)
    ndims = as_int("independent", "ndims", ndims)

    def test(x: Any) -> Any:
        result = base.check(x)
        for _ in range(ndims):
            result = result.all(-1)
        return result

    total = base.event_dim + ndims
    return Constraint("arrays of {}", test, total, base.is_discrete, (base,))
