# SPDX-License-Identifier: MIT
"""Constraints of single numbers: between bounds, whole, 0 and 1."""

from __future__ import annotations

from typing import Any

from autocalc.distributions._constraint import Constraint, check_bound


class RealNumbers(Constraint):
    """All real numbers and infinities, but not NaN."""

    _name = "real numbers"

    def _test(self, value: Any) -> Any:
        return value == value  # noqa: PLR0124  # NaN is not


class ZeroAndOne(Constraint):
    """The numbers 0 and 1."""

    _name = "0 and 1"
    is_discrete = True

    def _test(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Above(Constraint):
    """Numbers from one bound on."""

    def __init__(self, lower_bound: Any) -> None:
        where = type(self).__name__
        self.lower_bound = check_bound(where, "lower_bound", lower_bound)
        super().__init__(bounds=(lower_bound,))


class _Below(Constraint):
    """Numbers up to one bound."""

    def __init__(self, upper_bound: Any) -> None:
        where = type(self).__name__
        self.upper_bound = check_bound(where, "upper_bound", upper_bound)
        super().__init__(bounds=(upper_bound,))


class _Between(Constraint):
    """Numbers between two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        where = type(self).__name__
        self.lower_bound = check_bound(where, "lower_bound", lower_bound)
        self.upper_bound = check_bound(where, "upper_bound", upper_bound)
        super().__init__(bounds=(lower_bound, upper_bound))


class greater_than(_Above):  # PyTorch's name
    """The numbers greater than `lower_bound`.

    Parameters
    ----------
    lower_bound
        The bound: a number or a tensor.

    Raises
    ------
    DTypeError
        If the bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.constraints.greater_than(1).check(ac.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    _name = "numbers above {}"

    def _test(self, value: Any) -> Any:
        return value > self.lower_bound


class greater_than_eq(_Above):  # PyTorch's name
    """The numbers greater than or equal to `lower_bound`.

    Parameters
    ----------
    lower_bound
        The bound: a number or a tensor.

    Raises
    ------
    DTypeError
        If the bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.constraints.greater_than_eq(1).check(ac.tensor([1.0, 0.0]))
    tensor([ True, False])
    """

    _name = "numbers of {} or more"

    def _test(self, value: Any) -> Any:
        return value >= self.lower_bound


class less_than(_Below):  # PyTorch's name
    """The numbers less than `upper_bound`.

    Parameters
    ----------
    upper_bound
        The bound: a number or a tensor.

    Raises
    ------
    DTypeError
        If the bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.constraints.less_than(1).check(ac.tensor([1.0, 0.0]))
    tensor([False,  True])
    """

    _name = "numbers below {}"

    def _test(self, value: Any) -> Any:
        return value < self.upper_bound


class interval(_Between):  # PyTorch's name
    """The closed interval from `lower_bound` to `upper_bound`.

    Parameters
    ----------
    lower_bound, upper_bound
        The bounds: numbers or tensors.

    Raises
    ------
    DTypeError
        If a bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.constraints.interval(0, 1).check(ac.tensor([1.0, 2.0]))
    tensor([ True, False])
    """

    _name = "numbers from {} to {}"

    def _test(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class half_open_interval(_Between):  # PyTorch's name
    """The half-open interval [lower_bound, upper_bound).

    Parameters
    ----------
    lower_bound, upper_bound
        The bounds: numbers or tensors.

    Raises
    ------
    DTypeError
        If a bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> half_open = ac.distributions.constraints.half_open_interval(0, 1)
    >>> half_open.check(ac.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    _name = "numbers from {} to below {}"

    def _test(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class integer_interval(_Between):  # PyTorch's name
    """The integers from `lower_bound` to `upper_bound`, including both.

    Parameters
    ----------
    lower_bound, upper_bound
        The bounds: numbers or tensors.

    Raises
    ------
    DTypeError
        If a bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> whole = ac.distributions.constraints.integer_interval(0, 2)
    >>> whole.check(ac.tensor([0.5, 1.0]))
    tensor([False,  True])
    """

    _name = "integers from {} to {}"
    is_discrete = True

    def _test(self, value: Any) -> Any:
        inside = (value >= self.lower_bound) & (value <= self.upper_bound)
        return (value % 1 == 0) & inside


class IntegersFrom(_Above):
    """The integers greater than or equal to `lower_bound`."""

    _name = "integers of {} or more"
    is_discrete = True

    def _test(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)
