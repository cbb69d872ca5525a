# SPDX-License-Identifier: MIT
"""Settings of oneDNN, which is not used; they have no effect."""

from __future__ import annotations

__all__ = ["deterministic", "enabled", "is_available"]

#: Whether to use oneDNN.
enabled = True
#: Whether to use deterministic algorithms alone.
deterministic = False


def is_available() -> bool:
    """Return False: AutoCalc does not use MKLDNN."""
    return False
