# SPDX-License-Identifier: MIT
"""Modules as functions of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.nn._module.functional_call import functional_call

__all__ = ["functional_call"]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
