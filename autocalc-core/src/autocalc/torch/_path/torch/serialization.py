# SPDX-License-Identifier: MIT
"""`torch.serialization`: `save`, `load`, and the classes that `load` may create."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._absent import missing
from autocalc.torch._files import load as load
from autocalc.torch._files import safe, unsafe_names
from autocalc.torch._files import save as save

FILE_LIKE = MAP_LOCATION = StorageType = Any
DEFAULT_PROTOCOL = 2


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Allow `load` to create objects of these classes."""
    safe.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """Return the classes that were passed to `add_safe_globals`."""
    return list(safe)


def clear_safe_globals() -> None:
    """Allow `load` to create only tensors and containers again."""
    safe.clear()


@contextmanager
def safe_globals(safe_globals: Sequence[Any]) -> Iterator[None]:
    """Allow `load` to create objects of these classes in a ``with`` block."""
    before = list(safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        safe[:] = before


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the classes in a file that `load` would refuse to create."""
    return unsafe_names(f)


def __getattr__(name: str) -> Any:
    return missing("autocalc.serialization", name)
