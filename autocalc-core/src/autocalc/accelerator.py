# SPDX-License-Identifier: MIT
"""What programs ask of an accelerator before they choose a device: there is none.

Examples
--------
>>> import autocalc as ac
>>> ac.accelerator.current_accelerator() if ac.accelerator.is_available() else "cpu"
'cpu'
"""

from __future__ import annotations

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is no accelerator."""


def synchronize() -> None:
    """Do nothing: every call has ended when it returns."""
