# SPDX-License-Identifier: MIT
"""The Kullback-Leibler divergence of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autocalc._tensor.checks import short
from autocalc.distributions._distribution import Distribution
from autocalc.errors import DTypeError, NoFormulaError

__all__ = ["kl_divergence", "register_kl"]

_REGISTERED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(
    type_p: Any, type_q: Any
) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """Register the decorated function as the `kl_divergence` of two classes.

    Parameters
    ----------
    type_p, type_q
        Two classes of distributions.  The function is also used for subclasses of the
        two classes, unless another function is registered for the subclasses.

    Raises
    ------
    DTypeError
        If an argument is not a class.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Mine(ac.distributions.Normal):
    ...     pass
    >>> @ac.distributions.register_kl(Mine, Mine)
    ... def _(p, q):
    ...     return ac.tensor(7.0)
    >>> ac.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
    tensor(7.)
    """
    for name, cls in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(cls, type):
            message = f"register_kl: `{name}` is {short(cls)}; it must be a class."
            raise DTypeError(message)

    def declare(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _REGISTERED[type_p, type_q] = function
        return function

    return declare


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence: the sum or integral of p log(p / q).

    The result has the shape of the batch.

    Parameters
    ----------
    p, q
        The two distributions.

    Raises
    ------
    DTypeError
        If an argument is not a distribution.
    ArgumentError
        If there is no formula for the classes of the two distributions.

    Examples
    --------
    >>> import autocalc as ac
    >>> normal = ac.distributions.Normal
    >>> ac.distributions.kl_divergence(normal(0.0, 1.0), normal(1.0, 1.0))
    tensor(0.5000)
    """
    function = _function_for(type(p), type(q))
    for name, given in (("p", p), ("q", q)):
        if function is None and not isinstance(given, Distribution):
            raise DTypeError(
                f"kl_divergence: `{name}` is {short(given)}; it must be a distribution."
            )
    return (function or no_formula(type(p), type(q)))(p, q)


def _function_for(type_p: type, type_q: type) -> Callable[[Any, Any], Any] | None:
    """Return the function of the nearest classes, those of `p` first."""
    for base_p in type_p.__mro__:
        for base_q in type_q.__mro__:
            found = _REGISTERED.get((base_p, base_q))
            if found is not None:
                return found
    return None


def no_formula(type_p: type, type_q: type) -> NoReturn:
    """Raise an error, because there is no formula for this pair of classes."""
    raise NoFormulaError(
        f"kl_divergence: there is no formula for {type_p.__name__} and "
        f"{type_q.__name__}; give one with register_kl, or take the mean of "
        f"p.log_prob(x) - q.log_prob(x) over draws x of p."
    )
