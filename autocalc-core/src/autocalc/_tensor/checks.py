# SPDX-License-Identifier: MIT
"""Checks of Python arguments: integers, sizes, numbers, truth values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from numbers import Real
from operator import index
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError

#: NumPy's dimensions and AutoCalc's integers are smaller than this.
_LARGEST = 2**63

#: The class of flags. It has type Any because otherwise type checkers would consider
#: code after ``if flag.__class__ is not bool`` unreachable.
FLAG: Any = bool

T = TypeVar("T")


def require(
    where: str,
    name: str,
    value: Any,
    holds: Any,
    needed: str,
    error: type[Exception] = ArgumentError,
) -> None:
    """Raise unless a condition on an argument holds.

    ``require("cdist", "p", p, p >= 0, "0 or more")`` is the check and its text:
    "cdist: `p` is -1; it must be 0 or more."
    """
    if not holds:
        raise error(f"{where}: `{name}` is {short(value)}; it must be {needed}.")


def check_type(
    where: str, name: str, value: Any, kind: type[T] | tuple[type[T], ...], needed: str
) -> T:
    """Return an argument; raise an error unless it is an instance of `kind`."""
    require(where, name, value, isinstance(value, kind), needed, DTypeError)
    return value  # type: ignore[no-any-return]  # of the class


def plain(value: Any) -> Any:
    """Return a NumPy number as a Python number, and anything else as it is.

    Layers store Python numbers, because ``4 * np.uint8(100)`` is 144.
    """
    return value.item() if isinstance(value, np.generic) else value


def as_int(where: str, name: str, value: Any) -> int:
    """Return an integer argument; a 0-d integer tensor counts as one."""
    if value.__class__ is int and -_LARGEST <= value < _LARGEST:
        return value
    try:
        if not isinstance(value, bool):
            # An int subclass defines by `__index__` which index it stands for.
            value = value.__index__() if isinstance(value, int) else index(value)
            if -_LARGEST <= value < _LARGEST:
                return value  # type: ignore[no-any-return]  # an int
            message = f"{where}: `{name}` is {value}, which does not fit into int64."
            raise ArgumentError(message)
    except ArgumentError:
        raise
    except TypeError:
        pass
    raise DTypeError(f"{where}: `{name}` is {short(value)}; it must be an integer.")


def check_flag(where: str, name: str, value: Any) -> bool:
    """Return a flag; raise an error unless it is True or False, or NumPy's bool."""
    if not isinstance(value, (bool, np.bool_)):
        message = f"{where}: `{name}` is {short(value)}; it must be True or False."
        if hasattr(value, "_array") and where[:1].isupper():
            message += f" Make the module first, then call it: {where}()(x)."
        raise ArgumentError(message)
    return bool(value)


def check_flags(where: str, **flags: Any) -> None:
    """Raise an error unless each of `flags` is True, False or None (left out)."""
    for name, value in flags.items():
        if value is not None:
            check_flag(where, name, value)


def check_switches(where: str, **flags: Any) -> None:
    """Raise unless each of `flags` is True, False, 1, 0, or None if it was left out.

    This is for flags that PyTorch tests in Python, where programs write ``bias=0``.
    """
    for name, value in flags.items():
        if not (value.__class__ is int and value in (0, 1)):
            check_flags(where, **{name: value})


def integers(where: str, name: str, value: Any) -> tuple[int, ...]:
    """Return one integer, or a list or tuple of them, as a tuple."""
    if not isinstance(value, (list, tuple)):
        if value.__class__ is not np.ndarray or not value.ndim:
            return (as_int(where, name, value),)
        value = list(value)
    return tuple([n if n.__class__ is int else as_int(where, name, n) for n in value])


def sequence(where: str, name: str, values: Any) -> list[Any]:
    """Return the items of `values`; raise if it is not a sequence."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise DTypeError(
            f"{where}: `{name}` is {short(values)}; it must be a list or a tuple, "
            f"which a {type(values).__name__} is not.{_remedy(name, values)}"
        )
    return list(values)


def _remedy(name: str, values: Any) -> str:
    """Return what to give instead of a module or of a method that was not called."""
    if name == "parameters" and hasattr(values, "parameters"):
        return " Give those of the module: module.parameters()."
    if isinstance(values, MethodType):
        return f" Call the method: {values.__name__}()."
    return ""


def all_of(where: str, name: str, values: Any, stacklevel: int = 3) -> list[Any]:
    """Return the items of `values` like `sequence`; warn of a used-up iterator."""
    found = sequence(where, name, values)
    if not found and isinstance(values, Iterator):
        message = (
            f"{where}: `{name}` is a {type(values).__name__} that yields nothing, so "
            "nothing is done. It yields its tensors only once: make it again, as with "
            "model.parameters(), or store them in a list."
        )
        warnings.warn(message, AutocalcWarning, stacklevel=stacklevel)
    return found


def number(where: str, name: str, value: Any) -> float:
    """Return `value` as a Python float: a number, or a tensor or array of one."""
    kind = value.__class__
    if kind is float:
        return value  # type: ignore[no-any-return]  # a float
    try:
        if kind is int:
            return float(value)
        plain = value.item() if hasattr(value, "item") else value
        if isinstance(plain, Real):
            return float(plain)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:
        pass  # it has several elements
    raise DTypeError(
        f"{where}: `{name}` is {short(value)}; it must be one number, which this "
        f"{type(value).__name__} is not."
    )


def short(value: Any) -> str:
    """Return the text of `value`, shortened if it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def one_of(where: str, name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless `value` is one of the given words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(map(repr, choices[:-1]))
        message = f"{where}: `{name}`={short(value)}; use {words} or {choices[-1]!r}."
        raise ArgumentError(message)
