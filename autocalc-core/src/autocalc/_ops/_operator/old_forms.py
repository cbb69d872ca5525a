# SPDX-License-Identifier: MIT
"""Calls as older programs have them: a factor in front of what it belongs to."""

from __future__ import annotations

import warnings
from typing import Any

from autocalc._ops._operator.coerce import Number, check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.errors import ArgumentError, DTypeError


def factor_first(where: str, word: str, factor: Any, last: Any, given: Any) -> Any:
    """Return the factor that ``x.add_(factor, y)`` has in front, with a warning.

    Raises
    ------
    DTypeError
        If it is no number, or what comes last no tensor.
    ArgumentError
        If it is given by name, too.
    """
    check_tensor(where, last)
    zero_d = isinstance(factor, Tensor) and factor.ndim == 0
    if not (isinstance(factor, Number) or zero_d):
        message = (
            f"{where}: got a {type(factor).__name__} in front of the last tensor, "
            f"where only the number `{word}` is allowed; give it by name."
        )
        raise DTypeError(message)
    if given != 1:
        message = (
            f"{where}: `{word}` is given twice, as {short(factor)} in front and as "
            f"{short(given)} by name; give it by name."
        )
        raise ArgumentError(message)
    message = (
        f"{where} with the number `{word}` in front of the tensor is deprecated; give "
        f"{word}={short(factor)} by name."
    )
    warnings.warn(message, UserWarning, stacklevel=3)
    return factor
