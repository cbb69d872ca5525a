# SPDX-License-Identifier: MIT
"""`torch.cpu`: the CPU, with the functions of other device modules."""

from __future__ import annotations

from typing import Any

from autocalc.torch import _mentioned


def is_available() -> bool:
    """Return True."""
    return True


is_initialized = is_available


def device_count() -> int:
    """Return 1."""
    return 1


def current_device() -> str:
    """Return "cpu"."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Do nothing: a call returns after its result has been computed."""


def set_device(device: Any) -> None:
    """Do nothing: there is only one CPU device."""


_STREAMS = {"Event", "Stream", "StreamContext", "current_stream", "stream"}
_stand_in = _mentioned.names_of(__name__)


def __getattr__(name: str) -> Any:
    if name in _STREAMS:
        return _stand_in(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
