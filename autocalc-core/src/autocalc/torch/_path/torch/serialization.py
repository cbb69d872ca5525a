# SPDX-License-Identifier: MIT
"""`torch.serialization`: `save`, `load`, and the classes that `load` may create."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

from autocalc._absent import missing
from autocalc._io.torch_zip import ORDERS
from autocalc.errors import DTypeError
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


class LoadEndianness(Enum):
    """The order of bytes in files that do not say it; NATIVE is the machine's."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_endianness: list[LoadEndianness | None] = [None]


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the order of bytes that was set for files that do not say it."""
    return _endianness[-1]


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the order of bytes in files that do not say it; None means NATIVE."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise DTypeError(
            f"set_default_load_endianness: `endianness` is {endianness!r}; it must be "
            f"a member of torch.serialization.LoadEndianness, or None."
        )
    big = endianness is LoadEndianness.BIG
    if endianness in (None, LoadEndianness.NATIVE):
        big = sys.byteorder == "big"
    ORDERS["no record"] = ">" if big else "<"
    _endianness[:] = [endianness]


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the classes in a file that `load` would refuse to create."""
    return unsafe_names(f)


def __getattr__(name: str) -> Any:
    return missing("autocalc.serialization", name)
