# SPDX-License-Identifier: MIT
"""Checks of the arguments of diagnostics: models, thresholds and paths."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from autocalc._tensor.checks import as_int, number, require
from autocalc.errors import DTypeError
from autocalc.nn import Module


def check_model(where: str, model: Any) -> Module:
    """Return the module; it may be a result of `ac.compile`."""
    inner = getattr(model, "_function", None)
    found = inner if isinstance(inner, Module) else model
    if not isinstance(found, Module):
        message = f"{where}: `model` is a {type(model).__name__}; it must be a Module."
        raise DTypeError(message)
    return found


def check_share(where: str, name: str, value: Any) -> float:
    """Return a threshold from 0 to 1."""
    found = number(where, name, value)
    require(where, name, value, 0 <= found <= 1, "from 0 to 1")
    return found


def check_threshold(where: str, name: str, value: Any) -> float:
    """Return a threshold that is no less than 0."""
    found = number(where, name, value)
    require(where, name, value, not math.isnan(found) and not found < 0, "0 or more")
    return found


def check_count(where: str, name: str, value: Any) -> int:
    """Return an integer of 1 or more."""
    found = as_int(where, name, value)
    require(where, name, found, found >= 1, "1 or more")
    return found


def check_path(where: str, name: str, value: Any) -> Path:
    """Return the path of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise DTypeError(f"{where}: `{name}` is a {type(value).__name__}; give a path.")
    return Path(value)
