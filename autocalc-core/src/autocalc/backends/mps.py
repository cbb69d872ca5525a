# SPDX-License-Identifier: MIT
"""Apple's graphics processors, which are not used."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Return False: AutoCalc does not support Apple's GPUs."""
    return False


def is_built() -> bool:
    """Return False: AutoCalc does not support Apple's GPUs."""
    return False


if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
