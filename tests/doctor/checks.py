# SPDX-License-Identifier: MIT
"""The doctor's checks, one module a subject, and what they find."""

from __future__ import annotations

from autocalc._doctor import _cpu as cpu
from autocalc._doctor import _examine as examine
from autocalc._doctor import _floating as floating
from autocalc._doctor import _libraries as libraries
from autocalc._doctor import _limits as limits
from autocalc._doctor import _model as model
from autocalc._doctor import _packages as packages
from autocalc._doctor import _speed as speed
from autocalc._doctor._finding import EXIT_CODES, LEVELS, Finding, worst
from autocalc._doctor._machine import Machine, numbers

__all__ = [
    "EXIT_CODES",
    "LEVELS",
    "Finding",
    "Machine",
    "cpu",
    "examine",
    "floating",
    "libraries",
    "limits",
    "model",
    "numbers",
    "packages",
    "speed",
    "worst",
]
