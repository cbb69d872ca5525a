# SPDX-License-Identifier: MIT
"""Settings of Python's library and of NumPy on which their functions depend.

Code names none of these settings.  A setting is guarded if a step uses something that
depends on it.
"""

from __future__ import annotations

import decimal
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from autocalc._compile._objects import picture_of_decimals


def _decimals(_: Any) -> Any:
    return picture_of_decimals(decimal.getcontext())


def _numpy(_: Any) -> Any:
    return np.geterr(), np.get_printoptions()


def _warnings(_: Any) -> Any:
    return list(warnings.filters)


_PICTURES: dict[str, Callable[[Any], Any]] = {
    "decimal": _decimals,
    "numpy": _numpy,
    "_warnings": _warnings,
    "warnings": _warnings,
}


def settings_of(thing: Any) -> tuple[str, Callable[[Any], Any]] | None:
    """Return the library whose settings an object depends on, and their picture."""
    if isinstance(thing, ModuleType):
        return None
    module = getattr(thing, "__module__", None) or type(thing).__module__
    root = str(module).partition(".")[0]
    take = _PICTURES.get(root)
    return None if take is None else (root.strip("_"), take)
