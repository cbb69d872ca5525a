# SPDX-License-Identifier: MIT
"""`Constraint`, the base of constraints, and those that wait for other parameters."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

from autocalc._ops._operator.arguments import check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flag, check_type, sequence, short
from autocalc.errors import ArgumentError, DTypeError, ShapeError


class Constraint:
    """A set of values, for example the positive numbers.

    A subclass defines the method `check`.  Alternatively, the function `test` is given.

    Parameters
    ----------
    name
        The name of the constraint in messages.
    test
        A function that returns whether each element of a tensor is in the set.
    event_dim
        The number of trailing dimensions that form one value.  The default is 0.
    is_discrete
        True if the values are integers.  The default is False.
    bounds
        The values of the placeholders ``{}`` in `name`.

    Attributes
    ----------
    is_discrete
        True if the values are integers.
    event_dim
        The number of trailing dimensions that form one value.

    Raises
    ------
    DTypeError
        If `test` is given but is not a function, or if `name` is not a string.

    Examples
    --------
    >>> import autocalc as ac
    >>> even = ac.distributions.constraints.Constraint(
    ...     "even numbers", lambda x: x % 2 == 0
    ... )
    >>> even.check(ac.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _name = ""
    _given_test: Callable[[Any], Any] | None = None

    def __init__(
        self,
        name: Any = "",
        test: Any = None,
        event_dim: int | None = None,
        is_discrete: bool | None = None,
        bounds: tuple[Any, ...] = (),
    ) -> None:
        check_type("Constraint", "name", name, str, "a text")
        if test is not None and not callable(test):
            message = f"Constraint: `test` is {short(test)}; it must be a function."
            raise DTypeError(message)
        if name:
            self._name = name
        self._bounds = tuple(sequence("Constraint", "bounds", bounds))
        if test is not None:
            self._given_test = test
        if event_dim is not None:
            self.event_dim = as_int("Constraint", "event_dim", event_dim)
        if is_discrete is not None:
            self.is_discrete = check_flag("Constraint", "is_discrete", is_discrete)

    def check(self, value: Tensor) -> Tensor:
        """Return whether each value of a tensor is in the set."""
        where = f"{type(self).__name__}.check"
        if check_tensor(where, value).ndim < self.event_dim:
            raise ShapeError(
                f"{where}: the value has shape {value.shape}; it needs at least "
                f"{self.event_dim} dimensions."
            )
        result: Tensor = self._test(value)
        return result

    def _test(self, value: Any) -> Any:
        if self._given_test is None:
            message = f"{type(self).__name__}: a constraint needs its method, `check`."
            raise NotImplementedError(message)
        return self._given_test(value)

    def __repr__(self) -> str:
        if not self._name:
            return f"{type(self).__name__}()"
        return self._name.format(*map(_described, self._bounds))


def _described(bound: Any) -> str:
    return f"{bound:g}" if isinstance(bound, float) else short(bound)


def check_constraint(where: str, name: str, given: Any) -> Constraint:
    """Return `given` if it is a constraint."""
    return check_type(where, name, given, Constraint, "a constraint")


def check_bound(where: str, name: str, value: Any) -> Any:
    """Return a bound, a number or a tensor."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not isinstance(value, Tensor) and not is_number:
        raise DTypeError(
            f"{where}: `{name}` is {short(value)}; it must be a tensor or a number."
        )
    return value


# ---- what depends on other parameters ------------------------------------------------


class Dependent(Constraint):
    """A constraint that depends on the parameters of the distribution.

    Examples
    --------
    >>> import autocalc as ac
    >>> constraints = ac.distributions.constraints
    >>> constraints.is_dependent(constraints.dependent)
    True
    >>> constraints.dependent(is_discrete=True, event_dim=1).event_dim
    1
    """

    _name = "what other parameters say"

    def __init__(self, *, is_discrete: Any = None, event_dim: Any = None) -> None:
        if is_discrete is not None:
            check_flag("dependent", "is_discrete", is_discrete)
        if event_dim is not None:
            event_dim = as_int("dependent", "event_dim", event_dim)
        self._known = {"is_discrete": is_discrete, "event_dim": event_dim}
        self._bounds = ()

    def __call__(self, *, is_discrete: Any = None, event_dim: Any = None) -> Dependent:
        """Return the same with what is known of it."""
        given = {"is_discrete": is_discrete, "event_dim": event_dim}
        known = {k: self._known[k] if v is None else v for k, v in given.items()}
        return Dependent(**known)

    @property
    def is_discrete(self) -> Any:
        """Whether the values are integers; an error if that is not known."""
        return self._asked("is_discrete")

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions of one value; an error if unknown."""
        return self._asked("event_dim")

    def _asked(self, name: str) -> Any:
        if self._known[name] is None:
            message = f"dependent: `{name}` is only known for a distribution."
            raise NotImplementedError(message)
        return self._known[name]

    def check(self, value: Tensor) -> NoReturn:
        """Raise an error, because the parameters are not known."""
        raise ArgumentError(
            "dependent.check: the allowed values depend on other parameters; use the "
            "constraint of a distribution, such as its `support`."
        )


class dependent_property(property, Dependent):  # PyTorch's name
    """A property that returns a constraint that depends on an object's parameters.

    Accessed on the class instead of an object, it is a dependent constraint.

    Parameters
    ----------
    fn
        A function that returns the constraint of an object.
    is_discrete, event_dim
        The attributes of the constraint that are known without an object.

    Raises
    ------
    DTypeError
        If `event_dim` is not an integer.
    ArgumentError
        If `is_discrete` is neither True nor False.

    Examples
    --------
    >>> import autocalc as ac
    >>> constraints = ac.distributions.constraints
    >>> class UpTo(ac.distributions.Distribution):
    ...     @constraints.dependent_property(is_discrete=True, event_dim=0)
    ...     def support(self):
    ...         return constraints.integer_interval(0, 3)
    >>> UpTo.support.is_discrete, UpTo().support
    (True, integers from 0 to 3)
    """

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = None, event_dim: Any = None
    ) -> None:
        if fn is not None and not callable(fn):
            message = f"dependent_property: `fn` is {short(fn)}; it must be a function."
            raise DTypeError(message)
        property.__init__(self, fn)
        Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> dependent_property:  # type: ignore[override]  # a decorator
        """Return the property of `fn`."""
        return dependent_property(fn, **self._known)


def is_dependent(constraint: Constraint) -> bool:
    """Return whether a constraint depends on the parameters of a distribution.

    Parameters
    ----------
    constraint
        The constraint to test.

    Returns
    -------
    bool

    Raises
    ------
    DTypeError
        If `constraint` is not a `Constraint`.

    Examples
    --------
    >>> import autocalc as ac
    >>> constraints = ac.distributions.constraints
    >>> constraints.is_dependent(constraints.positive)
    False
    """
    given = check_constraint("is_dependent", "constraint", constraint)
    return isinstance(given, Dependent)
