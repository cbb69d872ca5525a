# SPDX-License-Identifier: MIT
"""OpenMP, which is not used: threads are AutoCalc's own, see `set_num_threads`."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: AutoCalc does not use OpenMP."""
    return False
