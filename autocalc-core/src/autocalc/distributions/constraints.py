# SPDX-License-Identifier: MIT
"""Constraints of the parameters and of the values of distributions.

Each constraint has a method ``check(value)``.  It returns for each value whether it
satisfies the constraint.  `event_dim` is the number of trailing dimensions that form
one value: 0 for numbers, 1 for vectors, 2 for matrices.

Examples
--------
>>> import autocalc as ac
>>> ac.distributions.constraints.positive.check(ac.tensor([1.0, 0.0]))
tensor([ True, False])
"""

from __future__ import annotations

from autocalc.distributions._constraint import (
    Constraint,
    Dependent,
    dependent_property,
    is_dependent,
)
from autocalc.distributions._constraints_joined import (
    MixtureSameFamilyConstraint,
    cat,
    independent,
    stack,
)
from autocalc.distributions._constraints_of_arrays import (
    CorrelationCholeskyMatrices,
    LowerCholeskyMatrices,
    LowerTriangularMatrices,
    OneHotVectors,
    PositiveDefiniteMatrices,
    PositiveSemidefiniteMatrices,
    Probabilities,
    SquareMatrices,
    SymmetricMatrices,
    multinomial,
)
from autocalc.distributions._constraints_of_numbers import (
    IntegersFrom,
    RealNumbers,
    ZeroAndOne,
    greater_than,
    greater_than_eq,
    half_open_interval,
    integer_interval,
    interval,
    less_than,
)

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]

#: Numbers; NaN is none.
real = RealNumbers()
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = ZeroAndOne()
nonnegative_integer = IntegersFrom(0)
positive_integer = IntegersFrom(1)
simplex = Probabilities()
one_hot = OneHotVectors()
lower_triangular = LowerTriangularMatrices()
lower_cholesky = LowerCholeskyMatrices()
corr_cholesky = CorrelationCholeskyMatrices()
square = SquareMatrices()
symmetric = SymmetricMatrices()
positive_semidefinite = PositiveSemidefiniteMatrices()
positive_definite = PositiveDefiniteMatrices()
#: Anything: what it must be depends on other parameters.
dependent = Dependent()
