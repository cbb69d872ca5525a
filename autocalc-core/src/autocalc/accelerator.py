# SPDX-License-Identifier: MIT
"""Queries about an accelerator, for programs that choose a device.

There is one where a kernel package serves a device that this machine has.

Examples
--------
>>> import autocalc as ac
>>> device = ac.accelerator.current_accelerator() or ac.device("cpu")
>>> ac.ones(2, device=device).device == device
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._dispatch.device import device

if _TYPE_CHECKING:
    from autocalc._tensor.device import Device
from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Return whether a device other than the CPU is available."""
    return len(device.places()) > 1


def device_count() -> int:
    """Return the number of available accelerators."""
    library = device.accelerator()
    return 0 if library is None else library.count()


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return the device of the accelerator, or None if there is none."""
    from autocalc._tensor.device import Device

    others = device.places()[1:]
    return Device(others[0]) if others else None


def synchronize() -> None:
    """Wait until the accelerator has finished all work."""
    library = device.accelerator()
    if library is not None:
        library.synchronize()


if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
