# SPDX-License-Identifier: MIT
"""The functions of PyTorch's device modules, for devices that do not exist here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._absent import missing

__all__ = ["device_count", "empty_cache", "is_available", "is_bf16_supported"]
__all__ += ["is_initialized", "manual_seed", "manual_seed_all", "no_device"]
__all__ += ["synchronize"]


def is_available() -> bool:
    """Return False."""
    return False


is_bf16_supported = is_initialized = is_available


def device_count() -> int:
    """Return 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing, as PyTorch does where there is no such device."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Do nothing, as PyTorch does where there is no such device."""


def synchronize(device: Any = None) -> None:
    """Do nothing: nothing runs on such a device."""


def no_device(kind: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of such a module."""
    return lambda name: missing(f"autocalc.{kind}", name)
