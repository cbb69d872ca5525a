# SPDX-License-Identifier: MIT
"""Places of values that a compiled step may read, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autocalc as ac

#: A step of two arguments, how it uses the value and x; and what changes the value.
Program = tuple[Callable[[Any, ac.Tensor], ac.Tensor], dict[str, Callable[[Any], Any]]]
PLACES: dict[str, Callable[[Any], Program]] = {}


def place(make: Callable[[Any], Program]) -> Callable[[Any], Program]:
    PLACES[make.__name__] = make
    return make


class Thing:
    """An object with attributes."""
