# SPDX-License-Identifier: MIT
"""Intel's MKL, which is asked for as a kernel package: see `autocalc.kernels.show`."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: AutoCalc does not contain MKL."""
    return False
