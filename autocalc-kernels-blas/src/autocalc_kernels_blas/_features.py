# SPDX-License-Identifier: MIT
"""The CPU features that kernels may use, and those that the user hides."""

from __future__ import annotations

import archspec.cpu

from autocalc.plugin import cpu_features


def usable_features() -> frozenset[str]:
    """Return the features that kernels may use, by the names of ``archspec``."""
    return cpu_features()


def hidden_features() -> frozenset[str]:
    """Return the features of the CPU that ``AUTOCALC_CPU_FEATURES`` hides."""
    return frozenset(archspec.cpu.host().features) - cpu_features()
