# SPDX-License-Identifier: MIT
"""What programs ask of CUDA before they choose a device: there is none here.

`is_available` answers False; what would act on a device does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._absent import absence as _absence

if TYPE_CHECKING:
    from autocalc.cuda import amp as amp

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]


def is_available() -> bool:
    """Return False.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.device("cuda" if ac.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds all there is."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds all there is."""


def empty_cache() -> None:
    """Do nothing."""


def synchronize() -> None:
    """Do nothing: every call has ended when it returns."""


def __getattr__(name: str) -> Any:
    if name == "amp":  # it brings optimizers along
        from importlib import import_module

        return import_module("autocalc.cuda.amp")
    raise _absence(__name__, name)
